/* What is open below current/, and moving it only when nothing is. SPEC section 5, `use`. */
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

void
tree_note_open(struct tree *tree, const struct place *place, struct tree_opened *opened)
{
	*opened = (struct tree_opened){ 0 };
	if (place->addr.kind == NODE_PASS)
		opened->pass = place->addr.item + 1;
	else if (place->ref.flavour == SLOT_CURRENT)
		opened->dataset = place->ref.dataset;
	else
		return;
	pthread_mutex_lock(&tree->lock);
	opened->next = tree->opened;
	if (tree->opened != NULL)
		tree->opened->previous = opened;
	tree->opened = opened;
	pthread_mutex_unlock(&tree->lock);
}

void
tree_note_close(struct tree *tree, struct tree_opened *opened)
{
	if (opened->pass == 0 && opened->dataset == NULL)
		return;
	pthread_mutex_lock(&tree->lock);
	if (opened->next != NULL)
		opened->next->previous = opened->previous;
	*(opened->previous != NULL ? &opened->previous->next : &tree->opened) = opened->next;
	pthread_mutex_unlock(&tree->lock);
}

/* Under the lock. */
static size_t
count_below(const struct tree *tree, const lancet_dataset *dataset)
{
	size_t count = 0;

	for (const struct tree_opened *opened = tree->opened; opened != NULL; opened = opened->next)
		count += opened->dataset == dataset;
	return count;
}

/* Numbers of pass-through files that are open, allocated. */
static int
open_passes(struct tree *tree, uint64_t **ret_passes, size_t *ret_count, struct lancet_error *err)
{
	uint64_t *passes;
	size_t count = 0;

	pthread_mutex_lock(&tree->lock);
	for (const struct tree_opened *opened = tree->opened; opened != NULL; opened = opened->next)
		count += opened->pass != 0;
	passes = malloc((count + 1) * sizeof(*passes));
	count = 0;
	for (const struct tree_opened *opened = tree->opened; passes != NULL && opened != NULL;
		opened = opened->next) {
		if (opened->pass != 0)
			passes[count++] = opened->pass - 1;
	}
	pthread_mutex_unlock(&tree->lock);
	if (passes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "open files: out of memory");
	*ret_passes = passes;
	*ret_count = count;
	return LANCET_OK;
}

static bool
is_live(const lancet_live *live, const struct pass_file *pass)
{
	for (size_t i = 0; i < lancet_live_count(live); i++) {
		const struct lancet_live_file *file = lancet_live_file(live, i);

		if (file->base == pass->base && file->source_path != NULL &&
			strcmp(file->source_path, pass->path) == 0)
			return true;
	}
	return false;
}

/* How many open files of the dataset the version has. They have one node wherever they are reached,
 * so it can't be told whether by way of current/: that counts. */
static int
count_live(struct tree *tree, lancet_dataset *dataset, uint64_t number, size_t *ret_count,
	struct lancet_error *err)
{
	lancet_version *version = NULL;
	lancet_live *live = NULL;
	uint64_t *passes = NULL;
	size_t count = 0;

	*ret_count = 0;
	TRY(open_passes(tree, &passes, &count, err));
	/* of a version that can't be read nothing is shown that could be open */
	if (count > 0 && lancet_version_open(dataset, number, &version, NULL) == LANCET_OK &&
		tree_live(tree, version, &live, NULL) == LANCET_OK) {
		for (size_t i = 0; i < count; i++) {
			struct pass_file pass;

			if (passnodes_get(tree->passnodes, passes[i], &pass))
				*ret_count += is_live(live, &pass);
		}
	}
	lancet_live_unref(live);
	lancet_version_unref(version);
	free(passes);
	return LANCET_OK;
}

/* Under the lock: where the number is kept that current/ of the dataset shows. NULL: nobody looked
 * at the branch yet. */
static uint64_t *
place_of_current(struct tree *tree, const lancet_dataset *dataset)
{
	if (dataset == tree->dataset)
		return &tree->current;
	for (struct tree_branch *branch = tree->branches; branch != NULL; branch = branch->next) {
		if (branch->dataset == dataset)
			return &branch->current;
	}
	return NULL;
}

int
tree_move(struct tree *tree, lancet_dataset *dataset, uint64_t number, bool force,
	uint64_t *ret_before, struct lancet_error *err)
{
	lancet_version *version = NULL;
	size_t files = 0, below;
	uint64_t before = 0, *current;

	TRY(lancet_version_open(dataset, number, &version, err));
	lancet_version_unref(version);
	TRY(tree_current_of(tree, dataset, &before, err));
	if (!force)
		TRY(count_live(tree, dataset, before, &files, err));
	pthread_mutex_lock(&tree->lock);
	below = force ? 0 : count_below(tree, dataset);
	current = place_of_current(tree, dataset);
	if (below + files == 0 && current != NULL)
		*current = number;
	pthread_mutex_unlock(&tree->lock);
	if (below + files > 0)
		return lancet_fail(err, LANCET_BUSY,
			"current/ is in use: %zu files or directories below it are open; close "
			"them, or give force=true",
			below + files);
	*ret_before = before;
	return LANCET_OK;
}

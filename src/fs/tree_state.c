/* The tree itself: made, looked into, moved and taken down; see tree.h.
 *
 * Locks: `lock` guards the few things that change (what current/ shows, branches that were opened,
 * live files used last); it is a leaf and never held while a file is touched.
 */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

#define CACHE_DEFAULT (UINT64_C(256) << 20)
#define TEXT_SHARE    10 /* of the cache: a tenth holds rendered text */

/* view=dataset: counts the slot of what the root shows from now on. Under no lock. */
static int
view_version(struct tree *tree, uint64_t number, struct lancet_error *err)
{
	struct slot_key key = { tree->dataset, number, SLOT_CURRENT, NULL };
	uint32_t slot, old;

	TRY(slots_acquire(tree->slots, &key, &slot, err));
	pthread_mutex_lock(&tree->lock);
	old = tree->view_slot;
	tree->view_slot = slot;
	tree->current = number;
	pthread_mutex_unlock(&tree->lock);
	slots_release(tree->slots, old, 1);
	return LANCET_OK;
}

/* The version asked for, if it can be read; else the newest that can. */
static int
pick_version(struct tree *tree, uint64_t asked, uint64_t *ret_number, struct lancet_error *err)
{
	lancet_version *version = NULL;

	if (asked == 0)
		return lancet_dataset_latest(tree->dataset, ret_number, err);
	TRY(lancet_version_open(tree->dataset, asked, &version, err));
	lancet_version_unref(version);
	*ret_number = asked;
	return LANCET_OK;
}

static int
tree_fill(struct tree *tree, struct lancet_error *err)
{
	struct slot_key root = { tree->dataset, 0, SLOT_TREE, NULL };
	uint64_t cache = tree->options.cache_bytes;

	TRY(lancet_dataset_stat(tree->dataset, &tree->owner, err));
	TRY(pick_version(tree, tree->options.current_version, &tree->current, err));
	tree->slots = slots_new(&root);
	tree->passnodes = passnodes_new();
	tree->texts = textcache_new((cache != 0 ? cache : CACHE_DEFAULT) / TEXT_SHARE);
	if (tree->slots == NULL || tree->passnodes == NULL || tree->texts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "tree: out of memory");
	return tree->options.view_dataset ? view_version(tree, tree->current, err) : LANCET_OK;
}

int
tree_new(lancet_dataset *dataset, const struct tree_options *options, struct tree **ret_tree,
	struct lancet_error *err)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	int rc;

	if (tree == NULL || pthread_mutex_init(&tree->lock, NULL) != 0) {
		free(tree);
		return lancet_fail(err, LANCET_NO_MEMORY, "tree: out of memory");
	}
	kinds_check();
	tree->dataset = lancet_dataset_ref(dataset);
	tree->options = *options;
	rc = tree_fill(tree, err);
	if (rc != LANCET_OK) {
		tree_free(tree);
		return rc;
	}
	*ret_tree = tree;
	return LANCET_OK;
}

void
tree_free(struct tree *tree)
{
	if (tree == NULL)
		return;
	for (size_t i = 0; i < TREE_LIVES; i++)
		lancet_live_unref(tree->lives[i].live);
	textcache_free(tree->texts);
	slots_free(tree->slots);
	passnodes_free(tree->passnodes);
	while (tree->branches != NULL) {
		struct tree_branch *branch = tree->branches;

		tree->branches = branch->next;
		lancet_dataset_unref(branch->dataset);
		free(branch);
	}
	lancet_dataset_unref(tree->dataset);
	pthread_mutex_destroy(&tree->lock);
	free(tree);
}

static int
find_entry(
	struct place *dir, const char *name, struct tree_entry *ret_entry, struct lancet_error *err)
{
	struct node_child child;
	struct place place;
	int rc;

	TRY(place_find(dir, name, &child, err));
	TRY(place_enter(dir, &child, &place, err));
	rc = place_stat(&place, ret_entry, err);
	if (rc != LANCET_OK)
		place_uncount(&place);
	place_release(&place);
	return rc;
}

int
tree_lookup(struct tree *tree, uint64_t parent, const char *name, struct tree_entry *ret_entry,
	bool *ret_negative_for_ever, struct lancet_error *err)
{
	struct place dir;
	int rc;

	if (strlen(name) >= NODE_NAME_SIZE)
		return fail_errno(err, ENAMETOOLONG, "name");
	TRY(place_resolve(tree, parent, &dir, err));
	rc = place_try_version(&dir, err);
	if (rc == LANCET_OK && dir.ref.kind->shape != SHAPE_DIR)
		rc = fail_errno(err, ENOTDIR, "is not a directory");
	if (rc == LANCET_OK)
		rc = find_entry(&dir, name, ret_entry, err);
	if (rc == LANCET_OK && place_is_movable_root(&dir))
		ret_entry->immutable = false;
	if (rc == LANCET_NOT_FOUND && ret_negative_for_ever != NULL)
		*ret_negative_for_ever = place_never_changes(&dir);
	place_release(&dir);
	return rc;
}

void
tree_forget(struct tree *tree, uint64_t node, uint64_t lookups)
{
	struct addr addr;

	if (node != TREE_ROOT && addr_decode(node, &addr) && addr.kind != NODE_PASS)
		slots_release(tree->slots, addr.slot, lookups);
}

int
tree_readlink(struct tree *tree, uint64_t node, char *into, size_t size, struct lancet_error *err)
{
	struct buf target = { 0 };
	struct place place;
	int rc;

	TRY(place_resolve(tree, node, &place, err));
	if (place.ref.kind->shape != SHAPE_LINK)
		rc = fail_errno(err, EINVAL, "is not a symbolic link");
	else
		rc = place.ref.kind->link(&place.ref, &target, err);
	place_release(&place);
	buf_put_byte(&target, '\0');
	if (rc == LANCET_OK)
		rc = buf_check(&target, "link", err);
	if (rc == LANCET_OK && target.size > size)
		rc = fail_errno(err, ENAMETOOLONG, "link");
	if (rc == LANCET_OK)
		memcpy(into, target.data, target.size);
	buf_release(&target);
	return rc;
}

/* The tree's note of a branch, made when it is new. `dataset` is borrowed. NULL: no memory. */
static struct tree_branch *
note_branch(struct tree *tree, lancet_dataset *dataset)
{
	struct tree_branch *made = calloc(1, sizeof(*made));
	struct tree_branch *branch;

	pthread_mutex_lock(&tree->lock);
	for (branch = tree->branches; branch != NULL; branch = branch->next) {
		if (branch->dataset == dataset)
			break;
	}
	if (branch == NULL && made != NULL) {
		*made = (struct tree_branch){ lancet_dataset_ref(dataset), 0, tree->branches };
		tree->branches = branch = made;
		made = NULL;
	}
	pthread_mutex_unlock(&tree->lock);
	free(made);
	return branch;
}

int
tree_branch_open(
	struct tree *tree, const char *name, lancet_dataset **ret_branch, struct lancet_error *err)
{
	struct lancet_bytes bytes = { (const uint8_t *)name, strlen(name) };
	lancet_dataset *dataset = NULL;
	struct tree_branch *branch;

	TRY(lancet_dataset_branch(tree->dataset, bytes, &dataset, err));
	branch = note_branch(tree, dataset);
	lancet_dataset_unref(dataset);
	if (branch == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", name);
	*ret_branch = branch->dataset;
	return LANCET_OK;
}

int
tree_current_of(
	struct tree *tree, lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	struct tree_branch *branch;
	uint64_t number;

	if (dataset == tree->dataset) {
		*ret_number = tree_current(tree);
		return LANCET_OK;
	}
	branch = note_branch(tree, dataset);
	if (branch == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "branch: out of memory");
	pthread_mutex_lock(&tree->lock);
	number = branch->current;
	pthread_mutex_unlock(&tree->lock);
	if (number == 0) {
		TRY(lancet_dataset_latest(dataset, &number, err));
		pthread_mutex_lock(&tree->lock);
		if (branch->current == 0)
			branch->current = number;
		number = branch->current;
		pthread_mutex_unlock(&tree->lock);
	}
	*ret_number = number;
	return LANCET_OK;
}

uint64_t
tree_current(struct tree *tree)
{
	uint64_t number;

	pthread_mutex_lock(&tree->lock);
	number = tree->current;
	pthread_mutex_unlock(&tree->lock);
	return number;
}

int
tree_use(struct tree *tree, uint64_t number, uint64_t *ret_moved_to, struct lancet_error *err)
{
	uint64_t picked = 0;

	TRY(pick_version(tree, number, &picked, err));
	if (tree->options.view_dataset)
		TRY(view_version(tree, picked, err));
	pthread_mutex_lock(&tree->lock);
	tree->current = picked;
	/* Branches follow when everything moves to the newest; they choose anew when they are
	 * looked at. */
	for (struct tree_branch *branch = tree->branches; branch != NULL && number == 0;
		branch = branch->next)
		branch->current = 0;
	pthread_mutex_unlock(&tree->lock);
	if (ret_moved_to != NULL)
		*ret_moved_to = picked;
	return LANCET_OK;
}

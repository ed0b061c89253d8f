/* Live files of versions for the tree: what dataset/ is made of, and how much df says is in use.
 *
 * The library looks at the tag files on each call; the tree keeps the lists used last so that a
 * walk of dataset/ asks once. They hold their versions, so there are only a few.
 */
#include "place.h"

#include <string.h>
#include <sys/statvfs.h>

#include "util/macros.h"

#define BLOCK 4096 /* bytes, the unit of df */

static lancet_live *
find_live(struct tree *tree, const lancet_version *version)
{
	lancet_live *live = NULL;

	pthread_mutex_lock(&tree->lock);
	for (size_t i = 0; i < TREE_LIVES && live == NULL; i++) {
		struct tree_live found = tree->lives[i];

		if (found.version != version)
			continue;
		live = lancet_live_ref(found.live);
		memmove(&tree->lives[1], &tree->lives[0], i * sizeof(tree->lives[0]));
		tree->lives[0] = found;
	}
	pthread_mutex_unlock(&tree->lock);
	return live;
}

static void
keep_live(struct tree *tree, lancet_version *version, lancet_live *live)
{
	struct tree_live old;

	pthread_mutex_lock(&tree->lock);
	old = tree->lives[TREE_LIVES - 1];
	memmove(&tree->lives[1], &tree->lives[0], (TREE_LIVES - 1) * sizeof(tree->lives[0]));
	tree->lives[0] = (struct tree_live){ version, lancet_live_ref(live) };
	pthread_mutex_unlock(&tree->lock);
	lancet_live_unref(old.live);
}

int
tree_live(struct tree *tree, lancet_version *version, lancet_live **ret_live,
	struct lancet_error *err)
{
	lancet_live *live = find_live(tree, version);

	if (live == NULL) {
		TRY(lancet_live_open(version, &live, err));
		keep_live(tree, version, live);
	}
	*ret_live = live;
	return LANCET_OK;
}

static uint64_t
live_file_bytes(const struct lancet_live_file *file)
{
	struct stat st;

	if (file->size != UINT64_MAX)
		return file->size;
	if (file->base == NULL || file->rewritten ||
		lancet_base_stat(file->base, file->source_path, &st, NULL) != LANCET_OK)
		return 0;
	return (uint64_t)st.st_size;
}

/* Bytes and files of a version; 0 when they can't be told, because df must work beside a damaged
 * version. */
static void
count_live(struct tree *tree, uint64_t number, uint64_t *ret_bytes, uint64_t *ret_files)
{
	lancet_version *version = NULL;
	lancet_live *live = NULL;

	*ret_bytes = *ret_files = 0;
	if (lancet_version_open(tree->dataset, number, &version, NULL) != LANCET_OK)
		return;
	if (tree_live(tree, version, &live, NULL) == LANCET_OK) {
		*ret_files = lancet_live_count(live);
		for (size_t i = 0; i < *ret_files; i++)
			*ret_bytes += live_file_bytes(lancet_live_file(live, i));
	}
	lancet_live_unref(live);
	lancet_version_unref(version);
}

static void
live_totals(struct tree *tree, uint64_t number, uint64_t *ret_bytes, uint64_t *ret_files)
{
	bool known;

	pthread_mutex_lock(&tree->lock);
	known = tree->live.version == number;
	*ret_bytes = tree->live.bytes;
	*ret_files = tree->live.files;
	pthread_mutex_unlock(&tree->lock);
	if (known)
		return;
	count_live(tree, number, ret_bytes, ret_files);
	pthread_mutex_lock(&tree->lock);
	tree->live.version = number;
	tree->live.bytes = *ret_bytes;
	tree->live.files = *ret_files;
	pthread_mutex_unlock(&tree->lock);
}

int
tree_statvfs(struct tree *tree, struct statvfs *ret_stat, struct lancet_error *err)
{
	struct statvfs backing, st = { 0 };
	uint64_t number = tree_current(tree), bytes, files;

	TRY(lancet_dataset_statvfs(tree->dataset, &backing, err));
	(void)lancet_dataset_latest(tree->dataset, &number, NULL);
	live_totals(tree, number, &bytes, &files);
	st.f_bsize = st.f_frsize = BLOCK;
	st.f_bfree = (fsblkcnt_t)((uint64_t)backing.f_bfree * backing.f_frsize / BLOCK);
	st.f_bavail = (fsblkcnt_t)((uint64_t)backing.f_bavail * backing.f_frsize / BLOCK);
	st.f_blocks = (fsblkcnt_t)(bytes / BLOCK + (bytes % BLOCK != 0)) + st.f_bfree;
	st.f_ffree = st.f_favail = backing.f_favail;
	st.f_files = files + st.f_ffree;
	st.f_namemax = NODE_NAME_SIZE - 1;
	*ret_stat = st;
	return LANCET_OK;
}

/* What a dataset may look like after a commit that was cut off: all that was there before is as it
 * was, the new version is whole or absent, and what else is there nobody points to.
 */
#ifndef TESTS_COMMITSTATE_H
#define TESTS_COMMITSTATE_H

#include <fts.h>

#include "commitwhole.h"

/* What is durable is the business of the stores that fail and record: the disk need not be asked.
 */
int
fsync(int fd)
{
	(void)fd;
	return 0;
}

static inline bool
state_is_hint(const char *key)
{
	return strcmp(key, "_versions/latest_version_hint.json") == 0;
}

/* A file that was there before, unchanged: states share their files with the tree before. */
static inline bool
state_is_old(const struct stat *st, const char *key)
{
	char path[PATH_MAX];
	struct stat before;

	(void)snprintf(path, sizeof(path), SAMPLE "/%s", key);
	return stat(path, &before) == 0 && before.st_size == st->st_size;
}

static inline bool
state_is_leftover(const char *key)
{
	const char *name = strrchr(key, '/') + 1;

	return strncmp(name, ".tmp-", 5) == 0 || strncmp(key, "_transactions/", 14) == 0 ||
	       strncmp(key, "_deletions/", 11) == 0 || strncmp(key, "data/", 5) == 0 ||
	       strncmp(key, "_indices/", 9) == 0;
}

/* Old files by count and size; others only where a commit may leave them. */
static inline bool
state_names_are_due(const char *root, const struct commit_case *one, size_t *ret_leftovers)
{
	char *paths[] = { (char *)(uintptr_t)root, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;
	size_t old = 0;
	bool due = true;

	*ret_leftovers = 0;
	ck_assert_ptr_nonnull(tree);
	while ((entry = fts_read(tree)) != NULL) {
		const char *key = entry->fts_path + strlen(root) + 1;

		if (entry->fts_info != FTS_F || state_is_hint(key) ||
			strcmp(key, SAMPLE_NEXT) == 0 ||
			(one->reserves && strcmp(key, SAMPLE_SECOND) == 0))
			continue;
		if (state_is_old(entry->fts_statp, key)) {
			old++;
			continue;
		}
		(*ret_leftovers)++;
		due &= state_is_leftover(key);
	}
	(void)fts_close(tree);
	return due && old == 25; /* of the sample, without the hint */
}

enum state { STATE_BAD, STATE_OLD, STATE_NEW };

static inline bool
state_has_version(const char *root, const char *key)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", root, key);
	return access(path, F_OK) == 0;
}

/* Whether the version that the row makes is there; BAD when anything is not as it must be. */
static inline enum state
state_look(const char *root, const struct commit_case *one, size_t *ret_leftovers)
{
	lancet_dataset *dataset = NULL;
	bool first, made, good;

	if (!state_names_are_due(root, one, ret_leftovers) ||
		lancet_dataset_open(root, NULL, &dataset, NULL) != LANCET_OK)
		return STATE_BAD;
	first = state_has_version(root, SAMPLE_NEXT);
	made = one->reserves ? state_has_version(root, SAMPLE_SECOND) : first;
	good = state_version_is_whole(root, dataset, SAMPLE_NEWEST, NULL) && (first || !made);
	if (good && first && one->reserves)
		good = state_version_is_whole(root, dataset, SAMPLE_NEWEST + 1, NULL);
	if (good && made)
		good = state_version_is_whole(root, dataset, commit_case_version(one), one);
	lancet_dataset_unref(dataset);
	return !good ? STATE_BAD : made ? STATE_NEW : STATE_OLD;
}

#endif

/* What a dataset may look like after a commit that was cut off: all that was there before is as it
 * was, the new version is whole or absent, and what else is there nobody points to.
 */
#ifndef TESTS_COMMITSTATE_H
#define TESTS_COMMITSTATE_H

#include <fts.h>
#include <lancet/column.h>
#include <lancet/fragment.h>
#include <lancet/transaction.h>

#include "commitcases.h"

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
	       strncmp(key, "_deletions/", 11) == 0 || strncmp(key, "data/", 5) == 0;
}

/* Old files by count and size; others only where a commit may leave them. */
static inline bool
state_names_are_due(const char *root, size_t *ret_leftovers)
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

		if (entry->fts_info != FTS_F || state_is_hint(key) || strcmp(key, SAMPLE_NEXT) == 0)
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

/* The first bytes of a file; -1 when it is not there. */
static inline ssize_t
state_read(const char *path, char into[8192])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, into, 8192);

	if (fd >= 0)
		(void)close(fd);
	return size;
}

/* An old data file, or the appended one, which is a copy of one of them. */
static inline bool
state_data_is_whole(const char *root, struct lancet_bytes name)
{
	static char found[8192], want[8192];
	char path[PATH_MAX];
	ssize_t size, due;

	(void)snprintf(
		path, sizeof(path), SAMPLE "/data/%.*s", (int)name.size, (const char *)name.data);
	due = state_read(access(path, F_OK) == 0 ? path : SAMPLE "/" SAMPLE_FILE, want);
	(void)snprintf(
		path, sizeof(path), "%s/data/%.*s", root, (int)name.size, (const char *)name.data);
	size = state_read(path, found);
	return size >= 0 && size == due && memcmp(found, want, (size_t)size) == 0;
}

static inline bool
state_fragment_is_whole(const char *root, lancet_version *version, uint64_t ordinal)
{
	lancet_fragment *fragment = NULL;
	lancet_deletion *deletion = NULL;
	const struct lancet_fragment_info *info;
	bool whole = lancet_fragment_open(version, ordinal, &fragment, NULL) == LANCET_OK;

	if (!whole)
		return false;
	info = lancet_fragment_info(fragment);
	for (size_t i = 0; whole && i < info->file_count; i++)
		whole = state_data_is_whole(root, info->files[i].path);
	if (whole && info->has_deletion_file)
		whole = lancet_deletion_open(fragment, &deletion, NULL) == LANCET_OK;
	lancet_deletion_unref(deletion);
	lancet_fragment_unref(fragment);
	return whole;
}

/* The transaction file says what the manifest says. */
static inline bool
state_transaction_is_whole(const char *root, lancet_version *version)
{
	struct lancet_bytes name = lancet_version_info(version)->transaction_file, bytes;
	lancet_transaction *transaction;
	char path[PATH_MAX], found[8192];
	ssize_t size;
	bool whole;

	if (lancet_transaction_open(version, &transaction, NULL) != LANCET_OK)
		return false;
	bytes = lancet_transaction_bytes(transaction);
	(void)snprintf(path, sizeof(path), "%s/_transactions/%.*s", root, (int)name.size,
		(const char *)name.data);
	size = state_read(path, found);
	whole = size == (ssize_t)bytes.size && memcmp(found, bytes.data, bytes.size) == 0;
	lancet_transaction_free(transaction);
	return whole;
}

/* Version `number`, and that it is what the row makes. */
static inline bool
state_version_is_whole(
	const char *root, lancet_dataset *dataset, uint64_t number, const struct commit_case *one)
{
	lancet_version *version;
	uint64_t count;
	bool whole;

	if (lancet_version_open(dataset, number, &version, NULL) != LANCET_OK)
		return false;
	count = lancet_version_info(version)->fragment_count;
	whole = state_transaction_is_whole(root, version) && (one == NULL || one->holds(version));
	for (uint64_t i = 0; whole && i < count; i++)
		whole = state_fragment_is_whole(root, version, i);
	lancet_version_unref(version);
	return whole;
}

enum state { STATE_BAD, STATE_OLD, STATE_NEW };

/* Whether version 7 is there; BAD when anything is not as it must be. */
static inline enum state
state_look(const char *root, const struct commit_case *one, size_t *ret_leftovers)
{
	lancet_dataset *dataset = NULL;
	char path[PATH_MAX];
	bool made, good;

	if (!state_names_are_due(root, ret_leftovers) ||
		lancet_dataset_open(root, NULL, &dataset, NULL) != LANCET_OK)
		return STATE_BAD;
	(void)snprintf(path, sizeof(path), "%s/" SAMPLE_NEXT, root);
	made = access(path, F_OK) == 0;
	good = state_version_is_whole(root, dataset, SAMPLE_NEWEST, NULL) &&
	       (!made || state_version_is_whole(root, dataset, SAMPLE_NEWEST + 1, one));
	lancet_dataset_unref(dataset);
	return !good ? STATE_BAD : made ? STATE_NEW : STATE_OLD;
}

#endif

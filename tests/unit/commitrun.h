/* Committing on a copy of the sample, and being overtaken at the very moment of it. */
#ifndef TESTS_COMMITRUN_H
#define TESTS_COMMITRUN_H

#include <errno.h>
#include <sys/syscall.h>

#include "commitcases.h"

/* Called when a manifest is about to get its name, which may be taken then. */
static void (*before_manifest)(void);
static int link_errno; /* what linkat and renameat2 fail with; 0: nothing */

int
linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	size_t size = strlen(to);

	if (before_manifest != NULL && size > 9 && strcmp(to + size - 9, ".manifest") == 0)
		before_manifest();
	errno = link_errno;
	return link_errno != 0 ? -1 : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int
renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	errno = link_errno;
	return link_errno != 0 ? -1
			       : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

/* A setting of config. */
static inline lancet_change *
change_config(lancet_dataset *dataset, uint64_t read, const char *key, const char *value)
{
	const struct lancet_set set = { LANCET_SET_CONFIG, NULL, key, value };
	lancet_version *version;
	lancet_change *change = NULL;

	OK(lancet_version_open(dataset, read, &version, &err));
	OK(lancet_change_settings(version, &set, 1, &change, &err));
	lancet_version_unref(version);
	return change;
}

static inline lancet_change *
change_delete(lancet_dataset *dataset, uint64_t read, const char *addrs)
{
	lancet_version *version;
	lancet_change *change = NULL;
	uint64_t rows;

	OK(lancet_version_open(dataset, read, &version, &err));
	OK(lancet_change_delete_addrs(version, addrs, &change, &rows, &err));
	lancet_version_unref(version);
	return change;
}

static inline lancet_change *
change_append(lancet_dataset *dataset, uint64_t read)
{
	lancet_version *version;
	lancet_change *change = NULL;

	OK(lancet_version_open(dataset, read, &version, &err));
	OK(case_append(version, &change, &err));
	lancet_version_unref(version);
	return change;
}

/* Commits it, which must go well. */
static inline struct lancet_commit_result
commit_now(lancet_change *change)
{
	struct lancet_commit_result result;

	OK(lancet_commit(change, NULL, &result, &err));
	lancet_change_free(change);
	result.stored = (struct lancet_bytes){ 0 };
	return result;
}

static inline size_t
count_files(const struct tree *tree, const char *dir, const char *ending)
{
	DIR *open_dir = opendir(TREE_PATH(tree, dir));
	const struct dirent *entry;
	size_t count = 0;

	ck_assert_ptr_nonnull(open_dir);
	while ((entry = readdir(open_dir)) != NULL) {
		size_t size = strlen(entry->d_name), wanted = strlen(ending);

		count += entry->d_type == DT_REG && size >= wanted &&
			 strcmp(entry->d_name + size - wanted, ending) == 0;
	}
	(void)closedir(open_dir);
	return count;
}

/* All files of the dataset: what a refusal must not change. */
static inline size_t
count_all(const struct tree *tree)
{
	static const char *const dirs[] = { "data", "_deletions", "_transactions", "_versions" };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		count += count_files(tree, dirs[i], "");
	return count;
}

#endif

/* Copies of the sample to commit on. It has 6 versions; fragment 0 has 48 rows of which 0, 3, 10
 * and 8 more are deleted, and fragment 3 has 16.
 */
#ifndef TESTS_COMMITSAMPLE_H
#define TESTS_COMMITSAMPLE_H

#include <dirent.h>
#include <lancet/commit.h>

#include "core/change.h"
#include "core/dataset.h"
#include "storecalls.h"
#include "unit.h"

#define SAMPLE         UNIT_DATA_DIR "/sample.lance"
#define SAMPLE_NEWEST  6u
#define SAMPLE_FILE    "data/1111110001010111100001109052e741dbadc7df76c7fd1843.lance" /* 48 rows */
#define SAMPLE_NEXT    "_versions/18446744073709551608.manifest" /* version 7, when it is made */
#define SAMPLE_SECOND  "_versions/18446744073709551607.manifest" /* version 8 */
#define SAMPLE_CURRENT "_versions/18446744073709551609.manifest"

static inline void
sample_copy_file(const char *from, const char *to)
{
	char bytes[8192];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ssize_t size;

	ck_assert_msg(in >= 0 && out >= 0, "%s to %s", from, to);
	while ((size = read(in, bytes, sizeof(bytes))) > 0)
		ck_assert_int_eq(write(out, bytes, (size_t)size), size);
	(void)close(in);
	(void)close(out);
}

/* `link_files`: the same files, for trees whose files are never changed in place. */
static inline void
sample_copy(const char *from, const char *to, bool link_files)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;

	ck_assert_msg(dir != NULL, "%s", from);
	(void)mkdir(to, 0755);
	while ((entry = readdir(dir)) != NULL) {
		char source[PATH_MAX], target[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
		(void)snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
		if (entry->d_type == DT_DIR)
			sample_copy(source, target, link_files);
		else if (link_files)
			ck_assert_int_eq(link(source, target), 0);
		else
			sample_copy_file(source, target);
	}
	(void)closedir(dir);
}

static inline lancet_dataset *
sample_open(const struct tree *tree)
{
	lancet_dataset *dataset = NULL;

	OK(lancet_dataset_open(tree->root, NULL, &dataset, &err));
	return dataset;
}

static inline struct tree
sample_new(void)
{
	struct tree tree = tree_new();

	sample_copy(SAMPLE, tree.root, false);
	return tree;
}

/* Of a tree whose files are never changed in place. */
static inline struct tree
sample_copy_of(const struct tree *pristine)
{
	struct tree tree = tree_new();

	sample_copy(pristine->root, tree.root, true);
	return tree;
}

/* Files of a directory, which may be missing. */
static inline int
files_in(const struct tree *tree, const char *dir)
{
	struct store *store = open_store(tree);
	struct stat st;
	int count = 0;

	if (store_stat(store, dir, &st, NULL) == LANCET_OK)
		count = names_in(store, dir);
	store_unref(store);
	return count;
}

#endif

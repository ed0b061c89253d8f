/* Commits to be tried: a copy of the sample, and one row for each kind of change of it.
 *
 * The sample has 6 versions; fragment 0 has 48 rows of which 0, 3, 10 and 8 more are deleted, and
 * fragment 3 has 16.
 */
#ifndef TESTS_COMMITCASES_H
#define TESTS_COMMITCASES_H

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
#define SAMPLE_CURRENT "_versions/18446744073709551609.manifest"

struct commit_case {
	const char *label;
	int (*make)(lancet_version *read, lancet_change **ret_change, struct lancet_error *err);
	bool (*holds)(lancet_version *made); /* what only it makes so */
	unsigned files; /* written and synced: transaction, manifest, and its own */
	unsigned dirs;  /* synced */
};

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

static inline int
case_config(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct lancet_set set = { LANCET_SET_CONFIG, NULL, "color", "blue" };

	return lancet_change_settings(read, &set, 1, ret_change, err);
}

static inline bool
case_config_holds(lancet_version *made)
{
	size_t count;
	const struct lancet_entry *entries = lancet_version_map(made, LANCET_CONFIG, &count);

	return count == 1 &&
	       slice_equal(slice_of(entries[0].key.data, entries[0].key.size), slice_text("color"));
}

static inline int
case_delete(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	uint64_t rows;

	TRY(lancet_change_delete_addrs(read, "0:1,5-7;3:2", ret_change, &rows, err));
	ck_assert_uint_eq(rows, 5);
	return LANCET_OK;
}

static inline bool
case_delete_holds(lancet_version *made)
{
	return lancet_version_info(made)->deleted_rows == 11 + 4 + 6 + 2 + 1;
}

static inline int
case_append(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	int fd = open(SAMPLE "/" SAMPLE_FILE, O_RDONLY | O_CLOEXEC);
	uint64_t rows;
	int rc;

	ck_assert_int_ge(fd, 0);
	rc = lancet_change_append_file(read, fd, ret_change, &rows, err);
	(void)close(fd);
	return rc;
}

static inline bool
case_append_holds(lancet_version *made)
{
	return lancet_version_info(made)->physical_rows == 48 + 32 + 8 + 16 + 48;
}

static inline int
case_restore(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_restore(read, 1, ret_change, err);
}

static inline bool
case_restore_holds(lancet_version *made)
{
	return lancet_version_info(made)->physical_rows == 48;
}

static inline int
case_rename(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_rename_column(read, "price", "cost", ret_change, err);
}

static inline bool
case_rename_holds(lancet_version *made)
{
	const struct lancet_field *fields;
	size_t count;

	return lancet_version_fields(made, &fields, &count, NULL) == LANCET_OK && count == 3 &&
	       slice_equal(slice_of(fields[2].name.data, fields[2].name.size), slice_text("cost"));
}

static inline int
case_drop_fragments(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const uint64_t ids[] = { 1, 2 };
	uint64_t rows;

	return lancet_change_drop_fragments(read, ids, 2, ret_change, &rows, err);
}

static inline bool
case_drop_fragments_holds(lancet_version *made)
{
	return lancet_version_info(made)->fragment_count == 2;
}

static const struct commit_case commit_cases[] = {
	{ "config", case_config, case_config_holds, 2, 2 },
	{ "delete", case_delete, case_delete_holds, 2 + 2, 2 + 1 },
	{ "append", case_append, case_append_holds, 2 + 1, 2 + 1 },
	{ "restore", case_restore, case_restore_holds, 2, 2 },
	{ "rename", case_rename, case_rename_holds, 2, 2 },
	{ "drop_fragments", case_drop_fragments, case_drop_fragments_holds, 2, 2 },
};

/* The change of a row, on version `number`. */
static inline int
commit_case_make(const struct commit_case *one, lancet_dataset *dataset, uint64_t number,
	const char *token, lancet_change **ret_change, struct lancet_error *err)
{
	lancet_version *read;
	int rc;

	TRY(lancet_version_open(dataset, number, &read, err));
	rc = one->make(read, ret_change, err);
	lancet_version_unref(read);
	if (rc == LANCET_OK && token != NULL)
		rc = lancet_change_set_token(*ret_change, token, err);
	return rc;
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

#endif

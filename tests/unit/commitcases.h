/* Commits to be tried: one row for each kind of change of the sample. */
#ifndef TESTS_COMMITCASES_H
#define TESTS_COMMITCASES_H

#include "commitdrops.h"
#include "commitrest.h"
#include "commitrewrites.h"
#include "commitrows.h"
#include "commitwhere.h"

struct commit_case {
	const char *label;
	int (*make)(lancet_version *read, lancet_change **ret_change, struct lancet_error *err);
	bool (*holds)(lancet_version *made); /* what only it makes so */
	unsigned files;      /* written and synced: transaction, manifest, and its own */
	unsigned dirs;       /* synced */
	const char *written; /* true of each row of a data file that was written for it */
	/* Before it a version is made that reserves ids of fragments. */
	bool reserves;
};

static inline uint64_t
commit_case_version(const struct commit_case *one)
{
	return SAMPLE_NEWEST + 1 + one->reserves;
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

static const struct commit_case commit_cases[] = {
	{ "config", case_config, case_config_holds, 2, 2 },
	{ "delete", case_delete, case_delete_holds, 2 + 2, 2 + 1 },
	{ "append", case_append, case_append_holds, 2 + 1, 2 + 1 },
	{ "restore", case_restore, case_restore_holds, 2, 2 },
	{ "rename", case_rename, case_rename_holds, 2, 2 },
	{ "drop_index", case_drop_index, case_drop_index_holds, 2, 2 },
	{ "reserve", case_reserve, case_reserve_holds, 2, 2 },
	{ "bases", case_bases, case_bases_holds, 2, 2 },
	{ "rewrite", case_rewrite, case_rewrite_holds, 2, 2 },
	{ "overwrite", case_overwrite, case_overwrite_holds, 2, 2 },
	{ "drop_fragments", case_drop_fragments, case_drop_fragments_holds, 2, 2 },
	{ "merge", case_merge, case_merge_holds, 2, 2 },
	{ "replacement", case_replacement, case_replacement_holds, 2, 2 },
	{ "overlay", case_overlay, case_overlay_holds, 2, 2 },
	{ "update", case_update, case_rewrite_holds, 2, 2 },
	{ "index", case_index, case_index_holds, 2, 2 },
	{ "append rows", case_append_rows, case_append_rows_holds, 2 + 1, 2 + 1,
		"id in (1000, 1001, 1002) and price is null" },
	{ "delete where", case_delete_where, case_delete_where_holds, 2 + 1, 2 + 1 },
	{ "update where", case_update_where, case_update_where_holds, 2 + 2, 2 + 2,
		"name like '%!' and id is not null and price >= 1" },
	{ "compact", case_compact, case_compact_holds, 4 + 3, 4 + 3, SAMPLE_ROWS, true },
	{ "partition", case_partition, case_partition_holds, 4 + 4, 4 + 3, SAMPLE_ROWS, true },
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

#endif

/* Rewrites of the sample: fragments 0, 1 and 2 become one, and rows of fragment 2 become two. Both
 * make an index file of the sample anew, whose addresses follow.
 */
#ifndef TESTS_COMMITREWRITES_H
#define TESTS_COMMITREWRITES_H

#include <lancet/index.h>
#include <lancet/rewrite.h>

#include "commitrows.h"

/* Rows with their values from before. */
#define SAMPLE_ROWS "id between 0 and 95 and name like '% %' and price >= 0.5"

/* One worker, so that the calls of the storage are the same each time. */
static inline int
rewrite_run(lancet_rewrite *rewrite, lancet_change **ret_change, struct lancet_error *err)
{
	const struct lancet_rewrite_run run = { .workers = 1 };
	int rc = lancet_rewrite_run(rewrite, &run, ret_change, err);

	lancet_rewrite_free(rewrite);
	return rc;
}

static inline int
case_compact(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	lancet_rewrite *rewrite;

	TRY(lancet_compact_plan(read, NULL, &rewrite, err));
	ck_assert_uint_eq(lancet_rewrite_totals(rewrite)->live_rows, 69);
	return rewrite_run(rewrite, ret_change, err);
}

static inline int
case_partition(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const uint64_t fragment = 2;
	const struct lancet_partition_options options = { .labels = rows_file(
								  "1\n0\n1\n1\n0\n0\n1\n1\n"),
		.format = LANCET_LABELS_TEXT,
		.fragments = &fragment,
		.fragment_count = 1 };
	lancet_rewrite *rewrite = NULL;
	int rc = lancet_partition_plan(read, &options, NULL, &rewrite, err);

	(void)close(options.labels);
	return rc == LANCET_OK ? rewrite_run(rewrite, ret_change, err) : rc;
}

static inline uint64_t
sign_bytes(uint64_t signature, int fd)
{
	char bytes[8192];
	ssize_t size;

	while ((size = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < size; i++)
			signature = (signature ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
	(void)close(fd);
	return signature;
}

/* Of all bytes of the index files, FNV-1a; 0: one can't be read. */
static inline uint64_t
sign_indices(lancet_version *version)
{
	uint64_t signature = UINT64_C(0xcbf29ce484222325);
	const struct lancet_index *indices;
	size_t count;

	if (lancet_version_indices(version, &indices, &count, NULL) != LANCET_OK || count != 1)
		return 0;
	for (size_t i = 0; i < indices[0].segment_count; i++) {
		const lancet_base *base;
		char **paths;
		size_t files;

		if (lancet_index_segment_files(version, indices[0].segments[i], &base, &paths,
			    &files, NULL) != LANCET_OK)
			return 0;
		for (size_t k = 0; k < files && signature != 0; k++) {
			struct stat st;
			int fd;

			signature = lancet_base_open(base, paths[k], &fd, &st, NULL) == LANCET_OK
					    ? sign_bytes(signature, fd)
					    : 0;
		}
		free(paths);
	}
	return signature;
}

/* What index files are once such a change was made and nothing went wrong. */
static inline uint64_t
sign_made(int (*make)(lancet_version *read, lancet_change **ret_change, struct lancet_error *err))
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	struct lancet_commit_result result;
	lancet_change *change = NULL;
	lancet_version *version;
	uint64_t signature;

	OK(lancet_version_open(dataset, SAMPLE_NEWEST, &version, &err));
	OK(make(version, &change, &err));
	lancet_version_unref(version);
	OK(lancet_commit(change, NULL, &result, &err));
	lancet_change_free(change);
	OK(lancet_version_open(dataset, result.version, &version, &err));
	signature = sign_indices(version);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
	ck_assert_uint_ne(signature, 0);
	return signature;
}

static inline bool
case_compact_holds(lancet_version *made)
{
	const struct lancet_version_info *info = lancet_version_info(made);
	static uint64_t signature;

	if (signature == 0)
		signature = sign_made(case_compact);
	return info->fragment_count == 2 && info->physical_rows == 69 + 16 &&
	       info->deleted_rows == 0 && sign_indices(made) == signature;
}

static inline bool
case_partition_holds(lancet_version *made)
{
	const struct lancet_version_info *info = lancet_version_info(made);
	static uint64_t signature;

	if (signature == 0)
		signature = sign_made(case_partition);
	return info->fragment_count == 5 && info->physical_rows == 48 + 32 + 16 + 6 &&
	       info->deleted_rows == 11 + 6 && sign_indices(made) == signature;
}

#endif

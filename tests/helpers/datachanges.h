/* Changes that write data, made of words. */
#ifndef TESTS_DATACHANGES_H
#define TESTS_DATACHANGES_H

#include <fcntl.h>
#include <lancet/rewrite.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/macros.h"

#define FRAGMENTS_MAX 64

/* "3,4,9" */
static inline size_t
read_fragments(const char *text, uint64_t ids[FRAGMENTS_MAX])
{
	size_t count = 0;
	char *end;

	for (; *text != '\0' && count < FRAGMENTS_MAX; text = *end == ',' ? end + 1 : end) {
		ids[count++] = strtoull(text, &end, 10);
		if (end == text)
			exit(EXIT_FAILURE);
	}
	return count;
}

static inline enum lancet_index_remap
read_remap(const char *text)
{
	return strcmp(text, "defer") == 0  ? LANCET_REMAP_DEFER
	       : strcmp(text, "skip") == 0 ? LANCET_REMAP_SKIP
					   : LANCET_REMAP_AUTO;
}

/* One worker, so that the calls of the storage come in the same order each time. */
static inline int
carry_out_rewrite(lancet_rewrite *rewrite, lancet_change **ret_change, struct lancet_error *err)
{
	const struct lancet_rewrite_run run = { .workers = 1 };
	int rc = lancet_rewrite_run(rewrite, &run, ret_change, err);

	lancet_rewrite_free(rewrite);
	return rc;
}

/* REMAP TARGET_ROWS FRAGMENTS */
static inline int
make_compact(lancet_version *read, char *const *words, lancet_change **ret_change,
	struct lancet_error *err)
{
	struct lancet_compact_options options;
	uint64_t ids[FRAGMENTS_MAX];
	lancet_rewrite *rewrite;

	TRY(lancet_compact_defaults(read, &options, err));
	options.index_remap = read_remap(words[0]);
	options.target_rows = strtoull(words[1], NULL, 10);
	options.fragments = ids;
	options.fragment_count = read_fragments(words[2], ids);
	TRY(lancet_compact_plan(read, &options, &rewrite, err));
	return carry_out_rewrite(rewrite, ret_change, err);
}

/* REMAP COLUMN FRAGMENTS */
static inline int
make_partition(lancet_version *read, char *const *words, lancet_change **ret_change,
	struct lancet_error *err)
{
	uint64_t ids[FRAGMENTS_MAX];
	const struct lancet_partition_options options = {
		.by = words[1],
		.labels = -1,
		.fragments = ids,
		.fragment_count = read_fragments(words[2], ids),
		.index_remap = read_remap(words[0]),
	};
	lancet_rewrite *rewrite;

	TRY(lancet_partition_plan(read, &options, NULL, &rewrite, err));
	return carry_out_rewrite(rewrite, ret_change, err);
}

/* SET WHERE */
static inline int
make_update(lancet_version *read, char *const *words, lancet_change **ret_change,
	struct lancet_error *err)
{
	uint64_t rows;

	return lancet_change_update(read, words[0], words[1], NULL, ret_change, &rows, err);
}

/* WHERE */
static inline int
make_delete_where(lancet_version *read, char *const *words, lancet_change **ret_change,
	struct lancet_error *err)
{
	uint64_t rows;

	return lancet_change_delete_where(read, words[0], NULL, ret_change, &rows, err);
}

/* FILE of JSON lines */
static inline int
make_append_rows(lancet_version *read, char *const *words, lancet_change **ret_change,
	struct lancet_error *err)
{
	struct lancet_appended appended;
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	int rc = lancet_change_append_rows(
		read, fd, LANCET_ROWS_JSON, NULL, ret_change, &appended, err);

	if (fd >= 0)
		(void)close(fd);
	return rc;
}

struct data_change {
	const char *name;
	int words;
	int (*make)(lancet_version *read, char *const *words, lancet_change **ret_change,
		struct lancet_error *err);
};

static const struct data_change data_changes[] = {
	{ "compact", 3, make_compact },
	{ "partition", 3, make_partition },
	{ "update", 2, make_update },
	{ "delete_where", 1, make_delete_where },
	{ "append_rows", 1, make_append_rows },
};

#endif

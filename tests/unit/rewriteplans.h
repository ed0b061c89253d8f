/* Plans of rewrites: compactions with either way of indices, and partitions by labels. */
#ifndef TESTS_REWRITEPLANS_H
#define TESTS_REWRITEPLANS_H

#include <lancet/rewrite.h>
#include "partitioned.h"

static inline int
table_compact(lancet_version *version, enum lancet_index_remap remap, lancet_rewrite **ret_rewrite,
	struct lancet_error *err)
{
	struct lancet_compact_options options;
	int rc = lancet_compact_defaults(version, &options, err);

	options.index_remap = remap;
	return rc == LANCET_OK ? lancet_compact_plan(version, &options, ret_rewrite, err) : rc;
}

static inline int
compact_auto(lancet_version *version, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	(void)run;
	return table_compact(version, LANCET_REMAP_AUTO, ret_rewrite, err);
}

static inline int
compact_defer(lancet_version *version, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	(void)run;
	return table_compact(version, LANCET_REMAP_DEFER, ret_rewrite, err);
}

/* Row k of the fragments gets label k % OUTPUTS. */
static inline int
table_partition(lancet_version *version, const struct lancet_rewrite_run *run,
	const uint64_t *fragments, size_t count, size_t rows, lancet_rewrite **ret_rewrite,
	struct lancet_error *err)
{
	struct lancet_partition_options options = { .fragments = fragments,
		.fragment_count = count };
	char name[TREE_ROOT_MAX];
	uint16_t labels[ROWS];
	int rc;

	tree_template(name);
	options.labels = mkstemp(name);
	ck_assert_int_ge(options.labels, 0);
	(void)unlink(name);
	for (size_t i = 0; i < rows; i++)
		labels[i] = (uint16_t)(i % OUTPUTS);
	ck_assert_int_eq(write(options.labels, labels, rows * sizeof(*labels)),
		(ssize_t)(rows * sizeof(*labels)));
	rc = lancet_partition_plan(version, &options, run, ret_rewrite, err);
	(void)close(options.labels);
	return rc;
}

static inline int
partition_all(lancet_version *version, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	static const uint64_t fragments[SOURCES] = { 0, 3, 4 };

	return table_partition(version, run, fragments, SOURCES, ROWS, ret_rewrite, err);
}

/* Fragment 2 of the sample, which has 8 rows. */
static inline int
partition_sample(lancet_version *version, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	static const uint64_t fragment = 2;

	return table_partition(version, run, &fragment, 1, 8, ret_rewrite, err);
}

#endif

/* Tables of all kinds to be rewritten, and how: what storage that fails and losses of power are
 * tried on. Rows and files that are left are held against those of the table before.
 */
#ifndef TESTS_REWRITETABLES_H
#define TESTS_REWRITETABLES_H

#include "rewriteplans.h"
#include "rewriterig.h"

#define SPILLED (UINT64_C(1) << 11) /* reader flag */

struct rewrite_table {
	const char *label;
	struct tree (*make)(void);
	struct attempt_kind kind;
	uint64_t flags; /* reader flags that the new version has */
	bool maps;      /* a row map is written */
	uint64_t fragments; /* of the new version */
	const char *const *columns; /* to tell rows by */
	size_t column_count;
};

static const char *const plain_columns[] = { "a", "b" };
static const char *const stable_columns[] = { "a", "b", "_rowid" };
static const char *const sample_columns[] = { "id", "name", "price", "_rowid",
	"_row_created_at_version", "_row_last_updated_at_version" };
#define COLUMNS(list) list, ARRAY_SIZE(list)

static inline struct tree
table_plain(void)
{
	return make_table(&partition_specs[0], 0, false);
}

static inline struct tree
table_indexed(void)
{
	return make_table(&partition_specs[0], 0, true);
}

static inline struct tree
table_tagged(void)
{
	return make_table(&partition_specs[0], TAGGED, true);
}

static inline struct tree
table_stable(void)
{
	return make_table(&partition_specs[1], 0, false);
}

/* The sample, which has a B-tree that is to be written anew, and spills all lineage that it may. */
static inline struct tree
table_spilled(void)
{
	static const struct lancet_set settings[] = {
		{ LANCET_SET_CONFIG, NULL, "lance.row_lineage.spill", "true" },
		{ LANCET_SET_CONFIG, NULL, "lance.row_lineage.inline_max_bytes", "1" },
	};
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	struct lancet_commit_result result;
	lancet_version *version = NULL;
	lancet_change *change = NULL;

	OK(lancet_version_open(dataset, SAMPLE_NEWEST, &version, &err));
	OK(lancet_change_settings(version, settings, ARRAY_SIZE(settings), &change, &err));
	OK(lancet_commit(change, NULL, &result, &err));
	lancet_change_free(change);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return tree;
}

static const struct rewrite_table rewrite_tables[] = {
	{ "compact, untagged", table_plain, { NEWEST, compact_defer }, 0, false, 1,
		COLUMNS(plain_columns) },
	{ "compact, an index follows", table_indexed, { NEWEST, compact_auto }, 0, false, 1,
		COLUMNS(plain_columns) },
	{ "compact, tagged", table_tagged, { NEWEST, compact_defer }, TAGGED, false, 1,
		COLUMNS(plain_columns) },
	{ "compact, stable", table_stable, { NEWEST, compact_auto }, 2, false, 1,
		COLUMNS(stable_columns) },
	{ "compact, spilled, with a B-tree", table_spilled, { SAMPLE_NEWEST + 1, compact_auto },
		2 | SPILLED, false, 2, COLUMNS(sample_columns) },
	{ "partition, untagged", table_plain, { NEWEST, partition_all }, TAGGED, true, OUTPUTS,
		COLUMNS(plain_columns) },
	{ "partition, an index follows", table_indexed, { NEWEST, partition_all }, TAGGED, true,
		OUTPUTS, COLUMNS(plain_columns) },
	{ "partition, tagged", table_tagged, { NEWEST, partition_all }, TAGGED, true, OUTPUTS,
		COLUMNS(plain_columns) },
	{ "partition, stable", table_stable, { NEWEST, partition_all }, 2, false, OUTPUTS,
		COLUMNS(stable_columns) },
	{ "partition, spilled, with a B-tree", table_spilled,
		{ SAMPLE_NEWEST + 1, partition_sample }, 2 | SPILLED, false, 6,
		COLUMNS(sample_columns) },
};

#endif

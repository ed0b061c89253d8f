/* What compatible commits leave to do, over one attempt and over several, and what stops a check.
 */
#include "unit.h"

#include "conflictrun.h"
#include "core/conflict_rules.h"

#define OVER_01      "CreateIndex new=a:1:0,1:1BTree:1"
#define COST_SECONDS 5

#define MEM_WAL "CreateIndex new=__lance_mem_wal"

static void
expect_set(const char *label, const roaring_bitmap_t *set, const char *due)
{
	roaring_bitmap_t *expected = roaring_bitmap_create();
	char one[PART_SIZE];

	while (part_next(&due, ",", one))
		roaring_bitmap_add(expected, (uint32_t)strtoul(one, NULL, 10));
	ck_assert_msg(set == NULL ? roaring_bitmap_is_empty(expected)
				  : roaring_bitmap_equals(set, expected),
		"%s", label);
	roaring_bitmap_free(expected);
}

static void
run_compatible(struct conflict_run *run, const struct conflict_scene *scene)
{
	run_open(run, scene);
	run_ask(run);
	ck_assert_msg(run->rc == LANCET_OK, "%s: %s", scene->label, run->err.text);
	ck_assert_msg(
		run->conflict.verdict == CONFLICT_NONE, "%s: %s", scene->label, run->conflict.text);
}

START_TEST(deletion_vectors_are_merged)
{
	static const struct conflict_scene scene = { "merged", "Delete updated=0,1,2",
		{ "Delete updated=0", "Update updated=2,3" },
		.affected = "2:9,8,7,6,5,4,3,2,1,0 0:5 1:1 0:4,5", .deleted = "0:8,9 2:10,11 3:0" };
	struct conflict_run run;

	run_compatible(&run, &scene);
	ck_assert_uint_eq(run.rebase.deletion_count, 2);
	ck_assert_uint_eq(run.rebase.deletions[0].fragment, 0);
	ck_assert(!run.rebase.deletions[0].whole);
	expect_set("theirs and ours", run.rebase.deletions[0].deleted, "4,5,8,9");
	ck_assert_uint_eq(run.rebase.deletions[1].fragment, 2);
	ck_assert(run.rebase.deletions[1].whole);
	run_close(&run);
}
END_TEST

static const struct {
	struct conflict_scene scene;
	const char *withdrawn;
} withdrawals[] = {
	{ { "a column changed in place", OVER_01, { "Update columns updated=0! fields=1" } }, "0" },
	{ { "another column changed in place", OVER_01, { "Update columns updated=0! fields=2" } },
		"" },
	{ { "columns that are not named", OVER_01, { "Update columns updated=0!" } }, "0" },
	{ { "a column below the one of the index", "CreateIndex new=a:3:0,1",
		  { "Update columns updated=1! fields=4" } },
		"1" },
	{ { "rows that moved", OVER_01, { "Update updated=0" } }, "" },
	{ { "recorded, then changed in place", OVER_01,
		  { "Rewrite group=0,1>6", "Update columns updated=6! fields=1" },
		  .history = "0 0,1>6", .live = "2,3,4,5,6" },
		"0,1,6" },
	{ { "recorded twice, then changed in place", OVER_01,
		  { "Rewrite group=0>6", "Rewrite group=1,6>7",
			  "Update columns updated=7! fields=1" },
		  .history = "1 0>6 1,6>7", .live = "2,3,4,5,7" },
		"0,1,6,7" },
	{ { "recorded, and another one changed in place", OVER_01,
		  { "Rewrite group=0>6", "Update columns updated=2! fields=1" }, .history = "1 0>6",
		  .live = "1,2,3,4,5,6" },
		"2" },
	{ { "a newer overlay folded", OVER_01, { "Rewrite group=0@5,1>6" }, .history = "0 0,1>6",
		  .live = "2,3,4,5,6" },
		"0,1" },
	{ { "an older overlay folded", OVER_01, { "Rewrite group=0@1,1>6" }, .history = "0 0,1>6",
		  .live = "2,3,4,5,6" },
		"" },
	{ { "a column that a Merge took from another file", OVER_01,
		  { "Merge keeps schema=0,1,2,3,4 fragments=0!,1,2!" } },
		"0" },
	{ { "tagged: a replaced column", OVER_01, { "DataReplacement file=0:1 file=5:1" },
		  .history = "1 4>6" },
		"0,5" },
};

START_TEST(coverage_is_withdrawn)
{
	struct conflict_run run;

	run_compatible(&run, &withdrawals[_i].scene);
	ck_assert_uint_eq(run.rebase.index_count, 1);
	expect_set(withdrawals[_i].scene.label, run.rebase.indices[0].withdrawn,
		withdrawals[_i].withdrawn);
	run_close(&run);
}
END_TEST

START_TEST(entries_of_which_there_is_one_are_superseded)
{
	static const struct conflict_scene scenes[] = {
		{ "by the MemWAL index", MEM_WAL, { "Append new=0" },
			.entries = "__lance_mem_wal a:1:0" },
		{ "not by others", OVER_01, { "Append new=0" },
			.entries = "__lance_mem_wal a:1:0" },
		{ "not when ours removes it", MEM_WAL " removed=__lance_mem_wal",
			{ "Append new=0" }, .entries = "__lance_mem_wal" },
	};
	struct conflict_run run;

	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		run_compatible(&run, &scenes[i]);
		ck_assert_msg(run.rebase.superseded_count == (i == 0), "%s", scenes[i].label);
		run_close(&run);
	}
}
END_TEST

START_TEST(progress_is_that_of_the_furthest)
{
	static const struct conflict_scene scene = { "progress", MEM_WAL,
		{ "UpdateMemWalState shard=b:3 shard=a:5", "Update updated=0 shard=a:6",
			"UpdateMemWalState shard=a:4" } };
	struct conflict_run run;

	run_compatible(&run, &scene);
	ck_assert_uint_eq(run.rebase.progress.count, 2);
	ck_assert_uint_eq(run.rebase.progress.list[0].id[0], 'a');
	ck_assert_uint_eq(run.rebase.progress.list[0].generation, 6);
	ck_assert_uint_eq(run.rebase.progress.list[1].generation, 3);
	run_close(&run);
}
END_TEST

/* The second attempt goes on after the first: its work is added, and no version is asked twice. */
START_TEST(attempts_add_up)
{
	static const struct conflict_scene scene = { "attempts", "Delete updated=0,1",
		{ "Delete updated=0", "Delete updated=1", "Delete updated=1" },
		.affected = "0:4 1:4", .deleted = "0:8 1:9" };
	lancet_version *second = NULL;
	struct conflict_run run;

	run_open(&run, &scene);
	ck_assert_int_eq(lancet_version_open(run.dataset, 2, &second, &run.err), LANCET_OK);
	ck_assert_int_eq(rebase_init(&run.rebase, run.ours, run.read, run.affected,
				 (struct lancet_bytes){ 0 }, &run.err),
		LANCET_OK);
	ck_assert_int_eq(
		conflict_check_since(&run.rebase, second, &run.conflict, &run.err), LANCET_OK);
	ck_assert_int_eq(conflict_finish(&run.rebase, &run.conflict, &run.err), LANCET_OK);
	ck_assert_uint_eq(run.rebase.deletion_count, 1);
	ck_assert_uint_eq(run.rebase.checked, 2);
	ck_assert_int_eq(
		conflict_check_since(&run.rebase, run.newest, &run.conflict, &run.err), LANCET_OK);
	ck_assert_int_eq(conflict_finish(&run.rebase, &run.conflict, &run.err), LANCET_OK);
	ck_assert_uint_eq(run.rebase.checked, 4);
	ck_assert_uint_eq(run.rebase.deletion_count, 2);
	expect_set("second fragment", run.rebase.deletions[1].deleted, "4,9");
	lancet_version_unref(second);
	run_close(&run);
}
END_TEST

START_TEST(the_first_conflict_stops_the_check)
{
	static const struct conflict_scene scene = { "first", "Append new=0",
		{ "Append new=0", "Overwrite", "Restore version=1" },
		.verdict = CONFLICT_INCOMPATIBLE, .rule = "operation", .version = 3 };

	scene_check(&scene);
}
END_TEST

static const struct {
	struct conflict_scene scene;
	int rc;
} failures[] = {
	{ { "updated twice", "Delete updated=0,0", { "Append" } }, LANCET_CORRUPT },
	{ { "rewritten twice", "Rewrite group=0>6 group=0>7", { "Append" } }, LANCET_CORRUPT },
	{ { "theirs updated twice", "Delete updated=0", { "Delete updated=1,1" } },
		LANCET_CORRUPT },
	{ { "both forms of UpdateConfig", "Append", { "UpdateConfig oldset=a config=b" } },
		LANCET_CORRUPT },
	{ { "a row that the fragment does not have", "Delete updated=0", { "Delete updated=0" },
		  .affected = "0:12" },
		LANCET_INVALID },
	{ { "a carried history without a record of ours", "Rewrite group=2>7", { "Append" },
		  .carried = "0" },
		LANCET_INVALID },
	{ { "a trim of a history that is not understood", "CreateIndex removed=__lance_frag_reuse",
		  { "Append" }, .history = "1 ?0,1>6" },
		LANCET_UNSUPPORTED },
	{ { "a deletion file that is damaged", "Delete updated=0", { "Delete updated=0" },
		  .affected = "0:4", .deleted = "0:12" },
		LANCET_CORRUPT },
};

START_TEST(damage_is_an_error)
{
	struct conflict_run run;

	run_open(&run, &failures[_i].scene);
	run_ask(&run);
	ck_assert_msg(run.rc == failures[_i].rc, "%s: %d %s", failures[_i].scene.label, run.rc,
		run.err.text);
	run_close(&run);
}
END_TEST

START_TEST(a_version_that_is_gone_is_an_error)
{
	static const struct conflict_scene scene = { "gone", "Append new=0",
		{ "Append new=0", "Append new=0" } };
	struct conflict_run run;

	run_open(&run, &scene);
	tree_unlink(&run.tree, "_versions/2.manifest");
	run_ask(&run);
	ck_assert_int_eq(run.rc, LANCET_NOT_FOUND);
	run_close(&run);
}
END_TEST

START_TEST(comparing_has_a_limit)
{
	static const struct conflict_scene scene = { "limit", "Append new=0", { "Append new=0" } };
	struct conflict_run run;

	run_compatible(&run, &scene);
	ck_assert_int_eq(rebase_work(&run.rebase, (size_t)1 << 31, &run.err), LANCET_OK);
	ck_assert_int_eq(rebase_work(&run.rebase, 1, &run.err), LANCET_LIMIT);
	run_close(&run);
}
END_TEST

/* 100,000 small commits against one of 100,000 fragments: walking along them took ten times as long
 * as is allowed here, searching them a tenth. */
START_TEST(small_commits_cost_little)
{
	static const struct conflict_scene scene = { "cost", "Append new=0", { "Append new=0" } };
	lancet_transaction *large = NULL, *small = run_transaction("Delete removed=200000");
	struct buf bytes = { 0 }, body = { 0 };
	struct conflict_run run;
	clock_t started;

	for (uint64_t i = 0; i < 100000; i++)
		maker_number(&body, 2, i);
	part_message(&bytes, 101, &body);
	ck_assert_int_eq(transaction_parse(bytes.data, bytes.size, &large, NULL), LANCET_OK);
	run_open(&run, &scene);
	ck_assert_int_eq(rebase_init(&run.rebase, large, run.read, NULL, (struct lancet_bytes){ 0 },
				 &run.err),
		LANCET_OK);
	started = clock();
	for (int i = 0; i < 100000; i++) {
		ck_assert_int_eq(
			conflict_check(&run.rebase, small, 2, &run.conflict, &run.err), LANCET_OK);
		ck_assert_int_eq(run.conflict.verdict, CONFLICT_NONE);
	}
	ck_assert_int_lt((clock() - started) / CLOCKS_PER_SEC, COST_SECONDS);
	rebase_release(&run.rebase);
	lancet_transaction_free(large);
	lancet_transaction_free(small);
	run_close(&run);
}
END_TEST

UNIT_MAIN("conflict_work", UNIT_TEST(deletion_vectors_are_merged),
	UNIT_LOOP(coverage_is_withdrawn, withdrawals),
	UNIT_TEST(entries_of_which_there_is_one_are_superseded),
	UNIT_TEST(progress_is_that_of_the_furthest), UNIT_TEST(attempts_add_up),
	UNIT_TEST(the_first_conflict_stops_the_check), UNIT_LOOP(damage_is_an_error, failures),
	UNIT_TEST(a_version_that_is_gone_is_an_error), UNIT_TEST(comparing_has_a_limit),
	UNIT_TEST(small_commits_cost_little))

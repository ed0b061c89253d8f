/* Carrying out a compaction: every live row once and in order, and nothing left of one that failed
 * or was cancelled. */
#include "unit.h"

#include <errno.h>

#include "core/rewrite_write.h"
#include "rewriterig.h"

#define LIVE_ROWS  69u /* of fragments 0, 1 and 2, which the compaction takes */
#define ALL_ROWS   85u
#define DATA_FILES 4u

/* ---- rows ------------------------------------------------------------------------------- */

struct place {
	size_t source;
	uint64_t offset;
};

/* Looked at one by one. */
static size_t
list_live(const struct rewrite_task *task, struct place *places)
{
	size_t count = 0;

	for (size_t i = 0; i < task->source_count; i++) {
		uint64_t rows = lancet_fragment_info(task->sources[i].fragment)->physical_rows;

		for (uint64_t offset = 0; offset < rows; offset++) {
			uint8_t deleted;

			lancet_deletion_marks(task->sources[i].deletion, offset, 1, &deleted);
			if (!deleted)
				places[count++] = (struct place){ i, offset };
		}
	}
	return count;
}

/* Goes over a piece in batches; the number of its rows. */
static size_t
check_piece(const struct rewrite_task *task, const struct rewrite_piece *piece, uint64_t step,
	const struct place *want)
{
	const struct rewrite_source *source = &task->sources[piece->source];
	struct rewrite_batch batch;
	size_t count = 0;

	for (uint64_t at = piece->first; at < piece->end; at = batch.end) {
		OK(rewrite_batch(source, piece, at, step, &batch, &err));
		ck_assert_uint_gt(batch.end, at);
		ck_assert_uint_le(batch.rows, step);
		for (size_t i = 0; i < batch.count; i++) {
			for (uint64_t k = 0; k < batch.ranges[i].count; k++, count++) {
				ck_assert_uint_eq(want[count].source, piece->source);
				ck_assert_uint_eq(want[count].offset, batch.ranges[i].first + k);
			}
		}
	}
	ck_assert_uint_eq(count, piece->live);
	return count;
}

static void
check_pieces(
	const struct rewrite_task *task, const struct place *live, uint64_t from, uint64_t count)
{
	static const uint64_t steps[] = { 1, 5, 1000 };
	struct rewrite_piece *pieces;
	size_t piece_count;

	OK(rewrite_pieces(task, from, count, &pieces, &piece_count, &err));
	for (size_t k = 0; k < ARRAY_SIZE(steps); k++) {
		size_t seen = 0;

		for (size_t i = 0; i < piece_count; i++)
			seen += check_piece(task, &pieces[i], steps[k], live + from + seen);
		ck_assert_uint_eq(seen, count);
	}
	free(pieces);
}

START_TEST(outputs_have_each_live_row_once)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	struct place live[2 * LIVE_ROWS];
	lancet_rewrite *rewrite = NULL;
	lancet_version *version = NULL;
	struct rewrite_task *task;

	OK(lancet_version_open(dataset, SAMPLE_NEWEST, &version, &err));
	OK(lancet_compact_plan(version, NULL, &rewrite, &err));
	ck_assert_uint_eq(rewrite->task_count, 1);
	task = &rewrite->tasks[0];
	for (size_t i = 0; i < task->source_count; i++)
		OK(rewrite_deletion(&task->sources[i], &err));
	ck_assert_uint_eq(list_live(task, live), LIVE_ROWS);
	for (uint64_t from = 0; from < LIVE_ROWS; from++)
		for (uint64_t count = 1; from + count <= LIVE_ROWS; count++)
			check_pieces(task, live, from, count);
	lancet_rewrite_free(rewrite);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

/* ---- failures --------------------------------------------------------------------------- */

static int
plan(lancet_version *version, const struct lancet_rewrite_run *run, lancet_rewrite **ret_rewrite,
	struct lancet_error *err)
{
	(void)run;
	return lancet_compact_plan(version, NULL, ret_rewrite, err);
}

static const struct attempt_kind compaction = { SAMPLE_NEWEST, plan };

/* All rows can be read, whatever the newest version is, which is returned. */
static uint64_t
look(const struct tree *tree)
{
	uint64_t fragments, number = attempt_look(tree, ALL_ROWS, &fragments);

	ck_assert_uint_eq(fragments, number == SAMPLE_NEWEST + 2 ? 2 : DATA_FILES);
	return number;
}

static const struct fault faults[] = {
	{ "EIO", EIO, 0 },
	{ "EIO for good", EIO, STORE_FAULT_STAYS },
	{ "EIO after it was done", EIO, STORE_FAULT_LATE },
	{ "ENOSPC", ENOSPC, 0 },
	{ "EDQUOT for good", EDQUOT, STORE_FAULT_STAYS },
};

START_TEST(storage_that_fails_loses_nothing)
{
	struct tree pristine = sample_new();
	unsigned failed = 0, clean = 0;
	uint64_t nth;

	for (nth = 1; nth < CALLS_MAX; nth++) {
		struct attempt attempt = { .workers = 1 };
		struct tree tree = sample_copy_of(&pristine);

		attempt_with_fault(&tree, &compaction, nth, &faults[_i], &attempt);
		if (attempt.rc != LANCET_OK) {
			attempt_check_failed(&tree, &compaction, &attempt, &faults[_i], nth,
				look(&tree), DATA_FILES);
			failed++;
			clean += files_in(&tree, "data") == (int)DATA_FILES;
		} else {
			ck_assert_uint_eq(look(&tree), SAMPLE_NEWEST + 2);
		}
		tree_remove(&tree);
		/* Long after the last call. */
		if (attempt.rc == LANCET_OK && nth > failed + 60)
			break;
	}
	ck_assert_uint_lt(nth, CALLS_MAX);
	ck_assert_uint_gt(failed, 60);
	if ((faults[_i].flags & STORE_FAULT_STAYS) == 0)
		ck_assert_uint_gt(clean, failed - 4);
	tree_remove(&pristine);
}
END_TEST

static const unsigned worker_counts[] = { 1, 2, 5 };

/* Whenever it is cancelled, until it has a version. */
START_TEST(cancelling_leaves_no_file)
{
	struct tree pristine = sample_new();
	unsigned at, refused = 0, before = 0;
	int indices = files_in(&pristine, "_indices");

	for (at = 1; at < CALLS_MAX; at++) {
		struct attempt attempt = { .workers = worker_counts[_i], .cancel_at = at };
		struct tree tree = sample_copy_of(&pristine);
		uint64_t newest;

		attempt_with_fault(&tree, &compaction, 0, &faults[0], &attempt);
		newest = look(&tree);
		if (attempt.rc == LANCET_OK) {
			ck_assert_uint_eq(newest, SAMPLE_NEWEST + 2);
			tree_remove(&tree);
			break;
		}
		ck_assert_msg(attempt.rc == LANCET_CANCELLED, "%s", attempt.err.text);
		ck_assert_uint_le(newest, SAMPLE_NEWEST + 1);
		ck_assert_int_eq(files_in(&tree, "data"), DATA_FILES);
		ck_assert_int_eq(files_in(&tree, "_indices"), indices);
		before += newest == SAMPLE_NEWEST;
		refused++;
		tree_remove(&tree);
	}
	ck_assert_uint_gt(refused, 4);
	ck_assert_uint_gt(before, 3);
	tree_remove(&pristine);
}
END_TEST

UNIT_MAIN("rewrite_run", UNIT_TEST(outputs_have_each_live_row_once),
	UNIT_LOOP(storage_that_fails_loses_nothing, faults),
	UNIT_LOOP(cancelling_leaves_no_file, worker_counts))

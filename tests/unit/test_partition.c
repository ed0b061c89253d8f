/* Carrying out a partition: every live row once, nothing left of one that failed or was cancelled,
 * and rows that are deleted meanwhile don't come back. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include <lancet/transition.h>
#include "core/partition.h"
#include "partitioned.h"
#include "rewriterig.h"

#define DATA_FILES 6u

/* Labels of two bytes: row k of the sources gets k % 3. */
static int
make_labels(void)
{
	char name[TREE_ROOT_MAX];
	uint16_t labels[ROWS];
	int fd;

	tree_template(name);
	fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	(void)unlink(name);
	for (size_t i = 0; i < ROWS; i++)
		labels[i] = (uint16_t)(i % OUTPUTS);
	ck_assert_int_eq(write(fd, labels, sizeof(labels)), sizeof(labels));
	return fd;
}

static int
plan(lancet_version *version, const struct lancet_rewrite_run *run, lancet_rewrite **ret_rewrite,
	struct lancet_error *err)
{
	static const uint64_t fragments[SOURCES] = { 0, 3, 4 };
	const struct lancet_partition_options options = {
		.labels = make_labels(), .fragments = fragments, .fragment_count = SOURCES
	};
	int rc = lancet_partition_plan(version, &options, run, ret_rewrite, err);

	(void)close(options.labels);
	return rc;
}

static const struct attempt_kind partition = { NEWEST, plan };

/* All rows can be read, whatever the newest version is, which is returned. */
static uint64_t
look(const struct tree *tree, uint64_t rows)
{
	uint64_t fragments;

	return attempt_look(tree, rows, &fragments);
}

/* ---- rows ------------------------------------------------------------------------------- */

static const struct {
	unsigned workers;
	size_t memory;
} runs[] = { { 1, 0 }, { 2, 1 }, { 5, 1u << 20 } };
static const char runs_of_specs[ARRAY_SIZE(runs) * ARRAY_SIZE(partition_specs)];

struct column_values {
	size_t count;
	uint64_t a[ROWS];
};

/* Keeps "a"; "b" is 50000 more. */
static int
keep_rows(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	struct column_values *values = user;
	const uint64_t *a = batch->children[0]->buffers[1], *b = batch->children[1]->buffers[1];

	(void)err;
	for (int64_t i = 0; i < batch->length; i++) {
		ck_assert_uint_eq(b[i], a[i] + 50000);
		values->a[values->count++] = a[i];
	}
	return LANCET_OK;
}

static void
check_ids(lancet_version *version, uint64_t ordinal, const uint64_t *wanted, size_t count)
{
	lancet_fragment *fragment = NULL;
	lancet_column *column = NULL;
	uint64_t ids[ROWS];

	OK(lancet_fragment_open(version, ordinal, &fragment, &err));
	OK(lancet_column_open(fragment, LANCET_ROW_ID, &column, &err));
	ck_assert_uint_eq(lancet_column_rows(column), count);
	OK(lancet_column_read(column, 0, count, ids, &err));
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(ids[i], wanted[i]);
	lancet_column_free(column);
	lancet_fragment_unref(fragment);
}

static void
check_values(lancet_version *version, const struct dataset_spec *spec)
{
	struct column_values values = { 0 };
	lancet_scan *scan = NULL;
	size_t row = 0;

	OK(lancet_scan_open(version, NULL, &scan, &err));
	OK(lancet_scan_each(scan, keep_rows, &values, &err));
	lancet_scan_free(scan);
	ck_assert_uint_eq(lancet_version_info(version)->fragment_count, OUTPUTS);
	for (size_t i = 0; i < OUTPUTS; i++) {
		uint64_t wanted[ROWS];
		size_t count = list_output(spec, i, wanted);

		for (size_t k = 0; k < count; k++)
			ck_assert_uint_eq(values.a[row++], wanted[k]);
		if (spec->stable)
			check_ids(version, i, wanted, count);
	}
	ck_assert_uint_eq(row, values.count);
	ck_assert_uint_eq(row, LIVE_ROWS);
}

/* What the reuse history says of each row: with stable row ids there is none. */
static void
check_mapping(lancet_version *version, const struct dataset_spec *spec)
{
	const struct lancet_transition *transition;
	lancet_row_mapping *mapping = NULL;
	uint64_t addresses[ROWS];
	lancet_reuse *reuse;
	size_t row = 0;

	ck_assert(lancet_version_has_reuse(version) == !spec->stable);
	if (spec->stable)
		return;
	OK(lancet_version_reuse(version, &reuse, &err));
	transition = lancet_reuse_transition(reuse, 0);
	ck_assert_uint_eq(transition->mapping, LANCET_STABLE_PARTITION);
	ck_assert_uint_eq(transition->destination_count, OUTPUTS);
	OK(lancet_row_mapping_open(version, 0, &mapping, &err));
	OK(lancet_row_mapping_read(mapping, 0, ROWS, addresses, &err));
	lancet_row_mapping_free(mapping);
	for (size_t i = 0; i < SOURCES; i++) {
		for (uint32_t k = 0; k < spec->fragments[i].rows; k++, row++) {
			uint64_t wanted[ROWS], value = spec->fragments[i].base_a + k;
			size_t label = row % OUTPUTS, at = 0;
			size_t count = list_output(spec, label, wanted);

			while (at < count && wanted[at] != value)
				at++;
			ck_assert_uint_eq(addresses[row],
				at == count ? LANCET_NO_ROW
					    : (transition->destinations[label].id << 32 | at));
		}
	}
}

START_TEST(each_live_row_is_in_its_output)
{
	const struct dataset_spec *spec = &partition_specs[_i / (int)ARRAY_SIZE(runs)];
	struct attempt attempt = { .workers = runs[_i % (int)ARRAY_SIZE(runs)].workers,
		.memory = runs[_i % (int)ARRAY_SIZE(runs)].memory };
	struct tree tree = make_dataset(spec);
	lancet_dataset *dataset = sample_open(&tree);
	lancet_version *version = NULL;

	attempt.rc = attempt_on(dataset, &partition, &attempt);
	ck_assert_msg(attempt.rc == LANCET_OK, "%s", attempt.err.text);
	OK(lancet_version_open(dataset, attempt.version, &version, &err));
	check_values(version, spec);
	check_mapping(version, spec);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

/* What is deleted after the rows were read makes the partition a thing to be done again. */
START_TEST(rows_deleted_meanwhile_are_not_forgotten)
{
	struct attempt attempt = { .workers = 1, .deleted = "0:2;4:0" };
	struct tree tree = make_dataset(&partition_specs[_i]);
	lancet_dataset *dataset = sample_open(&tree);

	attempt.rc = attempt_on(dataset, &partition, &attempt);
	ck_assert_msg(attempt.rc == LANCET_BUSY, "%d: %s", attempt.rc, attempt.err.text);
	lancet_dataset_unref(dataset);
	ck_assert_uint_eq(look(&tree, LIVE_ROWS - 2), NEWEST + 2);
	ck_assert_int_eq(files_in(&tree, "data"), DATA_FILES);
	ck_assert_int_eq(files_in(&tree, "_fri"), 0);
	tree_remove(&tree);
}
END_TEST

/* ---- failures --------------------------------------------------------------------------- */

static const struct fault faults[] = {
	{ "EIO", EIO, 0 },
	{ "EIO, stable row ids", EIO, 0 },
	{ "EIO for good", EIO, STORE_FAULT_STAYS },
	{ "EIO for good, stable row ids", EIO, STORE_FAULT_STAYS },
	{ "EIO after it was done", EIO, STORE_FAULT_LATE },
	{ "ENOSPC, stable row ids", ENOSPC, 0 },
};

START_TEST(storage_that_fails_loses_nothing)
{
	struct tree pristine = make_dataset(&partition_specs[_i % 2]);
	unsigned failed = 0, clean = 0;
	uint64_t nth;

	for (nth = 1; nth < CALLS_MAX; nth++) {
		struct attempt attempt = { .workers = 1 };
		struct tree tree = sample_copy_of(&pristine);

		attempt_with_fault(&tree, &partition, nth, &faults[_i], &attempt);
		if (attempt.rc != LANCET_OK) {
			attempt_check_failed(&tree, &partition, &attempt, &faults[_i], nth,
				look(&tree, LIVE_ROWS), DATA_FILES);
			failed++;
			clean += files_in(&tree, "data") == (int)DATA_FILES;
		} else {
			ck_assert_uint_eq(look(&tree, LIVE_ROWS), NEWEST + 2);
		}
		tree_remove(&tree);
		if (attempt.rc == LANCET_OK && attempt.asks > 0 && failed > 40)
			break;
	}
	ck_assert_uint_lt(nth, CALLS_MAX);
	ck_assert_uint_gt(failed, 40);
	if ((faults[_i].flags & STORE_FAULT_STAYS) == 0)
		ck_assert_uint_gt(clean, failed - 8);
	tree_remove(&pristine);
}
END_TEST

static const unsigned worker_counts[] = { 1, 1, 3, 3 };

/* Whenever it is cancelled, until it has a version. */
START_TEST(cancelling_leaves_no_file)
{
	struct tree pristine = make_dataset(&partition_specs[_i % 2]);
	unsigned at, refused = 0, before = 0;

	for (at = 1; at < CALLS_MAX; at++) {
		struct attempt attempt = { .workers = worker_counts[_i], .cancel_at = at };
		struct tree tree = sample_copy_of(&pristine);
		uint64_t newest;

		attempt_with_fault(&tree, &partition, 0, &faults[0], &attempt);
		newest = look(&tree, LIVE_ROWS);
		if (attempt.rc == LANCET_OK) {
			ck_assert_uint_eq(newest, NEWEST + 2);
			tree_remove(&tree);
			break;
		}
		ck_assert_msg(attempt.rc == LANCET_CANCELLED, "%s", attempt.err.text);
		ck_assert_uint_le(newest, NEWEST + 1);
		ck_assert_int_eq(files_in(&tree, "data"), DATA_FILES);
		ck_assert_int_eq(files_in(&tree, "_fri"), 0);
		before += newest == NEWEST;
		refused++;
		tree_remove(&tree);
	}
	ck_assert_uint_gt(refused, 6);
	ck_assert_uint_gt(before, 5);
	tree_remove(&pristine);
}
END_TEST

UNIT_MAIN("partition", UNIT_LOOP(each_live_row_is_in_its_output, runs_of_specs),
	UNIT_LOOP(rows_deleted_meanwhile_are_not_forgotten, partition_specs),
	UNIT_LOOP(storage_that_fails_loses_nothing, faults),
	UNIT_LOOP(cancelling_leaves_no_file, worker_counts))

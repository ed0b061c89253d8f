/* Carrying out a partition: every live row once, nothing left of one that failed or was cancelled,
 * and rows that are deleted meanwhile don't come back. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include <lancet/rewrite.h>
#include <lancet/scan.h>
#include <lancet/transition.h>
#include "core/partition.h"
#include "partitioned.h"

#define DATA_FILES 6u
#define CALLS_MAX  2000u

struct attempt {
	unsigned asks, cancel_at; /* 0: never */
	unsigned workers;
	size_t memory;
	const char *deleted; /* addresses of rows that go before the commit; NULL: none */
	int rc;
	struct lancet_error err;
	uint64_t version;
};

static bool
cancelled(void *context)
{
	struct attempt *attempt = context;

	return ++attempt->asks == attempt->cancel_at;
}

/* Labels of two bytes: row k of the sources gets k % 3. */
static int
make_labels(void)
{
	char name[] = "/tmp/lancet-unit-labels.XXXXXX";
	uint16_t labels[ROWS];
	int fd = mkstemp(name);

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

static int
delete_rows(lancet_version *version, const char *addresses, struct lancet_error *err)
{
	struct lancet_commit_result result;
	lancet_change *change = NULL;
	uint64_t rows;
	int rc = lancet_change_delete_addrs(version, addresses, &change, &rows, err);

	if (rc == LANCET_OK)
		rc = lancet_commit(change, NULL, &result, err);
	lancet_change_free(change);
	return rc;
}

static int
plan_and_commit(lancet_dataset *dataset, struct attempt *attempt)
{
	const struct lancet_rewrite_run run = {
		.workers = attempt->workers,
		.memory = attempt->memory,
		.cancelled = cancelled,
		.context = attempt,
	};
	struct lancet_commit_result result = { 0 };
	struct lancet_error *err = &attempt->err;
	lancet_rewrite *rewrite = NULL;
	lancet_version *version = NULL;
	lancet_change *change = NULL;
	int rc = lancet_version_open(dataset, NEWEST, &version, err);

	if (rc == LANCET_OK)
		rc = plan(version, &run, &rewrite, err);
	if (rc == LANCET_OK)
		rc = lancet_rewrite_run(rewrite, &run, &change, err);
	if (rc == LANCET_OK && attempt->deleted != NULL)
		rc = delete_rows(version, attempt->deleted, err);
	if (rc == LANCET_OK)
		rc = lancet_commit(change, NULL, &result, err);
	attempt->version = result.version;
	lancet_change_free(change);
	lancet_rewrite_free(rewrite);
	lancet_version_unref(version);
	return rc;
}

static void
partition(const struct tree *tree, uint64_t nth, int os_errno, int flags, struct attempt *attempt)
{
	struct store *local = open_store(tree);
	struct store *store = store_fault_flags_new(local, nth, os_errno, flags);
	lancet_dataset *dataset = NULL;

	attempt->rc = dataset_open_store(store, "faulty", NULL, &dataset, &attempt->err);
	if (attempt->rc == LANCET_OK)
		attempt->rc = plan_and_commit(dataset, attempt);
	lancet_dataset_unref(dataset);
	store_unref(store);
	store_unref(local);
}

static int
count_rows(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	(void)err;
	*(uint64_t *)user += (uint64_t)batch->length;
	return LANCET_OK;
}

static uint64_t
rows_of(lancet_version *version)
{
	lancet_scan *scan = NULL;
	uint64_t rows = 0;

	OK(lancet_scan_open(version, NULL, &scan, &err));
	OK(lancet_scan_each(scan, count_rows, &rows, &err));
	lancet_scan_free(scan);
	return rows;
}

/* All rows can be read, whatever the newest version is, which is returned. */
static uint64_t
look(const struct tree *tree, uint64_t rows)
{
	lancet_dataset *dataset = sample_open(tree);
	lancet_version *version = NULL;
	uint64_t number = 0;

	OK(lancet_dataset_latest(dataset, &number, &err));
	OK(lancet_version_open(dataset, number, &version, &err));
	ck_assert_uint_eq(rows_of(version), rows);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return number;
}

static int
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

static struct tree
copy_of(const struct tree *pristine)
{
	struct tree tree = tree_new();

	sample_copy(pristine->root, tree.root, true);
	return tree;
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

	attempt.rc = plan_and_commit(dataset, &attempt);
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

	attempt.rc = plan_and_commit(dataset, &attempt);
	ck_assert_msg(attempt.rc == LANCET_BUSY, "%d: %s", attempt.rc, attempt.err.text);
	lancet_dataset_unref(dataset);
	ck_assert_uint_eq(look(&tree, LIVE_ROWS - 2), NEWEST + 2);
	ck_assert_int_eq(files_in(&tree, "data"), DATA_FILES);
	ck_assert_int_eq(files_in(&tree, "_fri"), 0);
	tree_remove(&tree);
}
END_TEST

/* ---- failures --------------------------------------------------------------------------- */

static const struct {
	const char *label;
	int os_errno, flags;
} faults[] = {
	{ "EIO", EIO, 0 },
	{ "EIO, stable row ids", EIO, 0 },
	{ "EIO for good", EIO, STORE_FAULT_STAYS },
	{ "EIO for good, stable row ids", EIO, STORE_FAULT_STAYS },
	{ "EIO after it was done", EIO, STORE_FAULT_LATE },
	{ "ENOSPC, stable row ids", ENOSPC, 0 },
};

/* At most one file is left over: when removing it was what failed. */
static void
check_failed(const struct tree *tree, const struct attempt *attempt, uint64_t nth, int row)
{
	bool unknown = strstr(attempt->err.text, "is not known") != NULL;
	uint64_t newest = look(tree, LIVE_ROWS);
	int left;

	ck_assert_msg(newest <= NEWEST + 1 || unknown, "%s at call %d: %s", faults[row].label,
		(int)nth, attempt->err.text);
	ck_assert_uint_eq(attempt->version, 0);
	ck_assert_msg(attempt->err.text[0] != '\0', "%s at call %d", faults[row].label, (int)nth);
	if ((faults[row].flags & STORE_FAULT_STAYS) != 0 || unknown)
		return;
	left = files_in(tree, "data") - (int)DATA_FILES;
	ck_assert_msg(left <= 1, "%s at call %d: %d files", faults[row].label, (int)nth, left);
}

START_TEST(storage_that_fails_loses_nothing)
{
	struct tree pristine = make_dataset(&partition_specs[_i % 2]);
	unsigned failed = 0, clean = 0;
	uint64_t nth;

	for (nth = 1; nth < CALLS_MAX; nth++) {
		struct attempt attempt = { .workers = 1 };
		struct tree tree = copy_of(&pristine);

		partition(&tree, nth, faults[_i].os_errno, faults[_i].flags, &attempt);
		if (attempt.rc != LANCET_OK) {
			check_failed(&tree, &attempt, nth, _i);
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
		struct tree tree = copy_of(&pristine);
		uint64_t newest;

		partition(&tree, 0, 0, 0, &attempt);
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

/* Scans with a condition, against a model: whatever the batches, offsets and limits. */
#include "scandata.h"
#include "unit.h"

#include <lancet/scan.h>

#define ROWS_MAX 64u

static const struct dataset_spec plain = { .count = 3,
	.fragments = {
		{ .id = 0,
			.rows = 10,
			.base_a = 100,
			.base_b = 500,
			.minor = 2,
			.deleted = { 4, { 0, 4, 5, 9 } } },
		{ .id = 3, .rows = 2, .base_a = 200, .minor = 2, .deleted = { 2, { 0, 1 } } },
		{ .id = 7, .rows = 6, .base_a = 300, .minor = 0 },
	} };

/* Values of "a" in live rows that fulfil it. */
static const struct {
	const char *where;
	size_t count;
	uint64_t values[12];
} conditions[] = {
	{ "true", 12, { 101, 102, 103, 106, 107, 108, 300, 301, 302, 303, 304, 305 } },
	{ "false", 0, { 0 } },
	{ "a % 2 = 0", 6, { 102, 106, 108, 300, 302, 304 } },
	{ "a >= 108 and a < 301", 2, { 108, 300 } },
	{ "a = 104 or a = 200 or a = 305", 1, { 305 } },
	{ "b > 505", 3, { 106, 107, 108 } },
	{ "b is null", 6, { 300, 301, 302, 303, 304, 305 } },
	{ "_rowaddr > 30064771072", 5, { 301, 302, 303, 304, 305 } },
	{ "_rowid = 3 or a + b = 612", 2, { 103, 106 } },
};

struct got {
	uint64_t values[ROWS_MAX];
	size_t rows, batches;
};

static int
scan_all(lancet_version *version, const struct lancet_scan_options *options, struct got *got,
	struct lancet_error *err)
{
	lancet_scan *scan = NULL;
	bool more = true;
	int rc = lancet_scan_open(version, options, &scan, err);

	*got = (struct got){ .rows = 0 };
	while (rc == LANCET_OK && more) {
		struct ArrowArray batch;

		rc = lancet_scan_next(scan, &batch, &more, err);
		if (rc != LANCET_OK || !more)
			break;
		ck_assert_int_ge(batch.length, 1);
		ck_assert_uint_le(got->rows + (size_t)batch.length, ROWS_MAX);
		memcpy(got->values + got->rows, batch.children[0]->buffers[1],
			(size_t)batch.length * sizeof(uint64_t));
		got->rows += (size_t)batch.length;
		got->batches++;
		batch.release(&batch);
	}
	lancet_scan_free(scan);
	return rc;
}

static void
check(lancet_version *version, size_t which, uint64_t offset, uint64_t limit, uint64_t batch)
{
	const struct lancet_scan_options options = { .columns = (const char *const[]){ "a" },
		.column_count = 1,
		.where = conditions[which].where,
		.offset = offset,
		.limit = limit,
		.batch_rows = batch };
	size_t count = conditions[which].count;
	size_t left = offset < count ? count - (size_t)offset : 0;
	struct lancet_error err = { 0 };
	struct got got;

	ck_assert_msg(scan_all(version, &options, &got, &err) == LANCET_OK, "%s", err.text);
	ck_assert_uint_eq(got.rows, left < limit ? left : limit);
	for (size_t i = 0; i < got.rows; i++)
		ck_assert_uint_eq(got.values[i], conditions[which].values[offset + i]);
	if (got.rows > 0) /* batches end with their fragments, and are full before */
		ck_assert_uint_le(got.batches, got.rows / batch + 2);
}

static lancet_version *
open_version(const struct tree *tree, lancet_dataset **ret_dataset)
{
	lancet_version *version = NULL;

	*ret_dataset = open_dataset(tree);
	ck_assert_int_eq(lancet_version_open(*ret_dataset, 1, &version, NULL), LANCET_OK);
	return version;
}

START_TEST(rows_that_fulfil_it_come_in_order)
{
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);

	for (uint64_t batch = 1; batch < 14; batch++) {
		for (uint64_t offset = 0; offset < 14; offset++) {
			for (uint64_t limit = 0; limit < 14; limit++)
				check(version, (size_t)_i, offset, limit, batch);
		}
	}
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(fragments_can_be_chosen_but_not_rows_too)
{
	const uint64_t ordinal = 2, id = 1;
	struct lancet_scan_options options = { .columns = (const char *const[]){ "a" },
		.column_count = 1,
		.where = "a % 2 = 0",
		.fragments = &ordinal,
		.fragment_count = 1,
		.limit = UINT64_MAX };
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct lancet_error err = { 0 };
	struct got got;

	ck_assert_int_eq(scan_all(version, &options, &got, &err), LANCET_OK);
	ck_assert_uint_eq(got.rows, 3);
	ck_assert_uint_eq(got.values[0], 300);
	options.fragments = NULL;
	options.row_ids = &id;
	options.row_id_count = 1;
	ck_assert_int_eq(scan_all(version, &options, &got, &err), LANCET_INVALID);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* A batch that is too wide for its bytes is shortened, and no row is lost by it. */
START_TEST(wide_rows_make_short_batches)
{
	struct lancet_scan_options options = { .columns = (const char *const[]){ "a" },
		.column_count = 1,
		.where = "a > 101",
		.batch_bytes = 24,
		.limit = UINT64_MAX };
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct lancet_error err = { 0 };
	struct got got;

	ck_assert_msg(scan_all(version, &options, &got, &err) == LANCET_OK, "%s", err.text);
	ck_assert_uint_eq(got.rows, 11);
	ck_assert_uint_eq(got.values[10], 305);
	ck_assert_uint_gt(got.batches, 4);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(what_is_wrong_is_told_with_its_place)
{
	static const struct {
		const char *where, *want;
	} wrong[] = {
		{ "a >", "where: at 4: a value" },
		{ "c = 1", "where: at 1: column \"c\": there is none" },
		{ "10 / (a - 102) > 0",
			"where: fragment 0, row 0 or later: at 4: divided by zero" },
	};
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const struct lancet_scan_options options = { .where = wrong[i].where,
			.limit = UINT64_MAX };
		struct lancet_error err = { 0 };
		struct got got;

		ck_assert_int_eq(scan_all(version, &options, &got, &err), LANCET_INVALID);
		ck_assert_msg(strncmp(err.text, wrong[i].want, strlen(wrong[i].want)) == 0, "%s",
			err.text);
	}
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("scan_where", UNIT_LOOP(rows_that_fulfil_it_come_in_order, conditions),
	UNIT_TEST(fragments_can_be_chosen_but_not_rows_too),
	UNIT_TEST(wide_rows_make_short_batches), UNIT_TEST(what_is_wrong_is_told_with_its_place))

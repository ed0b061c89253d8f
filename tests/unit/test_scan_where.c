/* Scans with a condition, against a model: whatever the batches, offsets and limits. */
#include "scanrows.h"

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
	struct got got = must_scan(version, &options);

	ck_assert_uint_eq(got.rows, left < limit ? left : limit);
	for (size_t i = 0; i < got.rows; i++)
		ck_assert_uint_eq(got.values[0][i], conditions[which].values[offset + i]);
	if (got.rows > 0) /* batches end with their fragments, and are full before */
		ck_assert_uint_le(got.batches, got.rows / batch + 2);
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
	ck_assert_uint_eq(got.values[0][0], 300);
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
	struct lancet_scan_options options = { .columns = (const char *const[]){ "a", "b" },
		.column_count = 2,
		.where = "a > 101",
		.batch_bytes = 24,
		.limit = UINT64_MAX };
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got = must_scan(version, &options);

	ck_assert_uint_eq(got.rows, 11);
	ck_assert_uint_eq(got.values[0][10], 305);
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

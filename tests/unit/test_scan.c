/* Scans against a model of a few lines: which rows there are, in which order, with which values. */
#include "scanrows.h"
#include "unit.h"

#include <inttypes.h>

static const char *const all_columns[] = { "b", "_rowid", "a" };

static size_t
model(const struct dataset_spec *spec, uint64_t rows[ROWS_MAX][3])
{
	size_t count = 0;

	for (size_t f = 0; f < spec->count; f++) {
		const struct fragment_spec *fragment = &spec->fragments[f];

		for (uint64_t row = 0; row < fragment->rows; row++) {
			bool dead = false;

			for (size_t i = 0; i < fragment->deleted.count; i++)
				dead = dead || fragment->deleted.values[i] == row;
			if (dead)
				continue;
			rows[count][0] = fragment->base_b != 0 ? fragment->base_b + row : NULL_A;
			rows[count][1] = (fragment->id << 32) + row;
			rows[count++][2] = fragment->base_a + row;
		}
	}
	return count;
}

static void
check_rows(const struct got *got, uint64_t rows[ROWS_MAX][3], size_t count)
{
	ck_assert_uint_eq(got->rows, count);
	for (size_t i = 0; i < count; i++) {
		for (size_t c = 0; c < 3; c++)
			ck_assert_msg(got->values[c][i] == rows[i][c], "row %zu column %zu", i, c);
	}
}

START_TEST(live_rows_come_in_order_whatever_the_batches)
{
	uint64_t rows[ROWS_MAX][3];
	size_t count = model(&plain, rows);
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);

	for (uint64_t batch = 1; batch < 14; batch++) {
		for (uint64_t offset = 0; offset < 15; offset++) {
			for (uint64_t limit = 0; limit < 15; limit++) {
				const struct lancet_scan_options options = { .columns = all_columns,
					.column_count = 3,
					.offset = offset,
					.limit = limit,
					.batch_rows = batch };
				struct got got = must_scan(version, &options);
				size_t left = offset < count ? count - offset : 0;

				check_rows(&got, rows + offset, left < limit ? left : limit);
			}
		}
	}
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(everything_is_the_default)
{
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got = must_scan(version, NULL);
	lancet_scan *scan;
	struct ArrowSchema schema;

	ck_assert_uint_eq(got.rows, 12);
	ck_assert_uint_eq(got.batches, 2);
	ck_assert(got.values[0][0] == 101 && got.values[1][0] == 501);
	ck_assert_int_eq(lancet_scan_open(version, NULL, &scan, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_scan_schema(scan, &schema, NULL), LANCET_OK);
	lancet_scan_free(scan);
	ck_assert_int_eq(schema.n_children, 2);
	ck_assert_str_eq(schema.children[1]->name, "b");
	ck_assert_str_eq(schema.children[1]->format, "L");
	schema.release(&schema);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_selection_of_fragments)
{
	const uint64_t ordinals[] = { 1, 2 };
	const struct lancet_scan_options options = { .columns = (const char *const[]){ "a" },
		.column_count = 1,
		.fragments = ordinals,
		.fragment_count = 2,
		.limit = UINT64_MAX };
	const struct lancet_scan_options none = { .limit = UINT64_MAX, .fragments = ordinals };
	const struct lancet_scan_options no_columns = { .limit = UINT64_MAX,
		.columns = all_columns };
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got = must_scan(version, &options);

	ck_assert_uint_eq(got.rows, 6);
	ck_assert_uint_eq(got.values[0][5], 305);
	got = must_scan(version, &none);
	ck_assert_uint_eq(got.rows, 0);
	got = must_scan(version, &no_columns);
	ck_assert_uint_eq(got.rows, 12);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

static const uint64_t backwards[] = { 2, 1 }, beyond[] = { 0, 3 }, one_id[] = { 1 };

static const struct {
	struct lancet_scan_options options;
	const char *text;
} refused[] = {
	{ { .columns = (const char *const[]){ "a", "c" }, .column_count = 2 }, "no column \"c\"" },
	{ { .columns = (const char *const[]){ "a", "b", "a" }, .column_count = 3 },
		"column \"a\" twice" },
	{ { .fragments = backwards, .fragment_count = 2 }, "fragments are not ascending" },
	{ { .fragments = beyond, .fragment_count = 2 }, "fragment ordinal 3 of 3" },
	{ { .fragments = one_id, .fragment_count = 1, .row_ids = one_id, .row_id_count = 1 },
		"rows by id, and fragments" },
};

START_TEST(nonsense_is_refused)
{
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct lancet_error err = { 0 };
	struct got got;

	ck_assert_int_eq(scan_all(version, &refused[_i].options, &got, &err), LANCET_INVALID);
	ck_assert_str_eq(err.text, refused[_i].text);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* Rows wider than a batch may be come one by one, and none is lost. */
START_TEST(narrow_batches_lose_no_rows)
{
	const struct lancet_scan_options options = { .limit = UINT64_MAX, .batch_bytes = 1 };
	const uint64_t ids[] = { 8, 7, 6, 7 };
	const struct lancet_scan_options by_id = {
		.limit = UINT64_MAX, .batch_bytes = 1, .row_ids = ids, .row_id_count = 4
	};
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got = must_scan(version, &options);

	ck_assert_uint_eq(got.rows, 12);
	ck_assert_uint_eq(got.batches, 12);
	ck_assert_uint_eq(got.values[0][11], 305);
	got = must_scan(version, &by_id);
	ck_assert_uint_eq(got.batches, 4);
	ck_assert(got.values[0][0] == 108 && got.values[0][1] == 107 && got.values[0][2] == 106 &&
		  got.values[0][3] == 107);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_row_may_take_so_much_by_itself)
{
	const struct lancet_scan_options one = { .limit = 1, .batch_bytes = 1, .row_bytes = 1 };
	struct tree tree = scandata_new(&plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got;

	ck_assert_int_eq(scan_all(version, &one, &got, NULL), LANCET_LIMIT);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* Row ids that moved: 11 is dead in fragment 0 and lives in fragment 1; 13 lives nowhere. */
static const struct dataset_spec stable = { .stable = true,
	.count = 3,
	.fragments = {
		{ .id = 0,
			.rows = 4,
			.base_a = 100,
			.minor = 2,
			.first_id = 10,
			.deleted = { 2, { 1, 3 } } },
		{ .id = 1,
			.rows = 3,
			.base_a = 200,
			.minor = 1,
			.id_count = 3,
			.ids = { 50, 11, 40 } },
		{ .id = 2, .rows = 5, .base_a = 300, .minor = 3, .first_id = 70, .spilled = true },
	} };

static const struct {
	bool stable;
	uint64_t ids[8];
	size_t count;
	uint64_t offset, limit;
	uint64_t want[8];
	size_t rows;
} takes[] = {
	{ true, { 10, 11, 12, 13 }, 4, 0, UINT64_MAX, { 100, 201, 102 }, 3 },
	{ true, { 74, 40, 10, 40, 74 }, 5, 0, UINT64_MAX, { 304, 202, 100, 202, 304 }, 5 },
	{ true, { 74, 40, 10, 40, 74 }, 5, 1, 3, { 202, 100, 202 }, 3 },
	{ true, { 13, 74, 13, 40, 999, UINT64_MAX, 0, 10 }, 8, 1, 5, { 202, 100 }, 2 },
	{ true, { 13 }, 1, 0, UINT64_MAX, { 0 }, 0 },
	{ true, { 0 }, 0, 0, UINT64_MAX, { 0 }, 0 },
	{ false, { (UINT64_C(7) << 32) + 5, 1, 2, (UINT64_C(7) << 32) }, 4, 0, UINT64_MAX,
		{ 305, 101, 102, 300 }, 4 },
	{ false, { 4, 1, 9, 10, UINT64_C(3) << 32, UINT64_C(4) << 32, UINT64_MAX, 2 }, 8, 0,
		UINT64_MAX, { 101, 102 }, 2 },
	{ false, { 4, 1, 1, 1, 2, 2, 5, 3 }, 8, 2, 3, { 101, 102, 102 }, 3 },
	{ false, { 3, 2, 1 }, 3, 3, 3, { 0 }, 0 },
};

START_TEST(rows_by_id_come_as_asked_for)
{
	struct tree tree = scandata_new(takes[_i].stable ? &stable : &plain);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);

	for (uint64_t batch = 1; batch < 9; batch++) {
		const struct lancet_scan_options options = { .columns = (const char *const[]){ "a",
								     "_rowid" },
			.column_count = 2,
			.row_ids = takes[_i].ids,
			.row_id_count = takes[_i].count,
			.offset = takes[_i].offset,
			.limit = takes[_i].limit,
			.batch_rows = batch };
		struct got got = must_scan(version, &options);

		ck_assert_uint_eq(got.rows, takes[_i].rows);
		for (size_t i = 0; i < got.rows; i++)
			ck_assert_uint_eq(got.values[0][i], takes[_i].want[i]);
	}
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(lineage_columns_stand_beside_the_others)
{
	static const char *const columns[] = { "_rowaddr", "_row_created_at_version", "_rowid" };
	static const uint64_t ids[] = { 10, 12, 50, 11, 40, 70, 71, 72, 73, 74 };
	const struct lancet_scan_options options = {
		.columns = columns, .column_count = 3, .limit = UINT64_MAX, .batch_rows = 2
	};
	struct tree tree = scandata_new(&stable), other;
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct got got = must_scan(version, &options);

	ck_assert_uint_eq(got.rows, 10);
	for (size_t i = 0; i < got.rows; i++) {
		ck_assert_uint_eq(got.values[1][i], 1);
		ck_assert_uint_eq(got.values[2][i], ids[i]);
	}
	ck_assert_uint_eq(got.values[0][1], 2);
	ck_assert_uint_eq(got.values[0][9], (UINT64_C(2) << 32) + 4);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
	other = scandata_new(&plain);
	version = open_version(&other, &dataset);
	got = must_scan(version, &options);
	ck_assert_uint_eq(got.values[1][0], 1); /* not recorded without stable row ids */
	lancet_version_unref(version);
	close_dataset(dataset, &other);
}
END_TEST

/* Of fragment 0: a0 covered by two overlays, the newer one null; a2 deleted; b by an overlay of its
 * own where no file has a column. */
static const struct dataset_spec overlaid = { .count = 1,
	.fragments = { { .id = 0,
		.rows = 8,
		.base_a = 100,
		.minor = 0,
		.deleted = { 1, { 2 } },
		.overlay_count = 3,
		.overlays = {
			{ .field = 0, .base = 1000, .version = 2, .covers = { 4, { 0, 2, 3, 6 } } },
			{ .field = 0,
				.base = 2000,
				.version = 3,
				.null_first = true,
				.covers = { 2, { 0, 7 } } },
			{ .field = 1, .base = 3000, .version = 3, .covers = { 2, { 1, 6 } } },
		} } } };

START_TEST(the_newest_overlay_counts)
{
	static const uint64_t want[][2] = { { NULL_A, NULL_A }, { 101, 3000 }, { 1002, NULL_A },
		{ 104, NULL_A }, { 105, NULL_A }, { 1003, 3001 }, { 2001, NULL_A } };
	static const uint64_t ids[] = { 7, 6, 5, 0, 6 };
	struct tree tree = scandata_new(&overlaid);
	lancet_dataset *dataset;
	lancet_version *version = open_version(&tree, &dataset);
	struct lancet_scan_options options = { .limit = UINT64_MAX };
	struct got got;

	for (options.batch_rows = 1; options.batch_rows < 9; options.batch_rows++) {
		got = must_scan(version, &options);
		ck_assert_uint_eq(got.rows, ARRAY_SIZE(want));
		for (size_t i = 0; i < got.rows; i++) {
			ck_assert_msg(got.values[0][i] == want[i][0], "a%zu: %" PRIu64, i,
				got.values[0][i]);
			ck_assert_msg(got.values[1][i] == want[i][1], "b%zu: %" PRIu64, i,
				got.values[1][i]);
		}
	}
	options.row_ids = ids;
	options.row_id_count = ARRAY_SIZE(ids);
	got = must_scan(version, &options);
	ck_assert_uint_eq(got.rows, 5);
	ck_assert(got.values[0][0] == 2001 && got.values[0][1] == 1003 && got.values[0][2] == 105 &&
		  got.values[0][3] == NULL_A && got.values[0][4] == 1003);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* Fragments whose manifest is wrong about their files: what it says of the file, and what comes of
 * it. */
static const struct {
	const char *label;
	struct dataset_spec spec;
	const char *remove; /* a file that is gone */
	int code;
	const char *text;
} damages[] = {
	{ "rows",
		{ .count = 1,
			.fragments = { { .id = 2,
				.rows = 4,
				.base_a = 1,
				.minor = 2,
				.base_b = 9,
				.overlay_count = 1,
				.overlays = { { .field = 5 } } } } },
		"ds/data/f2-1.lance", LANCET_IO, "data/f2-1.lance: the file is gone" },
	{ "deletions",
		{ .count = 1,
			.fragments = { { .id = 2,
				.rows = 4,
				.base_a = 1,
				.minor = 2,
				.deleted = { 1, { 3 } } } } },
		"ds/_deletions/2-1-7.bin", LANCET_IO, "_deletions/2-1-7.bin: the file is gone" },
};

START_TEST(lost_files_are_errors)
{
	struct tree tree = scandata_new(&damages[_i].spec);
	lancet_dataset *dataset;
	lancet_version *version;
	struct lancet_error err = { 0 };
	struct got got;

	tree_unlink(&tree, damages[_i].remove);
	version = open_version(&tree, &dataset);
	ck_assert_int_eq(scan_all(version, NULL, &got, &err), damages[_i].code);
	ck_assert_ptr_nonnull(strstr(err.text, damages[_i].text));
	ck_assert_msg(strstr(err.text, "fragment 2") == err.text, "%s", err.text);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* Each data file is opened once for a scan, and again for nothing. */
START_TEST(a_data_file_is_opened_once)
{
	struct tree tree = scandata_new(&plain);
	struct store_counts counts = { 0 };
	lancet_dataset *dataset = open_traced(&tree, &counts);
	lancet_version *version = NULL;
	const struct lancet_scan_options options = {
		.columns = all_columns, .column_count = 3, .limit = UINT64_MAX, .batch_rows = 1
	};
	uint64_t before;

	ck_assert_int_eq(lancet_version_open(dataset, 1, &version, NULL), LANCET_OK);
	before = counts.opens;
	(void)must_scan(version, &options);
	/* two columns, a deletion file; a fragment without live rows; one column */
	ck_assert_uint_eq(counts.opens - before, 4);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("scan", UNIT_TEST(live_rows_come_in_order_whatever_the_batches),
	UNIT_TEST(everything_is_the_default), UNIT_TEST(a_selection_of_fragments),
	UNIT_LOOP(nonsense_is_refused, refused), UNIT_TEST(narrow_batches_lose_no_rows),
	UNIT_TEST(a_row_may_take_so_much_by_itself), UNIT_LOOP(rows_by_id_come_as_asked_for, takes),
	UNIT_TEST(lineage_columns_stand_beside_the_others), UNIT_TEST(the_newest_overlay_counts),
	UNIT_LOOP(lost_files_are_errors, damages), UNIT_TEST(a_data_file_is_opened_once))

/* Lineage columns in data files: what a read costs, and columns that are none. */
#include "core/spilled.h"
#include "lineagefile.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>

#define ROWS_OF_4K  195 /* lines of 21 bytes */
#define BYTES_MAX   (64u * 1024)
#define DECODED_MAX 8192u
#define THREADS     4

static uint64_t
spread(uint64_t row)
{
	return (UINT64_C(1) << 40) + row * 5;
}

/* The value of any row: each page says the same. */
static uint64_t
value_of(const struct lineage_spec *spec, uint64_t row)
{
	return spec->value(row % spec->page_rows);
}

struct opened {
	struct buf bytes;
	struct test_source *src;
	struct spilled *spilled;
	uint64_t rows;
};

static int
open_spec(struct opened *opened, const struct lineage_spec *spec, uint32_t column, uint64_t rows,
	bool unique, struct lancet_error *err)
{
	struct datafile *file = NULL;
	int rc;

	*opened = (struct opened){ .bytes = lineage_file(spec), .rows = rows };
	opened->src = test_source_new(buf_slice(&opened->bytes), 0, NULL);
	rc = datafile_open(&opened->src->base, &file, err);
	if (rc == LANCET_OK)
		rc = spilled_open(file, column, rows, unique, &opened->spilled, err);
	datafile_unref(file);
	return rc;
}

static void
close_spec(struct opened *opened)
{
	spilled_free(opened->spilled);
	source_unref(&opened->src->base);
	buf_release(&opened->bytes);
}

static void
check_values(const struct opened *opened, const struct lineage_spec *spec, uint64_t first)
{
	const struct row_range range = { first, ROWS_OF_4K };
	uint64_t values[ROWS_OF_4K];
	struct lancet_error err = { 0 };

	ck_assert_msg(spilled_read(opened->spilled, &range, 1, values, NULL, &err) == LANCET_OK,
		"%s", err.text);
	for (uint64_t i = 0; i < ROWS_OF_4K; i++)
		ck_assert_msg(values[i] == value_of(spec, first + i), "row %" PRIu64, first + i);
}

/* One million and one hundred million rows of each file version; a fresh file for each read. */
static const struct lineage_spec costs[] = {
	{ .minor = 0, .page_rows = 1000000, .pages = 1, .value = spread },
	{ .minor = 0, .page_rows = 1000000, .pages = 100, .value = spread },
	{ .minor = 1, .page_rows = 1000000, .pages = 1, .value = spread },
	{ .minor = 1, .page_rows = 1000000, .pages = 100, .value = spread },
	{ .minor = 2, .page_rows = 1000000, .pages = 1, .value = spread },
	{ .minor = 2, .page_rows = 1000000, .pages = 100, .value = spread },
	{ .minor = 3, .page_rows = 1000000, .pages = 1, .value = spread },
	{ .minor = 3, .page_rows = 1000000, .pages = 100, .value = spread },
};

START_TEST(a_cold_read_costs_the_same_at_any_row)
{
	const struct lineage_spec *spec = &costs[_i];
	uint64_t rows = spec->page_rows * spec->pages;
	const uint64_t firsts[] = { 0, rows / 2 - 100, rows - ROWS_OF_4K };

	for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
		struct opened opened;
		struct lancet_error err = { 0 };

		ck_assert_msg(
			open_spec(&opened, spec, 0, rows, true, &err) == LANCET_OK, "%s", err.text);
		check_values(&opened, spec, firsts[i]);
		ck_assert_msg(opened.src->read_bytes <= BYTES_MAX, "%" PRIu64 " bytes read",
			opened.src->read_bytes);
		ck_assert_msg(spilled_decoded(opened.spilled) <= DECODED_MAX, "%" PRIu64 " decoded",
			spilled_decoded(opened.spilled));
		close_spec(&opened);
	}
}
END_TEST

START_TEST(ranges_give_their_rows_in_order)
{
	const struct lineage_spec spec = {
		.minor = 2, .page_rows = 10000, .pages = 3, .value = spread
	};
	struct row_range ranges[200];
	static uint64_t values[30000];
	struct opened opened;

	ck_assert_int_eq(open_spec(&opened, &spec, 0, 30000, false, NULL), LANCET_OK);
	for (uint64_t i = 0; i < 200; i++)
		ranges[i] = (struct row_range){ i * 150, 1 + i % 3 };
	ck_assert_int_eq(spilled_read(opened.spilled, ranges, 200, values, NULL, NULL), LANCET_OK);
	for (uint64_t i = 0, at = 0; i < 200; i++) {
		for (uint64_t j = 0; j < ranges[i].count; j++)
			ck_assert_uint_eq(values[at++], value_of(&spec, ranges[i].first + j));
	}
	ranges[0] = (struct row_range){ 0, 30000 };
	ck_assert_int_eq(spilled_read(opened.spilled, ranges, 1, values, NULL, NULL), LANCET_OK);
	for (uint64_t i = 0; i < 30000; i++)
		ck_assert_uint_eq(values[i], value_of(&spec, i));
	ck_assert_int_eq(spilled_read(opened.spilled, ranges, 0, values, NULL, NULL), LANCET_OK);
	close_spec(&opened);
}
END_TEST

static uint64_t
repeating(uint64_t row)
{
	return row == 7 ? 3 : 1000 - row;
}

static uint64_t
descending(uint64_t row)
{
	return 1000 - row;
}

static const struct {
	const char *label;
	struct lineage_spec spec;
	uint32_t column;
	uint64_t rows;
	bool unique;
	bool opens;
	const char *text;
} broken[] = {
	{ "no such column", { .minor = 2, .page_rows = 20, .pages = 1, .value = spread }, 1, 20,
		true, false, "no column 1, it has 1" },
	{ "one row less", { .minor = 2, .page_rows = 20, .pages = 1, .value = spread }, 0, 21, true,
		false, "column 0: 20 values for 21 rows" },
	{ "one row more", { .minor = 0, .page_rows = 20, .pages = 2, .value = spread }, 0, 39, true,
		false, "column 0: 40 values for 39 rows" },
	{ "another type",
		{ .minor = 2, .page_rows = 20, .pages = 1, .value = spread, .type = "int64" }, 0,
		20, true, false, "column 0 is of type int64" },
	{ "text", { .minor = 0, .page_rows = 20, .pages = 1, .value = spread, .type = "string" }, 0,
		20, true, false, "column 0 is of type string" },
	{ "nulls", { .minor = 0, .page_rows = 20, .pages = 1, .value = spread, .nulls = true }, 0,
		20, true, true, "1 nulls from row 0 on" },
	{ "an id twice", { .minor = 2, .page_rows = 20, .pages = 2, .value = descending }, 0, 40,
		true, true, "row id 1000 comes twice from row 0 on" },
	{ "an id twice in a page", { .minor = 3, .page_rows = 999, .pages = 1, .value = repeating },
		0, 999, true, true, "row id 3 comes twice from row 0 on" },
};

START_TEST(what_is_no_lineage_is_corrupt)
{
	struct opened opened;
	struct lancet_error err = { 0 };
	uint64_t values[1000];
	int rc = open_spec(&opened, &broken[_i].spec, broken[_i].column, broken[_i].rows,
		broken[_i].unique, &err);

	ck_assert_msg((rc == LANCET_OK) == broken[_i].opens, "%s: %s", broken[_i].label, err.text);
	if (rc == LANCET_OK)
		rc = spilled_read(
			opened.spilled, &(struct row_range){ 0, broken[_i].rows }, 1, values, NULL,
			&err);
	ck_assert_int_eq(rc, LANCET_CORRUPT);
	ck_assert_str_eq(err.text, broken[_i].text);
	close_spec(&opened);
}
END_TEST

/* A schema that says nothing about the column is no reason to refuse it. */
START_TEST(an_unknown_type_elsewhere_does_not_matter)
{
	const struct lineage_spec spec = {
		.minor = 2, .page_rows = 200, .pages = 1, .value = spread, .type = "something:new"
	};
	struct opened opened;

	ck_assert_int_eq(open_spec(&opened, &spec, 0, 200, true, NULL), LANCET_OK);
	check_values(&opened, &spec, 5);
	close_spec(&opened);
}
END_TEST

START_TEST(versions_may_repeat)
{
	const struct lineage_spec spec = {
		.minor = 1, .page_rows = 999, .pages = 1, .value = repeating
	};
	struct opened opened;

	ck_assert_int_eq(open_spec(&opened, &spec, 0, 999, false, NULL), LANCET_OK);
	check_values(&opened, &spec, 0);
	close_spec(&opened);
}
END_TEST

static const struct lineage_spec shared_spec = {
	.minor = 2, .page_rows = 50000, .pages = 4, .value = spread
};

static void *
read_rows(void *user)
{
	uint64_t state = (uintptr_t)&state | 1;

	for (unsigned i = 0; i < 300; i++) {
		struct row_range range = { next_random(&state) % 199000, 1000 };
		uint64_t values[1000];

		if (spilled_read(user, &range, 1, values, NULL, NULL) != LANCET_OK)
			return user;
		for (uint64_t j = 0; j < 1000; j++) {
			if (values[j] != value_of(&shared_spec, range.first + j))
				return user;
		}
	}
	return NULL;
}

START_TEST(many_threads_read_one_column)
{
	struct buf bytes = lineage_file(&shared_spec);
	struct datafile *file = NULL;
	struct spilled *spilled = NULL;
	pthread_t threads[THREADS];

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	ck_assert_int_eq(spilled_open(file, 0, 200000, true, &spilled, NULL), LANCET_OK);
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_rows, spilled), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *failed = spilled;

		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	spilled_free(spilled);
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

UNIT_MAIN("spilled", UNIT_LOOP(a_cold_read_costs_the_same_at_any_row, costs),
	UNIT_TEST(ranges_give_their_rows_in_order),
	UNIT_LOOP(what_is_no_lineage_is_corrupt, broken),
	UNIT_TEST(an_unknown_type_elsewhere_does_not_matter), UNIT_TEST(versions_may_repeat),
	UNIT_TEST(many_threads_read_one_column))

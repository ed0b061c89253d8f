/* Rows as users write them. */
#include "unit.h"

#include "core/row_ranges.h"

#include <inttypes.h>
#include <string.h>

#define RANGES_MAX 4

static const struct {
	const char *text;
	bool addrs;
	int want;
	struct row_id_range ranges[RANGES_MAX]; /* up to {1, 0} */
	const char *why;
} texts[] = {
	{ "5", false, LANCET_OK, { { 5, 5 }, { 1, 0 } }, NULL },
	{ "5,17-20", false, LANCET_OK, { { 5, 5 }, { 17, 20 }, { 1, 0 } }, NULL },
	{ "17-20,5,18-30,6", false, LANCET_OK, { { 5, 6 }, { 17, 30 }, { 1, 0 } }, NULL },
	{ "3-9,4-5,7", false, LANCET_OK, { { 3, 9 }, { 1, 0 } }, NULL },
	{ "0-4000000000", false, LANCET_OK, { { 0, 4000000000 }, { 1, 0 } }, NULL },
	{ "0-18446744073709551615,7", false, LANCET_OK, { { 0, UINT64_MAX }, { 1, 0 } }, NULL },
	{ "1:0", true, LANCET_OK, { { UINT64_C(1) << 32, UINT64_C(1) << 32 }, { 1, 0 } }, NULL },
	{ "0:3-4;0:1,5;2:0", true, LANCET_OK,
		{ { 1, 1 }, { 3, 5 }, { UINT64_C(2) << 32, UINT64_C(2) << 32 }, { 1, 0 } }, NULL },
	{ "", false, LANCET_INVALID, { { 1, 0 } }, "\"\": no row" },
	{ "1,,2", false, LANCET_INVALID, { { 1, 0 } }, "\"\": no row" },
	{ "1-2-3", false, LANCET_INVALID, { { 1, 0 } }, "\"1-2-3\": no row" },
	{ "2-1", false, LANCET_INVALID, { { 1, 0 } }, "ends before it begins" },
	{ "00", false, LANCET_INVALID, { { 1, 0 } }, "no row" },
	{ "18446744073709551616", false, LANCET_INVALID, { { 1, 0 } }, "no row" },
	{ "5", true, LANCET_INVALID, { { 1, 0 } }, "FRAGMENT:OFFSETS is due" },
	{ "", true, LANCET_INVALID, { { 1, 0 } }, "FRAGMENT:OFFSETS is due" },
	{ "x:1", true, LANCET_INVALID, { { 1, 0 } }, "FRAGMENT:OFFSETS is due" },
	{ "1:2;", true, LANCET_INVALID, { { 1, 0 } }, "FRAGMENT:OFFSETS is due" },
	{ "1:", true, LANCET_INVALID, { { 1, 0 } }, "no row" },
	{ "4294967295:0", true, LANCET_INVALID, { { 1, 0 } }, "no fragment has such an id" },
	{ "1:4294967296", true, LANCET_INVALID, { { 1, 0 } }, "no row has such a number" },
};

START_TEST(texts_become_ranges_in_order)
{
	struct row_ranges ranges = { 0 };
	struct lancet_error err = { 0 };
	size_t count = 0;
	int rc = texts[_i].addrs ? row_ranges_addrs(texts[_i].text, &ranges, &err)
				 : row_ranges_ids(texts[_i].text, &ranges, &err);

	ck_assert_msg(rc == texts[_i].want, "%s: %d %s", texts[_i].text, rc, err.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(err.text, texts[_i].why) != NULL, "%s", err.text);
		ck_assert_ptr_null(ranges.list);
		return;
	}
	for (; texts[_i].ranges[count].first <= texts[_i].ranges[count].last; count++) {
		ck_assert_uint_lt(count, ranges.count);
		ck_assert_uint_eq(ranges.list[count].first, texts[_i].ranges[count].first);
		ck_assert_uint_eq(ranges.list[count].last, texts[_i].ranges[count].last);
	}
	ck_assert_uint_eq(ranges.count, count);
	row_ranges_release(&ranges);
}
END_TEST

START_TEST(totals_and_places)
{
	struct row_ranges ranges;

	ck_assert_int_eq(
		row_ranges_ids("5,17-20,0-18446744073709551615", &ranges, NULL), LANCET_OK);
	ck_assert_uint_eq(row_ranges_total(&ranges, 100), 100);
	row_ranges_release(&ranges);
	ck_assert_int_eq(row_ranges_ids("5,17-20", &ranges, NULL), LANCET_OK);
	ck_assert_uint_eq(row_ranges_total(&ranges, 100), 5);
	ck_assert_uint_eq(row_ranges_total(&ranges, 5), 5);
	ck_assert_uint_eq(row_ranges_total(&ranges, 3), 3);
	ck_assert_uint_eq(row_ranges_find(&ranges, 0), 0);
	ck_assert_uint_eq(row_ranges_find(&ranges, 5), 0);
	ck_assert_uint_eq(row_ranges_find(&ranges, 6), 1);
	ck_assert_uint_eq(row_ranges_find(&ranges, 20), 1);
	ck_assert_uint_eq(row_ranges_find(&ranges, 21), 2);
	row_ranges_release(&ranges);
}
END_TEST

START_TEST(a_predicate_is_cut_when_it_is_long)
{
	struct row_ranges ranges;
	struct buf text = { 0 };

	ck_assert_int_eq(row_ranges_ids("5,17-20,30", &ranges, NULL), LANCET_OK);
	row_ranges_predicate(&ranges, "_rowid", 1000, &text);
	buf_put_byte(&text, '\0');
	ck_assert_str_eq(
		(const char *)text.data, "_rowid = 5 OR _rowid BETWEEN 17 AND 20 OR _rowid = 30");
	text.size = 0;
	row_ranges_predicate(&ranges, "_rowid", 12, &text);
	buf_put_byte(&text, '\0');
	ck_assert_str_eq((const char *)text.data, "_rowid = 5 OR _rowid BETWEEN 17 AND 20 OR ...");
	buf_release(&text);
	row_ranges_release(&ranges);
}
END_TEST

START_TEST(too_many_ranges_are_refused)
{
	struct row_ranges ranges;
	struct lancet_error err = { 0 };
	struct buf text = { 0 };

	for (unsigned i = 0; i <= ROW_RANGES_MAX; i++)
		buf_printf(&text, "%s%u", i > 0 ? "," : "", 2 * i);
	buf_put_byte(&text, '\0');
	ck_assert_int_eq(row_ranges_ids((const char *)text.data, &ranges, &err), LANCET_LIMIT);
	buf_release(&text);
}
END_TEST

UNIT_MAIN("row_ranges", UNIT_LOOP(texts_become_ranges_in_order, texts),
	UNIT_TEST(totals_and_places), UNIT_TEST(a_predicate_is_cut_when_it_is_long),
	UNIT_TEST(too_many_ranges_are_refused))

/* Full-zip pages written down from the format facts, pages that lie, and how little is read. */
#include "pages.h"

static const struct field u32 = { .kind = FIELD_FIXED, .bits = 32, .format = "I" };
static const struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &list[1], .child_count = 1 },
	{ .kind = FIELD_VARIABLE, .format = "u", .parent = &list[0] },
};
static struct field numbers[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &numbers[1], .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 16, .format = "S", .parent = &numbers[0] },
};
static struct field pair_items[] = { { .kind = FIELD_FIXED, .bits = 32, .format = "I" } };
static const struct field pair = { .kind = FIELD_FIXED_LIST,
	.dimension = 2,
	.format = "+w:2",
	.children = pair_items,
	.child_count = 1 };
static struct field packed_parts[] = {
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C" },
	{ .kind = FIELD_VARIABLE, .format = "u" },
};
static const struct field packed = { .kind = FIELD_STRUCT,
	.packed = true,
	.format = "+s",
	.children = packed_parts,
	.child_count = 2 };

/* FullZipLayout { bits_rep #1, bits_def #2, bits_per_value #3 or bits_per_offset #4, num_items #5,
 * num_visible_items #6, value_compression #7, layers #8 } */
#define TEXT       "3a08 1206 0a04 0a020820"
#define FLAT32     "3a04 0a020820"
#define PAIR       "3a0a 5a08 0802 1204 0a020820"
#define TEXT_PAGE  "1a15 1001 2020 2803 3003 " TEXT " 420103"
#define TEXT_BYTES "00 02000000 6162 01 00 03000000 636465"
#define LIST_PAGE  "1a18 0801 1002 2020 2805 3003 " TEXT " 42020306"
#define LIST_BYTES "04 01000000 61 01 06 07 04 02000000 6262"

static const struct page_row pages[] = {
	{ "text with nulls", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "00 07 08 10" }, 0,
		"'ab' - 'cde'" },
	{ "an index of 2 bytes", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "0000 0700 0800 1000" }, 0,
		"'ab' - 'cde'" },
	{ "an index of 8 bytes", 2, &text, 3, TEXT_PAGE,
		{ TEXT_BYTES,
			"0000000000000000 0700000000000000 0800000000000000 1000000000000000" },
		0, "'ab' - 'cde'" },
	{ "2.3", 3, &text, 3,
		"0a05 0a030a0103 1216 1214 0a08 1206 0a04 0a020820 1202 1001 2020 2803 3003",
		{ TEXT_BYTES, "00 07 08 10" }, 0, "'ab' - 'cde'" },
	{ "lengths of 8 bytes", 2, &text, 2, "1a13 2040 2802 3002 " TEXT " 420101",
		{ "0200000000000000 6162 0000000000000000", "00 0a 12" }, 0, "'ab' ''" },
	{ "lists of text", 2, &list[1], 4, LIST_PAGE, { LIST_BYTES, "00 07 08 09 10" }, 0,
		"'a' - 'bb' | 2 - 0 1" },
	{ "a control word of 4 bytes", 2, &text, 2, "1a15 1014 2020 2802 3002 " TEXT " 420103",
		{ "00000000 01000000 61 01000000", "00 09 0d" }, 0, "'a' -" },
	{ "lists of numbers", 2, &numbers[1], 3,
		"1a14 0801 1002 1810 2804 3003 3a04 0a020810 42020306",
		{ "04 0100 01 ffff 07 04 0200", "00 06 07 0a" }, 0, "1 - 2 | 2 0 1" },
	{ "numbers with nulls", 2, &u32, 3, "1a11 1001 1820 2803 3003 " FLAT32 " 420103",
		{ "00 01000000 01 99999999 00 03000000" }, 0, "1 - 3" },
	{ "numbers", 2, &u32, 3, "1a0f 1820 2803 3003 " FLAT32 " 420101",
		{ "01000000 02000000 03000000" }, 0, "1 2 3" },
	{ "fixed-size lists", 2, &pair, 2, "1a15 1840 2802 3002 " PAIR " 420101",
		{ "01000000 02000000 03000000 04000000" }, 0, "v12 v34" },
	{ "fixed-size lists with nulls", 2, &pair, 3, "1a17 1001 1840 2803 3003 " PAIR " 420103",
		{ "00 01000000 02000000 01 00000000 00000000 00 03000000 04000000" }, 0,
		"v12 - v34" },
	{ "packed structs with nulls", 2, &packed, 3,
		"1a27 1001 2020 2803 3003 3a1a 6a18 0a08 0a04 0a020808 1008"
		" 0a0c 0a08 1206 0a04 0a020820 1820 420103",
		{ "00 07000000 07 02000000 6162 01 00 05000000 08 00000000", "00 0c 0d 17" }, 0,
		"v7'ab' - v8''" },
	{ "no rows", 2, &text, 0, "1a11 1001 2020 " TEXT " 420103", { "", "00" }, 0, "" },

	{ "a length beyond the row", 2, &text, 3, TEXT_PAGE,
		{ "00 02000000 6162 01 00 04000000 636465", "00 07 08 10" }, LANCET_CORRUPT,
		"passes the end" },
	{ "half a length", 2, &text, 1, "1a15 1001 2020 2801 3001 " TEXT " 420103",
		{ "00 0200", "00 03" }, LANCET_CORRUPT, "passes the end" },
	{ "an index that descends", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "00 08 07 10" },
		LANCET_CORRUPT, "row 1 from 8 to 7" },
	{ "an index that begins late", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "01 07 08 10" },
		LANCET_CORRUPT, "row 0 from 1" },
	{ "an index that ends early", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "00 07 08 0f" },
		LANCET_CORRUPT, "row 2 from 8 to 15 of 16" },
	{ "an index beyond the bytes", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "00 07 11 10" },
		LANCET_CORRUPT, "row 1 from 7 to 17 of 16" },
	{ "an index of 3 bytes", 2, &text, 3, TEXT_PAGE,
		{ TEXT_BYTES, "000000 070000 080000 100000" }, LANCET_CORRUPT,
		"index of 12 bytes" },
	{ "an index of other rows", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES, "00 07 08" },
		LANCET_CORRUPT, "index of 3 bytes" },
	{ "no index", 2, &text, 3, TEXT_PAGE, { TEXT_BYTES }, LANCET_CORRUPT, "page of 1 buffers" },
	{ "two entries in a row", 2, &text, 2, "1a15 1001 2020 2803 3003 " TEXT " 420103",
		{ TEXT_BYTES, "00 08 10" }, LANCET_CORRUPT, "3 rows where 2" },
	{ "more entries than there are", 2, &list[1], 4,
		"1a18 0801 1002 2020 2804 3003 " TEXT " 42020306", { LIST_BYTES, "00 07 08 09 10" },
		LANCET_CORRUPT, "5 entries of 4" },
	{ "fewer entries than rows", 2, &text, 3, "1a15 1001 2020 2802 3002 " TEXT " 420103",
		{ TEXT_BYTES, "00 07 08 10" }, LANCET_CORRUPT, "2 entries of 3 rows" },
	{ "a level of no layer", 2, &text, 2, "1a15 1002 2020 2802 3002 " TEXT " 420103",
		{ "00 00000000 02", "00 05 06" }, LANCET_CORRUPT, "definition level 2 of 1" },
	{ "a level beyond 16 bits", 2, &text, 2, "1a15 1014 2020 2802 3002 " TEXT " 420103",
		{ "00000000 00000000 00000100", "00 08 0c" }, LANCET_CORRUPT,
		"definition level 65535 of 1" },
	{ "a row that begins inside of one", 2, &list[1], 4, LIST_PAGE,
		{ "00 01000000 61 01 06 07 04 02000000 6262", "00 07 08 09 10" }, LANCET_CORRUPT,
		"begins no row" },
	{ "levels of 33 bits", 2, &text, 3, "1a15 1021 2020 2803 3003 " TEXT " 420103",
		{ TEXT_BYTES, "00 07 08 10" }, LANCET_CORRUPT, "0 and 33 bits" },
	{ "lists without repetition levels", 2, &list[1], 4,
		"1a16 1002 2020 2805 3003 " TEXT " 42020306", { LIST_BYTES, "00 07 08 09 10" },
		LANCET_CORRUPT, "without repetition" },
	{ "lengths of 16 bits", 2, &text, 3, "1a15 1001 2010 2803 3003 " TEXT " 420103",
		{ TEXT_BYTES, "00 07 08 10" }, LANCET_CORRUPT, "lengths of 16 bits" },
	{ "values of 0 bits", 2, &u32, 3, "1a0f 1800 2803 3003 " FLAT32 " 420101",
		{ "01000000 02000000 03000000" }, LANCET_CORRUPT, "values of 0 bits" },
	{ "values of 12 bits", 2, &u32, 3, "1a0f 180c 2803 3003 " FLAT32 " 420101",
		{ "01000000 02000000 03000000" }, LANCET_CORRUPT, "values of 12 bits" },
	{ "values of no size", 2, &u32, 3, "1a0d 2803 3003 " FLAT32 " 420101",
		{ "01000000 02000000 03000000" }, LANCET_CORRUPT, "of no size" },
	{ "values narrower than their encoding", 2, &u32, 3,
		"1a0f 1810 2803 3003 " FLAT32 " 420101", { "0100 0200 0300" }, LANCET_CORRUPT,
		"flat" },
	{ "fewer bytes than rows", 2, &u32, 3, "1a0f 1820 2803 3003 " FLAT32 " 420101",
		{ "01000000 02000000" }, LANCET_CORRUPT, "8 bytes for 3 rows of 4" },
	{ "lists for numbers", 2, &u32, 2, "1a15 1840 2802 3002 " PAIR " 420101",
		{ "01000000 02000000 03000000 04000000" }, LANCET_CORRUPT,
		"where the type has none" },
	{ "no levels in 2.3", 3, &text, 3,
		"0a05 0a030a0103 1212 1210 0a08 1206 0a04 0a020820 2020 2803 3003",
		{ TEXT_BYTES, "00 07 08 10" }, LANCET_CORRUPT, "without levels" },
};

START_TEST(pages_are_read_or_refused)
{
	check_page_row(&pages[_i]);
}
END_TEST

#define ROWS     1000u
#define ROW_SIZE 300u /* the length and 296 bytes */

/* 1000 texts without nulls, of 296 bytes each. */
static void
open_long_texts(struct page_rig *rig)
{
	struct buf buffers[2] = { { 0 } };
	struct buf message = { 0 }, layout = page_hex("2020 " TEXT " 420101");
	const uint32_t length = ROW_SIZE - 4;

	for (uint32_t i = 0; i <= ROWS; i++) {
		uint32_t place = i * ROW_SIZE;

		buf_put(&buffers[1], &place, 4);
		if (i == ROWS)
			break;
		buf_put(&buffers[0], &length, 4);
		buf_printf(&buffers[0], "%08u", (unsigned)i);
		buf_fill(&buffers[0], 'x', length - 8);
	}
	put_number(&layout, 5, ROWS);
	put_number(&layout, 6, ROWS);
	put_message(&message, 3, &layout);
	ck_assert_msg(page_rig_open(rig, 2, &text, ROWS, message, buffers, 2) == LANCET_OK, "%s",
		rig->err.text);
	rig->source->reads = rig->source->read_bytes = 0;
}

static const struct {
	const char *label;
	struct row_range ranges[4];
	size_t count;
	uint64_t reads, bytes;
} costs[] = {
	{ "all", { { 0, 1000 } }, 1, 2, 1001 * 4 + 1000 * 300 },
	{ "one", { { 500, 1 } }, 1, 2, 2 * 4 + 300 },
	{ "two close ones share a read of the index", { { 100, 1 }, { 110, 1 } }, 2, 3,
		12 * 4 + 2 * 300 },
	{ "a few", { { 0, 3 }, { 10, 5 }, { 999, 1 } }, 3, 4, 1001 * 4 + 9 * 300 },
};

START_TEST(no_more_than_the_rows_is_read)
{
	struct page_rig rig;
	uint64_t at = 0;

	open_long_texts(&rig);
	ck_assert_uint_eq(rig.source->reads, 0);
	ck_assert_msg(page_rig_read(&rig, costs[_i].ranges, costs[_i].count) == LANCET_OK, "%s",
		rig.err.text);
	for (size_t i = 0; i < costs[_i].count; i++) {
		for (uint64_t row = 0; row < costs[_i].ranges[i].count; row++) {
			struct slice value = array_bytes(&rig.out.leaf, at++);
			char want[9];

			snprintf(want, sizeof(want), "%08u",
				(unsigned)(costs[_i].ranges[i].first + row));
			ck_assert_uint_eq(value.size, ROW_SIZE - 4);
			ck_assert(memcmp(value.data, want, 8) == 0);
		}
	}
	ck_assert_uint_eq(rig.out.leaf.length, at);
	ck_assert_uint_eq(rig.scratch.decoded, at);
	ck_assert_msg(rig.source->reads == costs[_i].reads, "%s: %d reads", costs[_i].label,
		(int)rig.source->reads);
	ck_assert_uint_eq(rig.source->read_bytes, costs[_i].bytes);
	page_rig_free(&rig);
}
END_TEST

START_TEST(numbers_go_straight_to_their_place)
{
	const struct row_range ranges[] = { { 0, 1 }, { 2, 1 } };
	struct buf buffers[1] = { page_hex("01000000 02000000 03000000") };
	struct page_rig rig;

	ck_assert_int_eq(page_rig_open(&rig, 2, &u32, 3,
				 page_hex("1a0f 1820 2803 3003 " FLAT32 " 420101"), buffers, 1),
		LANCET_OK);
	ck_assert_int_eq(page_rig_read(&rig, ranges, 2), LANCET_OK);
	ck_assert_str_eq((const char *)rig.text.data, "1 3");
	ck_assert_uint_eq(rig.source->read_bytes, 8);
	page_rig_free(&rig);
}
END_TEST

START_TEST(a_row_beyond_the_budget_is_refused_before_it_is_read)
{
	const struct row_range first = { 0, 1 };
	struct page_rig rig;

	open_long_texts(&rig);
	rig.budget.limit = 299;
	ck_assert_int_eq(page_rig_read(&rig, &first, 1), LANCET_LIMIT);
	ck_assert_uint_eq(rig.source->read_bytes, 8);
	page_rig_free(&rig);
}
END_TEST

START_TEST(every_flipped_bit_is_survived)
{
	for (size_t row = 0; row < ARRAY_SIZE(pages) && pages[row].want == LANCET_OK; row++) {
		for (size_t bit = 0; bit < 64 * 8 * 2; bit++) {
			const struct row_range all = { 0, pages[row].length };
			struct page_rig rig;
			uint8_t *byte;

			ck_assert_int_eq(open_page_row(&rig, &pages[row]), LANCET_OK);
			byte = &rig.bytes.data[bit / 8];
			if (bit / 8 < rig.bytes.size)
				*byte ^= (uint8_t)(1 << bit % 8);
			if (all.count > 0)
				(void)page_rig_read(&rig, &all, 1);
			page_rig_free(&rig);
		}
	}
}
END_TEST

UNIT_MAIN("fullzip", UNIT_LOOP(pages_are_read_or_refused, pages),
	UNIT_LOOP(no_more_than_the_rows_is_read, costs),
	UNIT_TEST(numbers_go_straight_to_their_place),
	UNIT_TEST(a_row_beyond_the_budget_is_refused_before_it_is_read),
	UNIT_TEST(every_flipped_bit_is_survived))

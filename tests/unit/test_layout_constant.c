/* Constant pages: one value, no value, and levels that lie in buffers. */
#include "pages.h"

static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };
static const struct field bit = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static const struct field wide = { .kind = FIELD_FIXED, .bits = 32, .format = "i" };
static const struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static const struct field large_text = { .kind = FIELD_VARIABLE, .large = true, .format = "U" };
static const struct field nothing = { .kind = FIELD_NULL, .format = "n" };
static const struct field empty = { .kind = FIELD_STRUCT, .format = "+s" };
static struct field pair_items[] = { { .kind = FIELD_FIXED, .bits = 16, .format = "s" } };
static const struct field pair = { .kind = FIELD_FIXED_LIST,
	.dimension = 2,
	.format = "+w:2",
	.children = pair_items,
	.child_count = 1 };
static struct field list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &list[1], .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 32, .format = "i", .parent = &list[0] },
};

/* ConstantLayout { layers #5, inline_value #6, rep_compression #7, def_compression #8,
 * num_rep_values #9, num_def_values #10 } */
static const struct page_row pages[] = {
	{ "a value in the message", 2, &u64, 3, "120d 2a0101 3208 1100000000000000", { NULL }, 0,
		"11 11 11" },
	{ "a bit", 2, &bit, 3, "1206 2a0101 320101", { NULL }, 0, "1 1 1" },
	{ "a value and nulls", 2, &wide, 3, "1209 2a0103 3204 05000000", { "", "0000 0100 0000" },
		0, "5 - 5" },
	{ "a value and packed levels", 2, &wide, 3, "1211 2a0103 3204 05000000 4204 0a020810 5003",
		{ "", "0000 0100 0000" }, 0, "5 - 5" },
	{ "a value in a buffer", 2, &wide, 2, "1203 2a0101", { "01000000 04000000 05000000" }, 0,
		"5 5" },
	{ "text in a buffer, and nulls", 2, &text, 3, "1203 2a0103",
		{ "02000000 08000000 02000000 00000000 02000000 6869", "", "0000 0100 0000" }, 0,
		"'hi' - 'hi'" },
	{ "large text in a buffer", 2, &large_text, 2, "1203 2a0101",
		{ "02000000 10000000 02000000 0000000000000000 0200000000000000 6869" }, 0,
		"'hi' 'hi'" },
	{ "fixed-size lists", 2, &pair, 2, "1209 2a0101 3204 01000200", { NULL }, 0, "v12 v12" },
	{ "a value in lists", 2, &list[1], 4, "120a 2a020306 3204 05000000",
		{ "0100 0000 0100 0100 0100", "0000 0100 0200 0300 0000" }, 0, "5 - 5 | 2 - 0 1" },
	{ "nulls", 2, &u64, 3, "1203 2a0103", { NULL }, 0, "- - -" },
	{ "nulls in 2.1", 1, &u64, 3, "1203 2a0103", { NULL }, 0, "- - -" },
	{ "nulls of text", 2, &text, 3, "1203 2a0103", { NULL }, 0, "- - -" },
	{ "nulls of the null type", 2, &nothing, 2, "1203 2a0103", { NULL }, 0, "- -" },
	{ "structs without parts", 2, &empty, 3, "1203 2a0103", { NULL }, 0, "v v v" },
	{ "no values in lists", 1, &list[1], 5, "1204 2a020306",
		{ "0100 0100 0000 0100 0100 0100", "0200 0100 0100 0300 0200 0100" }, 0,
		"- - - | - 2 0 - 1" },
	{ "lists that have no items", 2, &list[1], 2,
		"1214 2a020106 3a04 0a020810 4204 0a020810 4802"
		" 5002",
		{ "0100 0100", "0100 0200" }, 0, " | - 0" },
	{ "2.3, a value", 3, &u64, 2, "0a05 0a030a0101 120c 1a0a 0a08 1100000000000000", { NULL },
		0, "11 11" },
	{ "2.3, none", 3, &u64, 2, "0a05 0a030a0103 1202 2200", { NULL }, 0, "- -" },

	{ "a value in 2.1", 1, &u64, 3, "120d 2a0101 3208 1100000000000000", { NULL },
		LANCET_CORRUPT, "a value in a file of 2.1" },
	{ "a value of another width", 2, &u64, 3, "1209 2a0101 3204 11000000", { NULL },
		LANCET_CORRUPT, "a value of 4 bytes" },
	{ "a value of no bytes", 2, &u64, 3, "1205 2a0101 3200", { NULL }, LANCET_CORRUPT,
		"a value of 0 bytes" },
	{ "a number for text", 2, &text, 3, "1209 2a0101 3204 11000000", { NULL }, LANCET_CORRUPT,
		"of a fixed size" },
	{ "text for a number", 2, &u64, 1, "1203 2a0101",
		{ "02000000 08000000 02000000 00000000 02000000 6869" }, LANCET_CORRUPT,
		"offsets of 8 bytes" },
	{ "offsets of another width", 2, &large_text, 1, "1203 2a0101",
		{ "02000000 08000000 02000000 00000000 02000000 6869" }, LANCET_CORRUPT,
		"offsets of 8 bytes" },
	{ "offsets beyond the bytes", 2, &text, 1, "1203 2a0101",
		{ "02000000 08000000 02000000 00000000 03000000 6869" }, LANCET_CORRUPT,
		"end at 3 of 2" },
	{ "a value buffer of three parts", 2, &text, 1, "1203 2a0101",
		{ "03000000 00000000 00000000 00000000" }, LANCET_CORRUPT, "of 3 parts" },
	{ "a value buffer that is too short", 2, &text, 1, "1203 2a0101",
		{ "02000000 08000000 03000000 00000000 02000000 6869" }, LANCET_CORRUPT,
		"make up" },
	{ "an empty value buffer", 2, &text, 1, "1203 2a0101", { "" }, LANCET_CORRUPT,
		"of 0 parts" },
	{ "a value among nulls", 1, &list[1], 1, "1204 2a020306", { "0100", "0000" },
		LANCET_CORRUPT, "a value in a page of nulls" },
	{ "lists without levels", 2, &list[1], 1, "1204 2a020306", { NULL }, LANCET_CORRUPT,
		"without repetition" },
	{ "four buffers", 2, &list[1], 1, "1204 2a020306", { "0100", "0300", "", "" },
		LANCET_CORRUPT, "page of 4 buffers" },
	{ "levels of other rows", 1, &list[1], 3, "1204 2a020306", { "0100 0100", "0300 0300" },
		LANCET_CORRUPT, "levels of 2 rows where there are 3" },
	{ "levels of different number", 1, &list[1], 2, "1204 2a020306",
		{ "0100 0100", "0300 0300 0300" }, LANCET_CORRUPT, "2 repetition and 3" },
	{ "half a level", 1, &list[1], 1, "1204 2a020306", { "0100 01", "0300" }, LANCET_CORRUPT,
		"3 bytes of levels" },
	{ "a level of no layer", 1, &list[1], 1, "1204 2a020306", { "0100", "0400" },
		LANCET_CORRUPT, "definition level 4 of 3" },
	{ "fewer levels than rows", 2, &wide, 3, "1209 2a0103 3204 05000000", { "", "0000 0100" },
		LANCET_CORRUPT, "levels of 2 rows where there are 3" },
	{ "2.3, a value and levels", 3, &u64, 2, "0a05 0a030a0103 120c 1a0a 0a08 1100000000000000",
		{ NULL }, LANCET_CORRUPT, "with levels" },
	{ "2.3, none for valid values", 3, &u64, 2, "0a05 0a030a0101 1202 2200", { NULL },
		LANCET_CORRUPT, "with levels" },
	{ "2.3, a buffer too many", 3, &u64, 2, "0a05 0a030a0103 1202 2200", { "00" },
		LANCET_CORRUPT, "page of 1 buffers" },
};

START_TEST(pages_are_read_or_refused)
{
	check_page_row(&pages[_i]);
}
END_TEST

START_TEST(levels_are_decoded_once)
{
	const struct row_range second = { 1, 1 };
	struct page_rig rig;

	ck_assert_int_eq(open_page_row(&rig, &pages[2]), LANCET_OK);
	ck_assert_uint_eq(rig.source->reads, 0);
	ck_assert_int_eq(page_rig_read(&rig, &second, 1), LANCET_OK);
	ck_assert_str_eq((const char *)rig.text.data, "-");
	rig.source->reads = 0;
	ck_assert_int_eq(page_rig_read(&rig, &second, 1), LANCET_OK);
	ck_assert_uint_eq(rig.source->reads, 0);
	page_rig_free(&rig);
}
END_TEST

START_TEST(nulls_are_counted_where_the_page_tells)
{
	struct page_rig rig;
	uint64_t nulls = 7;

	ck_assert_int_eq(open_page_row(&rig, &pages[9]), LANCET_OK);
	ck_assert(rig.reader.layout->null_count(&rig.reader, &nulls));
	ck_assert_uint_eq(nulls, 3);
	page_rig_free(&rig);
	ck_assert_int_eq(open_page_row(&rig, &pages[2]), LANCET_OK);
	ck_assert(!rig.reader.layout->null_count(&rig.reader, &nulls));
	page_rig_free(&rig);
	ck_assert_int_eq(open_page_row(&rig, &pages[0]), LANCET_OK);
	ck_assert(rig.reader.layout->null_count(&rig.reader, &nulls));
	ck_assert_uint_eq(nulls, 0);
	page_rig_free(&rig);
}
END_TEST

UNIT_MAIN("layout_constant", UNIT_LOOP(pages_are_read_or_refused, pages),
	UNIT_TEST(levels_are_decoded_once), UNIT_TEST(nulls_are_counted_where_the_page_tells))

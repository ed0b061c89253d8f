/* Blob pages of 2.1 and 2.2: bytes, and descriptions. As blobs serve bytes that the file has
 * anyway: the padding behind the first buffer, and the magic at its end. */
#include "pages.h"

static const struct field binary = { .kind = FIELD_VARIABLE, .large = true, .format = "Z" };
static struct field parts[] = {
	{ .kind = FIELD_FIXED, .bits = 64, .format = "L" },
	{ .kind = FIELD_FIXED, .bits = 64, .format = "L" },
};
static const struct field description = {
	.kind = FIELD_STRUCT, .format = "+s", .children = parts, .child_count = 2
};
static const struct field number = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };
static struct field list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &list[1], .child_count = 1 },
	{ .kind = FIELD_VARIABLE, .large = true, .format = "Z", .parent = &list[0] },
};
static struct field holder[2] = {
	{ .kind = FIELD_STRUCT, .format = "+s", .children = &holder[1], .child_count = 1 },
	{ .kind = FIELD_VARIABLE, .large = true, .format = "Z", .parent = &holder[0] },
};

/* BlobLayout { inner_layout #1: PageLayout, layers #2 }; inside are three packed structs of two
 * 64-bit numbers in a mini-block. */
#define INNER "0a1a 0a18 1a0d 620b 0a024040 1205 0a03088001 320101 3801 4803 5001"
#define PAGE  "221f " INNER " 120103"
#define WORDS "60000000"
#define CHUNK "0000 30000000 fefe "
#define HHH   "0400000000000000 0300000000000000 "
#define LANC  "b600000000000000 0400000000000000 "
#define EMPTY "0000000000000000 0000000000000000 "
#define NULL1 "0000010000000000 0000000000000000 "
#define NULL2 "0000020000000000 0000000000000000 "

static const struct page_row pages[] = {
	{ "bytes", 2, &binary, 3, PAGE, { WORDS, CHUNK HHH NULL1 LANC }, 0, "'HHH' - 'LANC'" },
	{ "an empty one", 2, &binary, 3, PAGE, { WORDS, CHUNK LANC EMPTY HHH }, 0,
		"'LANC' '' 'HHH'" },
	{ "neighbours", 2, &binary, 3, PAGE,
		{ WORDS, CHUNK HHH EMPTY "0800000000000000 0200000000000000" }, 0,
		"'HHH' '' 'HH'" },
	{ "descriptions", 2, &description, 3, PAGE, { WORDS, CHUNK HHH NULL1 EMPTY }, 0,
		"v43 - v00" },
	{ "in structs", 2, &holder[1], 3, "2220 " INNER " 12020303",
		{ WORDS, CHUNK HHH NULL2 NULL1 }, 0, "'HHH' - - | v - v" },

	{ "beyond the file", 2, &binary, 3, PAGE,
		{ WORDS, CHUNK HHH EMPTY "b700000000000000 0400000000000000" }, LANCET_CORRUPT,
		"a blob of 4 bytes at 183 of 186" },
	{ "a position that wraps", 2, &binary, 3, PAGE,
		{ WORDS, CHUNK HHH EMPTY "ffffffffffffffff 0400000000000000" }, LANCET_CORRUPT,
		"a blob of 4 bytes at 18446744073709551615" },
	{ "an enormous one", 2, &binary, 3, PAGE,
		{ WORDS, CHUNK HHH EMPTY "0400000000000000 ffffffffffffffff" }, LANCET_CORRUPT,
		"a blob of 18446744073709551615 bytes" },
	{ "a level of no layer", 2, &binary, 3, PAGE, { WORDS, CHUNK HHH NULL2 LANC },
		LANCET_CORRUPT, "definition level 2 of 1" },
	{ "a repetition level", 2, &binary, 3, PAGE,
		{ WORDS, CHUNK HHH "0100000000000000 0000000000000000" LANC }, LANCET_CORRUPT,
		"no lists" },
	{ "in lists", 2, &list[1], 3, "2220 " INNER " 12020306", { WORDS, CHUNK HHH NULL1 LANC },
		LANCET_UNSUPPORTED, "blobs in lists" },
	{ "a number", 2, &number, 3, PAGE, { WORDS, CHUNK HHH NULL1 LANC }, LANCET_CORRUPT,
		"no blob" },
	{ "blobs of blobs", 2, &binary, 3, "2226 0a21 " PAGE " 120103",
		{ WORDS, CHUNK HHH NULL1 LANC }, LANCET_CORRUPT, "blobs of blobs" },
	{ "nothing inside", 2, &binary, 3, "2203 120103", { WORDS, CHUNK HHH NULL1 LANC },
		LANCET_CORRUPT, "unknown kind" },
};

START_TEST(pages_are_read_or_refused)
{
	check_page_row(&pages[_i]);
}
END_TEST

START_TEST(neighbours_are_one_read)
{
	const struct row_range all = { 0, 3 };
	struct page_rig rig;

	ck_assert_int_eq(open_page_row(&rig, &pages[2]), LANCET_OK);
	rig.source->reads = rig.source->read_bytes = 0;
	ck_assert_int_eq(page_rig_read(&rig, &all, 1), LANCET_OK);
	ck_assert_uint_eq(rig.source->reads, 2);
	ck_assert_uint_eq(rig.source->read_bytes, 56 + 6);
	page_rig_free(&rig);
}
END_TEST

START_TEST(a_blob_beyond_the_budget_is_not_read)
{
	const struct row_range all = { 0, 3 };
	struct page_rig rig;

	ck_assert_int_eq(open_page_row(&rig, &pages[0]), LANCET_OK);
	rig.budget.limit = 3;
	ck_assert_int_eq(page_rig_read(&rig, &all, 1), LANCET_LIMIT);
	page_rig_free(&rig);
}
END_TEST

UNIT_MAIN("layout_blob", UNIT_LOOP(pages_are_read_or_refused, pages),
	UNIT_TEST(neighbours_are_one_read), UNIT_TEST(a_blob_beyond_the_budget_is_not_read))

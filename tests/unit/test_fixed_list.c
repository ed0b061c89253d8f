/* Fixed-size lists: in chunks, alone and in blocks; validity of items; products that wrap. */
#include "nested.h"

/* FixedSizeList { items_per_value #1, values #2, has_validity #3 } */
#define THREE    "5a08 0803 1204 0a020810"
#define THREE_N  "5a0a 0803 1204 0a020810 1801"
#define NESTED   "5a0e 0802 120a 5a08 0802 1204 0a020808"
#define NESTED_N "5a12 0802 120c 5a0a 0802 1204 0a020808 1801 1801"
#define BITS     "5a08 0803 1204 0a020801"
#define BITS_N   "5a0a 0803 1204 0a020801 1801"
#define NULLS    "5a06 0803 1202 1a00"
#define NULLS_N  "5a08 0803 1202 1a00 1801"

static struct field numbers[] = { { .kind = FIELD_FIXED, .bits = 16, .format = "S" } };
static struct field bytes[] = { { .kind = FIELD_FIXED, .bits = 8, .format = "C" } };
static struct field bits[] = { { .kind = FIELD_FIXED, .bits = 1, .format = "b" } };

#define LIST(of, size)                                                                             \
	{                                                                                          \
		.kind = FIELD_FIXED_LIST, .dimension = size, .format = "+w", .children = of,       \
		.child_count = 1                                                                   \
	}
static const struct field three = LIST(numbers, 3);
static const struct field three_bits = LIST(bits, 3);
static struct field pair[] = { LIST(bytes, 2) };
static const struct field pairs = LIST(pair, 2);

static const struct codec_row rows[] = {
	{ "a chunk", THREE, CODEC_MINI, 0, &three, 2, { "010002000300 040005000600" }, LANCET_OK,
		"v123 v456" },
	{ "items that are null", THREE_N, CODEC_MINI, 0, &three, 2,
		{ "2d", "010002000300 040005000600" }, LANCET_OK, "v1-3 v4-6" },
	{ "lists of lists", NESTED, CODEC_MINI, 0, &pairs, 2, { "0102030405060708" }, LANCET_OK,
		"vv12v34 vv56v78" },
	{ "nulls of both", NESTED_N, CODEC_MINI, 0, &pairs, 2, { "0e", "f6", "0102030405060708" },
		LANCET_OK, "v-v3- vv56v78" },
	{ "bits run on", BITS, CODEC_MINI, 0, &three_bits, 3, { "4500" }, LANCET_OK,
		"v101 v000 v100" },
	{ "nulls among bits", BITS_N, CODEC_MINI, 0, &three_bits, 2, { "37", "05" }, LANCET_OK,
		"v101 v-00" },
	{ "nulls alone", NULLS, CODEC_MINI, FILE_2_3, &three, 2, { NULL }, LANCET_OK, "v--- v---" },
	{ "nulls that are told", NULLS_N, CODEC_MINI, 0, &three, 2, { "00" }, LANCET_OK,
		"v--- v---" },
	{ "none", THREE_N, CODEC_MINI, 0, &three, 0, { "", "" }, LANCET_OK, "" },
	{ "values", THREE, CODEC_FIXED, 0, &three, 2, { "010002000300", "040005000600" }, LANCET_OK,
		"v123 v456" },
	{ "values with nulls", THREE_N, CODEC_FIXED, 0, &three, 2,
		{ "05 010002000300", "06 040005000600" }, LANCET_OK, "v1-3 v-56" },
	{ "values with nulls of both", NESTED_N, CODEC_FIXED, 0, &pairs, 2,
		{ "02 0e 01020304", "03 0f 05060708" }, LANCET_OK, "v-v34 vv56v78" },
	{ "bits begin with each value", BITS, CODEC_FIXED, 0, &three_bits, 2, { "05", "06" },
		LANCET_OK, "v101 v011" },
	{ "bits with nulls", BITS_N, CODEC_FIXED, 0, &three_bits, 2, { "0305", "0706" }, LANCET_OK,
		"v10- v011" },
	{ "values of nulls", NULLS, CODEC_FIXED, 0, &three, 2, { "", "" }, LANCET_OK, "v--- v---" },
	{ "values of nulls that are told", NULLS_N, CODEC_FIXED, 0, &three, 2, { "00", "00" },
		LANCET_OK, "v--- v---" },
	{ "a block", THREE, CODEC_BLOCK, 0, &three, 2, { "010002000300 040005000600" }, LANCET_OK,
		"v123 v456" },
	{ "a block of values with nulls", THREE_N, CODEC_BLOCK, FILE_2_3, &three, 2,
		{ "05 010002000300 06 040005000600" }, LANCET_OK, "v1-3 v-56" },
	{ "a block with nulls of both", NESTED_N, CODEC_BLOCK, FILE_2_3, &pairs, 2,
		{ "02 0e 01020304 03 0f 05060708" }, LANCET_OK, "v-v34 vv56v78" },
	{ "a block of bits", BITS, CODEC_BLOCK, 0, &three_bits, 3, { "4500" }, LANCET_OK,
		"v101 v000 v100" },
	{ "a block of nulls", NULLS, CODEC_BLOCK, FILE_2_3, &three, 2, { "" }, LANCET_OK,
		"v--- v---" },

	{ "a byte short", THREE, CODEC_MINI, 0, &three, 2, { "010002000300 0400050006" },
		LANCET_CORRUPT, "11 bytes for 6 items of 16 bits" },
	{ "a bitmap short", THREE_N, CODEC_MINI, 0, &three, 3,
		{ "ff", "010002000300 040005000600 010002000300" }, LANCET_CORRUPT,
		"1 bytes tell the validity of 9 items" },
	{ "a buffer short", THREE_N, CODEC_MINI, 0, &three, 1, { "ff" }, LANCET_CORRUPT,
		"fixed_size_list: 1 buffers, 2 needed" },
	{ "a value short", THREE, CODEC_FIXED, 0, &three, 2, { "010002000300", "0400050006" },
		LANCET_CORRUPT, "a value of 5 bytes, 6 expected" },
	{ "a value too long", THREE, CODEC_FIXED, 0, &three, 1, { "01000200030000" },
		LANCET_CORRUPT, "a value of 7 bytes, 6 expected" },
	{ "a block short", THREE_N, CODEC_BLOCK, FILE_2_3, &three, 2,
		{ "05 010002000300 06 0400050006" }, LANCET_CORRUPT, "13 bytes for 2 values of 7" },
	{ "2^60 lists", THREE, CODEC_MINI, 0, &three, UINT64_C(1) << 60, { "0100" }, LANCET_CORRUPT,
		"2 bytes for" },
	{ "lists that wrap", THREE, CODEC_MINI, 0, &three, UINT64_MAX / 3 + 1, { "0100" },
		LANCET_LIMIT, "too many" },
	{ "2^60 lists in a block", THREE_N, CODEC_BLOCK, FILE_2_3, &three, UINT64_C(1) << 60,
		{ "0100" }, LANCET_CORRUPT, "2 bytes for" },
	{ "2^60 lists of nulls", NULLS, CODEC_BLOCK, FILE_2_3, &three, UINT64_C(1) << 60, { "" },
		LANCET_LIMIT, "ask for fewer rows" },
	{ "another dimension", NESTED, CODEC_MINI, 0, &three, 1, { "01020304" }, LANCET_CORRUPT,
		"2 items, 3 expected" },
	{ "another width", "5a08 0803 1204 0a020820", CODEC_MINI, 0, &three, 1,
		{ "010203040506070809101112" }, LANCET_CORRUPT, "values of 32 bits, 16 expected" },
	{ "lists where the type has none", THREE, CODEC_MINI, 0, &codec_u16, 1, { "010002000300" },
		LANCET_CORRUPT, "lists where the type has none" },
	{ "lists one deeper than the type", NESTED, CODEC_MINI, 0, pair, 1, { "01020304" },
		LANCET_CORRUPT, "lists where the type has none" },
	{ "items where the type has lists", THREE, CODEC_MINI, 0, &pairs, 1, { "010002000300" },
		LANCET_CORRUPT, "3 items, 2 expected" },
	{ "no items", "5a06 1204 0a020810", CODEC_MINI, 0, &three, 0, { "" }, LANCET_CORRUPT,
		"fixed_size_list: no items" },
	{ "no message", "5a02 0803", CODEC_MINI, 0, &three, 0, { "" }, LANCET_CORRUPT,
		"unknown kind" },
	{ "2^63 items", "5a11 0880808080808080808001 1204 0a020810", CODEC_MINI, 0, &three, 0,
		{ "" }, LANCET_CORRUPT, "too many items" },
	{ "2^62 items of 2 bytes", "5a10 08808080808080808040 1204 0a020810", CODEC_MINI, 0, &three,
		0, { "" }, LANCET_CORRUPT, "too many items" },
	{ "2^40 of 2^40 items", "5a18 08808080808020 120f 5a0d 08808080808020 1204 0a020808",
		CODEC_MINI, 0, &three, 0, { "" }, LANCET_CORRUPT, "too many items" },
	{ "a constant item", "5a0a 0803 1206 1a04 0a020100", CODEC_MINI, 0, &three, 0, { "" },
		LANCET_CORRUPT, "fixed_size_list: a constant value" },
	{ "items as runs", "5a12 0803 120e 420c 0a040a020810 12040a020808", CODEC_MINI, 0, &three,
		0, { "" }, LANCET_CORRUPT, "items neither flat nor lists" },
	{ "bits with nulls in a block", BITS_N, CODEC_BLOCK, FILE_2_3, &three_bits, 0, { "" },
		LANCET_UNSUPPORTED, "single bits with validity in a block" },
	{ "text", THREE, CODEC_VARIABLE, 0, &three, 1, { "" }, LANCET_CORRUPT,
		"fixed_size_list as a per-value encoding of variable size" },
};

START_TEST(lists_are_read)
{
	run_nested_row(&rows[_i]);
}
END_TEST

UNIT_MAIN("fixed_list", UNIT_LOOP(lists_are_read, rows))

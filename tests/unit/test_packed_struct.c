/* Packed structs of fixed and of variable size: columns out of rows, rows that don't fit. */
#include "nested.h"

/* PackedStruct { bits_per_value #1 (packed), values #2: Flat } */
#define PAIR   "620a 0a02 1008 1204 0a020818" /* 2 bytes and 1 */
#define VECTOR "620a 0a02 1020 1204 0a020830" /* 2 bytes and 4 */
#define TREE   "620a 0a02 1018 1204 0a020828" /* 2 bytes and 3 */

#define U8                                                                                         \
	{                                                                                          \
		.kind = FIELD_FIXED, .bits = 8, .format = "C"                                      \
	}
#define U16                                                                                        \
	{                                                                                          \
		.kind = FIELD_FIXED, .bits = 16, .format = "S"                                     \
	}
#define TEXT                                                                                       \
	{                                                                                          \
		.kind = FIELD_VARIABLE, .format = "u"                                              \
	}
#define LARGE                                                                                      \
	{                                                                                          \
		.kind = FIELD_VARIABLE, .large = true, .format = "U"                               \
	}
#define STRUCT(of, count)                                                                          \
	{                                                                                          \
		.kind = FIELD_STRUCT, .packed = true, .format = "+s", .children = of,              \
		.child_count = count                                                               \
	}
#define LIST(of, size)                                                                             \
	{                                                                                          \
		.kind = FIELD_FIXED_LIST, .dimension = size, .format = "+w", .children = of,       \
		.child_count = 1                                                                   \
	}

static struct field number[] = { U8 };
static struct field two[] = { U16, U8 };
static struct field with_vector[] = { U16, LIST(number, 4) };
static struct field with_struct[] = { U16, STRUCT(two, 2) };
static struct field with_text[] = { U16, TEXT };
static struct field with_large[] = { U16, LARGE };
static struct field byte_text[] = { U8, TEXT };
static struct field text_struct[] = { U16, STRUCT(byte_text, 2) };
static struct field pair_item[] = { STRUCT(two, 2) };
static struct field pair_lists[] = { U16, LIST(pair_item, 2) };
static const struct field pair = STRUCT(two, 2), vector = STRUCT(with_vector, 2),
			  tree = STRUCT(with_struct, 2), text = STRUCT(with_text, 2),
			  large = STRUCT(with_large, 2), deep = STRUCT(text_struct, 2),
			  lists = STRUCT(pair_lists, 2), one = STRUCT(number, 1);

static const struct codec_row fixed[] = {
	{ "two columns", PAIR, CODEC_MINI, 0, &pair, 3, { "010002 030004 050006" }, LANCET_OK,
		"v12 v34 v56" },
	{ "padding behind them", PAIR, CODEC_MINI, 0, &pair, 1, { "010002 fefefefefe" }, LANCET_OK,
		"v12" },
	{ "none", PAIR, CODEC_MINI, 0, &pair, 0, { "" }, LANCET_OK, "" },
	{ "a vector", VECTOR, CODEC_MINI, 0, &vector, 2, { "0100 02030405 0600 0708090a" },
		LANCET_OK, "v1v2345 v6v789a" },
	{ "a struct inside", TREE, CODEC_MINI, FILE_2_3, &tree, 2, { "0100 020003 0400 050006" },
		LANCET_OK, "v1v23 v4v56" },
	{ "values", PAIR, CODEC_FIXED, FILE_2_3, &pair, 3, { "010002", "030004", "050006" },
		LANCET_OK, "v12 v34 v56" },
	{ "one value", PAIR, CODEC_FIXED, FILE_2_3, &pair, 1, { "010002" }, LANCET_OK, "v12" },
	{ "no values", PAIR, CODEC_FIXED, FILE_2_3, &pair, 0, { NULL }, LANCET_OK, "" },

	{ "a byte short", PAIR, CODEC_MINI, 0, &pair, 3, { "010002 030004 0500" }, LANCET_CORRUPT,
		"packed_struct: 8 bytes for 3 rows of 3" },
	{ "2^60 rows", PAIR, CODEC_MINI, 0, &pair, UINT64_C(1) << 60, { "010002" }, LANCET_CORRUPT,
		"packed_struct: 3 bytes" },
	{ "a value short", PAIR, CODEC_FIXED, FILE_2_3, &pair, 2, { "010002", "0300" },
		LANCET_CORRUPT, "a value of 2 bytes, 3 expected" },
	{ "values before 2.3", PAIR, CODEC_FIXED, 0, &pair, 1, { "010002" }, LANCET_CORRUPT,
		"per-value encoding of version 2.2" },
	{ "a child more", "620b 0a03 100808 1204 0a020820", CODEC_MINI, 0, &pair, 1, { "01000203" },
		LANCET_CORRUPT, "3 children, 2 expected" },
	{ "a child less", "6209 0a01 10 1204 0a020810", CODEC_MINI, 0, &pair, 1, { "0100" },
		LANCET_CORRUPT, "1 children, 2 expected" },
	{ "no children", "6208 0a00 1204 0a020808", CODEC_MINI, 0, &pair, 1, { "01" },
		LANCET_CORRUPT, "children of 0" },
	{ "another width", VECTOR, CODEC_MINI, 0, &pair, 1, { "010002030405" }, LANCET_CORRUPT,
		"child 1 of 4 bytes, 1 expected" },
	{ "text among them", PAIR, CODEC_MINI, 0, &text, 1, { "010002" }, LANCET_CORRUPT,
		"child 1 of 1 bytes, 0 expected" },
	{ "lists of structs", "620a 0a02 1030 1204 0a020840", CODEC_MINI, FILE_2_3, &lists, 1,
		{ "0100 020003 040005" }, LANCET_CORRUPT, "child 1 of 6 bytes, 0 expected" },
	{ "no struct", PAIR, CODEC_MINI, 0, &codec_u16, 1, { "010002" }, LANCET_CORRUPT,
		"rows where the type is no struct" },
	{ "a sum that is another", "620a 0a02 1008 1204 0a020820", CODEC_MINI, 0, &pair, 0, { "" },
		LANCET_CORRUPT, "rows of flat 32 bits, children of 24" },
	{ "a sum that wraps", "6213 0a0b f8ffffffffffffffff0120 1204 0a020818", CODEC_MINI, 0,
		&pair, 0, { "" }, LANCET_CORRUPT, "packed_struct: a child of 32 bits" },
	{ "a child of a bit", "620a 0a02 1001 1204 0a020811", CODEC_MINI, 0, &pair, 0, { "" },
		LANCET_UNSUPPORTED, "children of single bits" },
	{ "a child of 12 bits", "620a 0a02 100c 1204 0a02081c", CODEC_MINI, 0, &pair, 0, { "" },
		LANCET_CORRUPT, "a child of 12 bits" },
	{ "a child of none", "620a 0a02 1000 1204 0a020810", CODEC_MINI, 0, &pair, 0, { "" },
		LANCET_CORRUPT, "a child of 0 bits" },
	{ "rows as runs", "6214 0a02 1008 120e 420c 0a04 0a020820 1204 0a020808", CODEC_MINI, 0,
		&pair, 0, { "", "" }, LANCET_CORRUPT, "rows of rle 32 bits" },
	{ "a block", PAIR, CODEC_BLOCK, 0, &pair, 0, { "" }, LANCET_CORRUPT,
		"packed_struct as the encoding of a block" },
};

START_TEST(columns_come_out_of_rows)
{
	run_nested_row(&fixed[_i]);
}
END_TEST

/* VariablePackedStruct { repeated fields #1 { value #1, bits_per_value #2 | bits_per_length #3 } }
 */
#define NUMBER    "0a08 0a04 0a020810 1010"
#define BYTE      "0a08 0a04 0a020808 1008"
#define STRING    "0a0c 0a08 1206 0a04 0a020820 1820"
#define STRING_64 "0a0c 0a08 1206 0a04 0a020840 1840"
#define WORDS     "6a18 " NUMBER STRING
#define DEEP      "6a2a " NUMBER "0a1e 0a1a 6a18 " BYTE STRING " 1820"

static const struct codec_row variable[] = {
	{ "a number and text", WORDS, CODEC_VARIABLE, 0, &text, 2,
		{ "0100 02000000 6162", "0200 00000000" }, LANCET_OK, "v1'ab' v2''" },
	{ "none", WORDS, CODEC_VARIABLE, 0, &text, 0, { NULL }, LANCET_OK, "" },
	{ "lengths of 8 bytes", "6a18 " NUMBER STRING_64, CODEC_VARIABLE, 0, &large, 1,
		{ "0100 0200000000000000 6162" }, LANCET_OK, "v1'ab'" },
	{ "a struct inside", DEEP, CODEC_VARIABLE, 0, &deep, 2,
		{ "0100 07000000 05 02000000 6162", "0200 05000000 06 00000000" }, LANCET_OK,
		"v1v5'ab' v2v6''" },
	{ "one of a fixed size inside", "6a1c " NUMBER "0a10 0a0c " PAIR " 1018", CODEC_VARIABLE,
		FILE_2_3, &tree, 2, { "0100 020003", "0400 050006" }, LANCET_OK, "v1v23 v4v56" },
	{ "one of a fixed size before 2.3", "6a1c " NUMBER "0a10 0a0c " PAIR " 1018",
		CODEC_VARIABLE, 0, &tree, 1, { "0100 020003" }, LANCET_CORRUPT,
		"per-value encoding of version 2.2" },

	{ "a row cut", WORDS, CODEC_VARIABLE, 0, &text, 1, { "0100 02000000 61" }, LANCET_CORRUPT,
		"the children of a row are not its 7 bytes" },
	{ "a row too long", WORDS, CODEC_VARIABLE, 0, &text, 1, { "0100 01000000 6162" },
		LANCET_CORRUPT, "the children of a row are not its 8 bytes" },
	{ "a length of 2^32 - 1", WORDS, CODEC_VARIABLE, 0, &text, 1, { "0100 ffffffff 6162" },
		LANCET_CORRUPT, "are not its 8 bytes" },
	{ "a length of 2^64 - 1", "6a18 " NUMBER STRING_64, CODEC_VARIABLE, 0, &large, 1,
		{ "0100 ffffffffffffffff 6162" }, LANCET_CORRUPT, "are not its 12 bytes" },
	{ "an empty row", WORDS, CODEC_VARIABLE, 0, &text, 1, { "" }, LANCET_CORRUPT,
		"are not its 0 bytes" },
	{ "before 2.2", WORDS, CODEC_VARIABLE, FILE_2_1, &text, 0, { NULL }, LANCET_CORRUPT,
		"in a file of version 2.1" },
	{ "no children", "6a00", CODEC_VARIABLE, 0, &text, 0, { NULL }, LANCET_CORRUPT,
		"no children" },
	{ "a child less", "6a0a " NUMBER, CODEC_VARIABLE, 0, &text, 0, { NULL }, LANCET_CORRUPT,
		"1 children, 2 expected" },
	{ "a child of no size", "6a08 0a06 0a04 0a020810", CODEC_VARIABLE, 0, &one, 0, { NULL },
		LANCET_CORRUPT, "neither of fixed nor of variable size" },
	{ "lengths of 16 bits", "6a0e 0a0c 0a08 1206 0a04 0a020820 1810", CODEC_VARIABLE, 0, &one,
		0, { NULL }, LANCET_CORRUPT, "lengths of 16 bits" },
	{ "text of a fixed size", "6a0e 0a0c 0a08 1206 0a04 0a020820 1020", CODEC_VARIABLE, 0, &one,
		0, { NULL }, LANCET_CORRUPT, "variable as a per-value encoding of a fixed size" },
	{ "a child of 12 bits", "6a0a 0a08 0a04 0a020810 100c", CODEC_VARIABLE, 0, &one, 0,
		{ NULL }, LANCET_CORRUPT, "a child of 12 bits" },
	{ "a child of another size", "6a18 0a08 0a04 0a020810 1018" STRING, CODEC_VARIABLE, 0,
		&text, 1, { "010000 00000000" }, LANCET_CORRUPT,
		"flat: a value of 3 bytes, 2 expected" },
	{ "no struct", WORDS, CODEC_VARIABLE, 0, &codec_text, 0, { NULL }, LANCET_CORRUPT,
		"rows where the type is no struct" },
	{ "another type", WORDS, CODEC_VARIABLE, 0, &pair, 1, { "0100 01000000 61" },
		LANCET_CORRUPT, "where the type has none" },
	{ "of a fixed size", WORDS, CODEC_FIXED, 0, &text, 0, { NULL }, LANCET_CORRUPT,
		"variable_packed_struct as a per-value encoding of a fixed size" },
};

START_TEST(rows_of_any_size_are_cut)
{
	run_nested_row(&variable[_i]);
}
END_TEST

/* Values at no equal distances, among them some that lie in front of the ones before. */
START_TEST(values_may_lie_anywhere)
{
	static const uint8_t bytes[] = { 5, 0, 6, 0xff, 1, 0, 2, 3, 0, 4, 7, 0, 8 };
	const struct slice values[] = { slice_of(bytes + 4, 3), slice_of(bytes + 7, 3),
		slice_of(bytes, 3), slice_of(bytes + 10, 3) };
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(rig_open(&rig, PAIR, CODEC_FIXED, FILE_2_3, &pair), LANCET_OK);
	ck_assert_int_eq(
		codec_decode_values(rig.codec, values, 4, &rig.scratch, &rig.out, &rig.err),
		LANCET_OK);
	for (uint64_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(array_unsigned(&rig.out.children[0], i), 2 * i + 1);
		ck_assert_uint_eq(array_unsigned(&rig.out.children[1], i), 2 * i + 2);
	}
	rig_release(&rig);
}
END_TEST

START_TEST(children_are_told_in_words)
{
	struct codec_rig rig = { 0 };
	struct buf words = { 0 };

	ck_assert_int_eq(rig_open(&rig, DEEP, CODEC_VARIABLE, 0, &deep), LANCET_OK);
	codec_describe(rig.codec, &words);
	buf_put_byte(&words, '\0');
	ck_assert_str_eq((const char *)words.data,
		"variable_packed_struct(flat 16, variable_packed_struct(flat 8, variable(32)))");
	buf_release(&words);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("packed_struct", UNIT_LOOP(columns_come_out_of_rows, fixed),
	UNIT_LOOP(rows_of_any_size_are_cut, variable), UNIT_TEST(values_may_lie_anywhere),
	UNIT_TEST(children_are_told_in_words))

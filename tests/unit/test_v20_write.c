/* Pages of 2.0 as they are written: which encoding is taken, and that its values come back.
 */
#include "fileread.h"

#include <stdio.h>

#include "arraytext.h"

#define VALUES_MAX 20000u

struct column {
	struct written written;
	struct array_budget budget;
	struct array array;
};

static void
column_init(struct column *column, const struct written_field *fields, size_t page_bytes)
{
	struct lancet_error err = { 0 };

	*column = (struct column){ .budget.limit = SIZE_MAX };
	ck_assert_msg(written_open_writer(&column->written, fields, FILE_2_0, page_bytes, &err) ==
			      LANCET_OK,
		"%s", err.text);
	ck_assert_int_eq(
		array_init(&column->array, &file_writer_tree(column->written.writer)->roots[0],
			&column->budget, NULL),
		LANCET_OK);
}

/* Writes the array and reads it again; what its column is encoded as. */
static struct buf
column_end(struct column *column, struct column_description *ret_description)
{
	struct buf want = { 0 }, words = { 0 }, got;
	struct lancet_error err = { 0 };

	ck_assert_msg(file_writer_put(column->written.writer, 0, &column->array, 0,
			      column->array.length, &err) == LANCET_OK,
		"%s", err.text);
	written_end(&column->written);
	show_values(&column->array, &want);
	got = written_show(&column->written, 0);
	ck_assert_uint_eq(want.size, got.size);
	ck_assert_mem_eq(want.data, got.data, got.size);
	ck_assert_int_eq(column_describe(column->written.file, 0, &column->written.tree.roots[0],
				 ret_description, &words, NULL),
		LANCET_OK);
	buf_put_byte(&words, '\0');
	buf_release(&want);
	buf_release(&got);
	array_release(&column->array);
	written_free(&column->written);
	return words;
}

#define ROOT(type)                                                                                 \
	{                                                                                          \
		{ 0, -1, "c", type, true, NULL },                                                  \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define WISH(type, key)                                                                            \
	{                                                                                          \
		{ 0, -1, "c", type, true, key },                                                   \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static uint64_t
scatter(uint64_t i)
{
	i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
	return i ^ i >> 31;
}

/* Integers below or above a power of two, some null. */
static const struct {
	const char *type;
	unsigned width, bits; /* bits of a value that are random */
	bool is_negative;     /* half of them */
	unsigned nulls;       /* of ten */
	const char *words;
	uint64_t bytes; /* of 1000 values */
} integers[] = {
	{ "uint64", 8, 64, false, 0, "flat 64", 8000 },
	{ "uint64", 8, 57, false, 0, "flat 64", 8000 },
	{ "uint64", 8, 56, false, 0, "bitpacked(64 in 56)", 7000 },
	{ "uint64", 8, 33, false, 0, "bitpacked(64 in 33)", 4125 },
	{ "uint64", 8, 33, false, 3, "nullable(bitpacked(64 in 33))", 4250 },
	{ "int64", 8, 20, true, 0, "bitpacked(64 in 21)", 2625 },
	{ "int32", 4, 28, false, 0, "bitpacked(32 in 28)", 3500 },
	{ "int32", 4, 29, false, 0, "flat 32", 4000 },
	{ "int32", 4, 7, true, 1, "nullable(bitpacked(32 in 8))", 1125 },
	{ "uint16", 2, 3, false, 0, "bitpacked(16 in 3)", 375 },
	{ "int16", 2, 15, true, 0, "flat 16", 2000 },
	{ "int8", 1, 1, false, 0, "bitpacked(8 in 1)", 125 },
	{ "int8", 1, 2, true, 0, "bitpacked(8 in 3)", 375 },
	{ "uint8", 1, 8, false, 0, "flat 8", 1000 },
	{ "date32:day", 4, 15, false, 0, "bitpacked(32 in 15)", 1875 },
	{ "int32", 4, 9, false, 10, "all_null", 0 },
};

START_TEST(integers_lose_bits_that_none_needs)
{
	const struct written_field fields[] = ROOT(integers[_i].type);
	struct column column;
	struct buf words;
	struct column_description told;

	column_init(&column, fields, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t value = scatter(i + 1) >> (64 - integers[_i].bits);

		if (i == 0) /* the widest */
			value = UINT64_MAX >> (64 - integers[_i].bits);
		if (integers[_i].is_negative && i % 2 == 1)
			value = ~value;
		if (i % 10 < integers[_i].nulls)
			ck_assert_int_eq(array_append_nulls(&column.array, 1, NULL), LANCET_OK);
		else
			ck_assert_int_eq(array_append_fixed(&column.array, integers[_i].width * 8,
						 (const uint8_t *)&value, 1, NULL),
				LANCET_OK);
	}
	words = column_end(&column, &told);
	ck_assert_str_eq((const char *)words.data, integers[_i].words);
	ck_assert_uint_eq(told.bytes, integers[_i].bytes);
	buf_release(&words);
}
END_TEST

/* Values made from their number, which is below `distinct`. */
static const struct {
	struct written_field fields[2];
	const char *format; /* of text; NULL: the number itself */
	uint64_t count, distinct;
	unsigned nulls; /* of ten */
	const char *words;
	uint64_t bytes_max;
} choices[] = {
	{ ROOT("string"), "colour %u", 1000, 5, 0, "dictionary(5, flat 8, binary(flat 64, flat 8))",
		1130 },
	{ ROOT("string"), "%.3x", 1000, 255, 2, "dictionary(255, flat 8, binary(flat 64, flat 8))",
		6000 },
	{ ROOT("string"), "%.3x", 100, 50, 0, "dictionary(50, flat 8, binary(flat 64, flat 8))",
		1100 },
	{ ROOT("string"), "%.3x", 100, 51, 0, "binary(flat 64, flat 8)", 1700 },
	{ ROOT("string"), "%.3x", 63, 2, 0, "binary(flat 64, flat 8)", 1100 },
	{ ROOT("binary"), "%.3x", 100, 2, 0, "binary(flat 64, flat 8)", 1700 },
	{ ROOT("string"), "id-%x-%x", 4000, 4000, 3, "fsst(binary(flat 64, flat 8))", 80000 },
	{ ROOT("binary"), "id-%x-%x", 2000, 2000, 0, "fsst(binary(flat 64, flat 8))", 45000 },
	{ ROOT("large_string"), "id-%x-%x", 2000, 2000, 0, "binary(flat 64, general(zstd, flat 8))",
		45000 },
	{ WISH("large_string", "lance-encoding:compression=zstd"), "id-%x-%x", 2000, 2000, 0,
		"binary(flat 64, general(zstd, flat 8))", 45000 },
	{ WISH("string", "lance-encoding:compression=none"), "https://example.com/%x", 2000, 2000,
		0, "binary(flat 64, flat 8)", 80000 },
	{ ROOT("uint64"), NULL, 20000, 1, 0, "general(zstd, flat 64)", 200 },
	{ ROOT("double"), NULL, 20000, 3, 5, "nullable(general(zstd, flat 64))", 20000 },
};

START_TEST(the_smaller_encoding_is_taken)
{
	struct column column;
	struct buf words;
	struct column_description told;

	column_init(&column, choices[_i].fields, 0);
	for (uint64_t i = 0; i < choices[_i].count; i++) {
		uint64_t number = scatter(i % choices[_i].distinct);
		char text[80];

		if (i % 10 < choices[_i].nulls) {
			ck_assert_int_eq(array_append_nulls(&column.array, 1, NULL), LANCET_OK);
			continue;
		}
		if (choices[_i].format == NULL) {
			ck_assert_int_eq(array_append_fixed(&column.array, 64,
						 (const uint8_t *)&number, 1, NULL),
				LANCET_OK);
			continue;
		}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(text, sizeof(text), choices[_i].format, (unsigned)number,
			(unsigned)scatter(number));
#pragma GCC diagnostic pop
		ck_assert_int_eq(
			array_append_bytes(&column.array, slice_text(text), NULL), LANCET_OK);
	}
	words = column_end(&column, &told);
	ck_assert_str_eq((const char *)words.data, choices[_i].words);
	ck_assert_uint_le(told.bytes, choices[_i].bytes_max);
	buf_release(&words);
}
END_TEST

/* Nothing readers take for null but a value that is null: keys have no validity. */
static const struct {
	const char *type, *values, *words;
} dictionaries[] = {
	{ "dict:string:int8:false", "'a' 'b' 'a'",
		"dictionary(2, flat 8, binary(flat 64, flat 8))" },
	{ "dict:string:int8:false", "'a' - 'b' 'a'",
		"dictionary(3, flat 8, binary(flat 64, flat 8))" },
	{ "dict:string:uint32:false", "- -", "dictionary(1, flat 32, all_null)" },
	{ "dict:int64:int16:false", "5 - 7 5",
		"dictionary(3, flat 16, nullable(bitpacked(64 in 3)))" },
};

static void
append_keyed(struct array *array, struct array *values, const char *text)
{
	uint64_t key;

	array_reset(values);
	array_put_text(values, text);
	for (uint64_t i = 0; i < values->length; i++) {
		if (!array_is_valid(values, i)) {
			ck_assert_int_eq(array_append_nulls(array, 1, NULL), LANCET_OK);
			continue;
		}
		ck_assert_int_eq(array_dictionary_key(array, values, i, &key, NULL), LANCET_OK);
		ck_assert_int_eq(array_append_fixed(
					 array, array->field->bits, (const uint8_t *)&key, 1, NULL),
			LANCET_OK);
	}
}

START_TEST(nulls_of_dictionaries_are_values)
{
	const struct written_field fields[] = ROOT(dictionaries[_i].type);
	struct column column;
	struct array values;
	struct buf words;
	struct column_description told;

	column_init(&column, fields, 0);
	ck_assert_int_eq(
		array_init(&values, &column.array.field->children[0], &column.budget, NULL),
		LANCET_OK);
	append_keyed(&column.array, &values, dictionaries[_i].values);
	array_release(&values);
	words = column_end(&column, &told);
	ck_assert_str_eq((const char *)words.data, dictionaries[_i].words);
	buf_release(&words);
}
END_TEST

/* 128 values take all keys of int8: then the rows make several pages, so that null has one. */
START_TEST(a_full_dictionary_with_nulls_is_split)
{
	const struct written_field fields[] = ROOT("dict:string:int8:false");
	struct column column;
	struct array values;
	struct buf words;
	struct column_description told;
	char text[16];

	column_init(&column, fields, 0);
	ck_assert_int_eq(
		array_init(&values, &column.array.field->children[0], &column.budget, NULL),
		LANCET_OK);
	for (unsigned i = 0; i < 1280; i++) {
		(void)snprintf(text, sizeof(text), i % 10 == 0 ? "-" : "'v%u'", i % 128);
		append_keyed(&column.array, &values, text);
	}
	ck_assert_uint_eq(column.array.children[0].length, 128);
	array_release(&values);
	words = column_end(&column, &told);
	ck_assert_uint_gt(told.pages, 1);
	buf_release(&words);
}
END_TEST

/* Batches whose dictionaries differ fill a page each, when keys of both have no room. */
START_TEST(dictionaries_of_batches_never_overflow)
{
	const struct written_field fields[] = ROOT("dict:string:uint8:false");
	struct column column;
	struct array values;
	struct buf want = { 0 }, got = { 0 };

	column_init(&column, fields, 0);
	ck_assert_int_eq(
		array_init(&values, &column.array.field->children[0], &column.budget, NULL),
		LANCET_OK);
	for (unsigned batch = 0; batch < 4; batch++) {
		array_reset(&column.array);
		for (unsigned i = 0; i < 200; i++) {
			char text[24];

			(void)snprintf(text, sizeof(text), "'b%u.%u'", batch, i);
			append_keyed(&column.array, &values, text);
		}
		ck_assert_int_eq(
			file_writer_put(column.written.writer, 0, &column.array, 0, 200, NULL),
			LANCET_OK);
		show_values(&column.array, &want);
	}
	written_end(&column.written);
	for (unsigned batch = 0; batch < 4; batch++) /* more have no keys, for readers either */
		written_show_rows(&column.written, 0, 200 * batch, 200, &got);
	ck_assert_uint_eq(want.size, got.size);
	ck_assert_mem_eq(want.data, got.data, got.size);
	buf_release(&want);
	buf_release(&got);
	array_release(&values);
	array_release(&column.array);
	written_free(&column.written);
}
END_TEST

UNIT_MAIN("v20_write", UNIT_LOOP(integers_lose_bits_that_none_needs, integers),
	UNIT_LOOP(the_smaller_encoding_is_taken, choices),
	UNIT_LOOP(nulls_of_dictionaries_are_values, dictionaries),
	UNIT_TEST(a_full_dictionary_with_nulls_is_split),
	UNIT_TEST(dictionaries_of_batches_never_overflow))

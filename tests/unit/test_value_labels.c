/* Distinct values of columns: which are the same, and how they ascend. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/label_spool.h"
#include "core/value_labels.h"

#define ROWS_MAX 16u

/* ---- numbers ---------------------------------------------------------------------------- */

/* Values little-endian, in hex; "-" is null. The places are what ascending values have. */
static const struct {
	const char *label, *format;
	uint32_t bits;
	const char *values[ROWS_MAX];
	uint16_t places[ROWS_MAX];
	const char *texts; /* in their order */
} numbers[] = {
	{ "int8", "c", 8, { "01", "ff", "80", "7f", "-", "01" }, { 2, 1, 0, 3, 4, 2 },
		"-128 -1 1 127 null" },
	{ "uint8", "C", 8, { "01", "ff", "80", "01" }, { 0, 2, 1, 0 }, "1 128 255" },
	{ "int16", "s", 16, { "0001", "ff00", "00ff" }, { 2, 1, 0 }, "-256 255 256" },
	{ "uint32", "I", 32, { "00000080", "ffffff7f", "-", "-" }, { 1, 0, 2, 2 },
		"2147483647 2147483648 null" },
	{ "int64", "l", 64, { "0000000000000080", "ffffffffffffff7f", "0000000000000000" },
		{ 0, 2, 1 }, "-9223372036854775808 0 9223372036854775807" },
	{ "float", "f", 32,
		{ "0000803f", "000080bf", "0000c07f", "0100c0ff", "00000080", "00000000",
			"000000c0", "-", "0000807f", "000080ff" },
		{ 4, 2, 6, 6, 3, 3, 1, 7, 5, 0 }, NULL },
	{ "double", "g", 64,
		{ "000000000000f03f", "000000000000f07f", "010000000000f07f", "000000000000f0bf" },
		{ 1, 2, 3, 0 }, NULL },
	{ "half", "e", 16, { "003c", "00bc", "007c", "017c", "0080", "0000" }, { 2, 0, 3, 4, 1, 1 },
		NULL },
	{ "decimal", "d:20,2", 128,
		{ "ffffffffffffffffffffffffffffffff", "01000000000000000000000000000000",
			"00010000000000000000000000000000" },
		{ 0, 1, 2 }, NULL },
	{ "date", "tdD", 32, { "ffffffff", "00000000", "01000000" }, { 0, 1, 2 },
		"\"1969-12-31\" \"1970-01-01\" \"1970-01-02\"" },
	{ "bytes", "w:2", 16, { "00ff", "ff00", "0000" }, { 1, 2, 0 }, NULL },
};

static struct field
field_of(const char *format, uint32_t bits)
{
	return (struct field){ .kind = FIELD_FIXED,
		.format = format,
		.bits = bits,
		.nullable = true,
		.name = { (const uint8_t *)"x", 1 } };
}

static void
append(struct array *array, uint32_t bits, const char *hex)
{
	uint8_t bytes[32] = { 0 };

	if (strcmp(hex, "-") == 0) {
		ck_assert_int_eq(array_append_nulls(array, 1, NULL), LANCET_OK);
		return;
	}
	for (size_t i = 0; i < bits / 8; i++) {
		const char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };

		bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	ck_assert_int_eq(array_append_fixed(array, bits, bytes, 1, NULL), LANCET_OK);
}

static size_t
count_rows(const char *const *values)
{
	size_t count = 0;

	while (count < ROWS_MAX && values[count] != NULL)
		count++;
	return count;
}

/* By place: the texts of the values. */
static void
check_texts(struct value_labels *labels, const uint16_t *places, const char *wanted)
{
	size_t count = value_labels_count(labels);
	size_t ends[ROWS_MAX], numbers_at[ROWS_MAX];
	struct buf texts = { 0 }, joined = { 0 };

	for (size_t i = 0; i < count; i++)
		numbers_at[places[i]] = i;
	ck_assert_int_eq(value_labels_json(labels, &texts, ends, NULL), LANCET_OK);
	for (size_t i = 0; i < count; i++) {
		size_t number = numbers_at[i], start = number == 0 ? 0 : ends[number - 1];

		if (i > 0)
			buf_put_byte(&joined, ' ');
		buf_put(&joined, texts.data + start, ends[number] - start);
	}
	buf_put_byte(&joined, '\0');
	ck_assert_str_eq((const char *)joined.data, wanted);
	buf_release(&texts);
	buf_release(&joined);
}

START_TEST(numbers_ascend)
{
	const struct field field = field_of(numbers[_i].format, numbers[_i].bits);
	struct array_budget budget = { .limit = 1u << 20 };
	size_t count = count_rows(numbers[_i].values);
	uint16_t found[ROWS_MAX], places[ROWS_MAX];
	struct value_labels *labels;
	struct array array;

	ck_assert_int_eq(array_init(&array, &field, &budget, NULL), LANCET_OK);
	for (size_t i = 0; i < count; i++)
		append(&array, field.bits, numbers[_i].values[i]);
	ck_assert_int_eq(value_labels_new(&field, &labels, NULL), LANCET_OK);
	ck_assert_int_eq(value_labels_number(labels, &array, found, NULL), LANCET_OK);
	ck_assert_int_eq(value_labels_order(labels, places, NULL), LANCET_OK);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(places[found[i]] == numbers[_i].places[i], "%s: value %zu at %u",
			numbers[_i].label, i, (unsigned)places[found[i]]);
	if (numbers[_i].texts != NULL)
		check_texts(labels, places, numbers[_i].texts);
	value_labels_free(labels);
	array_release(&array);
}
END_TEST

/* ---- text, and many values -------------------------------------------------------------- */

/* Numbers are the same whatever batches values come in. */
START_TEST(text_goes_byte_by_byte)
{
	static const char *const words[] = { "b", "", "ab", "a", "b", "\xff", "ab", "B" };
	static const uint16_t wanted[] = { 4, 0, 3, 2, 4, 5, 3, 1 };
	const struct field *field = field_bytes(false);
	struct value_labels *labels;
	uint16_t found[ARRAY_SIZE(words)], places[ARRAY_SIZE(words)];

	ck_assert_int_eq(value_labels_new(field, &labels, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct array_budget budget = { .limit = 1u << 20 };
		struct array array;

		ck_assert_int_eq(array_init(&array, field, &budget, NULL), LANCET_OK);
		ck_assert_int_eq(array_append_bytes(&array, slice_text(words[i]), NULL), LANCET_OK);
		ck_assert_int_eq(value_labels_number(labels, &array, &found[i], NULL), LANCET_OK);
		array_release(&array);
	}
	ck_assert_uint_eq(value_labels_count(labels), 6);
	ck_assert_int_eq(value_labels_order(labels, places, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_uint_eq(places[found[i]], wanted[i]);
	value_labels_free(labels);
}
END_TEST

/* All 65535 that there may be, backwards, and again; one more is too many. */
START_TEST(values_may_be_as_many_as_labels)
{
	const struct field field = field_of("i", 32);
	struct array_budget budget = { .limit = 1u << 22 };
	uint16_t *found = calloc(VALUE_LABELS_MAX + 1, sizeof(*found));
	uint16_t *places = calloc(VALUE_LABELS_MAX, sizeof(*places));
	struct lancet_error err = { 0 };
	struct value_labels *labels;
	struct array array;

	ck_assert_int_eq(array_init(&array, &field, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(value_labels_new(&field, &labels, NULL), LANCET_OK);
	for (uint32_t i = VALUE_LABELS_MAX; i-- > 0;)
		ck_assert_int_eq(
			array_append_fixed(&array, 32, (const uint8_t *)&i, 1, NULL), LANCET_OK);
	for (unsigned round = 0; round < 2; round++) {
		ck_assert_int_eq(value_labels_number(labels, &array, found, NULL), LANCET_OK);
		for (size_t i = 0; i < VALUE_LABELS_MAX; i++)
			ck_assert_uint_eq(found[i], i);
	}
	ck_assert_int_eq(value_labels_order(labels, places, NULL), LANCET_OK);
	for (size_t i = 0; i < VALUE_LABELS_MAX; i++)
		ck_assert_uint_eq(places[i], VALUE_LABELS_MAX - 1 - i);
	ck_assert_int_eq(array_append_nulls(&array, 1, NULL), LANCET_OK);
	ck_assert_int_eq(value_labels_number(labels, &array, found, &err), LANCET_LIMIT);
	ck_assert_msg(strstr(err.text, "65535") != NULL, "%s", err.text);
	value_labels_free(labels);
	array_release(&array);
	free(found);
	free(places);
}
END_TEST

START_TEST(nested_columns_are_refused)
{
	static const enum field_kind kinds[] = { FIELD_NULL, FIELD_LIST, FIELD_FIXED_LIST,
		FIELD_STRUCT, FIELD_MAP };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct field field = field_of("+l", 0);
		struct value_labels *labels;

		field.kind = kinds[i];
		ck_assert_int_eq(value_labels_new(&field, &labels, NULL), LANCET_UNSUPPORTED);
	}
}
END_TEST

/* ---- spools ----------------------------------------------------------------------------- */

/* Bytes in memory: everything is in the file, some of it, nothing. */
static const size_t memories[] = { 1, 1000, 1u << 20 };

START_TEST(spooled_labels_come_back)
{
	enum { COUNT = 10000 };
	struct label_spool spool = { .memory = memories[_i] };
	uint16_t labels[97], back[COUNT];
	size_t put = 0;

	while (put < COUNT) {
		size_t count = put % 97 + 1 < COUNT - put ? put % 97 + 1 : COUNT - put;

		for (size_t i = 0; i < count; i++)
			labels[i] = (uint16_t)((put + i) * 40503u);
		ck_assert_int_eq(label_spool_put(&spool, labels, count, NULL), LANCET_OK);
		put += count;
	}
	ck_assert_uint_eq(spool.count, COUNT);
	ck_assert((spool.file != 0) == (memories[_i] < 2 * COUNT));
	for (size_t first = 0; first < COUNT; first += 777) {
		size_t count = COUNT - first;

		ck_assert_int_eq(label_spool_read(&spool, first, count, back, NULL), LANCET_OK);
		for (size_t i = 0; i < count; i++)
			ck_assert_uint_eq(back[i], (uint16_t)((first + i) * 40503u));
	}
	ck_assert_int_eq(label_spool_read(&spool, COUNT, 0, back, NULL), LANCET_OK);
	label_spool_release(&spool);
}
END_TEST

START_TEST(a_spool_without_a_place_fails)
{
	struct label_spool spool = { .memory = 1 };
	struct lancet_error err = { 0 };
	const uint16_t labels[2] = { 0 };

	ck_assert_int_eq(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	ck_assert_int_ne(label_spool_put(&spool, labels, 2, &err), LANCET_OK);
	ck_assert_msg(strstr(err.text, "/nowhere/at/all") != NULL, "%s", err.text);
	label_spool_release(&spool);
}
END_TEST

UNIT_MAIN("value_labels", UNIT_LOOP(numbers_ascend, numbers), UNIT_TEST(text_goes_byte_by_byte),
	UNIT_TEST(values_may_be_as_many_as_labels), UNIT_TEST(nested_columns_are_refused),
	UNIT_LOOP(spooled_labels_come_back, memories), UNIT_TEST(a_spool_without_a_place_fails))

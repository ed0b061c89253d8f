/* Arrays grow in bulk, keep nulls in step with their slots, and stay inside their budget. */
#include "file/array.h"

#include <stdio.h>

#include "unit.h"

#define ROOM (1u << 20)

static struct field number = { .kind = FIELD_FIXED, .bits = 32, .format = "I" };
static struct field flag = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field large_text = { .kind = FIELD_VARIABLE, .large = true, .format = "U" };
static struct field list = {
	.kind = FIELD_LIST, .format = "+l", .children = &number, .child_count = 1
};
static struct field triple = { .kind = FIELD_FIXED_LIST,
	.dimension = 3,
	.format = "+w:3",
	.children = &number,
	.child_count = 1 };
static struct field parts[2] = {
	{ .kind = FIELD_FIXED, .bits = 32, .format = "I" },
	{ .kind = FIELD_VARIABLE, .format = "u" },
};
static struct field pair = {
	.kind = FIELD_STRUCT, .format = "+s", .children = parts, .child_count = 2
};
static struct field coded = { .kind = FIELD_DICTIONARY,
	.bits = 8,
	.is_signed = true,
	.format = "c",
	.children = &text,
	.child_count = 1 };

static struct array
make(const struct field *field, struct array_budget *budget)
{
	struct array array;

	ck_assert_int_eq(array_init(&array, field, budget, NULL), LANCET_OK);
	return array;
}

static void
append_numbers(struct array *array, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t value = first + i;

		ck_assert_int_eq(
			array_append_fixed(array, 32, (const uint8_t *)&value, 1, NULL), LANCET_OK);
	}
}

static void
append_text(struct array *array, const char *value)
{
	ck_assert_int_eq(array_append_bytes(array, slice_text(value), NULL), LANCET_OK);
}

START_TEST(nulls_have_slots_and_cost_no_bitmap_before_the_first)
{
	struct array_budget budget = { .limit = ROOM };
	struct array array = make(&number, &budget);

	append_numbers(&array, 10, 9);
	ck_assert_uint_eq(array.validity.size, 0);
	ck_assert_int_eq(array_append_nulls(&array, 2, NULL), LANCET_OK);
	append_numbers(&array, 30, 1);
	ck_assert_uint_eq(array.length, 12);
	ck_assert_uint_eq(array.null_count, 2);
	for (uint64_t i = 0; i < 12; i++)
		ck_assert_int_eq(array_is_valid(&array, i), i != 9 && i != 10);
	ck_assert_uint_eq(array_unsigned(&array, 8), 18);
	ck_assert_uint_eq(array_unsigned(&array, 9), 0);
	ck_assert_uint_eq(array_unsigned(&array, 11), 30);
	ck_assert_int_eq(array_set_null(&array, 3, NULL), LANCET_OK);
	ck_assert_int_eq(array_set_null(&array, 3, NULL), LANCET_OK);
	ck_assert_uint_eq(array.null_count, 3);
	ck_assert_int_eq(
		array_set_validity(&array, 4, (const uint8_t[]){ 0xb0 }, 4, NULL), LANCET_OK);
	ck_assert_uint_eq(array.null_count, 2); /* 3 and the second last */
	ck_assert(array_is_valid(&array, 9) && !array_is_valid(&array, 10));
	array_reset(&array);
	ck_assert_uint_eq(array.length, 0);
	append_numbers(&array, 1, 1);
	ck_assert(array_is_valid(&array, 0));
	array_release(&array);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_width_that_is_not_the_fields_is_refused)
{
	struct array_budget budget = { .limit = ROOM };
	struct lancet_error err = { 0 };
	struct array array = make(&number, &budget);
	uint64_t value = 1;

	ck_assert_int_eq(
		array_append_fixed(&array, 64, (const uint8_t *)&value, 1, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "values of 64 bits, 32 expected");
	ck_assert_int_eq(array_append_bytes(&array, slice_text("x"), &err), LANCET_CORRUPT);
	ck_assert_int_eq(array_append_list(&array, 1, &err), LANCET_CORRUPT);
	array_release(&array);
}
END_TEST

START_TEST(bits_are_appended_at_any_position)
{
	struct array_budget budget = { .limit = ROOM };
	struct array array = make(&flag, &budget);
	const uint8_t bitmap[] = { 0xa5, 0x0f };

	ck_assert_int_eq(array_append_bits(&array, bitmap, 3, 5, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_nulls(&array, 1, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_bits(&array, bitmap, 0, 16, NULL), LANCET_OK);
	ck_assert_uint_eq(array.length, 22);
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_int_eq(array_bit(&array, i), 0xa5 >> (3 + i) & 1);
	for (uint64_t i = 0; i < 16; i++)
		ck_assert_int_eq(array_bit(&array, 6 + i), 0x0fa5 >> i & 1);
	array_release(&array);
}
END_TEST

static const struct {
	const char *label;
	uint32_t offsets[4];
	size_t bytes;
	int want;
} offset_cases[] = {
	{ "rebased", { 2, 2, 5, 6 }, 6, LANCET_OK },
	{ "descending", { 2, 5, 4, 6 }, 6, LANCET_CORRUPT },
	{ "beyond the bytes", { 0, 1, 2, 7 }, 6, LANCET_CORRUPT },
	{ "first beyond the last", { 7, 7, 7, 6 }, 9, LANCET_CORRUPT },
};

START_TEST(offsets_are_checked_and_rebased)
{
	const struct field *fields[] = { &text, &large_text };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		struct array_budget budget = { .limit = ROOM };
		struct array array = make(fields[f], &budget);
		uint64_t wide[4];

		append_text(&array, "ab");
		for (size_t i = 0; i < 4; i++)
			wide[i] = offset_cases[_i].offsets[i];
		ck_assert_int_eq(array_append_offsets(&array, (const uint8_t *)wide, 8, 3,
					 slice_of("012345678", offset_cases[_i].bytes), NULL),
			offset_cases[_i].want);
		ck_assert_int_eq(
			array_append_offsets(&array, (const uint8_t *)offset_cases[_i].offsets, 4,
				3, slice_of("012345678", offset_cases[_i].bytes), NULL),
			offset_cases[_i].want);
		if (offset_cases[_i].want == LANCET_OK) {
			ck_assert_uint_eq(array.length, 7);
			ck_assert(slice_equal(array_bytes(&array, 1), slice_text("")));
			ck_assert(slice_equal(array_bytes(&array, 2), slice_text("234")));
			ck_assert(slice_equal(array_bytes(&array, 6), slice_text("5")));
		}
		array_release(&array);
	}
}
END_TEST

START_TEST(ranges_bring_nulls_and_children)
{
	struct array_budget budget = { .limit = ROOM };
	const struct field *fields[] = { &number, &text, &list, &triple, &pair };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		struct array from = make(fields[f], &budget), array = make(fields[f], &budget);

		for (uint32_t i = 0; i < 20; i++) {
			char word[16];

			(void)snprintf(word, sizeof(word), "%.*s", (int)(i % 5), "abcdefgh");
			if (i % 7 == 3) {
				ck_assert_int_eq(array_append_nulls(&from, 1, NULL), LANCET_OK);
			} else if (fields[f] == &number) {
				append_numbers(&from, i, 1);
			} else if (fields[f] == &text) {
				append_text(&from, word);
			} else if (fields[f] == &list) {
				ck_assert_int_eq(array_append_list(&from, i % 3, NULL), LANCET_OK);
				append_numbers(&from.children[0], i * 10, i % 3);
			} else if (fields[f] == &triple) {
				ck_assert_int_eq(array_extend(&from, 1, NULL), LANCET_OK);
				append_numbers(&from.children[0], i * 10, 3);
			} else {
				ck_assert_int_eq(array_extend(&from, 1, NULL), LANCET_OK);
				append_numbers(&from.children[0], i, 1);
				append_text(&from.children[1], word);
			}
		}
		ck_assert_int_eq(array_append_range(&array, &from, 15, 3, NULL), LANCET_OK);
		ck_assert_int_eq(array_append_range(&array, &from, 1, 9, NULL), LANCET_OK);
		ck_assert_uint_eq(array.length, 12);
		ck_assert_uint_eq(array.null_count, 2);
		for (uint64_t i = 0; i < 12; i++) {
			uint64_t source = i < 3 ? 15 + i : i - 2;

			ck_assert_int_eq(array_is_valid(&array, i), source % 7 != 3);
			if (source % 7 == 3)
				continue;
			if (fields[f] == &number)
				ck_assert_uint_eq(array_unsigned(&array, i), source);
			if (fields[f] == &text)
				ck_assert_uint_eq(array_bytes(&array, i).size, source % 5);
			if (fields[f] == &list)
				ck_assert_uint_eq(
					array_offset(&array, i + 1) - array_offset(&array, i),
					source % 3);
			if (fields[f] == &list && source % 3 > 0)
				ck_assert_uint_eq(
					array_unsigned(&array.children[0], array_offset(&array, i)),
					source * 10);
			if (fields[f] == &triple)
				ck_assert_uint_eq(array_unsigned(&array.children[0], i * 3 + 2),
					source * 10 + 2);
			if (fields[f] == &pair)
				ck_assert_uint_eq(
					array_bytes(&array.children[1], i).size, source % 5);
		}
		array_release(&array);
		array_release(&from);
	}
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_value_is_repeated)
{
	struct array_budget budget = { .limit = ROOM };
	const struct field *fields[] = { &number, &flag, &text };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		struct array value = make(fields[f], &budget), array = make(fields[f], &budget);

		if (fields[f] == &number)
			append_numbers(&value, 77, 1);
		else if (fields[f] == &flag)
			ck_assert_int_eq(
				array_append_bits(&value, (const uint8_t[]){ 1 }, 0, 1, NULL),
				LANCET_OK);
		else
			append_text(&value, "seven");
		ck_assert_int_eq(array_append_repeated(&array, &value, 1000, NULL), LANCET_OK);
		ck_assert_uint_eq(array.length, 1000);
		for (uint64_t i = 0; i < 1000; i++) {
			if (fields[f] == &number)
				ck_assert_uint_eq(array_unsigned(&array, i), 77);
			else if (fields[f] == &flag)
				ck_assert(array_bit(&array, i));
			else
				ck_assert(slice_equal(array_bytes(&array, i), slice_text("seven")));
		}
		array_release(&array);
		array_release(&value);
	}
}
END_TEST

START_TEST(dictionaries_of_pages_become_one)
{
	struct array_budget budget = { .limit = ROOM };
	struct array array = make(&coded, &budget), items = make(&text, &budget);
	uint64_t key = 9, again = 9;

	for (unsigned i = 0; i < 130; i++) {
		char word[16];

		(void)snprintf(word, sizeof(word), "w%u", i % 129);
		append_text(&items, word);
	}
	ck_assert_int_eq(array_dictionary_key(&array, &items, 5, &key, NULL), LANCET_OK);
	ck_assert_uint_eq(key, 0);
	for (unsigned i = 0; i < 128; i++)
		ck_assert_int_eq(array_dictionary_key(&array, &items, i, &key, NULL), LANCET_OK);
	ck_assert_uint_eq(array.children[0].length, 128);
	ck_assert_int_eq(array_dictionary_key(&array, &items, 129, &again, NULL), LANCET_OK);
	ck_assert_int_eq(array_dictionary_key(&array, &items, 0, &key, NULL), LANCET_OK);
	ck_assert_uint_eq(key, again); /* w0 twice */
	ck_assert_int_eq(array_dictionary_key(&array, &items, 128, &key, NULL), LANCET_LIMIT);
	ck_assert_int_eq(array_dictionary_key(&array, &items, 130, &key, NULL), LANCET_CORRUPT);
	array_release(&items);
	array_release(&array);
}
END_TEST

/* Readers take the first page's dictionary over as it is, and look values up from the next one on.
 */
START_TEST(a_dictionary_taken_over_is_looked_up)
{
	struct array_budget budget = { .limit = ROOM };
	struct array array = make(&coded, &budget), items = make(&text, &budget);
	uint64_t key = 9;

	for (unsigned i = 0; i < 101; i++) {
		char word[16];

		(void)snprintf(word, sizeof(word), "w%u", i);
		append_text(&items, word);
	}
	ck_assert_int_eq(array_append_range(&array.children[0], &items, 0, 100, NULL), LANCET_OK);
	ck_assert_int_eq(array_dictionary_key(&array, &items, 77, &key, NULL), LANCET_OK);
	ck_assert_uint_eq(key, 77);
	ck_assert_int_eq(array_dictionary_key(&array, &items, 100, &key, NULL), LANCET_OK);
	ck_assert_uint_eq(key, 100);
	ck_assert_uint_eq(array.children[0].length, 101);
	array_release(&items);
	array_release(&array);
}
END_TEST

START_TEST(enormous_promises_meet_the_budget)
{
	struct array_budget budget = { .limit = ROOM };
	struct array numbers = make(&number, &budget), triples = make(&triple, &budget);
	struct array texts = make(&text, &budget), lists = make(&list, &budget);
	uint8_t *place;

	ck_assert_int_eq(array_extend_fixed(&numbers, 32, UINT64_MAX, &place, NULL), LANCET_LIMIT);
	ck_assert_int_eq(
		array_extend_fixed(&numbers, 32, UINT64_C(1) << 62, &place, NULL), LANCET_LIMIT);
	ck_assert_int_eq(array_append_nulls(&triples, UINT64_C(1) << 63, NULL), LANCET_LIMIT);
	ck_assert_int_eq(array_append_nulls(&texts, UINT64_C(1) << 62, NULL), LANCET_LIMIT);
	ck_assert_int_eq(array_append_list(&lists, UINT64_MAX, NULL), LANCET_LIMIT);
	ck_assert_int_eq(array_append_list(&lists, UINT64_C(1) << 31, NULL), LANCET_LIMIT);
	array_release(&lists);
	array_release(&texts);
	array_release(&triples);
	array_release(&numbers);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

UNIT_MAIN("array", UNIT_TEST(nulls_have_slots_and_cost_no_bitmap_before_the_first),
	UNIT_TEST(a_width_that_is_not_the_fields_is_refused),
	UNIT_TEST(bits_are_appended_at_any_position),
	UNIT_LOOP(offsets_are_checked_and_rebased, offset_cases),
	UNIT_TEST(ranges_bring_nulls_and_children), UNIT_TEST(a_value_is_repeated),
	UNIT_TEST(dictionaries_of_pages_become_one),
	UNIT_TEST(a_dictionary_taken_over_is_looked_up),
	UNIT_TEST(enormous_promises_meet_the_budget))

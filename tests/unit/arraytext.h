/* Values of any nesting as text, and arrays made of it:
 *
 *     number, 'text', - null, [items], {parts}; blanks between them
 *
 * A list in angle brackets is null but has its items all the same, as Arrow allows: <1 2>. So has a
 * struct in round ones: (1 2).
 */
#ifndef TESTS_ARRAYTEXT_H
#define TESTS_ARRAYTEXT_H

#include <string.h>

#include "file/array.h"
#include "unit.h"

static inline char
next_word(const char **text)
{
	*text += strspn(*text, " ");
	return **text;
}

static inline void array_put_one(struct array *array, const char **text);

/* Values of one child up to the bracket, which is stepped over. */
static inline uint64_t
put_items(struct array *child, const char **text, char end)
{
	uint64_t count = 0;

	for (; next_word(text) != end; count++)
		array_put_one(child, text);
	++*text;
	return count;
}

static inline void
put_parts(struct array *array, const char **text)
{
	for (size_t i = 0; i < array->child_count; i++)
		array_put_one(&array->children[i], text);
	next_word(text);
	++*text;
}

static inline void
put_leaf(struct array *array, const char **text)
{
	char *end;
	uint64_t number;
	const struct field *field = array->field;

	if (field->kind == FIELD_VARIABLE) {
		const char *close = strchr(*text + 1, '\'');

		ck_assert_int_eq(array_append_bytes(array,
					 slice_of(*text + 1, (size_t)(close - *text - 1)), NULL),
			LANCET_OK);
		*text = close + 1;
		return;
	}
	number = strtoull(*text, &end, 10);
	ck_assert_ptr_ne(end, *text);
	*text = end;
	ck_assert_int_eq(array_append_fixed(array, field->bits, (const uint8_t *)&number, 1, NULL),
		LANCET_OK);
}

/* One value from the text, which is moved behind it. */
static inline void
array_put_one(struct array *array, const char **text)
{
	const char first = next_word(text);
	uint64_t items;

	if (first == '-' || strchr("[<{(", first) != NULL)
		++*text;
	if (first == '-') {
		ck_assert_int_eq(array_append_nulls(array, 1, NULL), LANCET_OK);
	} else if (first == '[' || first == '<') {
		items = put_items(&array->children[0], text, first == '[' ? ']' : '>');
		ck_assert_int_eq(array->field->kind == FIELD_FIXED_LIST
					 ? array_extend(array, 1, NULL)
					 : array_append_list(array, items, NULL),
			LANCET_OK);
	} else if (first == '{' || first == '(') {
		put_parts(array, text);
		ck_assert_int_eq(array_extend(array, 1, NULL), LANCET_OK);
	} else {
		put_leaf(array, text);
	}
	if (first == '<' || first == '(')
		ck_assert_int_eq(array_set_null(array, array->length - 1, NULL), LANCET_OK);
}

static inline void
array_put_text(struct array *array, const char *text)
{
	while (next_word(&text) != '\0')
		array_put_one(array, &text);
}

/* A chain of fields from the top down to a leaf: l = list, L = large list, s = struct, p = packed
 * struct, m = map, f = list of two, F = list of none; then i = 32 bits, t = text, b = bit, n =
 * null, e = struct without fields, z = no bytes. Returns the leaf. */
static inline const struct field *
field_chain(struct field *fields, const char *kinds)
{
	static const struct {
		char letter;
		enum field_kind kind;
	} letters[] = { { 'l', FIELD_LIST }, { 'L', FIELD_LIST }, { 's', FIELD_STRUCT },
		{ 'p', FIELD_STRUCT }, { 'e', FIELD_STRUCT }, { 'm', FIELD_MAP },
		{ 'f', FIELD_FIXED_LIST }, { 'F', FIELD_FIXED_LIST }, { 't', FIELD_VARIABLE },
		{ 'n', FIELD_NULL } };
	size_t count = strlen(kinds);

	for (size_t i = 0; i < count; i++) {
		struct field *field = &fields[i];
		bool leaf = i + 1 == count;

		*field = (struct field){ .kind = FIELD_FIXED,
			.id = FIELD_NO_ID,
			.ordinal = (uint32_t)i,
			.nullable = true };
		for (size_t k = 0; k < ARRAY_SIZE(letters); k++)
			if (letters[k].letter == kinds[i])
				field->kind = letters[k].kind;
		field->large = kinds[i] == 'L';
		field->packed = kinds[i] == 'p';
		field->bits = kinds[i] == 'i' ? 32 : kinds[i] == 'b' ? 1 : 0;
		field->dimension = kinds[i] == 'f' ? 2 : 0;
		field->parent = i == 0 ? NULL : &fields[i - 1];
		field->children = leaf ? NULL : &fields[i + 1];
		field->child_count = leaf ? 0 : 1;
	}
	return &fields[count - 1];
}

#endif

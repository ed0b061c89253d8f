/* What holds for every decoded array, whatever the bytes were that it was decoded from. */
#ifndef TESTS_ARRAYCHECK_H
#define TESTS_ARRAYCHECK_H

#include "file/array.h"
#include "util/bits.h"

static inline bool
arraycheck_offsets(const struct array *array, uint64_t end)
{
	if (array->length == 0)
		return true;
	if (array->offsets.size != (array->length + 1) * (array->field->large ? 8 : 4))
		return false;
	if (array_offset(array, 0) != 0 || array_offset(array, array->length) > end)
		return false;
	for (uint64_t i = 0; i < array->length; i++) {
		if (array_offset(array, i) > array_offset(array, i + 1))
			return false;
	}
	return true;
}

static inline bool
arraycheck_keys(const struct array *array)
{
	for (uint64_t i = 0; i < array->length; i++) {
		if (array_is_valid(array, i) &&
			array_unsigned(array, i) >= array->children[0].length)
			return false;
	}
	return true;
}

static inline bool
arraycheck_validity(const struct array *array)
{
	if (array->null_count == 0)
		return array->validity.size == 0;
	return array->validity.size >= bits_size(array->length) &&
	       array->length - bits_count(array->validity.data, 0, array->length) ==
		       array->null_count;
}

static inline bool
arraycheck_values(const struct array *array)
{
	const struct field *field = array->field;

	switch (field->kind) {
	case FIELD_FIXED:
		return array->data.size == (field->bits == 1 ? bits_size(array->length)
							     : array->length * (field->bits / 8));
	case FIELD_VARIABLE:
		return arraycheck_offsets(array, array->data.size);
	case FIELD_LIST:
	case FIELD_MAP:
		return arraycheck_offsets(array, array->children[0].length);
	case FIELD_FIXED_LIST:
		return array->children[0].length == array->length * field->dimension;
	case FIELD_DICTIONARY:
		return array->data.size == array->length * (field->bits / 8) &&
		       arraycheck_keys(array);
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++) {
			if (array->children[i].length != array->length)
				return false;
		}
		return true;
	case FIELD_NULL:
		return true;
	}
	return false;
}

/* Lengths, offsets, keys and null counts fit together, in all children too. */
static inline bool
arraycheck(const struct array *array)
{
	if (array->child_count != array->field->child_count || !arraycheck_values(array) ||
		(array->field->kind != FIELD_NULL && !arraycheck_validity(array)))
		return false;
	for (size_t i = 0; i < array->child_count; i++) {
		if (!arraycheck(&array->children[i]))
			return false;
	}
	return true;
}

#endif

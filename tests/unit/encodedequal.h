/* Whether values of two arrays are the same, whatever their type. */
#ifndef TESTS_ENCODEDEQUAL_H
#define TESTS_ENCODEDEQUAL_H

#include "file/array.h"
#include "unit.h"

static inline bool values_equal(
	const struct array *a, uint64_t at, const struct array *b, uint64_t bt);

static inline bool
children_equal(const struct array *a, uint64_t at, const struct array *b, uint64_t bt)
{
	uint64_t dimension = a->field->kind == FIELD_FIXED_LIST ? a->field->dimension : 1;

	for (size_t i = 0; i < a->child_count; i++)
		for (uint64_t k = 0; k < dimension; k++)
			if (!values_equal(&a->children[i], at * dimension + k, &b->children[i],
				    bt * dimension + k))
				return false;
	return true;
}

/* What is null in the first one is not looked at: levels say so, not the values. */
static inline bool
values_equal(const struct array *a, uint64_t at, const struct array *b, uint64_t bt)
{
	size_t width = a->field->bits / 8;

	if (!array_is_valid(a, at))
		return true;
	if (!array_is_valid(b, bt))
		return false;
	switch (a->field->kind) {
	case FIELD_FIXED:
		if (a->field->bits == 1)
			return array_bit(a, at) == array_bit(b, bt);
		return memcmp(a->data.data + at * width, b->data.data + bt * width, width) == 0;
	case FIELD_VARIABLE:
		return slice_equal(array_bytes(a, at), array_bytes(b, bt));
	default:
		return children_equal(a, at, b, bt);
	}
}

#endif

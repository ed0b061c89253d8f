/* Made-up values of every type, in shapes that bring up one encoding or another. */
#ifndef TESTS_ENCODEDVALUES_H
#define TESTS_ENCODEDVALUES_H

#include <stdio.h>

#include "file/array.h"
#include "unit.h"

enum shape { ZEROES, RANDOM, SMALL, RUNS, FEW, ASCENDING, SHAPES };

/* Check notes every assertion in a file, which is too slow for each value. */
#define VALUES_OK(call)                                                                            \
	do {                                                                                       \
		if ((call) != LANCET_OK)                                                           \
			ck_abort_msg("%s", #call);                                                 \
	} while (0)

static inline uint64_t
random_u64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static inline uint64_t
number_of_shape(enum shape shape, uint64_t index, uint64_t *state)
{
	uint64_t random = random_u64(state);

	switch (shape) {
	case RANDOM:
		return random;
	case SMALL:
		return random % 1000;
	case RUNS:
		return index / 300 * 77;
	case FEW:
		return random % 7 * UINT64_C(0x0101010101010101);
	case ASCENDING:
		return index * 3 + random % 3;
	default:
		return 0;
	}
}

static inline void
put_u64(struct array *array, uint64_t value)
{
	VALUES_OK(array_append_fixed(array, array->field->bits, (const uint8_t *)&value, 1, NULL));
}

static inline void
fill_fixed(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	uint8_t value[512] = { 0 };

	ck_assert_uint_le(array->field->bits / 8, sizeof(value));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t low = number_of_shape(shape, i, state);

		for (unsigned k = 0; k < array->field->bits / 8 && shape == RANDOM; k += 8)
			memcpy(value + k, &(uint64_t){ random_u64(state) }, 8);
		memcpy(value, &low, sizeof(low));
		if (array->field->bits == 1)
			VALUES_OK(array_append_bits(array, value, low & 7, 1, NULL));
		else
			VALUES_OK(array_append_fixed(array, array->field->bits, value, 1, NULL));
	}
}

static inline void
put_text(struct array *array, const char *text)
{
	VALUES_OK(array_append_bytes(array, slice_text(text), NULL));
}

static inline void
fill_text(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	char value[64];

	for (uint64_t i = 0; i < count; i++) {
		snprintf(value, sizeof(value), shape == ZEROES ? "" : "a%llx",
			(unsigned long long)number_of_shape(shape, i, state));
		put_text(array, value);
	}
}

static inline void
fill_keys(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	fill_text(&array->children[0], ASCENDING, 50, state);
	for (uint64_t i = 0; i < count; i++)
		put_u64(array, number_of_shape(shape, i, state) % 40);
}

static inline void
fill_values(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	uint64_t items = array->field->kind == FIELD_FIXED_LIST ? array->field->dimension : 1;

	switch (array->field->kind) {
	case FIELD_FIXED:
		fill_fixed(array, shape, count, state);
		return;
	case FIELD_VARIABLE:
		fill_text(array, shape, count, state);
		return;
	case FIELD_DICTIONARY:
		fill_keys(array, shape, count, state);
		return;
	default:
		break;
	}
	for (size_t i = 0; i < array->child_count; i++)
		fill_values(&array->children[i], shape, count * items, state);
	VALUES_OK(array_extend(array, count, NULL));
}

/* Every fifth value or so becomes null. */
static inline void
make_nulls(struct array *array, uint64_t *state)
{
	for (uint64_t i = 0; i < array->length; i++)
		if (random_u64(state) % 5 == 0)
			VALUES_OK(array_set_null(array, i, NULL));
}

#endif

/* Values taken over from other arrays, repeated, or made up: nulls and their slots. */
#include "array.h"

#include <assert.h>
#include <inttypes.h>

#include "array_grow.h"
#include "util/bits.h"
#include "util/macros.h"

static uint64_t
times(uint64_t count, uint64_t each)
{
	uint64_t product;

	return __builtin_mul_overflow(count, each, &product) ? UINT64_MAX : product;
}

static int
append_zeroes(struct array *array, uint64_t count, struct lancet_error *err)
{
	uint8_t *place;
	uint64_t size;

	if (array->field->bits != 1) {
		TRY(array_extend_fixed(array, array->field->bits, count, &place, err));
		if (count > 0)
			memset(place, 0, (size_t)(count * (array->field->bits / 8)));
		return LANCET_OK;
	}
	TRY(array_lengthen(array, count, true, err));
	size = bits_size(array->length);
	TRY(array_grow(array, &array->data, size - array->data.size, err));
	buf_fill(&array->data, 0, (size_t)size - array->data.size);
	if (count > 0)
		bits_fill(array->data.data, array->length - count, count, false);
	return LANCET_OK;
}

/* Empty values or lists: the last offset again. */
static int
append_empty(struct array *array, uint64_t count, struct lancet_error *err)
{
	unsigned width = array_offset_width(array);
	uint64_t end = array_offset(array, array->length);

	TRY(array_grow(array, &array->offsets, times(count, width), err));
	TRY(array_lengthen(array, count, true, err));
	for (uint64_t i = 0; i < count; i++)
		buf_put(&array->offsets, &end, width);
	return LANCET_OK;
}

/* Valid values of zero, with everything below them. */
static int
append_slots(struct array *array, uint64_t count, struct lancet_error *err)
{
	switch (array->field->kind) {
	case FIELD_FIXED:
	case FIELD_DICTIONARY:
		return append_zeroes(array, count, err);
	case FIELD_VARIABLE:
	case FIELD_LIST:
	case FIELD_MAP:
		return append_empty(array, count, err);
	case FIELD_FIXED_LIST:
		TRY(append_slots(&array->children[0], times(count, array->field->dimension), err));
		return array_lengthen(array, count, true, err);
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++)
			TRY(append_slots(&array->children[i], count, err));
		return array_lengthen(array, count, true, err);
	case FIELD_NULL:
		break;
	}
	return array_lengthen(array, count, true, err);
}

int
array_append_nulls(struct array *array, uint64_t count, struct lancet_error *err)
{
	uint64_t first = array->length;

	if (count == 0)
		return LANCET_OK;
	TRY(append_slots(array, count, err));
	/* The last value decides whether there is a bitmap; the run is then filled at once. */
	TRY(array_set_null(array, array->length - 1, err));
	array->null_count += bits_count(array->validity.data, first, count - 1);
	bits_fill(array->validity.data, first, count - 1, false);
	return LANCET_OK;
}

static int
append_keys(struct array *array, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	uint32_t bits = array->field->bits;
	uint64_t key, had = UINT64_MAX, translated = 0;

	if (from->field->kind != FIELD_DICTIONARY)
		return lancet_fail(err, LANCET_CORRUPT, "plain values where keys are expected");
	for (uint64_t i = first; i < first + count; i++) {
		key = array_is_valid(from, i) ? array_unsigned(from, i) : had;
		if (key != had) {
			TRY(array_dictionary_key(array, &from->children[0], key, &translated, err));
			had = key;
		}
		TRY(array_append_fixed(array, bits, (const uint8_t *)&translated, 1, err));
	}
	return LANCET_OK;
}

int
array_append_lists_of(struct array *array, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	unsigned width = array_offset_width(array);
	uint64_t start = array_offset(from, first), end = array_offset(array, array->length);
	uint8_t *place;

	if (array_offset(from, first + count) - start >
		(array->field->large ? INT64_MAX : INT32_MAX) - end)
		return lancet_fail(err, LANCET_LIMIT,
			"lists of more items than offsets can tell: ask for fewer rows");
	TRY(array_grow(array, &array->offsets, times(count, width), err));
	TRY(array_lengthen(array, count, true, err));
	place = array->offsets.data + array->offsets.size;
	for (uint64_t i = 1; i <= count; i++, place += width) {
		uint64_t offset = array_offset(from, first + i) - start + end;

		if (width == 4)
			memcpy(place, &offset, 4);
		else
			memcpy(place, &offset, 8);
	}
	array->offsets.size += (size_t)(count * width);
	return LANCET_OK;
}

static int
append_items(struct array *array, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	uint64_t start = array_offset(from, first);

	TRY(array_append_lists_of(array, from, first, count, err));
	return array_append_range(&array->children[0], &from->children[0], start,
		array_offset(from, first + count) - start, err);
}

static int
append_values(struct array *array, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	const struct field *field = array->field;
	unsigned width = array_offset_width(from);

	switch (field->kind) {
	case FIELD_FIXED:
		if (field->bits == 1)
			return array_append_bits(array, from->data.data, first, count, err);
		return array_append_fixed(array, from->field->bits,
			from->data.data + first * (field->bits / 8), count, err);
	case FIELD_DICTIONARY:
		return append_keys(array, from, first, count, err);
	case FIELD_VARIABLE:
		return array_append_offsets(array, from->offsets.data + first * width, width, count,
			buf_slice(&from->data), err);
	case FIELD_LIST:
	case FIELD_MAP:
		return append_items(array, from, first, count, err);
	case FIELD_FIXED_LIST:
		TRY(array_append_range(&array->children[0], &from->children[0],
			first * field->dimension, count * field->dimension, err));
		return array_lengthen(array, count, true, err);
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++)
			TRY(array_append_range(
				&array->children[i], &from->children[i], first, count, err));
		return array_lengthen(array, count, true, err);
	case FIELD_NULL:
		break;
	}
	return array_lengthen(array, count, true, err);
}

int
array_append_range(struct array *array, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	assert(first <= from->length && count <= from->length - first);
	assert(array->field->kind == from->field->kind && array->child_count == from->child_count);
	if (count == 0)
		return LANCET_OK;
	TRY(append_values(array, from, first, count, err));
	if (from->validity.size == 0)
		return LANCET_OK;
	return array_set_validity(array, count, from->validity.data, first, err);
}

/* Each round copies what is there already, so the number of copies is the logarithm of count. */
static void
fill_repeated(uint8_t *place, const uint8_t *value, uint64_t width, uint64_t size)
{
	uint64_t done = width;

	if (size == 0)
		return;
	memcpy(place, value, (size_t)width);
	while (done < size) {
		uint64_t more = done < size - done ? done : size - done;

		memcpy(place + done, place, (size_t)more);
		done += more;
	}
}

static int
repeat_fixed(
	struct array *array, const struct array *value, uint64_t count, struct lancet_error *err)
{
	uint32_t bits = array->field->bits;
	uint8_t *place;

	if (bits == 1) {
		TRY(append_zeroes(array, count, err));
		bits_fill(array->data.data, array->length - count, count, array_bit(value, 0));
		return LANCET_OK;
	}
	TRY(array_extend_fixed(array, bits, count, &place, err));
	if (bits > 0)
		fill_repeated(place, value->data.data, bits / 8, count * (bits / 8));
	return LANCET_OK;
}

int
array_append_repeated(
	struct array *array, const struct array *value, uint64_t count, struct lancet_error *err)
{
	assert(value->length == 1);
	if (count == 0)
		return LANCET_OK;
	if (!array_is_valid(value, 0))
		return array_append_nulls(array, count, err);
	if (array->field->kind == FIELD_FIXED)
		return repeat_fixed(array, value, count, err);
	for (uint64_t i = 0; i < count; i++)
		TRY(array_append_range(array, value, 0, 1, err));
	return LANCET_OK;
}

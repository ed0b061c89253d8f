/* Many values at once from places that are known by number: lists by their bounds, and values
 * gathered by index, as page dictionaries need it.
 *
 * Sizes are summed up and room is made before the first value moves; the loops that move them have
 * no calls and no checks.
 */
#include "array.h"

#include <assert.h>

#include "array_grow.h"
#include "util/bits.h"
#include "util/macros.h"

#define SHORT_SIZE 16u /* values up to this size are copied without a call */

static uint64_t
times(uint64_t count, uint64_t each)
{
	uint64_t product;

	return __builtin_mul_overflow(count, each, &product) ? UINT64_MAX : product;
}

lancet_hot static void
put_bounds_narrow(uint8_t *place, const uint32_t *bounds, uint64_t count, uint32_t shift)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t offset = bounds[i + 1] + shift;

		memcpy(place + i * 4, &offset, 4);
	}
}

lancet_hot static void
put_bounds_wide(uint8_t *place, const uint32_t *bounds, uint64_t count, uint64_t shift)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = bounds[i + 1] + shift;

		memcpy(place + i * 8, &offset, 8);
	}
}

int
array_append_lists(
	struct array *array, const uint32_t *bounds, uint64_t count, struct lancet_error *err)
{
	unsigned width = array_offset_width(array);
	uint64_t shift = array_offset(array, array->length) - bounds[0];
	uint8_t *place;

	assert(array->field->kind == FIELD_LIST || array->field->kind == FIELD_MAP);
	if (bounds[count] + shift > (array->field->large ? INT64_MAX : INT32_MAX))
		return lancet_fail(err, LANCET_LIMIT,
			"lists of more items than offsets can tell: ask for fewer rows");
	TRY(array_grow(array, &array->offsets, times(count, width), err));
	TRY(array_lengthen(array, count, true, err));
	place = array->offsets.data + array->offsets.size;
	if (width == 4)
		put_bounds_narrow(place, bounds, count, (uint32_t)shift);
	else
		put_bounds_wide(place, bounds, count, shift);
	array->offsets.size += (size_t)(count * width);
	return LANCET_OK;
}

#define GATHER(type)                                                                               \
	do {                                                                                       \
		for (uint64_t i = 0; i < count; i++) {                                             \
			type value;                                                                \
			memcpy(&value, from + (uint64_t)indices[i] * sizeof(type), sizeof(type));  \
			memcpy(place + i * sizeof(type), &value, sizeof(type));                    \
		}                                                                                  \
	} while (0)

struct gather_16 {
	uint64_t low, high;
};

static void
gather_bytes(
	uint8_t *place, const uint8_t *from, const uint32_t *indices, uint64_t count, size_t width)
{
	switch (width) {
	case 1:
		GATHER(uint8_t);
		break;
	case 2:
		GATHER(uint16_t);
		break;
	case 4:
		GATHER(uint32_t);
		break;
	case 8:
		GATHER(uint64_t);
		break;
	case 16:
		GATHER(struct gather_16);
		break;
	default:
		for (uint64_t i = 0; i < count; i++)
			memcpy(place + i * width, from + indices[i] * width, width);
	}
}

static int
gather_bits(struct array *array, const struct array *from, const uint32_t *indices, uint64_t count,
	struct lancet_error *err)
{
	for (uint64_t i = 0; i < count; i++)
		TRY(array_append_bits(array, from->data.data, indices[i], 1, err));
	return LANCET_OK;
}

static int
gather_fixed(struct array *array, const struct array *from, const uint32_t *indices, uint64_t count,
	struct lancet_error *err)
{
	uint8_t *place;

	if (array->field->bits == 1)
		return gather_bits(array, from, indices, count, err);
	TRY(array_extend_fixed(array, from->field->bits, count, &place, err));
	gather_bytes(place, from->data.data, indices, count, array->field->bits / 8);
	return LANCET_OK;
}

static inline uint64_t
load_offset(const uint8_t *offsets, bool wide, uint64_t index)
{
	uint64_t offset;
	uint32_t narrow;

	if (wide) {
		memcpy(&offset, offsets + index * 8, 8);
		return offset;
	}
	memcpy(&narrow, offsets + index * 4, 4);
	return narrow;
}

/* Bytes of all the values together. */
static inline uint64_t
sum_sizes(const struct array *from, bool wide, const uint32_t *indices, uint64_t count)
{
	const uint8_t *offsets = from->offsets.data;
	uint64_t size = 0;

	for (uint64_t i = 0; i < count; i++)
		size += load_offset(offsets, wide, (uint64_t)indices[i] + 1) -
			load_offset(offsets, wide, indices[i]);
	return size;
}

/* There are SHORT_SIZE bytes of room behind the values. */
static inline void
copy_values(struct array *array, const struct array *from, bool wide, const uint32_t *indices,
	uint64_t count)
{
	const unsigned width = wide ? 8 : 4;
	const uint8_t *offsets = from->offsets.data, *bytes = from->data.data;
	const uint64_t short_end =
		from->data.size < SHORT_SIZE ? 0 : from->data.size - SHORT_SIZE + 1;
	uint8_t *ends = array->offsets.data + array->offsets.size, *place = array->data.data;
	uint64_t end = array->data.size;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = load_offset(offsets, wide, indices[i]);
		uint64_t size = load_offset(offsets, wide, (uint64_t)indices[i] + 1) - start;

		if (size <= SHORT_SIZE && start < short_end)
			memcpy(place + end, bytes + start, SHORT_SIZE);
		else if (size > 0)
			memcpy(place + end, bytes + start, (size_t)size);
		end += size;
		memcpy(ends + i * width, &end, width);
	}
	array->offsets.size += (size_t)(count * width);
	array->data.size = (size_t)end;
}

static int
gather_variable(struct array *array, const struct array *from, const uint32_t *indices,
	uint64_t count, struct lancet_error *err)
{
	bool wide = array->field->large;
	uint64_t max = wide ? INT64_MAX : INT32_MAX;
	uint64_t size = wide ? sum_sizes(from, true, indices, count)
			     : sum_sizes(from, false, indices, count);

	assert(wide == from->field->large);
	if (size > max || array->data.size > max - size)
		return lancet_fail(err, LANCET_LIMIT,
			"more than 2 GiB of values with 32-bit offsets: ask for fewer rows");
	TRY(array_grow(array, &array->offsets, times(count, wide ? 8 : 4), err));
	TRY(array_grow(array, &array->data, size + SHORT_SIZE, err));
	TRY(array_lengthen(array, count, true, err));
	if (wide)
		copy_values(array, from, true, indices, count);
	else
		copy_values(array, from, false, indices, count);
	return LANCET_OK;
}

static int
gather_any(struct array *array, const struct array *from, const uint32_t *indices, uint64_t count,
	struct lancet_error *err)
{
	for (uint64_t i = 0; i < count; i++)
		TRY(array_append_range(array, from, indices[i], 1, err));
	return LANCET_OK;
}

int
array_append_gather(struct array *array, const struct array *from, const uint32_t *indices,
	uint64_t count, struct lancet_error *err)
{
	uint64_t first = array->length;

	assert(array->field->kind == from->field->kind);
	switch (array->field->kind) {
	case FIELD_FIXED:
		TRY(gather_fixed(array, from, indices, count, err));
		break;
	case FIELD_VARIABLE:
		TRY(gather_variable(array, from, indices, count, err));
		break;
	default:
		return gather_any(array, from, indices, count, err);
	}
	for (uint64_t i = 0; from->null_count > 0 && i < count; i++) {
		if (!array_is_valid(from, indices[i]))
			TRY(array_set_null(array, first + i, err));
	}
	return LANCET_OK;
}

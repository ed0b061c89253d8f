/* Values of variable size in an array: one buffer of offsets, one of bytes.
 *
 * Offsets come in two widths and go out in two; they are checked in one pass and moved in another,
 * both of which are loops without branches.
 */
#include "array.h"

#include <inttypes.h>

#include "array_grow.h"
#include "util/macros.h"

static uint64_t
load_offset(const uint8_t *offsets, unsigned width, uint64_t index)
{
	uint32_t narrow;
	uint64_t wide;

	if (width == 4) {
		memcpy(&narrow, offsets + index * 4, 4);
		return narrow;
	}
	memcpy(&wide, offsets + index * 8, 8);
	return wide;
}

static bool
ascending_narrow(const uint8_t *offsets, uint64_t count)
{
	unsigned bad = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t here, next;

		memcpy(&here, offsets + i * 4, 4);
		memcpy(&next, offsets + i * 4 + 4, 4);
		bad |= next < here;
	}
	return bad == 0;
}

static bool
ascending_wide(const uint8_t *offsets, uint64_t count)
{
	unsigned bad = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t here, next;

		memcpy(&here, offsets + i * 8, 8);
		memcpy(&next, offsets + i * 8 + 8, 8);
		bad |= next < here;
	}
	return bad == 0;
}

/* out[i] = in[i + 1] - first + base. The sums fit: the caller has checked the last one. */
static void
move_offsets(uint8_t *out, unsigned out_width, const uint8_t *in, unsigned width, uint64_t count,
	uint64_t shift)
{
	if (out_width == 4 && width == 4) {
		for (uint64_t i = 0; i < count; i++) {
			uint32_t offset;

			memcpy(&offset, in + i * 4 + 4, 4);
			offset += (uint32_t)shift;
			memcpy(out + i * 4, &offset, 4);
		}
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = load_offset(in, width, i + 1) + shift;

		memcpy(out + i * out_width, &offset, out_width);
	}
}

static int
check_room(const struct array *array, uint64_t size, struct lancet_error *err)
{
	uint64_t max = array->field->large ? INT64_MAX : INT32_MAX;

	if (array->field->kind != FIELD_VARIABLE)
		return lancet_fail(
			err, LANCET_CORRUPT, "values of variable size where the type has none");
	if (size > max || array->data.size > max - size)
		return lancet_fail(err, LANCET_LIMIT,
			"more than 2 GiB of values with 32-bit offsets: ask for fewer rows");
	return LANCET_OK;
}

int
array_append_offsets(struct array *array, const uint8_t *offsets, unsigned width, uint64_t count,
	struct slice bytes, struct lancet_error *err)
{
	unsigned out_width = array_offset_width(array);
	uint64_t first, last, room;

	if (count == 0)
		return check_room(array, 0, err);
	first = load_offset(offsets, width, 0);
	last = load_offset(offsets, width, count);
	if (!(width == 4 ? ascending_narrow(offsets, count) : ascending_wide(offsets, count)))
		return lancet_fail(err, LANCET_CORRUPT, "offsets of values descend");
	if (last > bytes.size)
		return lancet_fail(err, LANCET_CORRUPT, "values end at %" PRIu64 " of %zu bytes",
			last, bytes.size);
	TRY(check_room(array, last - first, err));
	if (__builtin_mul_overflow(count, (uint64_t)out_width, &room))
		room = UINT64_MAX;
	TRY(array_grow(array, &array->offsets, room, err));
	TRY(array_grow(array, &array->data, last - first, err));
	TRY(array_lengthen(array, count, true, err));
	move_offsets(array->offsets.data + array->offsets.size, out_width, offsets, width, count,
		(uint64_t)array->data.size - first);
	array->offsets.size += (size_t)room;
	buf_put(&array->data, bytes.data + first, (size_t)(last - first));
	return LANCET_OK;
}

int
array_append_bytes(struct array *array, struct slice value, struct lancet_error *err)
{
	uint64_t end;

	TRY(check_room(array, value.size, err));
	TRY(array_grow(array, &array->offsets, array_offset_width(array), err));
	TRY(array_grow(array, &array->data, value.size, err));
	TRY(array_lengthen(array, 1, true, err));
	buf_put_slice(&array->data, value);
	end = array->data.size;
	buf_put(&array->offsets, &end, array_offset_width(array));
	return LANCET_OK;
}

int
array_append_slices(struct array *array, const struct slice *values, size_t count,
	struct lancet_error *err)
{
	unsigned width = array_offset_width(array);
	uint64_t size = 0, room, end;
	uint8_t *offsets, *bytes;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(size, values[i].size, &size))
			size = UINT64_MAX;
	TRY(check_room(array, size, err));
	if (__builtin_mul_overflow(count, (uint64_t)width, &room))
		room = UINT64_MAX;
	TRY(array_grow(array, &array->offsets, room, err));
	TRY(array_grow(array, &array->data, size, err));
	TRY(array_lengthen(array, count, true, err));
	offsets = array->offsets.data + array->offsets.size;
	bytes = array->data.data;
	end = array->data.size;
	for (size_t i = 0; i < count; i++) {
		if (values[i].size > 0)
			memcpy(bytes + end, values[i].data, values[i].size);
		end += values[i].size;
		if (width == 4)
			memcpy(offsets + i * 4, &end, 4);
		else
			memcpy(offsets + i * 8, &end, 8);
	}
	array->offsets.size += (size_t)room;
	array->data.size = (size_t)end;
	return LANCET_OK;
}

int
array_extend_variable(struct array *array, const uint32_t *ends, uint64_t count,
	uint8_t **ret_bytes, struct lancet_error *err)
{
	unsigned width = array_offset_width(array);
	uint64_t size = ends[count];
	uint64_t room;

	TRY(check_room(array, size, err));
	if (__builtin_mul_overflow(count, (uint64_t)width, &room))
		room = UINT64_MAX;
	TRY(array_grow(array, &array->offsets, room, err));
	TRY(array_grow(array, &array->data, size, err));
	TRY(array_lengthen(array, count, true, err));
	move_offsets(array->offsets.data + array->offsets.size, width, (const uint8_t *)ends, 4,
		count, array->data.size);
	array->offsets.size += (size_t)room;
	*ret_bytes = array->data.data + array->data.size;
	array->data.size += (size_t)size;
	return LANCET_OK;
}

/* Pages of one value, whatever their length: the value alone, in the message when it is short.
 * Format facts: constant layout. */
#include "encode.h"

#define INLINE_MAX 32u /* bytes */

/* The bytes of a value; bits become a byte. */
static struct slice
slot(const struct encode_values *values, uint64_t index)
{
	static const uint8_t bits[2] = { 0, 1 };
	const struct array *array = values->array;
	size_t width = array->field->bits / 8;

	if (array->field->kind == FIELD_VARIABLE)
		return array_bytes(array, values->first + index);
	if (array->field->bits == 1)
		return slice_of(&bits[array_bit(array, values->first + index)], 1);
	return slice_of(array->data.data + (values->first + index) * width, width);
}

/* The first valid slot when all valid ones equal it; `count` when they don't or there is none. */
static uint64_t
find_constant(const struct encode_values *values)
{
	uint64_t count = values->count, found = count;

	for (uint64_t i = 0; i < count; i++) {
		if (!array_is_valid(values->array, values->first + i))
			continue;
		if (found == count)
			found = i;
		else if (!slice_equal(slot(values, i), slot(values, found)))
			return count;
	}
	return found;
}

static void
put_number(struct buf *into, uint64_t number, unsigned width)
{
	buf_put(into, &number, width);
}

/* How many parts, their sizes, the parts: the value, or two offsets and the bytes. */
static void
put_buffer(const struct field *field, struct slice value, struct buf *into)
{
	unsigned width = field->large ? 8 : 4;

	if (field->kind == FIELD_FIXED) {
		put_number(into, 1, 4);
		put_number(into, value.size, 4);
	} else {
		put_number(into, 2, 4);
		put_number(into, 2 * (uint64_t)width, 4);
		put_number(into, value.size, 4);
		put_number(into, 0, width);
		put_number(into, value.size, width);
	}
	buf_put_slice(into, value);
}

int
encode_constant(const struct encode_values *values, bool *ret_constant, bool *ret_inline,
	struct buf *value, struct lancet_error *err)
{
	const struct field *field = values->array->field;
	struct slice bytes;
	uint64_t found;

	*ret_constant = *ret_inline = false;
	if (values->version < FILE_2_2 ||
		(field->kind != FIELD_FIXED && field->kind != FIELD_VARIABLE))
		return LANCET_OK;
	found = find_constant(values);
	if (found == values->count)
		return LANCET_OK;
	bytes = slot(values, found);
	if (bytes.size > INT32_MAX)
		return LANCET_OK;
	*ret_constant = true;
	*ret_inline = field->kind == FIELD_FIXED && bytes.size <= INLINE_MAX;
	if (*ret_inline)
		buf_put_slice(value, bytes);
	else
		put_buffer(field, bytes, value);
	return buf_check(value, "value of a page", err);
}

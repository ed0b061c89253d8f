/* Pages of one value, whatever their length: the value alone, in the message when it is short.
 * Format facts: constant layout. */
#include "encode.h"

#include "encode_column.h"
#include "util/bits.h"
#include "util/macros.h"

#define INLINE_MAX 32u /* bytes */

/* A number, or what has a fixed width; bits become a byte. */
static struct slice
fixed_slot(const struct encode_column *column, uint64_t index, uint8_t *bit)
{
	if (column->bits != 1)
		return slice_of(column->data + index * column->width, column->width);
	*bit = bits_get(column->data, column->bit + index);
	return slice_of(bit, 1);
}

static struct slice
slot(const struct encode_column *column, uint64_t index, uint8_t *bit)
{
	return column->bits == 0 ? encode_column_bytes(column, index)
				 : fixed_slot(column, index, bit);
}

/* The first valid slot when all valid ones equal it; `count` when they don't or there is none. */
static uint64_t
find_constant(const struct encode_column *column)
{
	uint64_t count = column->values.count, found = count;
	uint8_t bit, first_bit;

	for (uint64_t i = 0; i < count; i++) {
		if (encode_column_is_null(column, i))
			continue;
		if (found == count)
			found = i;
		else if (!slice_equal(slot(column, i, &bit), slot(column, found, &first_bit)))
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
put_buffer(const struct encode_column *column, struct slice value, struct buf *into)
{
	unsigned width = column->values.array->field->large ? 8 : 4;

	if (column->bits != 0) {
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

static int
put_constant(const struct encode_column *column, bool *ret_constant, bool *ret_inline,
	struct buf *into, struct lancet_error *err)
{
	uint64_t found = find_constant(column);
	struct slice value;
	uint8_t bit;

	if (found == column->values.count)
		return LANCET_OK;
	value = slot(column, found, &bit);
	if (value.size > INT32_MAX)
		return LANCET_OK;
	*ret_constant = true;
	*ret_inline = column->bits != 0 && value.size <= INLINE_MAX;
	if (*ret_inline)
		buf_put_slice(into, value);
	else
		put_buffer(column, value, into);
	return buf_check(into, "value of a page", err);
}

int
encode_constant(const struct encode_values *values, bool *ret_constant, bool *ret_inline,
	struct buf *value, struct lancet_error *err)
{
	enum field_kind kind = values->array->field->kind;
	struct encode_column column;
	int rc;

	*ret_constant = *ret_inline = false;
	if (values->version < FILE_2_2 || (kind != FIELD_FIXED && kind != FIELD_VARIABLE))
		return LANCET_OK;
	TRY(encode_column_open(values, &column, err));
	rc = put_constant(&column, ret_constant, ret_inline, value, err);
	encode_column_release(&column);
	return rc;
}

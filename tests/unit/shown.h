/* Values of an array as text: numbers in hex, text in quotes, "-" for null, [lists] and {structs}.
 */
#ifndef TESTS_SHOWN_H
#define TESTS_SHOWN_H

#include "file/array.h"

#include <inttypes.h>

static inline void
show_value(const struct array *array, uint64_t index, struct buf *out)
{
	const struct field *field = array->field;
	uint64_t first = index, count = 1;

	if (field->kind == FIELD_NULL || !array_is_valid(array, index)) {
		buf_put_byte(out, '-');
		return;
	}
	switch (field->kind) {
	case FIELD_FIXED:
		if (field->bits <= 64)
			buf_printf(out, "%" PRIx64,
				field->bits == 1 ? (uint64_t)array_bit(array, index)
						 : array_unsigned(array, index));
		for (size_t i = 0; field->bits > 64 && i < field->bits / 8; i++)
			buf_printf(out, "%02x", array->data.data[index * (field->bits / 8) + i]);
		return;
	case FIELD_VARIABLE:
		buf_put_byte(out, '\'');
		buf_put_slice(out, array_bytes(array, index));
		buf_put_byte(out, '\'');
		return;
	case FIELD_DICTIONARY:
		show_value(&array->children[0], array_unsigned(array, index), out);
		return;
	case FIELD_STRUCT:
		buf_put_byte(out, '{');
		for (size_t i = 0; i < array->child_count; i++) {
			buf_put_text(out, i == 0 ? "" : " ");
			show_value(&array->children[i], index, out);
		}
		buf_put_byte(out, '}');
		return;
	case FIELD_LIST:
	case FIELD_MAP:
		first = array_offset(array, index);
		count = array_offset(array, index + 1) - first;
		break;
	default:
		first = index * field->dimension;
		count = field->dimension;
	}
	buf_put_byte(out, '[');
	for (uint64_t i = 0; i < count; i++) {
		buf_put_text(out, i == 0 ? "" : " ");
		show_value(&array->children[0], first + i, out);
	}
	buf_put_byte(out, ']');
}

static inline void
show_array(const struct array *array, struct buf *out)
{
	for (uint64_t i = 0; i < array->length; i++) {
		buf_put_text(out, i == 0 ? "" : " ");
		show_value(array, i, out);
	}
}

#endif

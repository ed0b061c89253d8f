/* Decoded values of a page as text; see pages.h. */
#ifndef TESTS_PAGETEXT_H
#define TESTS_PAGETEXT_H

#include <inttypes.h>
#include <stdio.h>

#include "file/levels.h"
#include "unit.h"

static inline void
render_value(const struct array *array, uint64_t index, struct buf *out)
{
	const struct field *field = array->field;
	struct slice bytes;

	if (!array_is_valid(array, index)) {
		buf_put_byte(out, '-');
		return;
	}
	switch (field->kind) {
	case FIELD_FIXED:
		buf_printf(out, "%" PRIx64,
			field->bits == 1 ? (uint64_t)array_bit(array, index)
					 : array_unsigned(array, index));
		break;
	case FIELD_DICTIONARY:
		render_value(&array->children[0], array_unsigned(array, index), out);
		break;
	case FIELD_VARIABLE:
		bytes = array_bytes(array, index);
		buf_printf(out, "'%.*s'", (int)bytes.size, (const char *)bytes.data);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		buf_printf(out, "%" PRIu64,
			array_offset(array, index + 1) - array_offset(array, index));
		break;
	default:
		buf_put_byte(out, 'v');
		for (size_t i = 0; i < array->child_count && field->kind == FIELD_STRUCT; i++)
			render_value(&array->children[i], index, out);
		for (uint64_t i = 0; array->child_count > 0 && i < field->dimension; i++)
			render_value(&array->children[0], index * field->dimension + i, out);
	}
}

static inline void
render_leaf_out(const struct leaf_out *leaf_out, struct buf *out)
{
	out->size = 0;
	for (size_t i = 0; i <= leaf_out->nest_count; i++) {
		const struct array *array = i == 0 ? &leaf_out->leaf : &leaf_out->nests[i - 1];

		buf_put_text(out, i == 0 ? "" : " |");
		for (uint64_t at = 0; at < array->length; at++) {
			buf_put_text(out, i == 0 && at == 0 ? "" : " ");
			render_value(array, at, out);
		}
	}
	buf_put_byte(out, '\0');
}

#endif

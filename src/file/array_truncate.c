/* Taking values away from the end of an array; see array.h. */
#include "array.h"

#include <assert.h>

#include "array_grow.h"
#include "util/bits.h"

/* The bits of a bitmap's last byte that no value has are zero. */
static void
cut_bitmap(struct buf *bitmap, uint64_t length)
{
	bitmap->size = (size_t)bits_size(length);
	if (length % 8 != 0)
		bits_fill(bitmap->data, length, 8 - length % 8, false);
}

static void
cut_validity(struct array *array, uint64_t length)
{
	array->null_count = 0;
	if (array->validity.size == 0)
		return;
	cut_bitmap(&array->validity, length);
	if (length > 0)
		array->null_count = length - bits_count(array->validity.data, 0, length);
	if (array->null_count == 0)
		array->validity.size = 0;
}

static void
cut_values(struct array *array, uint64_t length)
{
	const struct field *field = array->field;
	uint64_t end;

	switch (field->kind) {
	case FIELD_NULL:
		return;
	case FIELD_FIXED:
	case FIELD_DICTIONARY: /* its values stay */
		if (field->bits == 1 && array->data.size > 0)
			cut_bitmap(&array->data, length);
		else
			array->data.size = (size_t)(length * (field->bits / 8));
		return;
	case FIELD_VARIABLE:
		array->data.size = (size_t)array_offset(array, length);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		end = array_offset(array, length);
		array_truncate(&array->children[0], end);
		break;
	case FIELD_FIXED_LIST:
		array_truncate(&array->children[0], length * field->dimension);
		return;
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++)
			array_truncate(&array->children[i], length);
		return;
	}
	array->offsets.size = (size_t)((length + 1) * array_offset_width(array));
}

void
array_truncate(struct array *array, uint64_t length)
{
	assert(length <= array->length);
	cut_values(array, length);
	cut_validity(array, length);
	array->length = length;
}

/* Slots of a page, brought into the form that encoders take; see encode_column.h. */
#include "encode_column.h"

#include <assert.h>

#include "encode_message.h"
#include "util/macros.h"

static int
open_variable(struct encode_column *column)
{
	const struct encode_values *values = &column->values;
	uint64_t all = array_offset(values->array, values->first + values->count) -
		       array_offset(values->array, values->first);

	column->bytes = column->has_nulls ? 0 : all;
	for (uint64_t i = 0; column->has_nulls && i < values->count; i++)
		column->bytes += encode_column_bytes(column, i).size;
	column->is_dense = column->bytes == all;
	return LANCET_OK;
}

uint64_t
encode_column_first_valid(const struct encode_column *column)
{
	uint64_t index = 0;

	while (index < column->values.count && encode_column_is_null(column, index))
		index++;
	return index;
}

static inline __attribute__((always_inline)) void
fill_each(struct encode_column *column, uint64_t before, size_t width)
{
	uint8_t *values = column->made.data;

	for (uint64_t i = 0; i < column->values.count; i++) {
		if (encode_column_is_null(column, i))
			memcpy(values + i * width, values + before * width, width);
		else
			before = i;
	}
}

/* Null slots take the value before them, those at the start the first one there is. */
static int
fill_nulls(struct encode_column *column, struct lancet_error *err)
{
	size_t size = (size_t)column->values.count * column->width;
	uint64_t before = encode_column_first_valid(column);

	if (!column->has_nulls || before == column->values.count)
		return LANCET_OK;
	if (column->data != column->made.data)
		buf_put(&column->made, column->data, size);
	TRY(buf_check(&column->made, "values of a page", err));
	column->data = column->made.data;
	if (column->width == 8)
		fill_each(column, before, 8);
	else if (column->width == 4)
		fill_each(column, before, 4);
	else
		fill_each(column, before, column->width);
	return LANCET_OK;
}

static int
open_fixed(struct encode_column *column, struct lancet_error *err)
{
	const struct encode_values *values = &column->values;

	column->bits = values->array->field->bits;
	column->leaves = 1;
	column->data = values->array->data.data;
	if (column->bits == 1) {
		column->bit = values->first;
		return LANCET_OK;
	}
	column->width = (size_t)column->bits / 8;
	column->is_number =
		column->bits == 8 || column->bits == 16 || column->bits == 32 || column->bits == 64;
	if (values->count > 0)
		column->data += values->first * column->width;
	return fill_nulls(column, err);
}

static int
open_list(struct encode_column *column, struct lancet_error *err)
{
	const struct array *array = column->values.array;
	uint64_t first = column->values.first, count = column->values.count;

	column->leaves = 1;
	for (; array->field->kind == FIELD_FIXED_LIST; array = &array->children[0]) {
		struct encode_items *items = &column->items[column->item_count++];

		if (column->item_count == ENCODE_LISTS_MAX)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"more than %u fixed-size lists in each other",
				ENCODE_LISTS_MAX - 1);
		column->leaves *= array->field->dimension;
		*items = (struct encode_items){ array->field->dimension, column->leaves,
			&array->children[0],
			array_nulls(&array->children[0], first * column->leaves,
				count * column->leaves) > 0 };
	}
	if (array->field->kind != FIELD_FIXED)
		return lancet_fail(err, LANCET_UNSUPPORTED, "fixed-size lists of type %.*s",
			FIELD_TEXT(array->field->logical_type));
	column->bits = array->field->bits;
	column->data = array->data.data;
	if (column->bits == 1) {
		column->bit = first * column->leaves;
		column->width = column->leaves % 8 == 0 ? (size_t)column->leaves / 8 : 0;
		return LANCET_OK;
	}
	column->width = (size_t)(column->leaves * column->bits / 8);
	if (count > 0)
		column->data += first * column->width;
	return LANCET_OK;
}

uint64_t
encode_row_width(const struct field *field)
{
	if (field->kind == FIELD_FIXED)
		return field->bits / 8;
	if (field->kind == FIELD_FIXED_LIST)
		return field->dimension * encode_row_width(&field->children[0]);
	return 0;
}

/* Copies one child of all rows to its place in them. */
static void
put_child(const struct encode_column *column, const struct array *child, size_t offset, size_t size)
{
	uint8_t *place = column->made.data + offset;
	const uint8_t *from;

	while (child->field->kind == FIELD_FIXED_LIST)
		child = &child->children[0];
	from = child->data.data + column->values.first * size;
	for (uint64_t i = 0; i < column->values.count; i++, place += column->width, from += size)
		memcpy(place, from, size);
}

static int
open_packed(struct encode_column *column, struct lancet_error *err)
{
	const struct array *array = column->values.array;
	size_t offset = 0;

	column->leaves = 1;
	for (size_t i = 0; i < array->child_count; i++) {
		const struct field *field = array->children[i].field;
		uint64_t width = encode_row_width(field);

		if (width == 0)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"packed struct: child %.*s of type %.*s", FIELD_TEXT(field->name),
				FIELD_TEXT(field->logical_type));
		column->width += (size_t)width;
		buf_put(&column->made_widths, &width, sizeof(width));
	}
	column->bits = 8 * (uint64_t)column->width;
	buf_fill(&column->made, 0, (size_t)column->values.count * column->width);
	TRY(buf_check(&column->made, "rows of a packed struct", err));
	TRY(buf_check(&column->made_widths, "children of a packed struct", err));
	column->widths = (const uint64_t *)(const void *)column->made_widths.data;
	for (size_t i = 0; column->values.count > 0 && i < array->child_count; i++) {
		put_child(column, &array->children[i], offset, (size_t)column->widths[i]);
		offset += (size_t)column->widths[i];
	}
	column->data = column->made.data;
	return fill_nulls(column, err);
}

static int
open_kind(struct encode_column *column, struct lancet_error *err)
{
	const struct field *field = column->values.array->field;

	switch (field->kind) {
	case FIELD_FIXED:
	case FIELD_DICTIONARY:
		return open_fixed(column, err);
	case FIELD_VARIABLE:
		return open_variable(column);
	case FIELD_FIXED_LIST:
		return open_list(column, err);
	case FIELD_STRUCT:
		if (field->packed)
			return open_packed(column, err);
		break;
	default:
		break;
	}
	return lancet_fail(err, LANCET_UNSUPPORTED, "values of type %.*s in pages",
		FIELD_TEXT(field->logical_type));
}

/* By name: their ids are those of any field in a file of their own. */
static bool
is_lineage(const struct field *leaf)
{
	static const char *const names[] = { "_rowid", "_row_created_at_version",
		"_row_last_updated_at_version" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (leaf != NULL && leaf->parent == NULL && leaf->bits == 64 &&
			slice_equal(leaf->name, slice_text(names[i])))
			return true;
	return false;
}

int
encode_column_open(const struct encode_values *values, struct encode_column *ret_column,
	struct lancet_error *err)
{
	int rc;

	assert(values->first <= values->array->length &&
		values->count <= values->array->length - values->first);
	*ret_column = (struct encode_column){ .values = *values,
		.is_lineage = is_lineage(values->leaf),
		.has_nulls = array_nulls(values->array, values->first, values->count) > 0 };
	rc = open_kind(ret_column, err);
	if (rc != LANCET_OK)
		encode_column_release(ret_column);
	return rc;
}

void
encode_column_release(struct encode_column *column)
{
	buf_release(&column->made);
	buf_release(&column->made_widths);
	*column = (struct encode_column){ 0 };
}

void
encode_column_message(const struct encode_column *column, struct buf *into)
{
	struct buf inner = { 0 }, outer = { 0 };

	if (column->widths != NULL) {
		message_packed_struct(
			into, column->widths, column->made_widths.size / sizeof(*column->widths));
		return;
	}
	if (column->bits == 0)
		message_variable(&inner, column->values.array->field->large ? 64 : 32);
	else
		message_flat(&inner, column->bits);
	for (size_t i = column->item_count; i-- > 0;) {
		outer.size = 0;
		message_fixed_list(&outer, column->items[i].dimension, column->items[i].has_nulls,
			buf_slice(&inner));
		inner.size = 0;
		buf_put_slice(&inner, buf_slice(&outer));
	}
	buf_put_slice(into, buf_slice(&inner));
	if (inner.failed != LANCET_OK || outer.failed != LANCET_OK)
		into->failed = LANCET_NO_MEMORY;
	buf_release(&inner);
	buf_release(&outer);
}

/* Bits [first, first + count) of a bitmap, as bytes of their own. */
static void
put_bits(struct buf *into, const uint8_t *bitmap, uint64_t first, uint64_t count)
{
	size_t size = into->size;

	buf_fill(into, 0, (size_t)bits_size(count));
	if (into->failed == LANCET_OK)
		bits_copy(into->data + size, 0, bitmap, first, count);
}

void
encode_column_put(
	const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into)
{
	if (column->bits == 1)
		put_bits(into, column->data, column->bit + first * column->leaves,
			count * column->leaves);
	else
		buf_put(into, column->data + first * column->width, (size_t)count * column->width);
}

void
encode_items_put_validity(const struct encode_column *column, const struct encode_items *items,
	uint64_t first, uint64_t count, struct buf *into)
{
	put_bits(into, items->array->validity.data,
		(column->values.first + first) * items->per_value, count * items->per_value);
}

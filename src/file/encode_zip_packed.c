/* Packed structs with children of variable size, row by row (since 2.2). Format facts:
 * VariablePackedStruct. */
#include "encode_zip.h"

#include <stdlib.h>

#include <lance/encodings21.pb-c.h>

#include "encode_message.h"
#include "util/macros.h"

#define CASE(name) ((unsigned)LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name)

struct packed_state {
	struct zip_state base;
	size_t count;
	struct encode_column children[];
};

static void
put_child(const struct encode_column *child, uint64_t index, struct buf *into)
{
	struct slice bytes;
	uint64_t size;

	if (child->bits != 0) {
		zip_put_fixed(child, index, into);
		return;
	}
	bytes = encode_column_bytes(child, index);
	size = bytes.size;
	buf_put(into, &size, child->values.array->field->large ? 8 : 4);
	buf_put_slice(into, bytes);
}

static int
packed_value(void *state, uint64_t index, struct buf *into, struct lancet_error *err)
{
	const struct packed_state *packed = state;

	for (size_t i = 0; i < packed->count; i++)
		put_child(&packed->children[i], index, into);
	return buf_check(into, "values of a page", err);
}

static void
packed_release(void *state)
{
	struct packed_state *packed = state;

	for (size_t i = 0; i < packed->count; i++)
		encode_column_release(&packed->children[i]);
	free(packed);
}

static void
put_field(const struct encode_column *child, struct buf *into)
{
	struct buf field = { 0 }, value = { 0 };

	encode_column_message(child, &value);
	message_put_bytes(&field, 1, buf_slice(&value));
	if (child->bits != 0)
		message_put_number(&field, 2, 8 * zip_fixed_size(child));
	else
		message_put_number(&field, 3, child->values.array->field->large ? 64 : 32);
	message_put_bytes(into, 1, buf_slice(&field));
	if (field.failed != LANCET_OK || value.failed != LANCET_OK)
		into->failed = LANCET_NO_MEMORY;
	buf_release(&field);
	buf_release(&value);
}

static void
put_message(const struct packed_state *packed, struct buf *into)
{
	struct buf fields = { 0 };

	for (size_t i = 0; i < packed->count; i++)
		put_field(&packed->children[i], &fields);
	message_put_bytes(into, CASE(VARIABLE_PACKED_STRUCT), buf_slice(&fields));
	if (fields.failed != LANCET_OK)
		into->failed = fields.failed;
	buf_release(&fields);
}

static int
open_child(const struct encode_values *values, const struct array *array,
	struct encode_column *child, struct lancet_error *err)
{
	struct encode_values of_child = *values;

	of_child.array = array;
	of_child.leaf = array->field;
	if (array->field->kind == FIELD_VARIABLE || encode_row_width(array->field) > 0)
		return encode_column_open(&of_child, child, err);
	return lancet_fail(err, LANCET_UNSUPPORTED, "packed struct: child %.*s of type %.*s",
		FIELD_TEXT(array->field->name), FIELD_TEXT(array->field->logical_type));
}

int
zip_packed_make(const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err)
{
	static const struct zip_encoder encoder = { packed_value, packed_release };
	const struct array *array = values->array;
	struct packed_state *packed;

	if (values->version < FILE_2_2)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"packed structs with children of variable size before 2.2");
	packed = calloc(1, sizeof(*packed) + array->child_count * sizeof(packed->children[0]));
	if (packed == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	packed->base.encoder = &encoder;
	plan->state = packed;
	plan->variable = true;
	plan->bits = 32;
	for (size_t i = 0; i < array->child_count; i++) {
		TRY(open_child(values, &array->children[i], &packed->children[i], err));
		packed->count++;
	}
	put_message(packed, &plan->message);
	return LANCET_OK;
}

/* Which pages are zipped, and the values of a fixed size in them. Format facts: full-zip layout,
 * FixedSizeList as values. */
#include "encode_zip.h"

#include <assert.h>
#include <stdlib.h>

#include "encode_message.h"
#include "encode_wish.h"
#include "util/bits.h"
#include "util/macros.h"

#define WIDE_MIN       256u                     /* bytes of a value, as the reference has it */
#define CHUNK_HALF_MAX ((size_t)16 * 1024 - 64) /* two such values fit a chunk of 2.1 */

/* Rows that PackedStruct can't hold: it has numbers only. */
static bool
has_variable_child(const struct field *field)
{
	for (size_t i = 0; i < field->child_count; i++)
		if (field->children[i].kind != FIELD_FIXED)
			return true;
	return false;
}

/* Single bits with the validity of items, which nobody reads from full-zip pages. */
static bool
has_null_bits(const struct array *array)
{
	uint64_t nulls = 0;

	while (array->field->kind == FIELD_FIXED_LIST) {
		array = &array->children[0];
		nulls += array->null_count;
	}
	return array->field->bits == 1 && nulls > 0;
}

static uint64_t
longest(const struct encode_values *values)
{
	const struct array *array = values->array;
	uint64_t most = 0;

	for (uint64_t i = values->first; i < values->first + values->count; i++) {
		uint64_t size = array_offset(array, i + 1) - array_offset(array, i);

		if (size > most && array_is_valid(array, i))
			most = size;
	}
	return most;
}

static uint64_t
list_bytes(const struct field *field)
{
	uint64_t leaves = 1;

	for (; field->kind == FIELD_FIXED_LIST; field = &field->children[0])
		leaves *= field->dimension;
	return bits_size(leaves * field->bits);
}

static bool
is_wide(const struct encode_values *values, uint64_t size)
{
	if (size > CHUNK_HALF_MAX && values->version < FILE_2_2)
		return true;
	switch (encode_wish_structure(values->leaf)) {
	case WISH_MINIBLOCK:
		return false;
	case WISH_FULLZIP:
		return true;
	default:
		return size >= WIDE_MIN;
	}
}

bool
encode_wants_zip(const struct encode_values *values)
{
	const struct field *field = values->array->field;

	switch (field->kind) {
	case FIELD_VARIABLE:
		return is_wide(values, longest(values));
	case FIELD_FIXED:
		return field->bits % 8 == 0 && is_wide(values, field->bits / 8);
	case FIELD_FIXED_LIST:
		return !has_null_bits(values->array) && is_wide(values, list_bytes(field));
	case FIELD_STRUCT:
		return has_variable_child(field);
	default:
		return false;
	}
}

int
zip_plan_make(
	const struct encode_values *values, struct zip_plan *ret_plan, struct lancet_error *err)
{
	struct zip_plan plan = { 0 };
	int rc;

	if (values->array->field->kind == FIELD_VARIABLE)
		rc = zip_variable_make(values, &plan, err);
	else if (values->array->field->kind == FIELD_STRUCT)
		rc = zip_packed_make(values, &plan, err);
	else
		rc = zip_fixed_make(values, &plan, err);
	if (rc == LANCET_OK)
		rc = buf_check(&plan.message, "encoding of a page", err);
	if (rc == LANCET_OK)
		*ret_plan = plan;
	else
		zip_plan_release(&plan);
	return rc;
}

void
zip_plan_release(struct zip_plan *plan)
{
	struct zip_state *state = plan->state;

	if (state != NULL)
		state->encoder->release(state);
	buf_release(&plan->message);
	*plan = (struct zip_plan){ 0 };
}

int
zip_plan_value(struct zip_plan *plan, uint64_t index, struct buf *into, struct lancet_error *err)
{
	const struct zip_state *state = plan->state;

	return state->encoder->value(plan->state, index, into, err);
}

struct fixed_state {
	struct zip_state base;
	struct encode_column column;
};

uint64_t
zip_fixed_size(const struct encode_column *column)
{
	uint64_t size = bits_size(column->bits * column->leaves);

	for (size_t i = 0; i < column->item_count; i++)
		if (column->items[i].has_nulls)
			size += bits_size(column->items[i].per_value);
	return size;
}

void
zip_put_fixed(const struct encode_column *column, uint64_t index, struct buf *into)
{
	for (size_t i = 0; i < column->item_count; i++) {
		const struct encode_items *items = &column->items[i];

		if (items->has_nulls)
			encode_items_put_validity(column, items, index, 1, into);
	}
	encode_column_put(column, index, 1, into);
}

static int
fixed_value(void *state, uint64_t index, struct buf *into, struct lancet_error *err)
{
	const struct fixed_state *fixed = state;

	zip_put_fixed(&fixed->column, index, into);
	return buf_check(into, "values of a page", err);
}

static void
fixed_release(void *state)
{
	struct fixed_state *fixed = state;

	encode_column_release(&fixed->column);
	free(fixed);
}

int
zip_fixed_make(const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err)
{
	static const struct zip_encoder encoder = { fixed_value, fixed_release };
	struct fixed_state *fixed = calloc(1, sizeof(*fixed));

	if (fixed == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	fixed->base.encoder = &encoder;
	plan->state = fixed;
	if (has_null_bits(values->array))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"nulls in fixed-size lists of bits in full-zip pages");
	TRY(encode_column_open(values, &fixed->column, err));
	encode_column_message(&fixed->column, &plan->message);
	plan->bits = 8 * zip_fixed_size(&fixed->column);
	return LANCET_OK;
}

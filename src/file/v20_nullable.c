/* Validity beside values: none is null, some are, told by a bitmap, or all are.
 *
 * Opened: `inner` is the values, absent when all are null; `second` the bitmap, when there is one.
 * Format facts: v2.0 page encodings, Nullable.
 */
#include "v20_node.h"

#include "util/bits.h"
#include "util/macros.h"

static const struct field bit_field = {
	.kind = FIELD_FIXED,
	.id = FIELD_NO_ID,
	.format = "b",
	.bits = 1,
};

static int
nullable_open(const v20_message *message, struct arena *arena, unsigned depth,
	struct v20_node *node, struct lancet_error *err)
{
	const Lance__Encodings__Nullable *nullable = message->nullable;

	switch (nullable->nullability_case) {
	case LANCE__ENCODINGS__NULLABLE__NULLABILITY_NO_NULLS:
		return v20_open_inner(&nullable->no_nulls->values, arena, depth, &node->inner, err);
	case LANCE__ENCODINGS__NULLABLE__NULLABILITY_SOME_NULLS:
		TRY(v20_open_inner(
			&nullable->some_nulls->validity, arena, depth, &node->second, err));
		return v20_open_inner(
			&nullable->some_nulls->values, arena, depth, &node->inner, err);
	case LANCE__ENCODINGS__NULLABLE__NULLABILITY_ALL_NULLS:
		return LANCET_OK;
	default:
		return lancet_fail(err, LANCET_CORRUPT, "nullable: says nothing of nulls");
	}
}

static int
nullable_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	if (node->count == V20_COUNT_UNKNOWN && (node->inner == NULL || node->second != NULL))
		return lancet_fail(
			err, LANCET_CORRUPT, "nullable: nulls among the bytes of values");
	if (node->second != NULL) {
		TRY(v20_work(page, node, err));
		TRY(v20_bind(page, node->second, &bit_field, node->count, err));
	}
	if (node->inner == NULL)
		return LANCET_OK;
	return v20_bind(page, node->inner, node->field, node->count, err);
}

/* Makes the last `count` values null where the bitmap has a zero; those that are null stay so. */
static int
add_nulls(struct array *out, const uint8_t *bitmap, uint64_t count, bool has_others,
	struct lancet_error *err)
{
	if (!has_others)
		return array_set_validity(out, count, bitmap, 0, err);
	for (uint64_t i = 0; i < count; i++) {
		if (!bits_get(bitmap, i))
			TRY(array_set_null(out, out->length - count + i, err));
	}
	return LANCET_OK;
}

static int
nullable_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	uint64_t nulls = out->null_count;

	if (node->inner == NULL)
		return array_append_nulls(out, ask->total, err);
	TRY(v20_read(page, node->inner, ask, out, err));
	if (node->second == NULL || ask->total == 0)
		return LANCET_OK;
	TRY(v20_read_values(page, node, node->second, ask, err));
	return add_nulls(
		out, node->work->values.data.data, ask->total, out->null_count > nulls, err);
}

/* What has no nulls needs no word. */
static void
nullable_describe(const struct v20_node *node, struct buf *out)
{
	if (node->inner == NULL) {
		buf_put_text(out, "all_null");
		return;
	}
	if (node->second != NULL)
		buf_put_text(out, "nullable(");
	v20_describe_node(node->inner, out);
	if (node->second != NULL)
		buf_put_byte(out, ')');
}

const struct v20_encoding v20_nullable = {
	.name = "nullable",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE,
	.open = nullable_open,
	.bind = nullable_bind,
	.read = nullable_read,
	.describe = nullable_describe,
};

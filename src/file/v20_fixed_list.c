/* Fixed-size lists: the items of all values, one value behind the other, in an encoding of their
 * own.
 *
 * Whether a value is null is said around this encoding, whether an item is, inside. Format facts:
 * v2.0 page encodings, FixedSizeList.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "util/macros.h"

static int
fixed_list_open(const v20_message *message, struct arena *arena, unsigned depth,
	struct v20_node *node, struct lancet_error *err)
{
	const Lance__Encodings__FixedSizeList *list = message->fixed_size_list;

	node->parameter = list->dimension;
	if (list->dimension == 0)
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_list: of no items");
	return v20_open_inner(&list->items, arena, depth, &node->inner, err);
}

static int
fixed_list_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	const struct field *field = node->field;
	uint64_t items;

	if (field->kind != FIELD_FIXED_LIST || field->child_count != 1 ||
		field->dimension != node->parameter)
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_list: of %" PRIu64 " items for a field of %" PRIu64,
			node->parameter, field->kind == FIELD_FIXED_LIST ? field->dimension : 0);
	if (node->count == V20_COUNT_UNKNOWN ||
		__builtin_mul_overflow(node->count, node->parameter, &items) ||
		items == V20_COUNT_UNKNOWN)
		return lancet_fail(
			err, LANCET_CORRUPT, "fixed_size_list: %" PRIu64 " values", node->count);
	return v20_bind(page, node->inner, &field->children[0], items, err);
}

static int
fixed_list_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct v20_ask items = v20_scaled(ask, node->parameter);

	TRY(v20_read(page, node->inner, &items, &out->children[0], err));
	return array_extend(out, ask->total, err);
}

static void
fixed_list_describe(const struct v20_node *node, struct buf *out)
{
	buf_printf(out, "fixed_size_list(%" PRIu64 ", ", node->parameter);
	v20_describe_node(node->inner, out);
	buf_put_byte(out, ')');
}

const struct v20_encoding v20_fixed_list = {
	.name = "fixed_size_list",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_LIST,
	.open = fixed_list_open,
	.bind = fixed_list_bind,
	.read = fixed_list_read,
	.describe = fixed_list_describe,
};

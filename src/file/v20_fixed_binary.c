/* Values of variable size that all have the same size: just their bytes, as old writers had it.
 *
 * Format facts: v2.0 page encodings, FixedSizeBinary node.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/macros.h"

static int
fixed_binary_open(const v20_message *message, struct arena *arena, unsigned depth,
	struct v20_node *node, struct lancet_error *err)
{
	const Lance__Encodings__FixedSizeBinary *binary = message->fixed_size_binary;

	node->parameter = binary->byte_width;
	if (node->parameter == 0)
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_binary: values of no bytes");
	TRY(v20_open_inner(&binary->bytes, arena, depth, &node->inner, err));
	node->inner = v20_plain(node->inner);
	if (node->inner->encoding != &v20_flat || node->inner->bits != 8)
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_binary: bytes in encoding %s",
			node->inner->encoding->name);
	return LANCET_OK;
}

static int
fixed_binary_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	uint64_t bytes;

	if (node->field->kind != FIELD_VARIABLE)
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_binary: for a field whose values have no bytes");
	if (node->count == V20_COUNT_UNKNOWN ||
		__builtin_mul_overflow(node->count, node->parameter, &bytes) ||
		bytes == V20_COUNT_UNKNOWN)
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_binary: %" PRIu64 " values of %" PRIu64 " bytes", node->count,
			node->parameter);
	return v20_bind(page, node->inner, field_unsigned(8), bytes, err);
}

lancet_hot static void
put_offsets(uint32_t *offsets, uint64_t count, uint32_t width)
{
	for (uint64_t i = 0; i <= count; i++)
		offsets[i] = (uint32_t)i * width;
}

static int
fixed_binary_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct v20_ask bytes = v20_scaled(ask, node->parameter);
	struct buf *offsets;
	uint8_t *place;
	int rc;

	if (bytes.total > UINT32_MAX)
		return lancet_fail(err, LANCET_LIMIT,
			"fixed_size_binary: more than 4 GiB of values: ask for fewer rows");
	TRY(codec_take_buffer(page->scratch, &offsets, err));
	(void)buf_reserve(offsets, (size_t)(ask->total + 1) * sizeof(uint32_t));
	rc = buf_check(offsets, "offsets of values", err);
	if (rc == LANCET_OK) {
		put_offsets(
			(uint32_t *)(void *)offsets->data, ask->total, (uint32_t)node->parameter);
		rc = array_extend_variable(out, (const uint32_t *)(const void *)offsets->data,
			ask->total, &place, err);
	}
	scratch_give(page->scratch);
	return rc == LANCET_OK ? v20_flat_copy(page, node->inner, &bytes, place, err) : rc;
}

static void
fixed_binary_describe(const struct v20_node *node, struct buf *out)
{
	buf_printf(out, "fixed_size_binary(%" PRIu64 ", ", node->parameter);
	v20_describe_node(node->inner, out);
	buf_put_byte(out, ')');
}

const struct v20_encoding v20_fixed_binary = {
	.name = "fixed_size_binary",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_BINARY,
	.open = fixed_binary_open,
	.bind = fixed_binary_bind,
	.read = fixed_binary_read,
	.describe = fixed_binary_describe,
};

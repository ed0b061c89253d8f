/* Values of variable size: end positions, nulls told by them, and the bytes of all values.
 *
 * Format facts: v2.0 page encodings, Binary.
 */
#include "v20_node.h"

#include "encodings.h"
#include "util/macros.h"

static int
binary_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__Binary *binary = message->binary;

	node->parameter = binary->null_adjustment;
	if (node->parameter == 0)
		return lancet_fail(err, LANCET_CORRUPT, "binary: a null adjustment of 0");
	TRY(v20_open_inner(&binary->indices, arena, depth, &node->inner, err));
	TRY(v20_open_inner(&binary->bytes, arena, depth, &node->second, err));
	node->second = v20_plain(node->second);
	if (node->second->encoding != &v20_flat || node->second->bits != 8)
		return lancet_fail(err, LANCET_CORRUPT, "binary: bytes in encoding %s",
			node->second->encoding->name);
	return LANCET_OK;
}

static int
binary_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	if (node->field->kind != FIELD_VARIABLE || node->count == V20_COUNT_UNKNOWN)
		return lancet_fail(
			err, LANCET_CORRUPT, "binary: for a field whose values are of one size");
	TRY(v20_work(page, node, err));
	TRY(v20_bind(page, node->inner, field_unsigned(64), node->count, err));
	return v20_bind(page, node->second, field_unsigned(8), V20_COUNT_UNKNOWN, err);
}

static int
append(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct v20_ends *ends, struct array *out, struct lancet_error *err)
{
	struct v20_ask bytes = { .scale = 1 };
	uint64_t limit;
	uint8_t *place;

	TRY(v20_flat_count(page, node->second, &limit, err));
	TRY(v20_read_ends(page, node, ask, limit, ends, err));
	TRY(array_extend_variable(
		out, (const uint32_t *)(const void *)ends->offsets->data, ask->total, &place, err));
	bytes.ranges = (const struct row_range *)(const void *)ends->places->data;
	bytes.count = ends->places->size / sizeof(*bytes.ranges);
	bytes.total = ends->total;
	TRY(v20_flat_copy(page, node->second, &bytes, place, err));
	if (ends->validity->size == 0)
		return LANCET_OK;
	return array_set_validity(out, ask->total, ends->validity->data, 0, err);
}

static int
binary_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	unsigned used = page->scratch->used;
	struct v20_ends ends = { 0 };
	int rc = codec_take_buffer(page->scratch, &ends.offsets, err);

	if (rc == LANCET_OK)
		rc = codec_take_buffer(page->scratch, &ends.validity, err);
	if (rc == LANCET_OK)
		rc = codec_take_buffer(page->scratch, &ends.places, err);
	if (rc == LANCET_OK)
		rc = append(page, node, ask, &ends, out, err);
	while (page->scratch->used > used)
		scratch_give(page->scratch);
	return rc;
}

const struct v20_encoding v20_binary = {
	.name = "binary",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_BINARY,
	.open = binary_open,
	.bind = binary_bind,
	.read = binary_read,
};

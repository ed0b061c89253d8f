/* Values of a fixed width, one behind the other, and bitmaps; the buffer may be compressed as a
 * whole.
 *
 * Stored ones are read straight to where they go. Of a compressed buffer nothing can be read
 * without the rest: it is decompressed once and kept with the page. Format facts: v2.0 page
 * encodings, Flat.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "util/bits.h"
#include "util/macros.h"

static const struct {
	const char *name;
	enum v20_scheme scheme;
} schemes[] = { { "", V20_RAW }, { "none", V20_RAW }, { "zstd", V20_ZSTD }, { "lz4", V20_LZ4 } };

static int
find_scheme(const Lance__Encodings__Compression *compression, enum v20_scheme *ret_scheme,
	struct lancet_error *err)
{
	struct slice name = { 0 };

	if (compression != NULL)
		name = slice_of(compression->scheme.data, compression->scheme.len);
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (slice_equal(name, slice_text(schemes[i].name))) {
			*ret_scheme = schemes[i].scheme;
			return LANCET_OK;
		}
	}
	return lancet_fail(err, LANCET_UNSUPPORTED, "flat: compression %.*s",
		(int)(name.size < 40 ? name.size : 40), (const char *)name.data);
}

static int
flat_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__Flat *flat = message->flat;

	(void)arena;
	(void)depth;
	node->bits = node->packed = flat->bits_per_value;
	if (node->bits != 1 && (node->bits == 0 || node->bits % 8 != 0 || node->bits > UINT32_MAX))
		return lancet_fail(
			err, LANCET_CORRUPT, "flat: values of %" PRIu64 " bits", node->bits);
	v20_name_buffer(node, flat->buffer);
	return find_scheme(flat->compression, &node->scheme, err);
}

static int
flat_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	if (node->field->kind != FIELD_FIXED || node->field->bits != node->bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"flat: values of %" PRIu64 " bits for a field of %" PRIu32, node->bits,
			node->field->kind == FIELD_FIXED ? node->field->bits : 0);
	if (node->count == V20_COUNT_UNKNOWN) {
		TRY(v20_bind_buffer(page, node, 0, err));
		if (node->scheme == V20_RAW)
			node->count = node->place.size / (node->bits / 8);
		return LANCET_OK;
	}
	return v20_bind_buffer(page, node, node->count, err);
}

int
v20_flat_count(
	struct v20_page *page, struct v20_node *node, uint64_t *ret_count, struct lancet_error *err)
{
	struct slice bytes;

	if (node->count == V20_COUNT_UNKNOWN) {
		TRY(v20_inflate(page, node, &bytes, err));
		node->count = bytes.size / (node->bits / 8);
	}
	*ret_count = node->count;
	return LANCET_OK;
}

/* The decompressed buffer, which must hold all items. */
static int
inflated(struct v20_page *page, struct v20_node *node, const uint8_t **ret_bytes,
	struct lancet_error *err)
{
	struct slice bytes;
	uint64_t bits;

	TRY(v20_inflate(page, node, &bytes, err));
	if (__builtin_mul_overflow(node->count, node->bits, &bits) || bits_size(bits) > bytes.size)
		return lancet_fail(err, LANCET_CORRUPT,
			"flat: %" PRIu64 " values of %" PRIu64 " bits in %zu bytes", node->count,
			node->bits, bytes.size);
	*ret_bytes = bytes.data;
	return LANCET_OK;
}

struct copying {
	uint8_t *place;
	uint64_t width;
};

static int
copy_span(void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err)
{
	struct copying *to = user;

	(void)err;
	if (count == 0) /* then there may be no bytes to point at */
		return LANCET_OK;
	memcpy(to->place, bytes + skip * to->width, (size_t)(count * to->width));
	to->place += count * to->width;
	return LANCET_OK;
}

static int
copy_inflated(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct copying *to, struct lancet_error *err)
{
	const uint8_t *bytes = NULL;

	TRY(inflated(page, node, &bytes, err));
	for (size_t i = 0; i < ask->count; i++)
		TRY(copy_span(to, bytes, ask->ranges[i].first * ask->scale,
			ask->ranges[i].count * ask->scale, err));
	return LANCET_OK;
}

int
v20_flat_copy(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	uint8_t *place, struct lancet_error *err)
{
	struct copying to = { place, node->bits / 8 };
	struct v20_ask some = *ask;

	if (node->scheme != V20_RAW)
		return copy_inflated(page, node, ask, &to, err);
	for (size_t i = 0; i < ask->count; i += some.count) {
		const struct row_range *range = &ask->ranges[i];
		uint64_t size = range->count * ask->scale * to.width;

		some.ranges = range;
		some.count = v20_near(ask, i, node->bits);
		if (some.count > 1) {
			TRY(v20_each_span(page, node, &some, 1, node->count, copy_span, &to, err));
			continue;
		}
		TRY(v20_fetch(
			page, node, range->first * ask->scale * to.width, size, to.place, err));
		to.place += size;
	}
	return LANCET_OK;
}

static int
append_span(
	void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err)
{
	return array_append_bits(user, bytes, skip, count, err);
}

static int
read_bits(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	const uint8_t *bytes = NULL;

	if (node->scheme == V20_RAW)
		return v20_each_span(page, node, ask, 8, node->count, append_span, out, err);
	TRY(inflated(page, node, &bytes, err));
	for (size_t i = 0; i < ask->count; i++)
		TRY(array_append_bits(out, bytes, ask->ranges[i].first * ask->scale,
			ask->ranges[i].count * ask->scale, err));
	return LANCET_OK;
}

static int
flat_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	uint8_t *place;

	if (node->bits == 1)
		return read_bits(page, node, ask, out, err);
	TRY(array_extend_fixed(out, (uint32_t)node->bits, ask->total, &place, err));
	return v20_flat_copy(page, node, ask, place, err);
}

static void
flat_describe(const struct v20_node *node, struct buf *out)
{
	if (node->scheme != V20_RAW)
		buf_printf(out, "general(%s, ", node->scheme == V20_ZSTD ? "zstd" : "lz4");
	buf_printf(out, "flat %" PRIu64, node->bits);
	if (node->scheme != V20_RAW)
		buf_put_byte(out, ')');
}

const struct v20_encoding v20_flat = {
	.name = "flat",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_FLAT,
	.open = flat_open,
	.bind = flat_bind,
	.read = flat_read,
	.describe = flat_describe,
};

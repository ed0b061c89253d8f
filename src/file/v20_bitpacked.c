/* Integers of fewer bits than their type, as old writers packed them, in two forms: a plain stream
 * of bits, sign-extended or not, and FastLanes units of 1024 values.
 *
 * Format facts: v2.0 page encodings, Bitpacked and BitpackedForNonNeg; FastLanes bit layout.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "encodings.h"
#include "fastlanes.h"
#include "util/cursor.h"
#include "util/macros.h"

static int
check_widths(const struct v20_node *node, struct lancet_error *err)
{
	if (!fastlanes_knows(node->bits) || node->packed > node->bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: values of %" PRIu64 " bits in %" PRIu64, node->encoding->name,
			node->bits, node->packed);
	return LANCET_OK;
}

static int
bitpacked_open(const v20_message *message, struct arena *arena, unsigned depth,
	struct v20_node *node, struct lancet_error *err)
{
	const Lance__Encodings__Bitpacked *packed = message->bitpacked;

	(void)arena;
	(void)depth;
	node->bits = packed->uncompressed_bits_per_value;
	node->packed = packed->compressed_bits_per_value;
	node->is_signed = packed->signed_;
	v20_name_buffer(node, packed->buffer);
	return check_widths(node, err);
}

static int
non_neg_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__BitpackedForNonNeg *packed = message->bitpacked_for_non_neg;

	(void)arena;
	(void)depth;
	node->bits = packed->uncompressed_bits_per_value;
	node->packed = packed->compressed_bits_per_value;
	v20_name_buffer(node, packed->buffer);
	return check_widths(node, err);
}

static int
check_field(const struct v20_node *node, struct lancet_error *err)
{
	if (node->field->kind != FIELD_FIXED || node->field->bits != node->bits ||
		node->count == V20_COUNT_UNKNOWN)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: values of %" PRIu64 " bits for a field of %" PRIu32,
			node->encoding->name, node->bits,
			node->field->kind == FIELD_FIXED ? node->field->bits : 0);
	return LANCET_OK;
}

static int
bitpacked_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	TRY(check_field(node, err));
	return v20_bind_buffer(page, node, node->count, err);
}

/* Values in whole units, the last one being filled up. */
static uint64_t
in_units(uint64_t count)
{
	return count + (FASTLANES_UNIT - count % FASTLANES_UNIT) % FASTLANES_UNIT;
}

static int
non_neg_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	TRY(check_field(node, err));
	if (node->count > UINT64_MAX - FASTLANES_UNIT)
		return lancet_fail(err, LANCET_CORRUPT, "%s: %" PRIu64 " values",
			node->encoding->name, node->count);
	return v20_bind_buffer(page, node, in_units(node->count), err);
}

struct unpacking {
	const struct v20_node *node;
	uint8_t *place;
	struct buf *unit; /* one unpacked unit */
};

/* `bits` (1 to 64) from bit `at` on; eight bytes behind the first one may be read. */
static inline uint64_t
load_bits(const uint8_t *bytes, uint64_t at, unsigned bits)
{
	unsigned shift = at & 7;
	uint64_t value = load_u64(bytes + (at >> 3)) >> shift;

	if (shift + bits > 64)
		value |= (uint64_t)bytes[(at >> 3) + 8] << (64 - shift);
	return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

#define UNPACK(type)                                                                               \
	do {                                                                                       \
		for (uint64_t i = 0; i < count; i++) {                                             \
			uint64_t value = load_bits(bytes, (skip + i) * bits, bits);                \
			type stored = (type)((value ^ sign) - sign);                               \
			memcpy(place + i * sizeof(type), &stored, sizeof(type));                   \
		}                                                                                  \
	} while (0)

static int
unpack_stream(
	void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err)
{
	struct unpacking *to = user;
	unsigned bits = (unsigned)to->node->packed;
	uint64_t sign = to->node->is_signed ? UINT64_C(1) << (bits - 1) : 0;
	uint8_t *place = to->place;

	(void)err;
	switch (to->node->bits) {
	case 8:
		UNPACK(uint8_t);
		break;
	case 16:
		UNPACK(uint16_t);
		break;
	case 32:
		UNPACK(uint32_t);
		break;
	default:
		UNPACK(uint64_t);
		break;
	}
	to->place += count * (to->node->bits / 8);
	return LANCET_OK;
}

static int
unpack_units(
	void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err)
{
	struct unpacking *to = user;
	unsigned bits = (unsigned)to->node->bits;
	unsigned packed = (unsigned)to->node->packed;
	size_t width = bits / 8;

	(void)err;
	while (count > 0) {
		uint64_t at = skip % FASTLANES_UNIT;
		uint64_t some = FASTLANES_UNIT - at < count ? FASTLANES_UNIT - at : count;
		const uint8_t *unit = bytes + skip / FASTLANES_UNIT * fastlanes_size(packed);

		if (some == FASTLANES_UNIT) {
			fastlanes_unpack(bits, packed, unit, to->place);
		} else {
			fastlanes_unpack(bits, packed, unit, to->unit->data);
			memcpy(to->place, to->unit->data + at * width, (size_t)some * width);
		}
		to->place += some * width;
		skip += some;
		count -= some;
	}
	return LANCET_OK;
}

/* Values of no bits are zero. */
static int
read_packed(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct unpacking *to, uint64_t align, v20_span_fn unpack, struct array *out,
	struct lancet_error *err)
{
	TRY(array_extend_fixed(out, (uint32_t)node->bits, ask->total, &to->place, err));
	if (node->packed == 0) {
		if (ask->total > 0)
			memset(to->place, 0, (size_t)(ask->total * (node->bits / 8)));
		return LANCET_OK;
	}
	return v20_each_span(page, node, ask, align,
		align == FASTLANES_UNIT ? in_units(node->count) : node->count, unpack, to, err);
}

static int
bitpacked_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct unpacking to = { .node = node };

	return read_packed(page, node, ask, &to, 8, unpack_stream, out, err);
}

static int
non_neg_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct unpacking to = { .node = node };
	int rc;

	TRY(codec_take_buffer(page->scratch, &to.unit, err));
	(void)buf_reserve(to.unit, (size_t)FASTLANES_UNIT * node->bits / 8);
	rc = buf_check(to.unit, "values", err);
	if (rc == LANCET_OK)
		rc = read_packed(page, node, ask, &to, FASTLANES_UNIT, unpack_units, out, err);
	scratch_give(page->scratch);
	return rc;
}

static void
bitpacked_describe(const struct v20_node *node, struct buf *out)
{
	buf_printf(out, "%s(%" PRIu64 " in %" PRIu64 ")", node->encoding->name, node->bits,
		node->packed);
}

const struct v20_encoding v20_bitpacked = {
	.name = "bitpacked",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED,
	.open = bitpacked_open,
	.bind = bitpacked_bind,
	.read = bitpacked_read,
	.describe = bitpacked_describe,
};

const struct v20_encoding v20_bitpacked_for_non_neg = {
	.name = "bitpacked_for_non_neg",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED_FOR_NON_NEG,
	.open = non_neg_open,
	.bind = non_neg_bind,
	.read = non_neg_read,
	.describe = bitpacked_describe,
};

/* Values of a fixed width, one after the other: single bits, or whole bytes. Format facts: where
 * each codec may occur, full-zip layout (a bit alone takes a byte there). */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

static int
flat_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__Flat *flat = message->flat;
	uint64_t bits = flat->bits_per_value;

	(void)depth;
	(void)arena;
	TRY(codec_refuse_compression(flat->data, "flat", err));
	if (bits == 0 || bits > UINT32_MAX || (bits != 1 && bits % 8 != 0))
		return lancet_fail(err, LANCET_CORRUPT, "flat: values of %" PRIu64 " bits", bits);
	codec->bits = bits;
	codec->buffers = 1;
	return LANCET_OK;
}

static int
flat_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	uint64_t bits;

	(void)scratch;
	if (__builtin_mul_overflow(count, codec->bits, &bits) ||
		bits / 8 + (bits % 8 != 0) > in.size)
		return lancet_fail(err, LANCET_CORRUPT,
			"flat: %zu bytes for %" PRIu64 " values of %" PRIu64 " bits", in.size,
			count, codec->bits);
	return array_append_fixed(out, (uint32_t)codec->bits, in.data, count, err);
}

static int
flat_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	return flat_decode_block(codec, in->buffers[in->taken++], count, scratch, out, err);
}

static int
append_bits(const struct slice *values, size_t count, struct array *out, struct lancet_error *err)
{
	uint8_t bitmap[128];

	for (size_t at = 0; at < count;) {
		size_t n = count - at < 8 * sizeof(bitmap) ? count - at : 8 * sizeof(bitmap);

		memset(bitmap, 0, sizeof(bitmap));
		for (size_t i = 0; i < n; i++)
			bitmap[i / 8] |= (uint8_t)((values[at + i].data[0] & 1) << i % 8);
		TRY(array_append_bits(out, bitmap, 0, n, err));
		at += n;
	}
	return LANCET_OK;
}

static int
append_wide(const struct codec *codec, const struct slice *values, size_t count, size_t width,
	struct array *out, struct lancet_error *err)
{
	uint8_t *place;

	TRY(array_extend_fixed(out, (uint32_t)codec->bits, count, &place, err));
	for (size_t i = 0; i < count; i++)
		memcpy(place + i * width, values[i].data, width);
	return LANCET_OK;
}

static int
flat_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	size_t width = codec->bits == 1 ? 1 : (size_t)codec->bits / 8;

	(void)scratch;
	for (size_t i = 0; i < count; i++)
		if (values[i].size != width)
			return lancet_fail(err, LANCET_CORRUPT,
				"flat: a value of %zu bytes, %zu expected", values[i].size, width);
	/* a bit that is widened to a byte may be called by the width it has then */
	if (codec->bits == 1 || (width == 1 && out->field->bits == 1))
		return append_bits(values, count, out, err);
	return append_wide(codec, values, count, width, out, err);
}

const struct encoding encoding_flat = {
	.name = "flat",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT,
	.places = CODEC_MINI | CODEC_BLOCK | CODEC_FIXED,
	.open = flat_open,
	.decode_mini = flat_decode_mini,
	.decode_block = flat_decode_block,
	.decode_values = flat_decode_values,
};

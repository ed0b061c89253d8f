/* Bit-packing that stores the packed width with the data: one unit of 1024 values behind a word
 * that holds W. The last unit of a page has fewer values and is packed in full all the same. Format
 * facts: bit-packing codecs. */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "fastlanes.h"
#include "util/macros.h"

static int
inline_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__InlineBitpacking *packing = message->inline_bitpacking;
	uint64_t bits = packing->uncompressed_bits_per_value;

	(void)depth;
	(void)arena;
	TRY(codec_refuse_compression(packing->values, "inline_bitpacking", err));
	if (!fastlanes_knows(bits))
		return lancet_fail(
			err, LANCET_CORRUPT, "inline_bitpacking: values of %" PRIu64 " bits", bits);
	codec->bits = bits;
	codec->buffers = 1;
	return LANCET_OK;
}

/* The packed width of a unit whose size agrees with it. */
static int
unit_width(unsigned bits, struct slice in, unsigned *ret_width, struct lancet_error *err)
{
	uint64_t width = 0;

	if (in.size < bits / 8)
		return lancet_fail(err, LANCET_CORRUPT,
			"inline_bitpacking: %zu bytes have no packed width", in.size);
	memcpy(&width, in.data, bits / 8);
	if (width > bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"inline_bitpacking: %u bits packed to %" PRIu64, bits, width);
	if (in.size != bits / 8 + fastlanes_size((unsigned)width))
		return lancet_fail(err, LANCET_CORRUPT,
			"inline_bitpacking: %zu bytes of 1024 values packed to %" PRIu64 " bits",
			in.size, width);
	*ret_width = (unsigned)width;
	return LANCET_OK;
}

static int
inline_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	unsigned bits = (unsigned)codec->bits, width = 0;
	uint8_t unit[FASTLANES_UNIT * sizeof(uint64_t)];
	uint8_t *place;

	(void)scratch;
	if (count > FASTLANES_UNIT)
		return lancet_fail(err, LANCET_CORRUPT,
			"inline_bitpacking: %" PRIu64 " values, 1024 are the most", count);
	TRY(array_extend_fixed(out, bits, count, &place, err));
	if (count == 0 && in.size == 0)
		return LANCET_OK;
	TRY(unit_width(bits, in, &width, err));
	if (count == FASTLANES_UNIT) {
		fastlanes_unpack(bits, width, in.data + bits / 8, place);
		return LANCET_OK;
	}
	fastlanes_unpack(bits, width, in.data + bits / 8, unit);
	memcpy(place, unit, (size_t)count * bits / 8);
	return LANCET_OK;
}

static int
inline_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	return inline_decode_block(codec, in->buffers[in->taken++], count, scratch, out, err);
}

const struct encoding encoding_bitpack_inline = {
	.name = "inline_bitpacking",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_INLINE_BITPACKING,
	.places = CODEC_MINI | CODEC_BLOCK,
	.open = inline_open,
	.decode_mini = inline_decode_mini,
	.decode_block = inline_decode_block,
};

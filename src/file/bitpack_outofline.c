/* Bit-packing of any number of values to a width that the message tells.
 *
 * Whole units of 1024 values come first. What is left over is stored raw or as one more unit,
 * whichever is smaller; only the size of the buffer tells which. Format facts: bit-packing codecs.
 */
#include "encodings.h"

#include <inttypes.h>
#include <stdio.h>

#include <lance/encodings21.pb-c.h>

#include "fastlanes.h"
#include "util/macros.h"

static int
outofline_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__OutOfLineBitpacking *packing =
		message->out_of_line_bitpacking;
	uint64_t bits = packing->uncompressed_bits_per_value;
	uint64_t width;
	char *words;

	(void)depth;
	TRY(codec_unpack_flat(slice_of(packing->values.data, packing->values.len), arena,
		"out_of_line_bitpacking", &width, err));
	if (!fastlanes_knows(bits) || width > bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"out_of_line_bitpacking: %" PRIu64 " bits packed to %" PRIu64, bits, width);
	words = arena_alloc(arena, sizeof("to 64 bits"));
	if (words == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	snprintf(words, sizeof("to 64 bits"), "to %u bits", (unsigned)width);
	codec->bits = bits;
	codec->parameter = width;
	codec->words = words;
	return LANCET_OK;
}

/* Where the values that don't fill a unit are. */
enum tail { TAIL_RAW, TAIL_PACKED };

static int
find_tail(const struct codec *codec, size_t size, uint64_t count, enum tail *ret_tail,
	struct lancet_error *err)
{
	uint64_t units = count / FASTLANES_UNIT, rest = count % FASTLANES_UNIT;
	uint64_t unit_size = fastlanes_size((unsigned)codec->parameter);
	uint64_t whole, raw, packed;

	if (__builtin_mul_overflow(units + 1, unit_size, &packed))
		packed = UINT64_MAX;
	whole = packed == UINT64_MAX ? packed : packed - unit_size;
	raw = rest * codec->bits / 8;
	if (rest == 0 && size == whole)
		*ret_tail = TAIL_RAW;
	else if (rest > 0 && size >= whole && size - whole == raw)
		*ret_tail = TAIL_RAW;
	else if (rest > 0 && size == packed)
		*ret_tail = TAIL_PACKED;
	else
		return lancet_fail(err, LANCET_CORRUPT,
			"out_of_line_bitpacking: %zu bytes for %" PRIu64 " values of %" PRIu64
			" bits packed to %" PRIu64,
			size, count, codec->bits, codec->parameter);
	return LANCET_OK;
}

static int
outofline_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	unsigned bits = (unsigned)codec->bits, width = (unsigned)codec->parameter;
	size_t rest_size = (size_t)(count % FASTLANES_UNIT) * bits / 8;
	uint8_t unit[FASTLANES_UNIT * sizeof(uint64_t)];
	const uint8_t *from = in.data;
	enum tail tail = TAIL_RAW;
	uint8_t *place;

	(void)scratch;
	TRY(find_tail(codec, in.size, count, &tail, err));
	TRY(array_extend_fixed(out, bits, count, &place, err));
	for (uint64_t i = 0; i < count / FASTLANES_UNIT; i++) {
		fastlanes_unpack(bits, width, from, place);
		from += fastlanes_size(width);
		place += (size_t)FASTLANES_UNIT / 8 * bits;
	}
	if (rest_size == 0)
		return LANCET_OK;
	if (tail == TAIL_PACKED) {
		fastlanes_unpack(bits, width, from, unit);
		from = unit;
	}
	memcpy(place, from, rest_size);
	return LANCET_OK;
}

const struct encoding encoding_bitpack_outofline = {
	.name = "out_of_line_bitpacking",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_OUT_OF_LINE_BITPACKING,
	.places = CODEC_BLOCK,
	.open = outofline_open,
	.decode_block = outofline_decode_block,
};

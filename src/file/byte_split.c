/* Floats with their bytes sorted by significance: one plane for each byte of a value, which
 * compresses better. Format facts: ByteStreamSplit. */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

static int
split_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__ByteStreamSplit *split = message->byte_stream_split;
	uint64_t bits;

	(void)depth;
	TRY(codec_unpack_flat(slice_of(split->values.data, split->values.len), arena,
		"byte_stream_split", &bits, err));
	if (bits != 32 && bits != 64)
		return lancet_fail(
			err, LANCET_CORRUPT, "byte_stream_split: values of %" PRIu64 " bits", bits);
	codec->bits = bits;
	codec->buffers = 1;
	return LANCET_OK;
}

lancet_hot static void
join_4(const uint8_t *planes, size_t count, uint8_t *restrict place)
{
	const uint8_t *p0 = planes, *p1 = p0 + count, *p2 = p1 + count, *p3 = p2 + count;

	for (size_t i = 0; i < count; i++) {
		uint32_t value = p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 |
				 (uint32_t)p3[i] << 24;

		memcpy(place + 4 * i, &value, 4);
	}
}

lancet_hot static void
join_8(const uint8_t *planes, size_t count, uint8_t *restrict place)
{
	const uint8_t *high = planes + 4 * count;

	for (size_t i = 0; i < count; i++) {
		uint32_t value[2] = {
			planes[i] | (uint32_t)planes[count + i] << 8 |
				(uint32_t)planes[2 * count + i] << 16 |
				(uint32_t)planes[3 * count + i] << 24,
			high[i] | (uint32_t)high[count + i] << 8 |
				(uint32_t)high[2 * count + i] << 16 |
				(uint32_t)high[3 * count + i] << 24,
		};

		memcpy(place + 8 * i, value, 8);
	}
}

static int
split_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct slice planes = in->buffers[in->taken++];
	size_t width = (size_t)codec->bits / 8;
	uint8_t *place;

	(void)scratch;
	if (planes.size % width != 0 || planes.size / width != count)
		return lancet_fail(err, LANCET_CORRUPT,
			"byte_stream_split: %zu bytes for %" PRIu64 " values of %zu", planes.size,
			count, width);
	TRY(array_extend_fixed(out, (uint32_t)codec->bits, count, &place, err));
	if (width == 4)
		join_4(planes.data, (size_t)count, place);
	else
		join_8(planes.data, (size_t)count, place);
	return LANCET_OK;
}

const struct encoding encoding_byte_split = {
	.name = "byte_stream_split",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_BYTE_STREAM_SPLIT,
	.places = CODEC_MINI,
	.open = split_open,
	.decode_mini = split_decode_mini,
};

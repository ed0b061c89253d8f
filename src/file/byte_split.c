/* Floats with their bytes sorted by significance: one plane for each byte of a value, which
 * compresses better. Format facts: ByteStreamSplit. */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "byte_planes.h"
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
	byte_planes_join(planes.data, (size_t)count, width, place);
	return LANCET_OK;
}

const struct encoding encoding_byte_split = {
	.name = "byte_stream_split",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_BYTE_STREAM_SPLIT,
	.places = CODEC_MINI,
	.open = split_open,
	.decode_mini = split_decode_mini,
};

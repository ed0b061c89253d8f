/* Another encoding, compressed with zstd or lz4.
 *
 * Only the first of a mini-block's value buffers is compressed, a block is as a whole, and each
 * value of the per-value form alone. Format facts: where each codec may occur, General framing.
 */
#include "general.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "decompress.h"
#include "encodings.h"
#include "util/macros.h"

#define BUFFERS_MAX 16u
#define SIZE_CAP    ((uint64_t)1 << 30)
#define SLACK       ((uint64_t)64 * 1024) /* may be held however small the budget is */

/* What may be held while it is decompressed. It can be larger than the values it decodes to, but
 * not by much: FSST takes two bytes for one that has no symbol. */
static uint64_t
size_limit(const struct array *out)
{
	uint64_t budget = out->budget->limit;

	return budget < SIZE_CAP / 2 ? 2 * budget + SLACK : SIZE_CAP;
}

int
general_expand(const struct codec *codec, struct slice in, uint64_t size_max,
	struct scratch *scratch, struct buf *into, struct lancet_error *err)
{
	return decompress(
		(enum decompress_scheme)codec->parameter, in, size_max, scratch, into, err);
}

static int
read_scheme(const struct Lance__Encodings21__General *general, struct codec *codec,
	struct lancet_error *err)
{
	int scheme = general->compression == NULL ? 0 : (int)general->compression->scheme;

	switch (scheme) {
	case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ALGORITHM_LZ4:
		codec->parameter = DECOMPRESS_LZ4;
		codec->words = "lz4";
		return LANCET_OK;
	case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ALGORITHM_ZSTD:
		codec->parameter = DECOMPRESS_ZSTD;
		codec->words = "zstd";
		return LANCET_OK;
	case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ALGORITHM_UNSPECIFIED:
		return lancet_fail(err, LANCET_CORRUPT, "general: no compression is named");
	default:
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "general: compression scheme %d", scheme);
	}
}

static int
general_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__General *general = message->general;

	TRY(read_scheme(general, codec, err));
	TRY(codec_open(slice_of(general->values.data, general->values.len),
		(enum codec_place)codec->place, codec->version, depth + 1, arena, &codec->inner,
		err));
	if (codec->inner->encoding == &encoding_general)
		return lancet_fail(err, LANCET_CORRUPT, "general: compressed twice");
	if (codec->place == CODEC_MINI &&
		(codec->inner->buffers == 0 || codec->inner->buffers > BUFFERS_MAX))
		return lancet_fail(err, LANCET_CORRUPT, "general: %s with %u buffers",
			codec->inner->encoding->name, codec->inner->buffers);
	codec->bits = codec->inner->bits;
	codec->buffers = codec->inner->buffers;
	return LANCET_OK;
}

static int
general_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct slice buffers[BUFFERS_MAX];
	struct codec_buffers expanded = { buffers, codec->buffers, 0 };
	struct buf *into = NULL;
	int rc;

	memcpy(buffers, in->buffers + in->taken, codec->buffers * sizeof(*buffers));
	in->taken += codec->buffers;
	TRY(codec_take_buffer(scratch, &into, err));
	rc = general_expand(codec, buffers[0], size_limit(out), scratch, into, err);
	buffers[0] = buf_slice(into);
	if (rc == LANCET_OK)
		rc = codec_decode_mini(codec->inner, &expanded, count, scratch, out, err);
	scratch_give(scratch);
	return rc;
}

static int
general_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct buf *into = NULL;
	int rc;

	TRY(codec_take_buffer(scratch, &into, err));
	rc = general_expand(codec, in, size_limit(out), scratch, into, err);
	if (rc == LANCET_OK)
		rc = codec_decode_block(codec->inner, buf_slice(into), count, scratch, out, err);
	scratch_give(scratch);
	return rc;
}

/* All values go to one buffer, which moves as it grows: where they are is known at its end. */
static int
expand_values(const struct codec *codec, const struct slice *values, size_t count,
	const struct array *out, struct scratch *scratch, struct buf *into, struct slice *expanded,
	struct lancet_error *err)
{
	const uint8_t *at;

	for (size_t i = 0; i < count; i++) {
		size_t before = into->size;

		TRY(general_expand(codec, values[i], size_limit(out), scratch, into, err));
		expanded[i].size = into->size - before;
	}
	at = into->data;
	for (size_t i = 0; i < count; i++) {
		expanded[i].data = at;
		if (expanded[i].size > 0) /* else there may be no buffer */
			at += expanded[i].size;
	}
	return LANCET_OK;
}

static int
general_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct buf *into = NULL, *slices = NULL;
	struct slice *expanded;
	int rc;

	TRY(codec_take_buffer(scratch, &into, err));
	rc = codec_take_buffer(scratch, &slices, err);
	if (rc != LANCET_OK)
		goto out;
	if (buf_reserve(slices, (count + 1) * sizeof(*expanded))) {
		expanded = (struct slice *)(void *)slices->data;
		rc = expand_values(codec, values, count, out, scratch, into, expanded, err);
		if (rc == LANCET_OK)
			rc = codec_decode_values(codec->inner, expanded, count, scratch, out, err);
	} else {
		rc = buf_check(slices, "decompressed values", err);
	}
	scratch_give(scratch);
out:
	scratch_give(scratch);
	return rc;
}

const struct encoding encoding_general = {
	.name = "general",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_GENERAL,
	.places = CODEC_MINI | CODEC_BLOCK | CODEC_VARIABLE,
	.open = general_open,
	.decode_mini = general_decode_mini,
	.decode_block = general_decode_block,
	.decode_values = general_decode_values,
};

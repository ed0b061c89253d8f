/* What stands between layouts and encodings; see codec.h.
 *
 * Dispatch is by the case of the message. What an encoding promises is checked here for all of
 * them: it takes the buffers it said it would, and appends as many values as were asked for. Format
 * facts: compressive encodings, where each codec may occur.
 */
#include "codec.h"

#include <assert.h>
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"
#include "util/pbunpack.h"

static const struct encoding *
find_encoding(int pb_case)
{
	for (size_t i = 0; i < encodings_count; i++)
		if (encodings[i]->pb_case == pb_case)
			return encodings[i];
	return NULL;
}

static int
fail_case(int pb_case, struct lancet_error *err)
{
	for (size_t i = 0; i < encodings_refused_count; i++)
		if (encodings_refused[i].pb_case == pb_case)
			return lancet_fail(err, LANCET_UNSUPPORTED, "encoding %s: %s",
				encodings_refused[i].name, encodings_refused[i].why);
	return lancet_fail(err, LANCET_CORRUPT, "encoding of an unknown kind");
}

static const char *
place_name(enum codec_place place)
{
	switch (place) {
	case CODEC_MINI:
		return "the encoding of a mini-block";
	case CODEC_BLOCK:
		return "the encoding of a block";
	case CODEC_FIXED:
		return "a per-value encoding of a fixed size";
	default:
		return "a per-value encoding of variable size";
	}
}

int
codec_unpack(struct slice message, struct arena *arena,
	const struct Lance__Encodings21__CompressiveEncoding **ret_message,
	struct lancet_error *err)
{
	Lance__Encodings21__CompressiveEncoding *unpacked;

	TRY(pb_unpack(&lance__encodings21__compressive_encoding__descriptor, message, arena,
		&unpacked, err));
	if (find_encoding((int)unpacked->compression_case) == NULL)
		return fail_case((int)unpacked->compression_case, err);
	*ret_message = unpacked;
	return LANCET_OK;
}

const struct encoding *
codec_encoding(const struct Lance__Encodings21__CompressiveEncoding *message)
{
	return find_encoding((int)message->compression_case);
}

int
codec_open(struct slice message, enum codec_place place, enum file_version version, unsigned depth,
	struct arena *arena, const struct codec **ret_codec, struct lancet_error *err)
{
	const Lance__Encodings21__CompressiveEncoding *unpacked;
	const struct encoding *encoding;
	struct codec *codec;

	if (depth >= CODEC_DEPTH_MAX)
		return lancet_fail(
			err, LANCET_CORRUPT, "encodings nested deeper than %u", CODEC_DEPTH_MAX);
	TRY(codec_unpack(message, arena, &unpacked, err));
	encoding = codec_encoding(unpacked);
	if ((encoding->places & place) == 0)
		return lancet_fail(
			err, LANCET_CORRUPT, "%s as %s", encoding->name, place_name(place));
	codec = arena_zalloc(arena, 1, sizeof(*codec));
	if (codec == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	codec->encoding = encoding;
	codec->place = place;
	codec->version = version;
	TRY(encoding->open(unpacked, depth, arena, codec, err));
	*ret_codec = codec;
	return LANCET_OK;
}

/* What came out is counted once, however many codecs it went through. */
static int
check_decoded(const struct codec *codec, uint64_t count, uint64_t length, uint64_t decoded,
	struct scratch *scratch, const struct array *out, struct lancet_error *err)
{
	scratch->decoded = decoded + count;
	if (out->length - length != count)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: %" PRIu64 " values, %" PRIu64 " expected", codec->encoding->name,
			out->length - length, count);
	return LANCET_OK;
}

int
codec_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	uint64_t length = out->length, decoded = scratch->decoded;
	size_t taken = in->taken;

	assert(codec->place == CODEC_MINI && taken <= in->count);
	if (codec->buffers > in->count - taken)
		return lancet_fail(err, LANCET_CORRUPT, "%s: %zu buffers, %u needed",
			codec->encoding->name, in->count - taken, codec->buffers);
	TRY(codec->encoding->decode_mini(codec, in, count, scratch, out, err));
	assert(in->taken == taken + codec->buffers);
	return check_decoded(codec, count, length, decoded, scratch, out, err);
}

bool
codec_has_parts(const struct codec *codec)
{
	return codec->encoding->decode_part != NULL &&
	       (codec->inner == NULL || codec_has_parts(codec->inner));
}

int
codec_decode_part(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
	struct lancet_error *err)
{
	uint64_t length = out->length, decoded = scratch->decoded;

	assert(codec->place == CODEC_MINI && first <= count && part <= count - first);
	if (codec->buffers > in->count - in->taken)
		return lancet_fail(err, LANCET_CORRUPT, "%s: %zu buffers, %u needed",
			codec->encoding->name, in->count - in->taken, codec->buffers);
	TRY(codec->encoding->decode_part(codec, in, count, first, part, scratch, out, err));
	return check_decoded(codec, part, length, decoded, scratch, out, err);
}

int
codec_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	uint64_t length = out->length, decoded = scratch->decoded;

	assert(codec->place == CODEC_BLOCK);
	TRY(codec->encoding->decode_block(codec, in, count, scratch, out, err));
	return check_decoded(codec, count, length, decoded, scratch, out, err);
}

int
codec_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	uint64_t length = out->length, decoded = scratch->decoded;

	assert(codec->place == CODEC_FIXED || codec->place == CODEC_VARIABLE);
	TRY(codec->encoding->decode_values(codec, values, count, scratch, out, err));
	return check_decoded(codec, count, length, decoded, scratch, out, err);
}

void
codec_describe(const struct codec *codec, struct buf *out)
{
	const struct codec *const nested[] = { codec->inner, codec->second };
	const char *before = "(";

	buf_put_text(out, codec->encoding->name);
	if (codec->bits != 0 && codec->inner == NULL)
		buf_printf(out, " %" PRIu64, codec->bits);
	if (codec->words != NULL) {
		buf_printf(out, "(%s", codec->words);
		before = ", ";
	}
	for (size_t i = 0; i < ARRAY_SIZE(nested); i++) {
		if (nested[i] == NULL)
			continue;
		buf_put_text(out, before);
		codec_describe(nested[i], out);
		before = ", ";
	}
	if (*before == ',')
		buf_put_byte(out, ')');
}

/* Runs of unsigned numbers: positions, counts, offsets and indices of 2.3.
 *
 * Elements are 32 or 64 bits when stored and always 64 once decoded. Simple runs are a constant, a
 * range, or packed as blocks are; the others are made of those. Runs that follow from their message
 * alone have no buffer. A run of no elements is a constant without a value, and nothing else.
 * Format facts: 2.3 unsigned-sequence grammar.
 */
#include "number_run.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "encodings.h"
#include "util/cursor.h"
#include "util/macros.h"

#define CASE(name) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name

static bool
is_flat(const struct codec *codec)
{
	return codec->encoding == &encoding_flat;
}

int
number_check_bits(
	const struct number_run *run, const char *name, uint64_t bits, struct lancet_error *err)
{
	if (bits != run->bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: numbers of %" PRIu64 " bits, %u expected", name, bits, run->bits);
	return LANCET_OK;
}

bool
number_flat_count(const struct number_run *run, size_t size, uint64_t *ret_count)
{
	if (run->codec == NULL || !is_flat(run->codec))
		return false;
	*ret_count = size / (run->bits / 8);
	return true;
}

int
number_extend(struct array *out, uint64_t count, uint64_t **ret_place, struct lancet_error *err)
{
	uint8_t *place;

	TRY(array_extend_fixed(out, 64, count, &place, err));
	*ret_place = (uint64_t *)(void *)place; /* whole elements from an allocation's start on */
	return LANCET_OK;
}

static int
constant_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	const struct Lance__Encodings21__Constant *constant = message->constant;

	(void)bytes;
	(void)arena;
	if (constant->field_value_case == LANCE__ENCODINGS21__CONSTANT__FIELD_VALUE__NOT_SET) {
		run->empty = true;
		return LANCET_OK;
	}
	TRY(number_check_bits(run, "constant", 8 * (uint64_t)constant->value.len, err));
	run->start =
		run->bits == 32 ? load_u32(constant->value.data) : load_u64(constant->value.data);
	return LANCET_OK;
}

static lancet_hot int
constant_decode(const struct number_run *run, uint64_t count, struct slice in,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	uint64_t *place;

	(void)in;
	(void)scratch;
	TRY(number_extend(out, count, &place, err));
	for (uint64_t i = 0; i < count; i++)
		place[i] = run->start;
	return LANCET_OK;
}

static int
block_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	const struct codec *codec;

	(void)message;
	TRY(codec_open(bytes, CODEC_BLOCK, FILE_2_3, 1, arena, &codec, err));
	TRY(number_check_bits(run, codec->encoding->name, codec->bits, err));
	if (codec->encoding == &encoding_general && !is_flat(codec->inner))
		return lancet_fail(err, LANCET_CORRUPT, "general: numbers packed as %s",
			codec->inner->encoding->name);
	run->codec = codec;
	run->has_buffer = true;
	return LANCET_OK;
}

static int
bitpack_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	TRY(block_open(message, bytes, arena, run, err));
	if (run->codec->parameter == 0 || run->codec->parameter >= run->bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: numbers of %u bits packed into %" PRIu64, run->codec->encoding->name,
			run->bits, run->codec->parameter);
	return LANCET_OK;
}

static lancet_hot void
widen(const uint32_t *from, uint64_t count, uint64_t *to)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = from[i];
}

static int
decode_narrow(const struct number_run *run, uint64_t count, struct slice in,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct array narrow;
	uint64_t *place;
	int rc;

	TRY(array_init(&narrow, field_unsigned(32), out->budget, err));
	rc = codec_decode_block(run->codec, in, count, scratch, &narrow, err);
	if (rc == LANCET_OK)
		rc = number_extend(out, count, &place, err);
	if (rc == LANCET_OK)
		widen((const uint32_t *)(const void *)narrow.data.data, count, place);
	array_release(&narrow);
	return rc;
}

static int
block_decode(const struct number_run *run, uint64_t count, struct slice in, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	if (is_flat(run->codec) &&
		(in.size % (run->bits / 8) != 0 || in.size / (run->bits / 8) != count))
		return lancet_fail(err, LANCET_CORRUPT,
			"flat: %zu bytes for %" PRIu64 " numbers of %u bits", in.size, count,
			run->bits);
	if (run->bits == 64)
		return codec_decode_block(run->codec, in, count, scratch, out, err);
	return decode_narrow(run, count, in, scratch, out, err);
}

static const struct number_kind
	number_constant = {
		.pb_case = CASE(CONSTANT),
		.open = constant_open,
		.decode = constant_decode,
	},
	number_flat = {
		.pb_case = CASE(FLAT),
		.open = block_open,
		.decode = block_decode,
	},
	number_inline = {
		.pb_case = CASE(INLINE_BITPACKING),
		.open = block_open,
		.decode = block_decode,
	},
	number_outofline = {
		.pb_case = CASE(OUT_OF_LINE_BITPACKING),
		.open = bitpack_open,
		.decode = block_decode,
	},
	number_general = {
		.pb_case = CASE(GENERAL),
		.composite = true,
		.open = block_open,
		.decode = block_decode,
	};

static const struct number_kind *const kinds[] = {
	&number_constant,
	&number_range,
	&number_flat,
	&number_inline,
	&number_outofline,
	&number_general,
	&number_delta,
	&number_rle,
	&number_dictionary,
};

static const struct number_kind *
find_kind(int pb_case)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i]->pb_case == pb_case)
			return kinds[i];
	return NULL;
}

static const char *
encoding_name(int pb_case)
{
	for (size_t i = 0; i < encodings_count; i++)
		if (encodings[i]->pb_case == pb_case)
			return encodings[i]->name;
	return "an encoding of another kind";
}

static int
open_run(struct slice message, unsigned bits, bool is_part, struct arena *arena,
	const struct number_run **ret_run, struct lancet_error *err)
{
	const Lance__Encodings21__CompressiveEncoding *unpacked;
	const struct number_kind *kind;
	struct number_run *run;

	TRY(codec_unpack(message, arena, &unpacked, err));
	kind = find_kind((int)unpacked->compression_case);
	if (kind == NULL || (is_part && kind->composite))
		return lancet_fail(err, LANCET_CORRUPT, "%s as %s of numbers",
			encoding_name((int)unpacked->compression_case),
			is_part ? "a part of a run" : "a run");
	run = arena_zalloc(arena, 1, sizeof(*run));
	if (run == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	run->kind = kind;
	run->bits = bits;
	TRY(kind->open(unpacked, message, arena, run, err));
	*ret_run = run;
	return LANCET_OK;
}

int
number_part_open(struct slice message, unsigned bits, struct arena *arena,
	const struct number_run **ret_run, struct lancet_error *err)
{
	return open_run(message, bits, true, arena, ret_run, err);
}

int
number_run_open(struct slice message, unsigned bits, struct arena *arena,
	const struct number_run **ret_run, bool *ret_has_buffer, struct lancet_error *err)
{
	const struct number_run *run;

	TRY(open_run(message, bits, false, arena, &run, err));
	*ret_has_buffer = run->has_buffer;
	*ret_run = run;
	return LANCET_OK;
}

int
number_run_decode(const struct number_run *run, uint64_t count, struct slice in,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	if ((count == 0) != run->empty)
		return lancet_fail(err, LANCET_CORRUPT, "%s for a run of %" PRIu64 " numbers",
			run->empty ? "nothing" : encoding_name(run->kind->pb_case), count);
	if (count == 0)
		return LANCET_OK;
	return run->kind->decode(run, count, in, scratch, out, err);
}

bool
number_run_progression(const struct number_run *run, uint64_t *ret_start, uint64_t *ret_step)
{
	if (run->empty || (run->kind != &number_constant && run->kind != &number_range))
		return false;
	*ret_start = run->start;
	*ret_step = run->step;
	return true;
}

/* Values of variable size: offsets and bytes.
 *
 * Offsets are of 32 or 64 bits as the type of the column has them, never otherwise. In a mini-block
 * they count from the start of the buffer they open; in a block a header says where bytes start,
 * in a newer and an older form; 2.3 may pack them like any run of numbers, in a buffer of their own
 * or in none. A byte string of the per-value form is the value. Format facts: variable width.
 */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/cursor.h"
#include "util/macros.h"

#define WIDTHS 2u /* of offsets: 32 and 64 bits */

/* Offsets that are not flat. Messages don't always tell their width: there is a run for each that
 * is possible. */
struct packed_offsets {
	const struct number_run *runs[WIDTHS]; /* NULL: not of this width */
	bool has_buffer;
};

static int
open_packed_offsets(
	struct slice message, struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	struct packed_offsets *offsets = arena_zalloc(arena, 1, sizeof(*offsets));
	struct lancet_error faults[WIDTHS] = { 0 };

	if (offsets == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	for (unsigned i = 0; i < WIDTHS; i++) {
		int rc = number_run_open(message, 32 << i, arena, &offsets->runs[i],
			&offsets->has_buffer, &faults[i]);

		if (rc != LANCET_OK && rc != LANCET_CORRUPT)
			return lancet_fail(
				err, (enum lancet_code)rc, "variable: offsets: %s", faults[i].text);
	}
	if (offsets->runs[0] == NULL && offsets->runs[1] == NULL)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: offsets are neither of 32 bits (%s) nor of 64 (%s)",
			faults[0].text, faults[1].text);
	codec->state = offsets;
	codec->buffers = offsets->has_buffer ? 2 : 1;
	return LANCET_OK;
}

static int
variable_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__Variable *variable = message->variable;
	struct slice offsets = slice_of(variable->offsets.data, variable->offsets.len);
	const Lance__Encodings21__CompressiveEncoding *unpacked;

	(void)depth;
	TRY(codec_refuse_compression(variable->values, "variable", err));
	TRY(codec_unpack(offsets, arena, &unpacked, err));
	if (codec->place == CODEC_MINI && codec->version >= FILE_2_3 &&
		unpacked->compression_case !=
			LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT) {
		codec->words = codec_encoding(unpacked)->name;
		return open_packed_offsets(offsets, arena, codec, err);
	}
	TRY(codec_unpack_flat(offsets, arena, "variable: offsets", &codec->parameter, err));
	if (codec->parameter != 32 && codec->parameter != 64)
		return lancet_fail(err, LANCET_CORRUPT, "variable: offsets of %" PRIu64 " bits",
			codec->parameter);
	codec->words = codec->parameter == 32 ? "32" : "64";
	codec->buffers = 1;
	return LANCET_OK;
}

static int
check_type(uint64_t bits, const struct array *out, struct lancet_error *err)
{
	if (out->field->kind != FIELD_VARIABLE)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: values of variable size where the type has none");
	if (bits != (out->field->large ? 64 : 32))
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: offsets of %" PRIu64 " bits, %d expected", bits,
			out->field->large ? 64 : 32);
	return LANCET_OK;
}

/* `count` + 1 offsets at `at`, checked to be there and to begin with `first`. */
static int
find_offsets(struct slice in, size_t at, unsigned width, uint64_t count, uint64_t first,
	const uint8_t **ret_offsets, struct lancet_error *err)
{
	uint64_t found;

	if (in.size < at || count >= (in.size - at) / width)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: %zu bytes are too few for %" PRIu64 " offsets", in.size, count);
	found = width == 4 ? load_u32(in.data + at) : load_u64(in.data + at);
	if (found != first)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: the first offset is %" PRIu64 ", %" PRIu64 " expected", found,
			first);
	*ret_offsets = in.data + at;
	return LANCET_OK;
}

static int
decode_packed_offsets(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
	struct lancet_error *err)
{
	const struct packed_offsets *packed = codec->state;
	bool large = out->field->large;
	struct slice numbers = { 0 }, bytes;
	struct array offsets;
	int rc;

	if (packed->has_buffer)
		numbers = in->buffers[in->taken++];
	bytes = in->buffers[in->taken++];
	TRY(check_type(
		packed->runs[large] != NULL ? (large ? 64 : 32) : (large ? 32 : 64), out, err));
	TRY(array_init(&offsets, field_unsigned(64), out->budget, err));
	rc = count == UINT64_MAX ? lancet_fail(err, LANCET_LIMIT, "variable: too many values")
				 : number_run_decode(packed->runs[large], count + 1, numbers,
					   scratch, &offsets, err);
	if (rc == LANCET_OK && array_unsigned(&offsets, 0) != 0)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"variable: the first offset is %" PRIu64 ", 0 expected",
			array_unsigned(&offsets, 0));
	if (rc == LANCET_OK)
		rc = array_append_offsets(out, offsets.data.data + first * 8, 8, part, bytes, err);
	array_release(&offsets);
	return rc;
}

static int
variable_decode_part(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
	struct lancet_error *err)
{
	unsigned width = (unsigned)codec->parameter / 8;
	struct slice buffer;
	const uint8_t *offsets;
	uint64_t start;

	if (codec->state != NULL)
		return decode_packed_offsets(codec, in, count, first, part, scratch, out, err);
	buffer = in->buffers[in->taken++];
	TRY(check_type(codec->parameter, out, err));
	if (count == 0)
		return LANCET_OK;
	TRY(find_offsets(buffer, 0, width, count, (count + 1) * width, &offsets, err));
	offsets += first * width;
	start = width == 4 ? load_u32(offsets) : load_u64(offsets);
	if (start < (count + 1) * width) /* those in between were not looked at */
		return lancet_fail(err, LANCET_CORRUPT, "variable: offsets of values descend");
	return array_append_offsets(out, offsets, width, part, buffer, err);
}

static int
variable_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	return variable_decode_part(codec, in, count, 0, count, scratch, out, err);
}

/* What is in front of the offsets of a block, and where bytes start. */
struct block_head {
	uint64_t bits, bytes_start;
	size_t size; /* where the offsets are */
};

/* In the older form the number of values follows the first byte, in the newer one zeros do: the
 * bits are a number of the width that they tell. */
static int
read_block_head(
	struct slice in, uint64_t count, struct block_head *ret_head, struct lancet_error *err)
{
	struct cursor c = { .in = in };
	uint8_t bits = cursor_u8(&c);
	bool wide = bits == 64;
	uint64_t told = count, start;

	if (c.bad || (bits != 32 && bits != 64))
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: a block of %zu bytes with offsets of %u bits", in.size, bits);
	if (in.size >= 4 && load_u32(in.data) == bits)
		cursor_skip(&c, wide ? 7 : 3);
	else
		told = wide ? cursor_u64(&c) : cursor_u32(&c);
	start = wide ? cursor_u64(&c) : cursor_u32(&c);
	if (c.bad || told != count)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: a block of %" PRIu64 " values in %zu bytes, %" PRIu64
			" expected",
			told, in.size, count);
	*ret_head = (struct block_head){ bits, start, c.at };
	return LANCET_OK;
}

static int
variable_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	unsigned width = (unsigned)codec->parameter / 8;
	struct block_head head = { 0 };
	const uint8_t *offsets;

	(void)scratch;
	TRY(check_type(codec->parameter, out, err));
	if (count == 0 && in.size == 0)
		return LANCET_OK;
	TRY(read_block_head(in, count, &head, err));
	if (head.bits != codec->parameter)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: a block with offsets of %" PRIu64 " bits, %" PRIu64 " expected",
			head.bits, codec->parameter);
	TRY(find_offsets(in, head.size, width, count, 0, &offsets, err));
	if (head.bytes_start > in.size || head.bytes_start < head.size + (count + 1) * width)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable: bytes start at %" PRIu64 " of a block of %zu bytes",
			head.bytes_start, in.size);
	return array_append_offsets(out, offsets, width, count,
		slice_of(in.data + head.bytes_start, in.size - (size_t)head.bytes_start), err);
}

static int
variable_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	(void)scratch;
	TRY(check_type(codec->parameter, out, err));
	return array_append_slices(out, values, count, err);
}

const struct encoding encoding_variable = {
	.name = "variable",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE,
	.places = CODEC_MINI | CODEC_BLOCK | CODEC_VARIABLE,
	.open = variable_open,
	.decode_mini = variable_decode_mini,
	.decode_part = variable_decode_part,
	.decode_block = variable_decode_block,
	.decode_values = variable_decode_values,
};

/* Runs of equal values: a buffer of values and a buffer of lengths.
 *
 * Both are packed themselves; up to 2.2 they are flat and lengths are bytes, so that longer runs
 * are split. How many runs there are is stored nowhere: it follows from the size of the one that is
 * flat, and has to agree with the other. Format facts: RLE.
 */
#include "rle.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "encodings.h"
#include "general.h"
#include "util/cursor.h"
#include "util/macros.h"

#define CASE(name) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name

#define STORE_BYTES 32u
#define BLOCK_LENGTH_BYTES_MAX                                                                     \
	((size_t)16 * 1024 * 1024) /* runs of a 64 KiB block and to spare                          \
				    */

/* Compiles to one or two stores, whatever the machine has. */
typedef uint64_t store_unit __attribute__((vector_size(STORE_BYTES), aligned(1), may_alias));

static bool
is_case(const struct codec *codec, int pb_case)
{
	return codec->encoding->pb_case == pb_case;
}

static bool
is_flat(const struct codec *codec)
{
	return is_case(codec, CASE(FLAT));
}

/* 2.3 packs runs further: bits, or general compression of either. */
static bool
child_is_allowed(const struct codec *child)
{
	if (is_flat(child))
		return true;
	if (child->version < FILE_2_3)
		return false;
	if (is_case(child, CASE(GENERAL)))
		child = child->inner;
	return is_flat(child) || is_case(child, CASE(OUT_OF_LINE_BITPACKING));
}

static int
check_children(const struct codec *codec, struct lancet_error *err)
{
	uint64_t value_bits = codec->inner->bits, length_bits = codec->second->bits;

	if (!child_is_allowed(codec->inner) || !child_is_allowed(codec->second))
		return lancet_fail(err, LANCET_CORRUPT, "rle: runs packed as %s and %s",
			codec->inner->encoding->name, codec->second->encoding->name);
	if (value_bits != 8 && value_bits != 16 && value_bits != 32 && value_bits != 64)
		return lancet_fail(
			err, LANCET_CORRUPT, "rle: values of %" PRIu64 " bits", value_bits);
	if (length_bits != 8 &&
		(codec->version < FILE_2_3 || (length_bits != 16 && length_bits != 32)))
		return lancet_fail(
			err, LANCET_CORRUPT, "rle: lengths of %" PRIu64 " bits", length_bits);
	return LANCET_OK;
}

static int
rle_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__Rle *rle = message->rle;

	TRY(codec_open(slice_of(rle->values.data, rle->values.len), CODEC_BLOCK, codec->version,
		depth + 1, arena, &codec->inner, err));
	TRY(codec_open(slice_of(rle->run_lengths.data, rle->run_lengths.len), CODEC_BLOCK,
		codec->version, depth + 1, arena, &codec->second, err));
	TRY(check_children(codec, err));
	codec->bits = codec->inner->bits;
	codec->buffers = 2;
	return LANCET_OK;
}

static inline __attribute__((always_inline)) uint64_t
load_width(const uint8_t *from, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, from, width);
	return value;
}

/* A value repeated through 8 bytes. */
static inline __attribute__((always_inline)) uint64_t
broadcast(uint64_t value, unsigned width)
{
	return width == 1   ? value * UINT64_C(0x0101010101010101)
	       : width == 2 ? value * UINT64_C(0x0001000100010001)
	       : width == 4 ? value * UINT64_C(0x0000000100000001)
			    : value;
}

/* Whole units are stored while there is room for them behind the run: what they write too much is
 * overwritten by the next run. A run starts at a multiple of its width, so the pattern fits
 * anywhere. Returns the number of bytes made, or SIZE_MAX for an empty run. */
static inline __attribute__((always_inline)) size_t
expand(const struct rle_runs *runs, uint8_t *place, size_t size, unsigned width,
	unsigned length_width)
{
	size_t at = 0;

	for (uint64_t i = 0; i < runs->count; i++) {
		uint64_t length = load_width(runs->lengths + i * length_width, length_width);
		uint64_t pattern = broadcast(load_width(runs->values + i * width, width), width);
		store_unit unit = { pattern, pattern, pattern, pattern };
		size_t left = size - at;
		size_t end = length > left / width ? size : at + (size_t)length * width;

		if (length == 0)
			return SIZE_MAX;
		if (size - end >= STORE_BYTES) {
			do {
				*(store_unit *)(place + at) = unit;
				at += STORE_BYTES;
			} while (at < end);
			at = end;
			continue;
		}
		for (; end - at >= STORE_BYTES; at += STORE_BYTES)
			*(store_unit *)(place + at) = unit;
		for (; at < end; at += width)
			memcpy(place + at, &pattern, width);
	}
	return at;
}

static inline __attribute__((always_inline)) size_t
expand_width(const struct rle_runs *runs, uint8_t *place, size_t size, unsigned width)
{
	if (runs->length_width == 1)
		return expand(runs, place, size, width, 1);
	if (runs->length_width == 2)
		return expand(runs, place, size, width, 2);
	if (runs->length_width == 4)
		return expand(runs, place, size, width, 4);
	return expand(runs, place, size, width, 8);
}

int
rle_expand(const struct rle_runs *runs, uint64_t count, uint8_t *place, struct lancet_error *err)
{
	size_t size = (size_t)count * runs->value_width;
	size_t made;

	switch (runs->value_width) {
	case 1:
		made = expand_width(runs, place, size, 1);
		break;
	case 2:
		made = expand_width(runs, place, size, 2);
		break;
	case 4:
		made = expand_width(runs, place, size, 4);
		break;
	default:
		made = expand_width(runs, place, size, 8);
	}
	if (made == SIZE_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "rle: a run of length 0");
	if (made != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: %" PRIu64 " runs of %zu values, %" PRIu64 " expected", runs->count,
			made / runs->value_width, count);
	return LANCET_OK;
}

/* The values or the lengths of the runs, on the way from their packed form to plain numbers. */
struct side {
	const struct codec *codec; /* without general compression */
	struct slice in;
	bool holds_scratch;
	struct array numbers; /* when they had to be made */
};

static void
side_release(struct side *side, struct scratch *scratch)
{
	array_release(&side->numbers);
	if (side->holds_scratch)
		scratch_give(scratch);
}

/* Undoes general compression, so that a flat one's size can be seen. On failure nothing is held. */
static int
side_open(struct side *side, const struct codec *codec, struct slice in,
	const struct array_budget *budget, struct scratch *scratch, struct lancet_error *err)
{
	struct buf *held;
	int rc;

	*side = (struct side){ .codec = codec, .in = in };
	if (!is_case(codec, CASE(GENERAL)))
		return LANCET_OK;
	TRY(codec_take_buffer(scratch, &held, err));
	rc = general_expand(codec, in, budget->limit, scratch, held, err);
	if (rc != LANCET_OK) {
		scratch_give(scratch);
		return rc;
	}
	*side = (struct side){ codec->inner, buf_slice(held), true, { 0 } };
	return LANCET_OK;
}

static int
flat_count(const struct side *side, uint64_t *ret_count, struct lancet_error *err)
{
	size_t width = (size_t)side->codec->bits / 8;

	if (side->in.size % width != 0)
		return lancet_fail(err, LANCET_CORRUPT, "rle: %zu bytes are no numbers of %zu",
			side->in.size, width);
	*ret_count = side->in.size / width;
	return LANCET_OK;
}

static int
count_runs(const struct side *values, const struct side *lengths, uint64_t *ret_count,
	struct lancet_error *err)
{
	uint64_t count = 0, other;

	if (!is_flat(values->codec) && !is_flat(lengths->codec))
		return lancet_fail(
			err, LANCET_CORRUPT, "rle: nothing tells the number of the runs");
	TRY(flat_count(is_flat(values->codec) ? values : lengths, &count, err));
	other = count;
	if (is_flat(values->codec) && is_flat(lengths->codec))
		TRY(flat_count(lengths, &other, err));
	if (other != count)
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: %" PRIu64 " values of runs, %" PRIu64 " lengths", count, other);
	*ret_count = count;
	return LANCET_OK;
}

static int
side_numbers(struct side *side, uint64_t count, struct array_budget *budget,
	struct scratch *scratch, const uint8_t **ret_numbers, struct lancet_error *err)
{
	*ret_numbers = side->in.data;
	if (is_flat(side->codec))
		return LANCET_OK;
	TRY(array_init(&side->numbers, field_unsigned((uint32_t)side->codec->bits), budget, err));
	TRY(codec_decode_block(side->codec, side->in, count, scratch, &side->numbers, err));
	*ret_numbers = side->numbers.data.data;
	return LANCET_OK;
}

/* What is done with runs once they are plain. */
typedef int (*use_runs)(const struct rle_runs *runs, void *context, struct lancet_error *err);

static int
with_sides(struct side *values, struct side *lengths, struct array_budget *budget,
	struct scratch *scratch, use_runs use, void *context, struct lancet_error *err)
{
	struct rle_runs runs = { .value_width = (unsigned)values->codec->bits / 8,
		.length_width = (unsigned)lengths->codec->bits / 8 };

	TRY(count_runs(values, lengths, &runs.count, err));
	TRY(side_numbers(values, runs.count, budget, scratch, &runs.values, err));
	TRY(side_numbers(lengths, runs.count, budget, scratch, &runs.lengths, err));
	return use(&runs, context, err);
}

static int
with_runs(const struct codec *codec, struct slice values, struct slice lengths,
	struct array_budget *budget, struct scratch *scratch, use_runs use, void *context,
	struct lancet_error *err)
{
	struct side sides[2];
	int rc;

	TRY(side_open(&sides[0], codec->inner, values, budget, scratch, err));
	rc = side_open(&sides[1], codec->second, lengths, budget, scratch, err);
	if (rc == LANCET_OK) {
		rc = with_sides(&sides[0], &sides[1], budget, scratch, use, context, err);
		side_release(&sides[1], scratch);
	}
	side_release(&sides[0], scratch);
	return rc;
}

struct expansion {
	uint64_t count;
	struct array *out;
};

static int
expand_runs(const struct rle_runs *runs, void *context, struct lancet_error *err)
{
	const struct expansion *expansion = context;
	uint8_t *place;

	TRY(array_extend_fixed(
		expansion->out, runs->value_width * 8, expansion->count, &place, err));
	return rle_expand(runs, expansion->count, place, err);
}

static int
rle_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct expansion expansion = { count, out };
	const struct slice *buffers = in->buffers + in->taken;

	in->taken += 2;
	return with_runs(
		codec, buffers[0], buffers[1], out->budget, scratch, expand_runs, &expansion, err);
}

/* A block: how many bytes of values, the values, the lengths. */
static int
cut_block(struct slice block, struct slice *ret_values, struct slice *ret_lengths,
	struct lancet_error *err)
{
	struct cursor c = { .in = block };
	struct slice values = cursor_take(&c, cursor_u64(&c));

	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: a block of %zu bytes without its values", block.size);
	*ret_values = values;
	*ret_lengths = cursor_take(&c, cursor_left(&c));
	return LANCET_OK;
}

static int
rle_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct expansion expansion = { count, out };
	struct slice values, lengths;

	if (count == 0 && in.size == 0)
		return LANCET_OK;
	TRY(cut_block(in, &values, &lengths, err));
	return with_runs(
		codec, values, lengths, out->budget, scratch, expand_runs, &expansion, err);
}

static int
add_lengths(const struct rle_runs *runs, void *context, struct lancet_error *err)
{
	uint64_t *sum = context;

	(void)err;
	for (uint64_t i = 0; i < runs->count; i++)
		*sum += load_width(runs->lengths + i * runs->length_width, runs->length_width);
	return LANCET_OK;
}

int
rle_block_length(const struct codec *codec, struct slice block, struct scratch *scratch,
	uint64_t *ret_length, struct lancet_error *err)
{
	struct array_budget budget = { .limit = BLOCK_LENGTH_BYTES_MAX };
	struct slice values, lengths;
	uint64_t length = 0;

	TRY(cut_block(block, &values, &lengths, err));
	TRY(with_runs(codec, values, lengths, &budget, scratch, add_lengths, &length, err));
	*ret_length = length;
	return LANCET_OK;
}

const struct encoding encoding_rle = {
	.name = "rle",
	.pb_case = CASE(RLE),
	.places = CODEC_MINI | CODEC_BLOCK,
	.open = rle_open,
	.decode_mini = rle_decode_mini,
	.decode_block = rle_decode_block,
};

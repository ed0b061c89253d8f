/* Numbers of 32 or 64 bits as planes of their bytes, each plane a zstd block of its own.
 *
 * A block has its own statistics: planes that never change cost some bytes, random ones cost what
 * they are, those in between what their symbols are worth, whatever is next to them. So shuffled
 * numbers of any range come close to the logarithm of it, and ascending ones to their gaps. It is
 * tried twice: matches are worth looking for in ascending numbers, and cost more than they gain in
 * shuffled ones. Format facts: ByteStreamSplit, General framing.
 */
#include "encode_mini.h"

#include <stdlib.h>

#include "byte_planes.h"
#include "compress.h"
#include "encode_message.h"
#include "encode_wish.h"
#include "util/macros.h"

#define LEVEL_SYMBOLS 1 /* of zstd */
#define LEVEL_MATCHES 3
#define MATCH_MIN     6 /* bytes: shorter ones cost more time than they save bytes */
#define PLANES_MAX    8u
#define PIECE         1024u
#define FIRST_PIECES  ((size_t)6 * PIECE)
#define PARTS_MAX     (PLANES_MAX * (1u << MINI_VALUES_LINEAGE_LOG2) / PIECE)
#define PIECE_COST    0.2                 /* bits of a byte */
#define PLANE_GAP     192u                /* bytes */
#define CHUNK_21_GOAL ((size_t)30 * 1024) /* leaves room for levels, and for worse chunks */

struct split {
	struct compressor compressor;
	struct buf planes;
	bool in_pieces[PLANES_MAX];
};

static void
split_release(void *own)
{
	struct split *split = own;

	compressor_release(&split->compressor);
	buf_release(&split->planes);
	free(split);
}

/* zstd takes a plane for random when no byte of it makes more than 1/128, though up to a bit of
 * each could be saved. In small pieces there is nearly always one that does. Planes
 * a little above the limit are cut as well: other chunks may be below it. */
static bool
wants_pieces(const uint8_t *plane, size_t size)
{
	uint32_t times[256] = { 0 }, most = 0;

	for (size_t i = 0; i < size; i++)
		times[plane[i]]++;
	for (unsigned i = 0; i < ARRAY_SIZE(times); i++)
		most = times[i] > most ? times[i] : most;
	return most <= size / 128 + size / 1024 &&
	       encode_entropy(times, ARRAY_SIZE(times)) + PIECE_COST < 8;
}

static int
make_planes(const struct encode_column *column, struct split *split, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	split->planes.size = 0;
	if (!buf_reserve(&split->planes, ((size_t)count + PLANE_GAP) * column->width))
		return buf_check(&split->planes, "planes of a chunk", err);
	byte_planes_split(column->data + first * column->width, (size_t)count, column->width,
		split->planes.data, (size_t)count + PLANE_GAP);
	return LANCET_OK;
}

/* The first ones are long enough to pay for a table, the others short enough to take it over. */
static size_t
piece_size(uint64_t first)
{
	return first < FIRST_PIECES ? 2 * PIECE : PIECE;
}

static int
split_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	struct slice parts[PARTS_MAX + PLANES_MAX];
	struct split *split = own;
	size_t part_count = 0;

	TRY(make_planes(column, split, first, count, err));
	for (size_t i = 0; i < column->width; i++) {
		const uint8_t *plane = split->planes.data + i * (count + PLANE_GAP);
		size_t left = (size_t)count;

		while (left > 0) {
			size_t size = split->in_pieces[i] ? piece_size(count - left) : left;

			size = size < left ? size : left;
			parts[part_count++] = slice_of(plane, size);
			plane += size;
			left -= size;
		}
	}
	TRY(compress_parts(&split->compressor, parts, part_count, into, err));
	return mini_check_size(column, into, err);
}

/* From values in the middle of the page. */
static int
choose_pieces(const struct encode_column *column, struct split *split, struct lancet_error *err)
{
	uint64_t count = column->values.count, some = UINT64_C(1) << mini_values_log2(column);

	some = some < count ? some : count;
	TRY(make_planes(column, split, (count - some) / 2, some, err));
	for (size_t i = 0; i < column->width; i++)
		split->in_pieces[i] =
			wants_pieces(split->planes.data + i * (some + PLANE_GAP), (size_t)some);
	return LANCET_OK;
}

/* In 2.1 chunks have to be small; how small is seen from one of them. */
static int
choose_chunk(const struct encode_column *column, struct split *split, struct mini_plan *plan,
	struct lancet_error *err)
{
	struct buf into[ENCODE_BUFFERS_MAX] = { 0 };
	uint64_t count = column->values.count;
	int rc = LANCET_OK;

	plan->chunk_log2 = mini_values_log2(column);
	for (; column->values.version < FILE_2_2 && plan->chunk_log2 > 6; plan->chunk_log2--) {
		uint64_t some = UINT64_C(1) << plan->chunk_log2;
		struct lancet_error fault = { 0 };

		into[0].size = 0;
		some = some < count ? some : count;
		rc = split_chunk(column, split, (count - some) / 2, some, into, &fault);
		if (rc == LANCET_OK && into[0].size <= CHUNK_21_GOAL)
			break;
		if (rc != LANCET_OK && rc != LANCET_LIMIT) {
			rc = lancet_fail(err, (enum lancet_code)rc, "%s", fault.text);
			break;
		}
		rc = LANCET_OK;
	}
	buf_release(&into[0]);
	return rc;
}

static int
open_level(const struct encode_column *column, int level, enum decompress_scheme scheme,
	struct mini_attempt *attempt, struct lancet_error *err)
{
	struct split *split;
	struct buf inner = { 0 };

	if (!column->is_number || column->width < 4 || column->values.count == 0)
		return LANCET_OK;
	split = calloc(1, sizeof(*split));
	if (split == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	attempt->own = split;
	split->compressor = (struct compressor){ .scheme = scheme,
		.level = level,
		.match_min = level == LEVEL_MATCHES ? MATCH_MIN : 0,
		.symbols = level == LEVEL_SYMBOLS };
	message_byte_split(&inner, column->bits);
	message_general(&attempt->plan.message, scheme, buf_slice(&inner));
	if (inner.failed != LANCET_OK)
		attempt->plan.message.failed = inner.failed;
	buf_release(&inner);
	attempt->plan.buffer_count = 1;
	attempt->fits = true;
	TRY(buf_check(&attempt->plan.message, "encoding of a page", err));
	if (level == LEVEL_SYMBOLS)
		TRY(choose_pieces(column, split, err));
	return choose_chunk(column, split, &attempt->plan, err);
}

static int
symbols_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	enum wish_compression wish = encode_wish_compression(column->values.leaf);

	if (wish == WISH_NONE || wish == WISH_LZ4)
		return LANCET_OK;
	return open_level(column, LEVEL_SYMBOLS, DECOMPRESS_ZSTD, attempt, err);
}

static int
matches_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	enum wish_compression wish = encode_wish_compression(column->values.leaf);
	int level = encode_wish_level(column->values.leaf);

	if (wish == WISH_NONE)
		return LANCET_OK;
	return open_level(column, level == 0 ? LEVEL_MATCHES : level,
		wish == WISH_LZ4 ? DECOMPRESS_LZ4 : DECOMPRESS_ZSTD, attempt, err);
}

const struct mini_encoder mini_split_symbols = {
	.name = "byte_stream_split of symbols",
	.weight = 106,
	.is_general = true,
	.open = symbols_open,
	.release = split_release,
	.chunk = split_chunk,
};

const struct mini_encoder mini_split_matches = {
	.name = "byte_stream_split of matches",
	.weight = 107,
	.is_general = true,
	.open = matches_open,
	.release = split_release,
	.chunk = split_chunk,
};

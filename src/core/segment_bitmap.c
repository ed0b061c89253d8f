/* RangeWithBitmap: bit i of the payload tells whether start + i is a value; least significant bit
 * first.
 *
 * One pass counts the bits and leaves a rank for each block of 4,096; from then on a read touches
 * only the blocks that hold its values, and blocks without any are skipped. Format facts:
 * RowIdSequence.
 */
#include "segment.h"

#include "util/bits.h"
#include "util/cursor.h"
#include "util/macros.h"

#include <inttypes.h>
#include <string.h>

#define BLOCK_SIZE (SEGMENT_RANK_BITS / 8)
#define COUNT_SIZE (64u * 1024) /* bytes per read of the counting pass; whole blocks */
#define READ_SIZE  4096u        /* bytes per read of values; whole blocks */

/* The next bits, 64 at most, as an integer. */
static uint64_t
load_bits(const uint8_t *at, size_t size)
{
	uint64_t bits = 0;

	if (size >= 8)
		return load_u64(at);
	for (size_t i = 0; i < size; i++)
		bits |= (uint64_t)at[i] << (8 * i);
	return bits;
}

static int
check_padding(const struct segment *seg, uint8_t last, struct lancet_error *err)
{
	unsigned used = (unsigned)((seg->end - seg->start) % 8);

	if (used != 0 && last >> used != 0)
		return lancet_fail(
			err, LANCET_CORRUPT, "bitmap has bits past the end of its range");
	return LANCET_OK;
}

int
segment_count(struct source *src, struct segment *seg, uint64_t *ranks, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	size_t size_max = seg->bits_size < COUNT_SIZE ? (size_t)seg->bits_size : COUNT_SIZE;
	uint64_t total = 0;

	if (seg->counted)
		return LANCET_OK;
	bytes = malloc(size_max == 0 ? 1 : size_max);
	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu bytes of a bitmap", size_max);
	for (uint64_t at = 0; at < seg->bits_size; at += size_max) {
		uint64_t left = seg->bits_size - at;
		size_t size = left < size_max ? (size_t)left : size_max;

		TRY(source_read_at(src, seg->bits_offset + at, size, bytes, err));
		if (size == left)
			TRY(check_padding(seg, bytes[size - 1], err));
		for (size_t block = 0; block < size; block += BLOCK_SIZE) {
			size_t block_size = size - block < BLOCK_SIZE ? size - block : BLOCK_SIZE;

			if (ranks != NULL)
				ranks[(at + block) / BLOCK_SIZE] = total;
			total += bits_count(bytes + block, 0, 8 * block_size);
		}
	}
	seg->length = total;
	seg->counted = true;
	return LANCET_OK;
}

/* The last block with at most `row` values before it; the value of row lies there. */
static uint64_t
find_block(const struct segment *seg, const uint64_t *ranks, uint64_t row)
{
	uint64_t low = 0;
	uint64_t high = segment_rank_count(seg);

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (ranks[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A walk over set bits: `skip` more are passed over, then up to `count` are written. */
struct bits {
	uint64_t skip;
	size_t count;
	uint64_t *values;
};

/* `value` is what bit 0 of the first byte stands for. Returns the number of values written. */
static size_t
emit(struct bits *b, const uint8_t *bytes, size_t size, uint64_t value)
{
	size_t done = 0;

	for (size_t i = 0; i < size && b->count > 0; i += 8) {
		uint64_t word = load_bits(bytes + i, size - i);

		if (b->skip > 0) {
			uint64_t here = (uint64_t)__builtin_popcountll(word);

			if (here <= b->skip) {
				b->skip -= here;
				continue;
			}
		}
		for (; b->skip > 0; b->skip--)
			word &= word - 1;
		for (; word != 0 && b->count > 0; word &= word - 1, b->count--, done++)
			*b->values++ = value + i * 8 + (uint64_t)__builtin_ctzll(word);
	}
	return done;
}

/* The end of the stretch to read from `at` on: whole blocks up to the one of row `last`, READ_SIZE
 * at most. */
static uint64_t
stretch_end(const struct segment *seg, const uint64_t *ranks, uint64_t at, uint64_t last)
{
	uint64_t end = at + READ_SIZE;

	if (ranks != NULL) {
		uint64_t needed = (find_block(seg, ranks, last) + 1) * BLOCK_SIZE;

		if (needed < end)
			end = needed;
	}
	return end < seg->bits_size ? end : seg->bits_size;
}

int
segment_bitmap_read(struct source *src, const struct segment *seg, const uint64_t *ranks,
	uint64_t first, size_t count, uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	uint8_t bytes[READ_SIZE];
	struct bits b = { .skip = first, .count = count, .values = values };
	uint64_t last = first + count - 1;
	uint64_t at = 0;

	while (b.count > 0 && at < seg->bits_size) {
		uint64_t end;

		if (ranks != NULL) {
			uint64_t row = last + 1 - b.count;
			uint64_t block = find_block(seg, ranks, row);

			at = block * BLOCK_SIZE;
			b.skip = row - ranks[block];
		}
		end = stretch_end(seg, ranks, at, last);
		TRY(source_read_at(src, seg->bits_offset + at, (size_t)(end - at), bytes, err));
		if (emit(&b, bytes, (size_t)(end - at), seg->start + at * 8) == 0 && ranks != NULL)
			break;
		at = end;
	}
	if (b.count > 0)
		return lancet_fail(err, LANCET_CORRUPT, "bitmap changed while it was read");
	*decoded += count;
	return LANCET_OK;
}

int
segment_bitmap_find(struct source *src, const struct segment *seg, const uint64_t *ranks,
	uint64_t value, uint64_t *ret_row, struct lancet_error *err)
{
	uint8_t bytes[BLOCK_SIZE];
	uint64_t bit = value - seg->start;
	uint64_t block = bit / SEGMENT_RANK_BITS;
	size_t size = (size_t)(bit / 8 % BLOCK_SIZE) + 1;
	unsigned above = 7 - (unsigned)(bit % 8);

	TRY(source_read_at(src, seg->bits_offset + block * BLOCK_SIZE, size, bytes, err));
	*ret_row = UINT64_MAX;
	if ((bytes[size - 1] >> (bit % 8) & 1) == 0)
		return LANCET_OK;
	bytes[size - 1] = (uint8_t)(bytes[size - 1] << above); /* the value's bit is the last */
	*ret_row = ranks[block] + bits_count(bytes, 0, 8 * size) - 1;
	return LANCET_OK;
}

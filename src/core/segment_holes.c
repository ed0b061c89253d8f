/* RangeWithHoles by row: which holes lie before a value is found by halving, not by walking.
 *
 * Holes ascend strictly inside the range, so hole j has holes[j] - start - j values before it, and
 * that number never falls as j grows. The value of row r stands behind exactly those holes with at
 * most r values before them. Every hole looked at must fit between the ones around it; one that
 * doesn't is corrupt.
 */
#include "segment.h"

#include "util/macros.h"

#include <inttypes.h>

#define BLOCK_HOLES 512u /* decoded at once: at most 4 KiB of the source */

struct holes {
	struct source *src;
	const struct segment *seg;
	uint64_t count;
	uint64_t *decoded;
};

static int
misplaced(const struct holes *h, uint64_t index, uint64_t hole, struct lancet_error *err)
{
	if (hole < h->seg->start || hole >= h->seg->end)
		return lancet_fail(err, LANCET_CORRUPT,
			"hole %" PRIu64 " lies outside its range %" PRIu64 "..%" PRIu64, hole,
			h->seg->start, h->seg->end);
	return lancet_fail(err, LANCET_CORRUPT, "holes do not ascend at element %" PRIu64, index);
}

/* Decodes holes [first, first + count) and checks each against its neighbours and the range. */
static int
load(const struct holes *h, uint64_t first, size_t count, uint64_t *block, struct lancet_error *err)
{
	TRY(segment_array_read(h->src, &h->seg->array, first, count, block, err));
	*h->decoded += count;
	for (size_t i = 0; i < count; i++) {
		uint64_t index = first + i;

		/* index holes lie below this one and count - 1 - index above it, all in the range
		 */
		if (block[i] < h->seg->start || block[i] - h->seg->start < index ||
			block[i] >= h->seg->end || h->seg->end - block[i] < h->count - index ||
			(i > 0 && block[i] <= block[i - 1]))
			return misplaced(h, index, block[i], err);
	}
	return LANCET_OK;
}

/* The number of holes before the value of row `row`, knowing that it is at least `from`. */
static int
holes_before(const struct holes *h, uint64_t row, uint64_t from, uint64_t *ret_count,
	struct lancet_error *err)
{
	uint64_t block[BLOCK_HOLES];
	uint64_t low = from;
	uint64_t high = h->count;
	size_t at = 0;

	while (high - low > BLOCK_HOLES) {
		uint64_t middle = low + (high - low) / 2;
		uint64_t hole = 0;

		TRY(load(h, middle, 1, &hole, err));
		if (hole - h->seg->start - middle <= row)
			low = middle + 1;
		else
			high = middle;
	}
	TRY(load(h, low, (size_t)(high - low), block, err));
	while (at < high - low && block[at] - h->seg->start - (low + at) <= row)
		at++;
	*ret_count = low + at;
	return LANCET_OK;
}

/* One step of a read: *row and *hole move on over one block of holes. `*ret_done` values were
 * written. */
static int
emit_block(const struct holes *h, uint64_t row, uint64_t *hole, size_t count, uint64_t *values,
	size_t *ret_done, struct lancet_error *err)
{
	uint64_t block[BLOCK_HOLES];
	uint64_t left = h->count - *hole;
	size_t holes = left < BLOCK_HOLES ? (size_t)left : BLOCK_HOLES;
	uint64_t value = h->seg->start + row + *hole;
	size_t done = 0;
	size_t at = 0;

	TRY(load(h, *hole, holes, block, err));
	while (done < count && at < holes) {
		if (value > block[at])
			return misplaced(h, *hole + at, block[at], err);
		if (value == block[at])
			at++;
		else
			values[done++] = value;
		value++;
	}
	if (holes == left) { /* no hole is left: the rest is one range */
		while (done < count)
			values[done++] = value++;
	}
	*hole += at;
	*ret_done = done;
	return LANCET_OK;
}

int
segment_holes_read(struct source *src, const struct segment *seg, uint64_t first, size_t count,
	uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	struct holes h = { src, seg, seg->array.size / seg->array.width, decoded };
	uint64_t hole;

	TRY(holes_before(&h, first, 0, &hole, err));
	while (count > 0) {
		size_t done;

		TRY(emit_block(&h, first, &hole, count, values, &done, err));
		if (done == 0) /* a desert of holes: jump over it */
			TRY(holes_before(&h, first, hole, &hole, err));
		first += done;
		values += done;
		count -= done;
		*decoded += done;
	}
	return LANCET_OK;
}

int
segment_holes_validate(struct source *src, const struct segment *seg, struct lancet_error *err)
{
	uint64_t decoded = 0;
	struct holes h = { src, seg, seg->array.size / seg->array.width, &decoded };
	uint64_t block[BLOCK_HOLES];
	uint64_t before = 0;

	for (uint64_t at = 0; at < h.count; at += BLOCK_HOLES) {
		uint64_t left = h.count - at;
		size_t count = left < BLOCK_HOLES ? (size_t)left : BLOCK_HOLES;

		TRY(load(&h, at, count, block, err));
		if (at > 0 && block[0] <= before)
			return misplaced(&h, at, block[0], err);
		before = block[count - 1];
	}
	return LANCET_OK;
}

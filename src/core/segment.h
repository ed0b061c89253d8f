/* U64Segment: one run of row ids in one of five encodings, read in place.
 *
 * Parsing touches the heads of the message only; the payload of arrays and bitmaps stays in the
 * source and is read at the places asked for. What can be known from lengths is checked by
 * segment_parse; the order of elements is checked on every element that is looked at, and by
 * segment_validate on all. Format facts: RowIdSequence.
 */
#ifndef CORE_SEGMENT_H
#define CORE_SEGMENT_H

#include "util/source.h"

/* The numbers are those of the message's oneof. */
enum segment_kind {
	SEGMENT_NONE,
	SEGMENT_RANGE,
	SEGMENT_HOLES,
	SEGMENT_BITMAP,
	SEGMENT_SORTED,
	SEGMENT_ARRAY,
};

/* EncodedU64Array: value = base + stored offset, little-endian. */
struct segment_array {
	uint64_t base;
	uint64_t offset; /* of the payload in the source */
	uint64_t size;   /* of the payload in bytes, a multiple of width */
	unsigned width;  /* 2, 4 or 8; 0 = there is no array */
};

struct segment {
	enum segment_kind kind;
	bool counted;                    /* length is known; a bitmap has to be counted first */
	uint64_t length;                 /* values */
	uint64_t start, end;             /* RANGE, HOLES, BITMAP */
	struct segment_array array;      /* HOLES: the holes; SORTED, ARRAY: the values */
	uint64_t bits_offset, bits_size; /* BITMAP: payload in the source, bytes */
};

/* Bits that one rank answers for, and the ranks of a bitmap: how many values lie before each such
 * block. */
#define SEGMENT_RANK_BITS 4096u
static inline uint64_t
segment_rank_count(const struct segment *seg)
{
	return seg->bits_size / (SEGMENT_RANK_BITS / 8) +
	       (seg->bits_size % (SEGMENT_RANK_BITS / 8) != 0);
}

/* Parses the U64Segment at src[offset, offset + size). LANCET_CORRUPT: no or an unknown kind, a
 * range that ends before it starts, byte lengths that don't fit. A bitmap comes out uncounted. */
LANCET_MUST_CHECK int segment_parse(struct source *src, uint64_t offset, uint64_t size,
	struct segment *ret_segment, struct lancet_error *err);
/* Counts a bitmap in one pass of 64 KiB reads, checks its padding, and fills ranks
 * (segment_rank_count of them) unless it is NULL. Other kinds are counted by segment_parse already.
 */
LANCET_MUST_CHECK int segment_count(
	struct source *src, struct segment *seg, uint64_t *ranks, struct lancet_error *err);
/* Looks at every element: order, bounds and overflow. The segment is counted. */
LANCET_MUST_CHECK int segment_validate(
	struct source *src, const struct segment *seg, struct lancet_error *err);
/* Values [first, first + count) of a counted segment, first + count <= length. ranks: from
 * segment_count, or NULL for a bitmap that is walked from its start. Adds the number of elements
 * decoded to *decoded. */
LANCET_MUST_CHECK int segment_read(struct source *src, const struct segment *seg,
	const uint64_t *ranks, uint64_t first, size_t count, uint64_t *values, uint64_t *decoded,
	struct lancet_error *err);

/* The row in a counted bitmap of a value inside of its range, by its ranks; *ret_row is UINT64_MAX
 * when the value is not in it. */
LANCET_MUST_CHECK int segment_bitmap_find(struct source *src, const struct segment *seg,
	const uint64_t *ranks, uint64_t value, uint64_t *ret_row, struct lancet_error *err);

/* Parts of the above with files of their own. */
int segment_array_read(struct source *src, const struct segment_array *array, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err);
int segment_holes_read(struct source *src, const struct segment *seg, uint64_t first, size_t count,
	uint64_t *values, uint64_t *decoded, struct lancet_error *err);
int segment_holes_validate(struct source *src, const struct segment *seg, struct lancet_error *err);
int segment_bitmap_read(struct source *src, const struct segment *seg, const uint64_t *ranks,
	uint64_t first, size_t count, uint64_t *values, uint64_t *decoded,
	struct lancet_error *err);

#endif

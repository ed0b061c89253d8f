/* One portable 32-bit Roaring bitmap, loaded and validated.
 *
 * CRoaring's own deserialiser trusts too much: it takes unsorted values and prints to stderr on
 * short input. Here the container headers are walked first: keys ascend, cardinalities and runs fit
 * their container, arrays strictly ascend, bitset cardinalities and offsets are right, and the
 * whole input is used. Memory is bounded before anything is built: a few bytes of run containers
 * can name 2^32 values.
 */
#ifndef UTIL_ROARINGX_H
#define UTIL_ROARINGX_H

#include "cursor.h"
#include <lancet/error.h>
#include <roaring/roaring.h>

/* Parses all of `bytes`. Values must be < value_limit (0x100000000 = any). LANCET_CORRUPT
 * otherwise. cardinality_max bounds the values (LANCET_LIMIT beyond). The caller frees with
 * roaring_bitmap_free, which does not take NULL. */
LANCET_MUST_CHECK int roaringx_load(struct slice bytes, uint64_t value_limit,
                                    uint64_t cardinality_max, roaring_bitmap_t **ret_bitmap,
                                    struct lancet_error *err);
/* The size in bytes of the bitmap that starts at bytes.data, validated as above but not built; for
 * formats that put several behind each other. */
LANCET_MUST_CHECK int roaringx_measure(struct slice bytes, size_t *ret_size,
                                       uint64_t *ret_cardinality, struct lancet_error *err);

enum roaringx_kind {
	ROARINGX_ARRAY,  /* u16 of each value, ascending */
	ROARINGX_BITSET, /* 65536 bits in u64 words */
	ROARINGX_RUNS,   /* u16 start and u16 length - 1 of each run, ascending; they may touch */
};

/* One container: values that share their upper half. */
struct roaringx_container {
	enum roaringx_kind kind;
	uint32_t key;          /* the upper half */
	uint32_t cardinality;  /* 1 … 65536 */
	uint32_t last;         /* lower half of the largest value */
	struct slice contents; /* as its kind says */
};

/* The same validation container by container, for those who use the bytes as they are stored.
 * Between the calls only `count` and `next` are of interest; it allocates nothing. */
struct roaringx_walk {
	struct cursor c;
	uint32_t count;         /* containers; their headers are in the bytes */
	uint32_t next;          /* containers walked so far */
	struct slice run_flags; /* empty without runs */
	struct slice heads;     /* count × { u16 key, u16 cardinality - 1 } */
	struct slice offsets;   /* count × u32, or empty */
	uint64_t cardinality;   /* of those walked so far */
	uint64_t value_end;     /* one past the largest value */
};
LANCET_MUST_CHECK int roaringx_walk(struct roaringx_walk *w, struct slice bytes,
                                    struct lancet_error *err);
/* The next container; w->next < w->count. Its contents are borrowed from the bytes. */
LANCET_MUST_CHECK int roaringx_walk_next(struct roaringx_walk *w,
                                         struct roaringx_container *ret_container,
                                         struct lancet_error *err);
/* After the last container: nothing lies behind it, and all values are < value_limit. */
LANCET_MUST_CHECK int roaringx_walk_end(const struct roaringx_walk *w, uint64_t value_limit,
                                        struct lancet_error *err);

#endif

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

#include "slice.h"
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

#endif

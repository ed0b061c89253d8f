/* Rank and select on one portable 32-bit Roaring bitmap that stays as it was stored.
 *
 * CRoaring counts all containers before the one it is asked about. Here the bytes are validated
 * once (roaringx_measure), and a small index over them is kept: a cumulative count for each
 * container, for each run, and for each 512 bits of a bitset. So memory follows the stored bytes,
 * never the values they name. Immutable after opening, safe from many threads.
 */
#ifndef UTIL_RANKSET_H
#define UTIL_RANKSET_H

#include "slice.h"
#include <lancet/error.h>

struct rankset;

#define RANKSET_ABSENT UINT64_MAX

/* All of `bytes`, which are borrowed until rankset_free. CORRUPT: not valid, bytes behind the end,
 * or a value >= value_limit (0x100000000 = any). */
LANCET_MUST_CHECK int rankset_open(struct slice bytes, uint64_t value_limit,
	struct rankset **ret_set, struct lancet_error *err);
void rankset_free(struct rankset *set);
uint64_t rankset_count(const struct rankset *set);     /* members */
size_t rankset_footprint(const struct rankset *set);   /* bytes of the index */
/* ranks[i] = members below values[i] when it is a member, else RANKSET_ABSENT. Any order; ascending
 * values are followed container by container without searching anew. */
void rankset_ranks(
	const struct rankset *set, const uint32_t *values, size_t count, uint64_t *ranks);
/* values[i] = member number first + i, ascending; first + count <= rankset_count. */
void rankset_select(const struct rankset *set, uint64_t first, size_t count, uint32_t *values);

#endif

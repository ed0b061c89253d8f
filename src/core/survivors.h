/* The surviving rows of an ordered compaction: a 64-bit Roaring treemap, as it was stored.
 *
 * One rank set for each source. Rows are numbered through the sources in list order, deleted ones
 * counted; survivors are numbered in the same order, and cut into the destinations. Immutable, safe
 * from many threads. Format facts: row bitmap bytes, translation.
 */
#ifndef CORE_SURVIVORS_H
#define CORE_SURVIVORS_H

#include <lancet/transition.h>
#include "util/slice.h"

struct reuse_survivors;

/* `bytes` are borrowed; the transition, which has no fault, is not kept. CORRUPT: not a treemap, a
 * key that is no source (or not ascending), an offset beyond its source's rows, bytes behind the
 * end, or another number of survivors in a source than its digest says. */
int survivors_open(struct slice bytes, const struct lancet_transition *transition,
	struct reuse_survivors **ret_survivors, struct lancet_error *err);
void survivors_free(struct reuse_survivors *survivors);
size_t survivors_footprint(const struct reuse_survivors *survivors); /* bytes of memory */
/* row_addrs[i] = where row rows[i] went, or LANCET_NO_ROW. Rows ascend (repeats are fine) and are
 * below source_rows. Never fails. */
void survivors_locate(const struct reuse_survivors *survivors, const uint64_t *rows, size_t count,
	uint64_t *row_addrs);
/* row_addrs[i] = source address of survivor first + i; first + count <= live_rows. */
void survivors_select(const struct reuse_survivors *survivors, uint64_t first, size_t count,
	uint64_t *row_addrs);

#endif

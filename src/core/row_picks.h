/* Live rows of a version that were named by id or address, by fragment. */
#ifndef CORE_ROW_PICKS_H
#define CORE_ROW_PICKS_H

#include <lancet/commit.h>
#include <lancet/fragment.h>
#include <roaring/roaring.h>
#include "row_ranges.h"

struct row_pick {
	uint64_t ordinal; /* of the fragment in the version */
	uint64_t fragment;
	uint64_t physical_rows;
	roaring_bitmap_t *rows;    /* offsets that were named and are live, at least one */
	roaring_bitmap_t *deleted; /* those and all that were deleted before */
};

struct row_picks {
	struct row_pick *list; /* by fragment id; malloc */
	size_t count, capacity;
	uint64_t rows; /* in all */
};

/* Rows that were there and are deleted are left out. NOT_FOUND: a row that there never was, and an
 * address of a fragment that the version does not have. */
int row_picks_by_addr(lancet_version *version, const struct row_ranges *addrs,
	struct row_picks *ret_picks, struct lancet_error *err);
/* Stable row ids; on a dataset without them a row's id is its address. */
int row_picks_by_id(lancet_version *version, const struct row_ranges *ids,
	struct row_picks *ret_picks, struct lancet_error *err);
/* Rows for which the condition is true. `run` may be NULL: progress is told in rows. */
int row_picks_by_where(lancet_version *version, const char *where,
	const struct lancet_change_run *run, struct row_picks *ret_picks, struct lancet_error *err);
/* What a fragment has of these rows is added, unless that is nothing; by ascending id of the
 * fragments. Takes `rows`. */
int row_picks_add(struct row_picks *picks, uint64_t ordinal, lancet_fragment *fragment,
	roaring_bitmap_t *rows, struct lancet_error *err);
void row_picks_release(struct row_picks *picks);

#endif

/* Rows that a Delete or an Update takes out of their fragments, by fragment: what its writer knows
 * and its transaction does not say. With them a commit that took out other rows of the same
 * fragments is no conflict.
 */
#ifndef CORE_AFFECTED_H
#define CORE_AFFECTED_H

#include <stddef.h>
#include <stdint.h>

#include <lancet/error.h>
#include <roaring/roaring.h>

struct affected_rows;

/* Of row addresses in any order; copied. INVALID: an address of fragment 0xffffffff. */
int affected_rows_new(const uint64_t *row_addrs, size_t count, struct affected_rows **ret_rows,
	struct lancet_error *err);
/* An empty set with room for so many fragments, and one fragment's rows for it, which are taken:
 * by ascending id, below 0xffffffff. */
int affected_rows_empty(
	size_t fragments_max, struct affected_rows **ret_rows, struct lancet_error *err);
void affected_rows_put(struct affected_rows *rows, uint32_t fragment, roaring_bitmap_t *offsets);
void affected_rows_free(struct affected_rows *rows);
/* Row offsets in the fragment, or NULL when there are none. */
const roaring_bitmap_t *affected_rows_in(const struct affected_rows *rows, uint64_t fragment);

#endif

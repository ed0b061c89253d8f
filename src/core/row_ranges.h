/* Rows as users write them: ids "5,17-20", or addresses "FRAG:OFFSETS;…".
 *
 * A range stays a range: "0-4000000000" takes no more memory than "0".
 */
#ifndef CORE_ROW_RANGES_H
#define CORE_ROW_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include <lancet/error.h>
#include "util/buf.h"

#define ROW_RANGES_MAX ((size_t)1 << 20)

struct row_id_range {
	uint64_t first, last;
};

struct row_ranges {
	struct row_id_range *list; /* ascending, apart from each other; malloc */
	size_t count;
};

/* INVALID: the text can't be understood, or is empty; LIMIT: more than ROW_RANGES_MAX of them. */
int row_ranges_ids(const char *text, struct row_ranges *ret_ranges, struct lancet_error *err);
/* The ranges are of row addresses. */
int row_ranges_addrs(const char *text, struct row_ranges *ret_ranges, struct lancet_error *err);
void row_ranges_release(struct row_ranges *ranges);

/* How many values they have, at most `max`. */
uint64_t row_ranges_total(const struct row_ranges *ranges, uint64_t max);
/* The first range that does not end below the value; count when there is none. */
size_t row_ranges_find(const struct row_ranges *ranges, uint64_t value);
/* "_rowid = 5 OR _rowid BETWEEN 17 AND 20", cut behind about size_max bytes with " OR ...". */
void row_ranges_predicate(
	const struct row_ranges *ranges, const char *column, size_t size_max, struct buf *into);

#endif

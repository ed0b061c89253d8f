/* Scans with a condition: rows that fulfil it are found first, from the columns it looks at alone,
 * and only these rows are read.
 */
#include "scan_state.h"

#include <stdlib.h>

#include "row_filter.h"
#include "util/macros.h"

struct scan_where {
	struct row_filter *filter;
	bool entered, ended;         /* the fragment at hand */
	struct scan_selection found; /* rows of it that were not given yet */
};

int
scan_where_open(lancet_scan *scan, const char *where, struct lancet_error *err)
{
	scan->where = calloc(1, sizeof(*scan->where));
	if (scan->where == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "condition");
	return row_filter_open(scan->version, where, scan->batch_bytes, &scan->where->filter, err);
}

void
scan_where_free(struct scan_where *where)
{
	if (where == NULL)
		return;
	row_filter_free(where->filter);
	free(where->found.ranges);
	free(where);
}

/* Looks for rows of the fragment until there are enough or it ends. */
static int
find(lancet_scan *scan, uint64_t ordinal, uint64_t wanted, struct lancet_error *err)
{
	struct scan_where *where = scan->where;

	if (!where->entered)
		TRY(row_filter_enter(where->filter, ordinal, err));
	where->entered = true;
	while (!where->ended && where->found.rows < wanted) {
		uint64_t skipped;

		TRY(row_filter_next(where->filter, &where->found, &where->ended, err));
		skipped = where->found.rows < scan->offset ? where->found.rows : scan->offset;
		scan_deselect(&where->found, skipped);
		scan->offset -= skipped;
	}
	return LANCET_OK;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int
read_found(lancet_scan *scan, uint64_t ordinal, uint64_t *ret_rows, struct lancet_error *err)
{
	struct scan_where *where = scan->where;
	struct scan_fragment *fragment;
	uint64_t rows;
	int rc;

	TRY(scan_fragment_get(scan, ordinal, &fragment, err));
	do {
		rows = smaller(smaller(scan->rows_now, scan->limit), where->found.rows);
		TRY(scan_select_first(&scan->selection, &where->found, rows, err));
		rc = scan_fill(scan, fragment, err);
	} while (rc == LANCET_LIMIT && scan_shorten(scan, rows));
	if (rc != LANCET_OK)
		return rc;
	scan->limit -= rows;
	*ret_rows = rows;
	scan_deselect(&where->found, rows);
	return LANCET_OK;
}

int
scan_where_next(lancet_scan *scan, uint64_t *ret_rows, struct lancet_error *err)
{
	struct scan_where *where = scan->where;

	*ret_rows = 0;
	for (; scan->at < scan->fragment_count; scan->at++) {
		uint64_t ordinal = scan_ordinal(scan);

		TRY(find(scan, ordinal, smaller(scan->rows_now, scan->limit), err));
		if (where->found.rows > 0)
			return read_found(scan, ordinal, ret_rows, err);
		where->entered = where->ended = false;
	}
	return LANCET_OK;
}

/* Rows by a condition. Memory: a batch of the columns it looks at, and the rows as bitmaps. */
#include <inttypes.h>
#include <stdlib.h>

#include "change_build.h"
#include "fragment.h"
#include "row_filter.h"
#include "row_picks.h"
#include "util/macros.h"
#include "version.h"

struct picking {
	const struct lancet_change_run *run;
	struct row_filter *filter;
	struct scan_selection found;
	uint64_t done, total; /* rows */
};

static int
pick_rows(
	struct picking *picking, uint64_t ordinal, roaring_bitmap_t *rows, struct lancet_error *err)
{
	bool end = false;

	TRY(row_filter_enter(picking->filter, ordinal, err));
	while (!end) {
		TRY(change_check_cancelled(picking->run, err));
		picking->found.count = 0;
		picking->found.rows = 0;
		TRY(row_filter_next(picking->filter, &picking->found, &end, err));
		for (size_t i = 0; i < picking->found.count; i++)
			roaring_bitmap_add_range(rows, picking->found.ranges[i].first,
				picking->found.ranges[i].first + picking->found.ranges[i].count);
	}
	(void)roaring_bitmap_run_optimize(rows);
	return LANCET_OK;
}

static int
pick_in_fragment(struct picking *picking, lancet_version *version, uint64_t ordinal,
	struct row_picks *picks, struct lancet_error *err)
{
	lancet_fragment *fragment;
	roaring_bitmap_t *rows;
	int rc;

	TRY(lancet_fragment_open(version, ordinal, &fragment, err));
	rows = roaring_bitmap_create();
	if (rows == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "rows of a condition");
	else
		rc = pick_rows(picking, ordinal, rows, err);
	picking->done += fragment->info.physical_rows;
	if (rc == LANCET_OK)
		rc = row_picks_add(picks, ordinal, fragment, rows, err);
	else if (rows != NULL)
		roaring_bitmap_free(rows);
	lancet_fragment_unref(fragment);
	if (rc == LANCET_OK)
		change_tell_rows(picking->run, picking->done, picking->total);
	return rc;
}

int
row_picks_by_where(lancet_version *version, const char *where, const struct lancet_change_run *run,
	struct row_picks *ret_picks, struct lancet_error *err)
{
	struct picking picking = { .run = run, .total = version->info.physical_rows };
	struct row_picks picks = { 0 };
	int rc = row_filter_open(version, where, 0, &picking.filter, err);

	for (uint64_t i = 0; rc == LANCET_OK && i < version->info.fragment_count; i++)
		rc = pick_in_fragment(&picking, version, i, &picks, err);
	row_filter_free(picking.filter);
	free(picking.found.ranges);
	if (rc == LANCET_OK)
		*ret_picks = picks;
	else
		row_picks_release(&picks);
	return rc;
}

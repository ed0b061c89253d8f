/* Scans of whole fragments: live rows in their order, batch by batch. */
#include "scan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "arrow_export.h"
#include "util/macros.h"
#include "version.h"

#define MARKS 4096u

static int
copy_fragments(
	lancet_scan *scan, const struct lancet_scan_options *options, struct lancet_error *err)
{
	uint64_t there = lancet_version_info(scan->version)->fragment_count;
	const uint64_t *asked = options->fragments;
	size_t count = options->fragment_count;

	scan->fragment_count = there;
	if (asked == NULL)
		return LANCET_OK;
	if (options->row_ids != NULL)
		return lancet_fail(err, LANCET_INVALID, "rows by id, and fragments");
	for (size_t i = 0; i < count; i++) {
		if (asked[i] >= there)
			return lancet_fail(err, LANCET_INVALID,
				"fragment ordinal %" PRIu64 " of %" PRIu64, asked[i], there);
		if (i > 0 && asked[i] <= asked[i - 1])
			return lancet_fail(err, LANCET_INVALID, "fragments are not ascending");
	}
	scan->fragment_ordinals = calloc(count + 1, sizeof(*scan->fragment_ordinals));
	if (scan->fragment_ordinals == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fragments", count);
	if (count > 0)
		memcpy(scan->fragment_ordinals, asked, count * sizeof(*asked));
	scan->fragment_count = count;
	return LANCET_OK;
}

static int
init(lancet_scan *scan, const struct lancet_scan_options *options, struct lancet_error *err)
{
	uint64_t rows = options->batch_rows != 0 ? options->batch_rows : SCAN_BATCH_ROWS;

	scan->offset = options->offset;
	scan->limit = options->limit;
	scan->batch_rows = rows < SCAN_BATCH_ROWS_MAX ? rows : SCAN_BATCH_ROWS_MAX;
	scan->rows_now = scan->batch_rows;
	scan->batch_bytes = options->batch_bytes != 0 ? options->batch_bytes : SCAN_BATCH_BYTES;
	scan->row_bytes = options->row_bytes != 0 ? options->row_bytes : SCAN_ROW_BYTES;
	TRY(scan_columns_init(scan, options, err));
	TRY(copy_fragments(scan, options, err));
	if (options->where != NULL && options->row_ids != NULL)
		return lancet_fail(err, LANCET_INVALID, "give row ids or a condition, not both");
	if (options->where != NULL)
		return scan_where_open(scan, options->where, err);
	if (options->row_ids == NULL)
		return LANCET_OK;
	return scan_rows_open(scan, options->row_ids, options->row_id_count, err);
}

int
lancet_scan_open(lancet_version *version, const struct lancet_scan_options *options,
	lancet_scan **ret_scan, struct lancet_error *err)
{
	static const struct lancet_scan_options everything = { .limit = UINT64_MAX };
	lancet_scan *scan = calloc(1, sizeof(*scan));
	int rc;

	if (scan == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "scan");
	scan->version = lancet_version_ref(version);
	rc = init(scan, options != NULL ? options : &everything, err);
	if (rc == LANCET_OK)
		*ret_scan = scan;
	else
		lancet_scan_free(scan);
	return rc;
}

void
lancet_scan_free(lancet_scan *scan)
{
	if (scan == NULL)
		return;
	if (scan->arrays != NULL)
		scan_drop(scan);
	for (size_t i = 0; i < SCAN_FRAGMENTS; i++)
		scan_fragment_release(&scan->fragments[i]);
	scan_rows_free(scan->by_id);
	scan_where_free(scan->where);
	free(scan->selection.ranges);
	free(scan->fragment_ordinals);
	free(scan->arrays);
	free(scan->fields);
	free(scan->columns);
	data_schema_release(&scan->schema);
	lancet_version_unref(scan->version);
	free(scan);
}

int
lancet_scan_schema(lancet_scan *scan, struct ArrowSchema *ret_schema, struct lancet_error *err)
{
	size_t count;
	const struct lancet_entry *metadata =
		lancet_version_map(scan->version, LANCET_SCHEMA_METADATA, &count);

	return arrow_export_schema(
		scan->fields, scan->column_count, metadata, count, ret_schema, err);
}

uint64_t
scan_ordinal(const lancet_scan *scan)
{
	return scan->fragment_ordinals == NULL ? scan->at : scan->fragment_ordinals[scan->at];
}

/* The physical row before which `live` live rows and all deleted ones among them lie: live plus the
 * number of deleted rows d with deleted[d] - d <= live. */
static int
row_of_live(
	const lancet_deletion *deletion, uint64_t live, uint64_t *ret_row, struct lancet_error *err)
{
	uint64_t low = 0, high = lancet_deletion_count(deletion);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint32_t row;

		TRY(lancet_deletion_select(deletion, middle, 1, &row, err));
		if (row - middle <= live)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_row = live + low;
	return LANCET_OK;
}

/* Steps over rows that are not wanted; *ret_done: all of the fragment is. */
static int
skip_rows(
	lancet_scan *scan, struct scan_fragment *fragment, bool *ret_done, struct lancet_error *err)
{
	uint64_t rows = lancet_fragment_info(fragment->fragment)->physical_rows;
	uint64_t live;

	TRY(scan_fragment_deletion(fragment, err));
	live = rows - lancet_deletion_count(fragment->deletion);
	*ret_done = live <= scan->offset;
	if (*ret_done)
		scan->offset -= live;
	else if (scan->offset > 0) {
		TRY(row_of_live(fragment->deletion, scan->offset, &scan->row, err));
		scan->offset = 0;
	}
	return LANCET_OK;
}

/* Rows that nothing is read of are counted by what the manifest records, without a look at the
 * fragment's deletion file. */
static bool
skip_fragment(lancet_scan *scan, const struct scan_fragment *fragment)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment->fragment);
	uint64_t live = info->physical_rows - info->deleted_rows;

	if (live > scan->offset)
		return false;
	scan->offset -= live;
	return true;
}

/* The fragment that the next row is in; NULL at the end. */
static int
next_fragment(lancet_scan *scan, struct scan_fragment **ret_fragment, struct lancet_error *err)
{
	struct scan_fragment *fragment;
	bool done;

	for (; scan->at < scan->fragment_count; scan->at++, scan->row = 0) {
		TRY(scan_fragment_get(scan, scan_ordinal(scan), &fragment, err));
		if (scan->row == 0 && skip_fragment(scan, fragment))
			continue;
		if (scan->row == 0) {
			TRY(skip_rows(scan, fragment, &done, err));
			if (done)
				continue;
		}
		if (scan->row < lancet_fragment_info(fragment->fragment)->physical_rows) {
			*ret_fragment = fragment;
			return LANCET_OK;
		}
	}
	*ret_fragment = NULL;
	return LANCET_OK;
}

/* Takes live rows of a window from *row on, up to `wanted` in all. */
static int
select_window(struct scan_selection *selection, const lancet_deletion *deletion, uint64_t *row,
	size_t window, uint64_t wanted, struct lancet_error *err)
{
	uint8_t marks[MARKS];
	size_t i = 0;

	lancet_deletion_marks(deletion, *row, window, marks);
	while (i < window && selection->rows < wanted) {
		size_t start = i;
		uint64_t left = wanted - selection->rows;

		while (i < window && !marks[i] && i - start < left)
			i++;
		if (i > start)
			TRY(scan_select(selection, *row + start, i - start, err));
		while (i < window && marks[i])
			i++;
	}
	*row += i;
	return LANCET_OK;
}

/* Up to `wanted` live rows of the fragment; *ret_row: where the next ones are. */
static int
select_rows(lancet_scan *scan, const struct scan_fragment *fragment, uint64_t wanted,
	uint64_t *ret_row, struct lancet_error *err)
{
	uint64_t rows = lancet_fragment_info(fragment->fragment)->physical_rows;
	struct scan_selection *selection = &scan->selection;
	uint64_t row = scan->row;

	selection->count = 0;
	selection->rows = 0;
	if (lancet_deletion_count(fragment->deletion) == 0) {
		uint64_t left = rows - row;
		uint64_t count = left < wanted ? left : wanted;

		*ret_row = row + count;
		return scan_select(selection, row, count, err);
	}
	while (row < rows && selection->rows < wanted) {
		size_t window = rows - row < MARKS ? (size_t)(rows - row) : MARKS;

		TRY(select_window(selection, fragment->deletion, &row, window, wanted, err));
	}
	*ret_row = row;
	return LANCET_OK;
}

int
scan_fill(lancet_scan *scan, struct scan_fragment *fragment, struct lancet_error *err)
{
	const struct scan_selection *selection = &scan->selection;

	TRY(scan_begin(scan, selection->rows, err));
	TRY(scan_append(scan, fragment, selection->ranges, selection->count, err));
	return scan_end(scan, selection->rows, err);
}

/* With fewer rows as long as they are too wide. */
int
scan_fragment_next(lancet_scan *scan, struct scan_fragment *fragment, uint64_t *ret_rows,
	struct lancet_error *err)
{
	uint64_t row = 0, rows;
	int rc;

	do {
		uint64_t wanted = scan->rows_now < scan->limit ? scan->rows_now : scan->limit;

		TRY(select_rows(scan, fragment, wanted, &row, err));
		rows = scan->selection.rows;
		rc = rows == 0 ? LANCET_OK : scan_fill(scan, fragment, err);
	} while (rc == LANCET_LIMIT && scan_shorten(scan, rows));
	if (rc != LANCET_OK)
		return rc;
	scan->row = row;
	scan->limit -= rows;
	*ret_rows = rows;
	return LANCET_OK;
}

static int
next_whole(lancet_scan *scan, uint64_t *ret_rows, struct lancet_error *err)
{
	struct scan_fragment *fragment = NULL;
	uint64_t rows = 0;

	while (rows == 0) {
		TRY(next_fragment(scan, &fragment, err));
		if (fragment == NULL)
			break;
		TRY(scan_fragment_next(scan, fragment, &rows, err));
	}
	*ret_rows = rows;
	return LANCET_OK;
}

int
lancet_scan_next(
	lancet_scan *scan, struct ArrowArray *ret_batch, bool *ret_more, struct lancet_error *err)
{
	uint64_t rows = 0;
	int rc;

	if (scan->limit > 0 && scan->by_id != NULL)
		TRY(scan_rows_next(scan, &rows, err));
	else if (scan->limit > 0 && scan->where != NULL)
		TRY(scan_where_next(scan, &rows, err));
	else if (scan->limit > 0)
		TRY(next_whole(scan, &rows, err));
	if (rows == 0) {
		*ret_more = false;
		return LANCET_OK;
	}
	rc = arrow_export_batch(scan->arrays, scan->column_count, rows, ret_batch, err);
	scan_drop(scan);
	if (rc == LANCET_OK)
		*ret_more = true;
	return rc;
}

int
lancet_scan_each(lancet_scan *scan, lancet_batch_fn fn, void *user, struct lancet_error *err)
{
	bool more = true;

	for (;;) {
		struct ArrowArray batch;
		int rc = lancet_scan_next(scan, &batch, &more, err);

		if (rc != LANCET_OK || !more)
			return rc;
		rc = fn(user, &batch, err);
		batch.release(&batch);
		if (rc != LANCET_OK)
			return rc;
	}
}

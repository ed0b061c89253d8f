/* Batches: the values of chosen rows in all columns, within the bytes that a batch may take. */
#include "scan_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "json_text.h"
#include "util/macros.h"

int
scan_select(
	struct scan_selection *selection, uint64_t first, uint64_t count, struct lancet_error *err)
{
	struct row_range *last =
		selection->count == 0 ? NULL : &selection->ranges[selection->count - 1];

	selection->rows += count;
	if (last != NULL && last->first + last->count == first) {
		last->count += count;
		return LANCET_OK;
	}
	if (selection->count == selection->capacity) {
		size_t capacity = selection->capacity == 0 ? 64 : selection->capacity * 2;
		struct row_range *ranges =
			reallocarray(selection->ranges, capacity, sizeof(*ranges));

		if (ranges == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu ranges of rows", capacity);
		selection->ranges = ranges;
		selection->capacity = capacity;
	}
	selection->ranges[selection->count++] = (struct row_range){ first, count };
	return LANCET_OK;
}

int
scan_select_first(struct scan_selection *selection, const struct scan_selection *from,
	uint64_t rows, struct lancet_error *err)
{
	selection->count = 0;
	selection->rows = 0;
	for (size_t i = 0; selection->rows < rows; i++) {
		uint64_t left = rows - selection->rows, count = from->ranges[i].count;

		TRY(scan_select(
			selection, from->ranges[i].first, count < left ? count : left, err));
	}
	return LANCET_OK;
}

void
scan_deselect(struct scan_selection *selection, uint64_t rows)
{
	struct row_range *ranges = selection->ranges;
	size_t gone = 0;

	selection->rows -= rows;
	for (; gone < selection->count && ranges[gone].count <= rows; gone++)
		rows -= ranges[gone].count;
	selection->count -= gone;
	if (selection->count == 0)
		return;
	memmove(ranges, ranges + gone, selection->count * sizeof(*ranges));
	ranges[0].first += rows;
	ranges[0].count -= rows;
}

int
scan_begin(lancet_scan *scan, uint64_t rows, struct lancet_error *err)
{
	scan->budget = (struct array_budget){
		.limit = rows > 1 ? scan->batch_bytes : scan->row_bytes,
	};
	for (size_t i = 0; i < scan->column_count; i++)
		TRY(array_init(&scan->arrays[i], scan->fields[i], &scan->budget, err));
	return LANCET_OK;
}

int
scan_append(lancet_scan *scan, struct scan_fragment *fragment, const struct row_range *ranges,
	size_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < scan->column_count; i++)
		TRY(scan_fragment_read(
			scan, fragment, &scan->columns[i], ranges, count, &scan->arrays[i], err));
	return LANCET_OK;
}

static int
convert_json(lancet_scan *scan, size_t column, struct lancet_error *err)
{
	struct slice name = scan->fields[column]->name;
	int rc = json_text_convert(&scan->arrays[column], err);

	return rc == LANCET_OK
		       ? rc
		       : lancet_wrap(err, rc, "column %.*s", name.size < 100 ? (int)name.size : 100,
				 (const char *)name.data);
}

void
scan_adapt(lancet_scan *scan, uint64_t rows)
{
	uint64_t each = scan->budget.used / rows + 1;
	uint64_t fitting = scan->batch_bytes / 2 / each + 1;
	uint64_t next = scan->rows_now * 2;

	if (next > fitting && fitting > scan->rows_now)
		next = fitting;
	else if (next > fitting)
		next = scan->rows_now;
	scan->rows_now = next < scan->batch_rows ? next : scan->batch_rows;
}

int
scan_end(lancet_scan *scan, uint64_t rows, struct lancet_error *err)
{
	for (size_t i = 0; i < scan->column_count; i++) {
		assert(scan->arrays[i].length == rows);
		if (scan->columns[i].has_json)
			TRY(convert_json(scan, i, err));
	}
	scan_adapt(scan, rows);
	return LANCET_OK;
}

bool
scan_shorten(lancet_scan *scan, uint64_t rows)
{
	scan_drop(scan);
	if (rows <= 1)
		return false;
	scan->rows_now = rows / 2;
	return true;
}

void
scan_drop(lancet_scan *scan)
{
	for (size_t i = 0; i < scan->column_count; i++)
		array_release(&scan->arrays[i]);
}

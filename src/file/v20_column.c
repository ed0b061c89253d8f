/* Rows of a column to rows of its pages; see v20_column.h.
 *
 * Pages are in order and not empty ones are found by bisection, so that a few rows of a long column
 * open only the pages that hold them. Format facts: ColumnMetadata.
 */
#include "v20_column.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

int
v20_column_init(struct v20_column *column, struct datafile *file, uint32_t index,
	const struct field *field, uint64_t rows, struct scratch *scratch, struct lancet_error *err)
{
	const struct file_column *found;

	TRY(datafile_column(file, index, &found, err));
	if (found->length != rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"column %" PRIu32 ": %" PRIu64 " values, %" PRIu64 " expected", index,
			found->length, rows);
	*column = (struct v20_column){
		.file = datafile_ref(file),
		.column = found,
		.field = field,
		.scratch = scratch,
		.page_index = SIZE_MAX,
	};
	return LANCET_OK;
}

static void
close_page(struct v20_column *column)
{
	if (column->page_index != SIZE_MAX)
		v20_page_release(&column->page);
	column->page_index = SIZE_MAX;
}

void
v20_column_release(struct v20_column *column)
{
	if (column->file == NULL)
		return;
	close_page(column);
	buf_release(&column->ranges);
	free(column->item_firsts);
	datafile_unref(column->file);
	*column = (struct v20_column){ 0 };
}

static int
open_page(struct v20_column *column, size_t index, struct lancet_error *err)
{
	if (column->page_index == index)
		return LANCET_OK;
	close_page(column);
	TRY(v20_page_open(&column->page, datafile_source(column->file), column->file,
		&column->column->pages[index], column->field, column->scratch, err));
	column->page_index = index;
	return LANCET_OK;
}

void
v20_add_range(struct buf *ranges, uint64_t first, uint64_t count)
{
	struct row_range range = { first, count };
	struct row_range *last;

	if (count == 0)
		return;
	if (ranges->size > 0) {
		last = (struct row_range *)(void *)(ranges->data + ranges->size) - 1;
		if (last->first + last->count == first) {
			last->count += count;
			return;
		}
	}
	buf_put(ranges, &range, sizeof(range));
}

static const struct row_range *
ranges_of(const struct buf *ranges, size_t *ret_count)
{
	*ret_count = ranges->size / sizeof(struct row_range);
	return (const struct row_range *)(const void *)ranges->data;
}

/* A walk over the parts of ranges that lie in one page after the other. */
struct walk {
	const struct row_range *ranges;
	size_t count;
	size_t at;     /* range */
	uint64_t done; /* rows of it */
	size_t page;
};

/* Collects what lies in the next page that has any of it; false at the end. */
static bool
next_page(struct v20_column *column, struct walk *walk)
{
	const struct page *page;
	uint64_t end;

	column->ranges.size = 0;
	while (walk->at < walk->count && walk->ranges[walk->at].count == 0)
		walk->at++;
	if (walk->at == walk->count)
		return false;
	walk->page =
		file_column_find_page(column->column, walk->ranges[walk->at].first + walk->done);
	page = &column->column->pages[walk->page];
	end = page->first + page->length;
	while (walk->at < walk->count) {
		const struct row_range *range = &walk->ranges[walk->at];
		uint64_t first = range->first + walk->done;
		uint64_t count = range->count - walk->done;

		if (first >= end)
			break;
		if (count > end - first) {
			v20_add_range(&column->ranges, first - page->first, end - first);
			walk->done += end - first;
			break;
		}
		v20_add_range(&column->ranges, first - page->first, count);
		walk->done = 0;
		walk->at++;
	}
	return true;
}

static int
wrap_page(
	const struct v20_column *column, const struct walk *walk, int rc, struct lancet_error *err)
{
	return lancet_wrap(
		err, rc, "column %" PRIu32 ": page %zu", column->column->index, walk->page);
}

int
v20_column_read(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err)
{
	struct walk walk = { .ranges = ranges, .count = count };

	while (next_page(column, &walk)) {
		size_t some;
		const struct row_range *inside = ranges_of(&column->ranges, &some);
		int rc = buf_check(&column->ranges, "ranges of rows", err);

		if (rc == LANCET_OK)
			rc = open_page(column, walk.page, err);
		if (rc == LANCET_OK)
			rc = v20_page_read(&column->page, inside, some, out, err);
		if (rc != LANCET_OK)
			return wrap_page(column, &walk, rc, err);
	}
	return LANCET_OK;
}

int
v20_column_count_items(struct v20_column *column, uint64_t *ret_items, struct lancet_error *err)
{
	const struct file_column *found = column->column;
	uint64_t *firsts = calloc(found->page_count + 1, sizeof(*firsts));
	uint64_t items;

	if (firsts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "column %" PRIu32, found->index);
	free(column->item_firsts);
	column->item_firsts = firsts;
	for (size_t i = 0; i < found->page_count; i++) {
		int rc = v20_list_items(&found->pages[i], &items, err);

		if (rc == LANCET_OK && items > INT64_MAX - firsts[i])
			rc = lancet_fail(err, LANCET_CORRUPT, "lists of %" PRIu64 " items", items);
		if (rc != LANCET_OK)
			return lancet_wrap(
				err, rc, "column %" PRIu32 ": page %zu", found->index, i);
		firsts[i + 1] = firsts[i] + items;
	}
	*ret_items = firsts[found->page_count];
	return LANCET_OK;
}

/* The items of one page, numbered from its start, become items of the column. */
static void
add_items(const struct buf *places, uint64_t first, struct buf *items)
{
	size_t count;
	const struct row_range *ranges = ranges_of(places, &count);

	for (size_t i = 0; i < count; i++)
		v20_add_range(items, first + ranges[i].first, ranges[i].count);
}

int
v20_column_read_lists(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct buf *items, struct lancet_error *err)
{
	struct walk walk = { .ranges = ranges, .count = count };
	struct buf places = { 0 };
	int rc = LANCET_OK;

	items->size = 0;
	while (rc == LANCET_OK && next_page(column, &walk)) {
		size_t some;
		const struct row_range *inside = ranges_of(&column->ranges, &some);

		rc = buf_check(&column->ranges, "ranges of rows", err);
		if (rc == LANCET_OK)
			rc = open_page(column, walk.page, err);
		places.size = 0;
		if (rc == LANCET_OK)
			rc = v20_page_read_lists(&column->page, inside, some, out, &places, err);
		if (rc != LANCET_OK)
			rc = wrap_page(column, &walk, rc, err);
		else
			add_items(&places, column->item_firsts[walk.page], items);
	}
	buf_release(&places);
	return rc == LANCET_OK ? buf_check(items, "ranges of items", err) : rc;
}

int
v20_column_check_header(const struct v20_column *column, struct lancet_error *err)
{
	const struct file_column *found = column->column;

	for (size_t i = 0; i < found->page_count; i++) {
		int rc = v20_check_header(&found->pages[i], err);

		if (rc != LANCET_OK)
			return lancet_wrap(
				err, rc, "column %" PRIu32 ": page %zu", found->index, i);
	}
	return LANCET_OK;
}

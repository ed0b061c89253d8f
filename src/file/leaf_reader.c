/* A leaf column over all of its pages: ranges of rows are split at page boundaries, and each page
 * is asked once for all rows it holds.
 */
#include "layout.h"

#include <inttypes.h>

#include "util/macros.h"

int
leaf_reader_init(struct leaf_reader *reader, struct datafile *file, uint32_t column,
	const struct field *leaf, struct scratch *scratch, struct lancet_error *err)
{
	const struct file_column *pages;
	uint64_t scale = 1;

	TRY(datafile_column(file, column, &pages, err));
	for (const struct field *above = leaf->parent; above != NULL; above = above->parent) {
		if (above->kind == FIELD_FIXED_LIST &&
			__builtin_mul_overflow(scale, above->dimension, &scale))
			scale = 0;
	}
	if (scale == 0 || pages->length % scale != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " stored rows in fixed-size lists of %" PRIu64, pages->length,
			scale);
	*reader = (struct leaf_reader){ .file = file,
		.column = pages,
		.leaf = leaf,
		.scale = scale,
		.scratch = scratch,
		.page_index = SIZE_MAX };
	return LANCET_OK;
}

void
leaf_reader_release(struct leaf_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->page_index != SIZE_MAX && reader->file != NULL)
		page_reader_release(&reader->page);
	*reader = (struct leaf_reader){ .page_index = SIZE_MAX };
}

uint64_t
leaf_reader_rows(const struct leaf_reader *reader)
{
	return reader->column->length / reader->scale;
}

static int
turn_to_page(struct leaf_reader *reader, size_t index, struct lancet_error *err)
{
	if (reader->page_index == index)
		return LANCET_OK;
	if (reader->page_index != SIZE_MAX)
		page_reader_release(&reader->page);
	reader->page_index = SIZE_MAX;
	TRY(page_reader_open(&reader->page, reader->file, &reader->column->pages[index],
		reader->leaf, reader->scratch, err));
	reader->page_index = index;
	return LANCET_OK;
}

/* The ranges that are asked for, in stored rows, as far as they are not yet read. */
struct pending {
	const struct row_range *ranges;
	size_t count;
	uint64_t done; /* stored rows of ranges[0] */
	uint64_t scale;
};

static uint64_t
pending_first(const struct pending *pending)
{
	return pending->ranges[0].first * pending->scale + pending->done;
}

/* Moves what lies in the page to `local`, in rows of the page. */
static void
take_for_page(struct pending *pending, const struct page *page, struct buf *local)
{
	uint64_t page_end = page->first + page->length;

	while (pending->count > 0 && pending_first(pending) < page_end) {
		uint64_t first = pending_first(pending);
		uint64_t left = pending->ranges[0].count * pending->scale - pending->done;
		uint64_t count = left < page_end - first ? left : page_end - first;
		struct row_range range = { first - page->first, count };

		buf_put(local, &range, sizeof(range));
		if (count < left) {
			pending->done += count;
			return;
		}
		pending->done = 0;
		pending->ranges++;
		pending->count--;
	}
}

static int
read_pages(struct leaf_reader *reader, struct pending pending, struct buf *local,
	struct leaf_out *out, struct lancet_error *err)
{
	while (pending.count > 0) {
		size_t index = file_column_find_page(reader->column, pending_first(&pending));
		int rc;

		local->size = 0;
		take_for_page(&pending, &reader->column->pages[index], local);
		TRY(buf_check(local, "rows of a page", err));
		rc = turn_to_page(reader, index, err);
		if (rc == LANCET_OK)
			rc = page_reader_read(&reader->page, (const struct row_range *)local->data,
				local->size / sizeof(struct row_range), out, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "page %zu", index);
	}
	return LANCET_OK;
}

int
leaf_reader_read(struct leaf_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	struct pending pending = { .ranges = ranges, .count = count, .scale = reader->scale };
	uint64_t rows = leaf_reader_rows(reader);
	struct buf *local;
	int rc;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first > rows || ranges[i].count > rows - ranges[i].first)
			return lancet_fail(err, LANCET_CORRUPT,
				"%" PRIu64 " rows at %" PRIu64 " of a column of %" PRIu64,
				ranges[i].count, ranges[i].first, rows);
	}
	local = scratch_take(reader->scratch, 0);
	if (local == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	rc = read_pages(reader, pending, local, out, err);
	scratch_give(reader->scratch);
	return rc;
}

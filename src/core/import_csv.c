/* CSV (RFC 4180) as rows; see import.h and lancet/rowtext.h.
 *
 * Strict where a reader could only guess: a quote is the first byte of a cell or stands in one that
 * is quoted, and every row has as many cells as the header. A record is looked for in what has been
 * read; when it does not end there, more is read and it is looked for again.
 */
#include "import.h"

#include <inttypes.h>
#include <stdlib.h>

#include "import_rows.h"
#include "util/macros.h"

struct cell {
	size_t at, size; /* in the record, or in unquoted */
	bool quoted;
	bool doubled; /* quotes in it were doubled: it is in unquoted */
};

struct csv_source {
	struct text_source base;
	struct buf cells; /* of the record in hand: struct cell */
	struct buf unquoted;
	size_t record_at;  /* where it begins in the input; where it ends is input.at */
	size_t *columns;   /* of each cell of a row */
	size_t cell_count; /* of the header */
	size_t *absent;    /* columns that the file lacks */
	size_t absent_count;
};

/* A position in what has been read. */
struct scan {
	const uint8_t *data;
	size_t at, end;
	uint64_t lines; /* line ends in quotes */
	bool ended;     /* nothing comes behind `end` */
};

enum found { FOUND_CELL, FOUND_ROW, FOUND_CUT, FOUND_ERROR };

/* Bytes that end a cell without quotes, or are none of it. */
static bool
is_special(uint8_t byte)
{
	return byte == ',' || byte == '\n' || byte == '\r' || byte == '"';
}

/* What is behind a cell: a comma, or the end of the line. */
static enum found
step_end(struct scan *scan, const char **ret_what)
{
	if (scan->at == scan->end)
		return scan->ended ? FOUND_ROW : FOUND_CUT;
	if (scan->data[scan->at] == '\r') {
		if (scan->at + 1 == scan->end && !scan->ended)
			return FOUND_CUT;
		if (scan->at + 1 == scan->end || scan->data[scan->at + 1] != '\n') {
			*ret_what = "a carriage return that ends no line";
			return FOUND_ERROR;
		}
		scan->at++;
	}
	if (scan->data[scan->at] == '\n') {
		scan->at++;
		return FOUND_ROW;
	}
	scan->at++;
	return FOUND_CELL;
}

static enum found
take_plain(struct scan *scan, struct cell *cell, const char **ret_what)
{
	cell->at = scan->at;
	while (scan->at < scan->end && !is_special(scan->data[scan->at]))
		scan->at++;
	cell->size = scan->at - cell->at;
	if (scan->at < scan->end && scan->data[scan->at] == '"') {
		*ret_what = "a quote in a cell that does not begin with one";
		return FOUND_ERROR;
	}
	return step_end(scan, ret_what);
}

/* Moves to the quote that ends the cell. */
static enum found
find_quote(struct scan *scan, struct cell *cell)
{
	for (;;) {
		const uint8_t *from = scan->data + scan->at;
		const uint8_t *quote = memchr(from, '"', scan->end - scan->at);

		if (quote == NULL)
			return FOUND_CUT;
		scan->at = (size_t)(quote - scan->data) + 1;
		if (scan->at == scan->end)
			return scan->ended ? FOUND_CELL : FOUND_CUT;
		if (scan->data[scan->at] != '"')
			return FOUND_CELL;
		scan->at++;
		cell->doubled = true;
	}
}

static uint64_t
count_lines(struct slice text)
{
	uint64_t lines = 0;

	while (text.size > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.size);

		if (end == NULL)
			break;
		lines++;
		text = slice_of(end + 1, (size_t)(text.data + text.size - end) - 1);
	}
	return lines;
}

static enum found
take_quoted(struct scan *scan, struct cell *cell, const char **ret_what)
{
	enum found found;

	cell->quoted = true;
	cell->at = ++scan->at;
	found = find_quote(scan, cell);
	if (found != FOUND_CELL) {
		*ret_what = "a quote that is not closed";
		return scan->ended ? FOUND_ERROR : FOUND_CUT;
	}
	cell->size = scan->at - 1 - cell->at;
	scan->lines += count_lines(slice_of(scan->data + cell->at, cell->size));
	if (scan->at < scan->end && (!is_special(scan->data[scan->at]))) {
		*ret_what = "text behind the quote that closes a cell";
		return FOUND_ERROR;
	}
	return step_end(scan, ret_what);
}

/* Moves text with doubled quotes to where it has single ones. */
static void
undouble(struct csv_source *csv, const uint8_t *data, struct cell *cell)
{
	struct slice text = slice_of(data + cell->at, cell->size);

	cell->at = csv->unquoted.size;
	while (text.size > 0) {
		const uint8_t *quote = memchr(text.data, '"', text.size);
		size_t size = quote == NULL ? text.size : (size_t)(quote - text.data) + 1;

		buf_put(&csv->unquoted, text.data, size);
		size += quote != NULL;
		text = slice_of(text.data + size, text.size - size);
	}
	cell->size = csv->unquoted.size - cell->at;
}

static enum found
take_record(struct csv_source *csv, struct scan *scan, const char **ret_what)
{
	enum found found;

	csv->cells.size = csv->unquoted.size = 0;
	do {
		struct cell cell = { 0 };

		if (scan->at < scan->end && scan->data[scan->at] == '"')
			found = take_quoted(scan, &cell, ret_what);
		else
			found = take_plain(scan, &cell, ret_what);
		if (found == FOUND_CUT || found == FOUND_ERROR)
			return found;
		if (cell.doubled)
			undouble(csv, scan->data, &cell);
		buf_put(&csv->cells, &cell, sizeof(cell));
	} while (found == FOUND_CELL);
	return FOUND_ROW;
}

/* Records of nothing are nothing unless they could be a row of one null. */
static bool
is_blank(const struct csv_source *csv)
{
	const struct cell *first = (const struct cell *)(const void *)csv->cells.data;

	return csv->cells.size == sizeof(*first) && first->size == 0 && !first->quoted &&
	       csv->cell_count != 1;
}

static int
read_record(struct csv_source *csv, struct lancet_error *err)
{
	struct text_source *base = &csv->base;
	struct import_input *input = &base->input;
	const char *what = "";
	struct scan scan;
	enum found found;

	base->line = base->next_line;
	for (;;) {
		scan = (struct scan){ .data = input->bytes.data,
			.at = input->at,
			.end = input->bytes.size,
			.ended = input->ended };
		found = take_record(csv, &scan, &what);
		if (found != FOUND_CUT)
			break;
		TRY(import_input_more(base, err));
	}
	if (found == FOUND_ERROR)
		return lancet_fail(err, LANCET_INVALID, "line %" PRIu64 ": %s", base->line, what);
	TRY(buf_check(&csv->cells, "cells", err));
	TRY(buf_check(&csv->unquoted, "cells", err));
	csv->record_at = input->at;
	input->at = scan.at;
	base->next_line += 1 + scan.lines;
	return import_check_text(
		base, slice_of(input->bytes.data + csv->record_at, scan.at - csv->record_at), err);
}

static int
csv_read(struct text_source *base, bool *ret_more, struct lancet_error *err)
{
	struct csv_source *csv = (struct csv_source *)base;
	struct import_input *input = &base->input;

	do {
		if (input->at == input->bytes.size && !input->ended)
			TRY(import_input_more(base, err));
		*ret_more = input->at < input->bytes.size;
		if (!*ret_more)
			return LANCET_OK;
		TRY(read_record(csv, err));
	} while (is_blank(csv));
	return LANCET_OK;
}

static struct slice
cell_text(const struct csv_source *csv, const struct cell *cell)
{
	const struct buf *bytes = cell->doubled ? &csv->unquoted : &csv->base.input.bytes;

	return slice_of(bytes->data + cell->at, cell->size);
}

static int
put_cell(struct csv_source *csv, const struct cell *cell, struct import_node *node,
	struct array *array, struct lancet_error *err)
{
	struct slice text = cell_text(csv, cell);

	if (text.size == 0 && !(cell->quoted && node->takes_empty))
		return import_null(node, array, err);
	return import_text(node, array, text, err);
}

static int
csv_put(struct text_source *base, struct array *columns, struct lancet_error *err)
{
	struct csv_source *csv = (struct csv_source *)base;
	const struct cell *cells = (const struct cell *)(const void *)csv->cells.data;
	size_t count = csv->cells.size / sizeof(*cells);

	base->column = NULL;
	if (count != csv->cell_count)
		return lancet_fail(
			err, LANCET_INVALID, "%zu cells, %zu expected", count, csv->cell_count);
	for (size_t i = 0; i < count; i++) {
		struct import_node *node = &base->root.children[csv->columns[i]];

		base->column = node;
		TRY(put_cell(csv, &cells[i], node, &columns[csv->columns[i]], err));
	}
	base->column = NULL;
	for (size_t i = 0; i < csv->absent_count; i++)
		TRY(array_append_nulls(&columns[csv->absent[i]], 1, err));
	return LANCET_OK;
}

static int
set_column(struct csv_source *csv, size_t cell, struct slice name, struct lancet_error *err)
{
	struct import_node *root = &csv->base.root;
	struct import_node *node = import_node_find(root, name);

	if (node == NULL)
		return lancet_fail(
			err, LANCET_INVALID, "no column has the name \"%.*s\"", FIELD_TEXT(name));
	if (node->seen != 0)
		return lancet_fail(
			err, LANCET_INVALID, "column \"%.*s\" comes twice", FIELD_TEXT(name));
	node->seen = 1;
	csv->columns[cell] = (size_t)(node - root->children);
	return LANCET_OK;
}

static int
set_absent(struct csv_source *csv, struct lancet_error *err)
{
	const struct import_node *root = &csv->base.root;

	for (size_t i = 0; i < root->child_count; i++) {
		const struct import_node *node = &root->children[i];

		if (node->seen != 0)
			continue;
		if (!node->nullable)
			return lancet_fail(err, LANCET_INVALID,
				"column \"%.*s\" is missing, and can't be null",
				FIELD_TEXT(node->name));
		csv->absent[csv->absent_count++] = i;
	}
	return LANCET_OK;
}

static int
set_columns(struct csv_source *csv, struct lancet_error *err)
{
	const struct cell *cells = (const struct cell *)(const void *)csv->cells.data;
	size_t count = csv->cells.size / sizeof(*cells);
	struct arena *arena = &csv->base.arena;

	csv->columns = arena_zalloc(arena, count, sizeof(*csv->columns));
	csv->absent = arena_zalloc(arena, csv->base.root.child_count, sizeof(*csv->absent));
	if (csv->columns == NULL || csv->absent == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns");
	csv->cell_count = count;
	for (size_t i = 0; i < count; i++)
		TRY(set_column(csv, i, cell_text(csv, &cells[i]), err));
	return set_absent(csv, err);
}

static int
read_header(struct csv_source *csv, struct lancet_error *err)
{
	bool more = false;
	int rc;

	TRY(csv_read(&csv->base, &more, err));
	if (!more && csv->base.root.child_count > 0)
		return lancet_fail(err, LANCET_INVALID, "no header line");
	if (!more)
		csv->cells.size = 0;
	rc = set_columns(csv, err);
	return lancet_wrap(err, rc, "line %" PRIu64, csv->base.line);
}

static void
csv_release(struct text_source *base)
{
	struct csv_source *csv = (struct csv_source *)base;

	buf_release(&csv->cells);
	buf_release(&csv->unquoted);
}

static const struct text_source_ops csv_ops = {
	.read = csv_read,
	.put = csv_put,
	.release = csv_release,
};

int
import_csv_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err)
{
	struct csv_source *csv = calloc(1, sizeof(*csv));
	int rc;

	if (csv == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "CSV");
	rc = text_source_init(&csv->base, &csv_ops, schema, file, err);
	if (rc == LANCET_OK)
		rc = read_header(csv, err);
	if (rc != LANCET_OK) {
		text_source_free(&csv->base.base);
		return rc;
	}
	*ret_source = &csv->base.base;
	return LANCET_OK;
}

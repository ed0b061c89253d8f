/* Some columns of a new file: read from the sources row by row, or taken over page by page.
 *
 * How many rows are read at once follows from how wide those before were. A row that takes more
 * than a batch is read by itself. Format facts: page-level concatenation.
 */
#include "rewrite_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment_data.h"
#include "util/macros.h"

#define FIRST_ROWS UINT64_C(1024)
#define ROWS_MAX   (UINT64_C(1) << 20)
#define ROW_BYTES  ((size_t)2 << 30)
/* An array grows by doubling, and its offsets and bits come on top of what is wanted. */
#define ROOM 4u
/* Pages that are worth keeping as they are. */
#define PAGE_BYTES UINT64_C(1 << 20)
#define PAGE_ROWS  UINT64_C(1 << 16)

struct reading {
	struct rewrite_work *work;
	const struct rewrite_unit *unit;
	const struct rewrite_piece *piece;
	const struct rewrite_source *source;
	struct fragment_data *data;
	struct column_place *places; /* by ordinal of the schema */
	uint64_t *rows;              /* to read at once, by root of the unit */
	struct rewrite_batch batch;
};

static uint64_t
fragment_id(const struct reading *reading)
{
	return lancet_fragment_info(reading->source->fragment)->id;
}

/* Rows of as many bytes as the last ones had. */
static uint64_t
fitting_rows(const struct rewrite_work *work, uint64_t rows, size_t used)
{
	uint64_t fit = used == 0 ? ROWS_MAX : (uint64_t)work->batch_bytes * ROOM / 2 * rows / used;

	if (fit > 4 * rows)
		fit = 4 * rows;
	if (fit > ROWS_MAX)
		fit = ROWS_MAX;
	return fit == 0 ? 1 : fit;
}

/* Puts the next rows of a column. *ret_end is `at` when they were too many. */
static int
put_batch(struct reading *reading, size_t number, uint64_t at, uint64_t *ret_end,
	struct lancet_error *err)
{
	const struct rewrite_work *work = reading->work;
	size_t root = reading->unit->first + number;
	struct rewrite_batch *batch = &reading->batch;
	struct array_budget budget = { .limit = ROOM * work->batch_bytes };
	struct lancet_error failure = { 0 };
	struct array values;
	int rc;

	TRY(rewrite_batch(reading->source, reading->piece, at, reading->rows[number], batch, err));
	*ret_end = batch->end;
	if (batch->rows == 0)
		return LANCET_OK;
	if (batch->rows == 1 && budget.limit < ROW_BYTES)
		budget.limit = ROW_BYTES;
	TRY(array_init(&values, &work->schema.tree.roots[root], &budget, err));
	rc = fragment_data_read(
		reading->data, root, batch->ranges, batch->count, &values, &failure);
	if (rc == LANCET_LIMIT && batch->rows > 1) {
		reading->rows[number] = batch->rows / 2;
		*ret_end = at;
		rc = LANCET_OK;
	} else if (rc != LANCET_OK) {
		*err = failure;
		(void)lancet_wrap(err, rc, "fragment %" PRIu64, fragment_id(reading));
	} else {
		reading->rows[number] = fitting_rows(work, batch->rows, budget.used);
		rc = file_writer_put(reading->unit->writer, root, &values, 0, values.length, err);
	}
	array_release(&values);
	return rc;
}

static int
put_rows(struct reading *reading, size_t number, struct lancet_error *err)
{
	uint64_t at = reading->piece->first;

	while (at < reading->piece->end) {
		uint64_t end;

		TRY(put_batch(reading, number, at, &end, err));
		TRY(rewrite_crew_step(
			&reading->work->crew, end == at ? 0 : reading->batch.rows, err));
		at = end;
	}
	return LANCET_OK;
}

/* Pages of the root in all its columns, and their bytes. */
static int
count_pages(const struct reading *reading, const struct field *root, uint64_t *ret_pages,
	uint64_t *ret_bytes, struct lancet_error *err)
{
	uint32_t end = data_schema_end(root);

	*ret_pages = 0;
	*ret_bytes = 0;
	for (uint32_t i = root->ordinal; i < end; i++) {
		const struct column_place *place = &reading->places[i];
		const struct file_column *column;

		if (place->file == NULL)
			continue;
		TRY(datafile_column(place->file, place->column, &column, err));
		*ret_pages += column->page_count;
		for (size_t k = 0; k < column->page_count; k++)
			for (size_t m = 0; m < column->pages[k].buffer_count; m++)
				*ret_bytes += column->pages[k].buffers[m].size;
	}
	return LANCET_OK;
}

/* Many small pages are better read and made anew. */
static int
is_worth_it(const struct reading *reading, const struct field *root, bool *ret_worth,
	struct lancet_error *err)
{
	uint64_t pages, bytes;

	TRY(count_pages(reading, root, &pages, &bytes, err));
	*ret_worth = pages <= 1 || reading->unit->piece_count == 1 || bytes / pages >= PAGE_BYTES ||
		     reading->piece->live / pages >= PAGE_ROWS;
	return LANCET_OK;
}

static bool
holds_lists(const struct field *field)
{
	if (field->kind == FIELD_LIST || field->kind == FIELD_MAP)
		return true;
	for (size_t i = 0; i < field->child_count; i++)
		if (holds_lists(&field->children[i]))
			return true;
	return false;
}

/* pylance (14.0.2) can't read a column of 2.1 or later some of whose pages say that a struct above
 * a list has no nulls, and others that it may have; its own pages say what is so in each. */
static bool
must_match(const struct field *field)
{
	if (field->kind == FIELD_STRUCT && field->nullable && holds_lists(field))
		return true;
	for (size_t i = 0; i < field->child_count; i++)
		if (must_match(&field->children[i]))
			return true;
	return false;
}

static int
refuse_copy(const struct reading *reading, const struct field *root, const char *why,
	struct lancet_error *err)
{
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"fragment %" PRIu64 ": column %.*s can't be copied page by page: %s",
		fragment_id(reading), FIELD_TEXT(root->name), why);
}

static int
find_places(struct reading *reading, size_t root, struct lancet_error *err)
{
	int rc = fragment_data_places(reading->data, root, reading->places, err);

	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "fragment %" PRIu64, fragment_id(reading));
}

/* Whether all pages of the column go over as they are. */
static int
may_copy(struct reading *reading, size_t root, bool *ret_copy, struct lancet_error *err)
{
	enum lancet_binary_copy mode = reading->work->rewrite->binary_copy;
	const struct field *field = &reading->work->schema.tree.roots[root];

	*ret_copy = false;
	if (mode == LANCET_COPY_NEVER)
		return LANCET_OK;
	if (!reading->piece->whole || reading->source->has_overlays) {
		if (mode == LANCET_COPY_FORCE)
			return refuse_copy(reading, field,
				reading->piece->whole ? "the fragment has overlays"
						      : "not all rows go to one new fragment",
				err);
		return LANCET_OK;
	}
	TRY(find_places(reading, root, err));
	*ret_copy = (reading->work->version == FILE_2_0 || !must_match(field)) &&
		    file_writer_can_copy(reading->unit->writer, root, reading->places);
	if (mode == LANCET_COPY_FORCE)
		return *ret_copy ? LANCET_OK
				 : refuse_copy(reading, field, "its pages are not as new ones are",
					   err);
	return *ret_copy ? is_worth_it(reading, field, ret_copy, err) : LANCET_OK;
}

static int
put_root(struct reading *reading, size_t number, struct lancet_error *err)
{
	size_t root = reading->unit->first + number;
	bool copy;

	TRY(may_copy(reading, root, &copy, err));
	if (!copy)
		return put_rows(reading, number, err);
	TRY(file_writer_copy(
		reading->unit->writer, root, reading->places, reading->piece->live, err));
	return rewrite_crew_step(&reading->work->crew, reading->piece->live, err);
}

static int
put_piece(struct reading *reading, const struct rewrite_piece *piece, struct lancet_error *err)
{
	struct file_pool pool = { 0 };
	int rc;

	reading->piece = piece;
	reading->source = &reading->unit->task->sources[piece->source];
	TRY(fragment_data_open(
		reading->source->fragment, &reading->work->schema, &pool, &reading->data, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < reading->unit->count && rc == LANCET_OK; i++)
		rc = put_root(reading, i, err);
	fragment_data_free(reading->data);
	return rc;
}

static int
put_pieces(struct reading *reading, struct lancet_error *err)
{
	const struct rewrite_unit *unit = reading->unit;

	for (size_t i = 0; i < unit->count; i++)
		reading->rows[i] = FIRST_ROWS;
	for (size_t i = 0; i < unit->piece_count; i++)
		TRY(put_piece(reading, &unit->pieces[i], err));
	for (size_t i = 0; i < unit->count; i++)
		TRY(file_writer_end(unit->writer, unit->first + i, err));
	return LANCET_OK;
}

int
rewrite_unit_write(
	struct rewrite_work *work, const struct rewrite_unit *unit, struct lancet_error *err)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int rc;

	if (reading == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a new fragment");
	reading->work = work;
	reading->unit = unit;
	reading->rows = calloc(unit->count + 1, sizeof(*reading->rows));
	reading->places = calloc((size_t)work->schema.tree.count + 1, sizeof(*reading->places));
	if (reading->rows == NULL || reading->places == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "columns of a new fragment");
	else
		rc = put_pieces(reading, err);
	free(reading->rows);
	free(reading->places);
	free(reading);
	return rc;
}

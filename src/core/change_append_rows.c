/* Append of rows that come from a source: fragments are written as they fill.
 *
 * The schema is looked at before the first row, by the source and by the writer, which makes no
 * file before it has a page. Row ids and versions are given when the change is committed. Format
 * facts: data files of new fragments.
 */
#include "change_build.h"

#include <inttypes.h>
#include <stdlib.h>

#include "data_schema.h"
#include "fragment_write.h"
#include "import.h"
#include "util/macros.h"

#define FILE_BYTES_MAX (UINT64_C(90) << 30) /* where the reference begins another, by default */
#define ROWS_AT_ONCE   UINT64_C(8192)
#define ROWS_MEMORY    ((size_t)256 << 20) /* bytes of the rows in hand */

struct appending {
	const struct lancet_change_run *run;
	lancet_change *change;
	struct data_schema schema;
	struct row_source *source;
	struct array_budget budget;
	struct array *columns; /* for the roots of the schema */
	size_t column_count;   /* that were made */
	struct fragment_writer *writer;
	uint64_t writer_rows;
	struct Lance__Table__DataFragment **fragments; /* malloc */
	struct lancet_appended totals;
};

static int
make_columns(struct appending *appending, struct lancet_error *err)
{
	const struct field_tree *tree = &appending->schema.tree;

	appending->budget.limit = ROWS_MEMORY;
	appending->columns = calloc(tree->root_count + 1, sizeof(*appending->columns));
	if (appending->columns == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < tree->root_count; i++) {
		TRY(array_init(&appending->columns[i], &tree->roots[i], &appending->budget, err));
		appending->column_count++;
	}
	return LANCET_OK;
}

static int
open_source(struct appending *appending, int fd, enum lancet_row_format format,
	struct lancet_error *err)
{
	const struct field_tree *tree = &appending->schema.tree;

	switch (format) {
	case LANCET_ROWS_ARROW:
		return import_arrow_open(tree, fd, &appending->source, err);
	case LANCET_ROWS_CSV:
		return import_csv_open(tree, fd, &appending->source, err);
	case LANCET_ROWS_JSON:
		return import_json_open(tree, fd, &appending->source, err);
	}
	return lancet_fail(err, LANCET_INVALID, "rows of format %d", (int)format);
}

static int
open_writer(struct appending *appending, struct lancet_error *err)
{
	return fragment_writer_open(appending->change, NULL,
		fragment_page_bytes(&appending->schema.tree), &appending->writer, err);
}

static int
end_fragment(struct appending *appending, struct lancet_error *err)
{
	size_t count = (size_t)appending->totals.fragments;
	struct Lance__Table__DataFragment **fragments = realloc(
		appending->fragments, (count + 1) * sizeof(struct Lance__Table__DataFragment *));
	uint64_t bytes = 0;

	if (fragments == NULL)
		return change_no_memory(err);
	appending->fragments = fragments;
	TRY(fragment_writer_finish(
		lancet_steal(&appending->writer), &fragments[count], &bytes, err));
	appending->writer_rows = 0;
	appending->totals.fragments++;
	appending->totals.bytes += bytes;
	return LANCET_OK;
}

static int
take_rows(struct appending *appending, uint64_t *ret_count, struct lancet_error *err)
{
	uint64_t room = FRAGMENT_ROWS_DEFAULT - appending->writer_rows;

	TRY(change_check_cancelled(appending->run, err));
	for (size_t i = 0; i < appending->column_count; i++)
		array_reset(&appending->columns[i]);
	return appending->source->ops->next(appending->source, appending->columns,
		room < ROWS_AT_ONCE ? room : ROWS_AT_ONCE, ret_count, err);
}

static int
put_rows(struct appending *appending, uint64_t count, struct lancet_error *err)
{
	if (appending->writer == NULL)
		TRY(open_writer(appending, err));
	TRY(fragment_writer_put(appending->writer, appending->columns, 0, count, err));
	appending->writer_rows += count;
	appending->totals.rows += count;
	change_tell_rows(appending->run, appending->totals.rows, 0);
	if (appending->writer_rows == FRAGMENT_ROWS_DEFAULT ||
		fragment_writer_bytes(appending->writer) >= FILE_BYTES_MAX)
		return end_fragment(appending, err);
	return LANCET_OK;
}

/* The writer is opened before the source, so that what can't be written is told first. */
static int
build(struct appending *appending, int fd, enum lancet_row_format format, struct lancet_error *err)
{
	uint64_t count;

	TRY(data_schema_init(
		&appending->schema, appending->change->read, NULL, 0, FIELD_BLOB_BYTES, err));
	TRY(make_columns(appending, err));
	TRY(open_writer(appending, err));
	TRY(open_source(appending, fd, format, err));
	for (;;) {
		TRY(take_rows(appending, &count, err));
		if (count == 0)
			break;
		TRY(put_rows(appending, count, err));
	}
	if (appending->writer != NULL && appending->writer_rows > 0)
		TRY(end_fragment(appending, err));
	if (appending->totals.rows == 0)
		return LANCET_OK;
	TRY(fragment_writers_name(appending->change, err));
	return data_append_make(
		appending->change, appending->fragments, (size_t)appending->totals.fragments, err);
}

static void
forget(struct appending *appending)
{
	fragment_writer_free(appending->writer);
	if (appending->source != NULL)
		appending->source->ops->free(appending->source);
	for (size_t i = 0; i < appending->column_count; i++)
		array_release(&appending->columns[i]);
	free(appending->columns);
	free(appending->fragments);
	data_schema_release(&appending->schema);
}

int
lancet_change_append_rows(lancet_version *read, int fd, enum lancet_row_format format,
	const struct lancet_change_run *run, lancet_change **ret_change,
	struct lancet_appended *ret_appended, struct lancet_error *err)
{
	struct appending appending = { .run = run };
	enum file_version version;
	int rc;

	TRY(fragment_write_version(read, &version, err));
	TRY(change_new(read, &appending.change, err));
	rc = build(&appending, fd, format, err);
	forget(&appending);
	TRY(change_built_rows(appending.change, rc, appending.totals.rows, ret_change));
	*ret_appended = appending.totals;
	return LANCET_OK;
}

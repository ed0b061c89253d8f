/* Rows of an Update: read as they are, with new values for some columns, and written. */
#include "change_update.h"

#include <stdlib.h>

#include "util/macros.h"

/* The rows in hand, and where they go. */
struct writing {
	struct updating *updating;
	struct fragment_writer *writer; /* NULL: none is open */
	size_t fragment;                /* the next one that is finished */
	uint64_t rows;                  /* in the writer */
	uint64_t done;
	const struct array **columns; /* by root, lineage behind them */
	struct array lineage[PREDICATE_LINEAGE];
	struct array *made; /* new values, by assignment */
	size_t made_count;
};

static int
open_writer(struct writing *writing, struct lancet_error *err)
{
	struct updating *updating = writing->updating;

	if (writing->writer != NULL)
		return LANCET_OK;
	writing->rows = 0;
	return fragment_writer_open(updating->change,
		updating->has_lineage ? &updating->outs[writing->fragment] : NULL,
		fragment_page_bytes(&updating->scan->schema.tree), &writing->writer, err);
}

static int
end_fragment(struct writing *writing, struct lancet_error *err)
{
	struct Lance__Table__DataFragment **place =
		&writing->updating->fragments[writing->fragment];
	uint64_t bytes;

	writing->fragment++;
	return fragment_writer_finish(lancet_steal(&writing->writer), place, &bytes, err);
}

/* Columns of lineage that assignments look at. */
static int
read_lineage(struct writing *writing, struct scan_fragment *fragment, struct lancet_error *err)
{
	lancet_scan *scan = writing->updating->scan;
	size_t roots = scan->schema.tree.root_count;

	for (size_t i = 0; i < PREDICATE_LINEAGE; i++) {
		const struct scan_column column = { .is_lineage = true,
			.lineage = (enum scan_lineage)i };
		struct array *array = &writing->lineage[i];

		if (!assignments_use(writing->updating->assignments, roots + i))
			continue;
		TRY(array_init(array, field_unsigned(64), &scan->budget, err));
		writing->columns[roots + i] = array;
		TRY(scan_fragment_read(scan, fragment, &column, scan->selection.ranges,
			scan->selection.count, array, err));
	}
	return LANCET_OK;
}

/* All new values are computed from the old ones before any takes its place. */
static int
assign(struct writing *writing, uint64_t rows, struct lancet_error *err)
{
	const struct assignments *assignments = writing->updating->assignments;
	lancet_scan *scan = writing->updating->scan;

	for (size_t i = 0; i < assignments_count(assignments); i++) {
		size_t root = assignments_root(assignments, i);

		TRY(array_init(
			&writing->made[i], &scan->schema.tree.roots[root], &scan->budget, err));
		writing->made_count++;
		TRY(assignments_apply(
			assignments, i, writing->columns, rows, &writing->made[i], err));
	}
	for (size_t i = 0; i < writing->made_count; i++) {
		size_t root = assignments_root(assignments, i);
		struct array old = scan->arrays[root];

		scan->arrays[root] = writing->made[i];
		writing->made[i] = old;
	}
	return LANCET_OK;
}

static void
drop_rows(struct writing *writing)
{
	for (size_t i = 0; i < PREDICATE_LINEAGE; i++) {
		array_release(&writing->lineage[i]);
		writing->lineage[i] = (struct array){ 0 };
	}
	for (size_t i = 0; i < writing->made_count; i++)
		array_release(&writing->made[i]);
	writing->made_count = 0;
	scan_drop(writing->updating->scan);
}

/* After LANCET_LIMIT. */
static bool
shorten(struct writing *writing, uint64_t rows)
{
	drop_rows(writing);
	return scan_shorten(writing->updating->scan, rows);
}

static int
read_rows(struct writing *writing, struct scan_fragment *fragment, uint64_t rows,
	struct lancet_error *err)
{
	lancet_scan *scan = writing->updating->scan;

	TRY(scan_begin(scan, rows, err));
	TRY(scan_append(scan, fragment, scan->selection.ranges, scan->selection.count, err));
	TRY(read_lineage(writing, fragment, err));
	return assign(writing, rows, err);
}

static int
put_rows(struct writing *writing, uint64_t rows, struct lancet_error *err)
{
	const struct updating *updating = writing->updating;

	TRY(fragment_writer_put(writing->writer, updating->scan->arrays, 0, rows, err));
	writing->rows += rows;
	writing->done += rows;
	change_tell_rows(updating->run, writing->done, updating->picks.rows);
	if (writing->rows == FRAGMENT_ROWS_DEFAULT || writing->done == updating->picks.rows)
		return end_fragment(writing, err);
	return LANCET_OK;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A batch from the front of `found`, with fewer rows as long as they are too wide. */
static int
move_rows(struct writing *writing, const struct row_pick *pick, struct scan_selection *found,
	struct lancet_error *err)
{
	lancet_scan *scan = writing->updating->scan;
	struct scan_fragment *fragment;
	uint64_t rows;
	int rc;

	TRY(change_check_cancelled(writing->updating->run, err));
	TRY(open_writer(writing, err));
	TRY(scan_fragment_get(scan, pick->ordinal, &fragment, err));
	do {
		rows = smaller(smaller(found->rows, scan->rows_now),
			FRAGMENT_ROWS_DEFAULT - writing->rows);
		TRY(scan_select_first(&scan->selection, found, rows, err));
		rc = read_rows(writing, fragment, rows, err);
	} while (rc == LANCET_LIMIT && shorten(writing, rows));
	if (rc == LANCET_OK) {
		scan_adapt(scan, rows);
		rc = put_rows(writing, rows, err);
	}
	drop_rows(writing);
	scan_deselect(found, rows);
	return rc;
}

static int
move_pick(struct writing *writing, const struct row_pick *pick, struct scan_selection *found,
	struct lancet_error *err)
{
	lancet_scan *scan = writing->updating->scan;
	roaring_uint32_iterator_t rows;

	found->count = 0;
	found->rows = 0;
	roaring_init_iterator(pick->rows, &rows);
	while (rows.has_value || found->rows > 0) {
		while (rows.has_value && found->rows < scan->rows_now) {
			TRY(scan_select(found, rows.current_value, 1, err));
			(void)roaring_advance_uint32_iterator(&rows);
		}
		TRY(move_rows(writing, pick, found, err));
	}
	return LANCET_OK;
}

static int
prepare(struct writing *writing, struct lancet_error *err)
{
	lancet_scan *scan = writing->updating->scan;
	size_t roots = scan->schema.tree.root_count;

	writing->columns = calloc(roots + PREDICATE_LINEAGE, sizeof(*writing->columns));
	writing->made = calloc(
		assignments_count(writing->updating->assignments) + 1, sizeof(*writing->made));
	if (writing->columns == NULL || writing->made == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < roots; i++)
		writing->columns[i] = &scan->arrays[i];
	return LANCET_OK;
}

int
update_rows(struct updating *updating, struct lancet_error *err)
{
	struct writing writing = { .updating = updating };
	struct scan_selection found = { 0 };
	int rc = prepare(&writing, err);

	for (size_t i = 0; rc == LANCET_OK && i < updating->picks.count; i++)
		rc = move_pick(&writing, &updating->picks.list[i], &found, err);
	fragment_writer_free(writing.writer);
	free(writing.columns);
	free(writing.made);
	free(found.ranges);
	return rc;
}

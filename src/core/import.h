/* Rows of files that others made, on their way into a dataset: Arrow IPC, CSV, JSON lines.
 *
 * A row source reads its file front to back, in bounded memory, and gives batches of values as
 * arrays of the dataset's fields. Columns are matched by name, types and nullability are checked,
 * and what does not fit is INVALID with the place of the first bad value: "row 17, column
 * \"price\": …", of text "line 17, …"; both count from 1. A nullable column that the file lacks is
 * null. CANCELLED: a signal came while there was nothing to read, as in a pipe.
 */
#ifndef CORE_IMPORT_H
#define CORE_IMPORT_H

#include "file/array.h"
#include "util/source.h"

enum import_format { IMPORT_ARROW, IMPORT_CSV, IMPORT_JSON };

struct row_source {
	const struct row_source_ops *ops;
};
struct row_source_ops {
	/* Appends at most max_rows rows to columns, an array for each root of the schema, empty at
	 * the call; *ret_rows 0: there are no more. LIMIT when the arrays' budget is used up by one
	 * row; of several it gives fewer. */
	int (*next)(struct row_source *source, struct array *columns, uint64_t max_rows,
		uint64_t *ret_rows, struct lancet_error *err);
	void (*free)(struct row_source *source);
};

/* `schema` outlives the source; `file` (a pipe is fine for CSV and JSON) is borrowed. INVALID: the
 * columns don't fit: a name that the schema does not have, a column that is missing and not
 * nullable, another type. */
int import_arrow_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err);
int import_csv_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err);
int import_json_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err);

#endif

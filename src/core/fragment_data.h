/* The columns of one fragment: which data file has each, and their values by row.
 *
 * Columns are found by field id in the lists of the manifest. A data file is opened once, when a
 * column of it is first read. A column that no file has is null. Overlays are applied: of a cell
 * the newest one that covers it counts. Belongs to one thread at a time. Format facts: data files,
 * schema to columns, overlays.
 */
#ifndef CORE_FRAGMENT_DATA_H
#define CORE_FRAGMENT_DATA_H

#include <lancet/column.h>
#include "data_schema.h"
#include "file/reader.h"
#include "file_pool.h"

struct fragment_data;

/* Takes a reference of the fragment; schema and pool outlive it. CORRUPT: a field in two data
 * files. */
int fragment_data_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct fragment_data **ret_data, struct lancet_error *err);
void fragment_data_free(struct fragment_data *data);
/* Appends rows of top-level field `root` (its index in schema->tree.roots) to out: physical rows,
 * ascending. LIMIT: more than the budget of out allows; out may then only be reset or released, but
 * fewer rows may be asked for. */
int fragment_data_read(struct fragment_data *data, size_t root, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err);
/* Values decoded so far, for counted tests. */
uint64_t fragment_data_decoded(const struct fragment_data *data);

/* True when the manifest says that the file is of the legacy format. */
bool data_file_is_legacy(const struct lancet_data_file *file);
/* CORRUPT unless the open file is of the kind, legacy or not, that the manifest says. */
int data_file_check(const struct lancet_data_file *stored, const struct datafile *file,
	struct lancet_error *err);
/* CORRUPT when the file has no such column. */
int data_file_check_column(const struct datafile *file, uint32_t column, struct lancet_error *err);
/* The column that the file has for its field at `position`, or -1. */
int32_t data_file_column(const struct lancet_data_file *file, size_t position);

/* For overlay.c, which reads files of the same kind. */

const struct lancet_fragment_info *fragment_data_info(const struct fragment_data *data);
const struct data_schema *fragment_data_schema(const struct fragment_data *data);
int fragment_data_coverage(struct fragment_data *data, size_t overlay, size_t position,
	lancet_deletion **ret_coverage, struct lancet_error *err);
/* A reader of the root over the columns that overlay number `overlay` has of `field`, below the
 * root, and of its ancestors; others are null. `rows`: how many values these columns have. */
int fragment_data_overlay_reader(struct fragment_data *data, size_t overlay,
	const struct field *root, const struct field *field, uint64_t rows,
	struct field_reader **ret_reader, struct lancet_error *err);

#endif

/* The data files of one fragment and of its overlays: which has which column, each opened once.
 *
 * Columns are found by field id in the lists of the manifest. A file is opened when a column of it
 * is first read, and opened again by nobody. Belongs to one thread at a time. Format facts: data
 * files, schema to columns, overlays.
 */
#ifndef CORE_DATA_FILES_H
#define CORE_DATA_FILES_H

#include <lancet/column.h>
#include "data_schema.h"
#include "file/reader.h"
#include "file_pool.h"

struct data_files;

/* Takes a reference of the fragment; schema and pool outlive it. */
int data_files_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct data_files **ret_files, struct lancet_error *err);
void data_files_free(struct data_files *files);
const struct lancet_fragment_info *data_files_info(const struct data_files *files);
const struct data_schema *data_files_schema(const struct data_files *files);

/* A reader of top-level field `root` as the fragment's files have it. A column that no file has is
 * null. */
int data_files_reader(struct data_files *files, const struct field *root,
	struct field_reader **ret_reader, struct lancet_error *err);
/* Where the columns of the root are, by ordinal; the files are borrowed. Other places stay. */
int data_files_places(struct data_files *files, const struct field *root,
	struct column_place *places, struct lancet_error *err);
/* A reader of the root over the columns that overlay number `overlay` has of `field`, below the
 * root, and of its ancestors; others are null. `rows`: how many values these columns have. */
int data_files_overlay_reader(struct data_files *files, size_t overlay, const struct field *root,
	const struct field *field, uint64_t rows, struct field_reader **ret_reader,
	struct lancet_error *err);
/* The rows that the overlay covers of its field at `position`. */
int data_files_coverage(struct data_files *files, size_t overlay, size_t position,
	lancet_deletion **ret_coverage, struct lancet_error *err);

/* lancet_wrap with the path of the data file that has columns of the root; of several the first,
 * and how many there are more. */
int data_files_wrap(
	const struct data_files *files, const struct field *root, int rc, struct lancet_error *err);

/* True when the manifest says that the file is of the legacy format. */
bool data_file_is_legacy(const struct lancet_data_file *file);
/* CORRUPT unless the open file is of the kind, legacy or not, that the manifest says. */
int data_file_check(const struct lancet_data_file *stored, const struct datafile *file,
	struct lancet_error *err);
/* CORRUPT when the file has no such column. */
int data_file_check_column(const struct datafile *file, uint32_t column, struct lancet_error *err);
/* The column that the file has for its field at `position`, or -1. */
int32_t data_file_column(const struct lancet_data_file *file, size_t position);

#endif

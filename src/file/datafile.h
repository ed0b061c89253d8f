/* A data file: footer, offset tables, the schema it carries, and the pages of each column.
 *
 * Opening reads the tail only; the metadata of a column is read and checked when that column is
 * first asked for, and kept. An open file is immutable, counted and shared between threads. Format
 * facts: file layout, bounds checks.
 */
#ifndef FILE_DATAFILE_H
#define FILE_DATAFILE_H

#include "field.h"
#include "file_column.h"
#include "util/source.h"

struct datafile;
struct legacy_meta;

/* LANCET_CORRUPT: no Lance data file, or a damaged one; UNSUPPORTED: another version. The file
 * holds a reference of src. */
int datafile_open(struct source *src, struct datafile **ret_file, struct lancet_error *err);
struct datafile *datafile_ref(struct datafile *file);
void datafile_unref(struct datafile *file);

enum file_version datafile_version(const struct datafile *file);
const char *file_version_name(enum file_version version);    /* "0.1", "2.0" … */
struct source *datafile_source(const struct datafile *file); /* borrowed */
uint32_t datafile_column_count(const struct datafile *file); /* 0 for a legacy file */
/* Pages of column `index`, borrowed from the file. CORRUPT when its metadata is damaged: other
 * columns stay readable. INVALID beyond the last column. Not for legacy files. */
int datafile_column(struct datafile *file, uint32_t index, const struct file_column **ret_column,
	struct lancet_error *err);
/* Bytes of a global buffer. CORRUPT beyond the last one. */
int datafile_global_buffer(const struct datafile *file, uint32_t index,
	struct page_buffer *ret_place, struct lancet_error *err);
/* The number of rows that the file says it has (legacy files too): a few small reads, the schema is
 * stepped over. */
int datafile_row_count(struct datafile *file, uint64_t *ret_rows, struct lancet_error *err);
/* The fields as the file stores them (legacy files too), read when first asked for, borrowed from
 * the file. */
int datafile_fields(struct datafile *file, struct Lance__File__Field *const **ret_fields,
	size_t *ret_count, struct lancet_error *err);
/* The value under a key of the schema's metadata, borrowed from the file; of equal keys the last
 * one counts. NOT_FOUND: no such key; a legacy file has none. */
int datafile_metadata(struct datafile *file, struct slice key, struct slice *ret_value,
	struct lancet_error *err);
/* Batches and page table of a legacy file (legacy_meta.h), read when first asked for, borrowed. */
int datafile_legacy(
	struct datafile *file, const struct legacy_meta **ret_meta, struct lancet_error *err);
/* The schema and row count the file carries itself (legacy files too). The caller releases the
 * tree. */
int datafile_schema(struct datafile *file, enum field_blobs blobs, struct field_tree *ret_tree,
	uint64_t *ret_rows, struct lancet_error *err);
/* The column that each field of the file's own schema has in it, by the counting rules of its
 * version: columns[field.ordinal], -1 for a field without one. `columns` has tree->count places.
 * Legacy: the field id instead of a column. */
void datafile_number_columns(
	enum file_version version, const struct field_tree *tree, int32_t *columns);

#endif

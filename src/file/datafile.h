/* A data file: footer, offset tables, the schema it carries, and the pages of each column.
 *
 * Opening reads the tail only; the metadata of a column is read and checked when that column is
 * first asked for, and kept. An open file is immutable, counted and shared between threads. Format
 * facts: file layout, bounds checks.
 */
#ifndef FILE_DATAFILE_H
#define FILE_DATAFILE_H

#include "field.h"
#include "util/source.h"

enum file_version { FILE_LEGACY, FILE_2_0, FILE_2_1, FILE_2_2, FILE_2_3 };

struct datafile;

struct page_buffer {
	uint64_t offset, size; /* bytes; inside the file, and below its metadata */
};

struct page {
	uint64_t first;  /* sum of the lengths of the pages before */
	uint64_t length; /* as stored: rows, items (2.0), rows x dimensions (structural FSL) */
	uint64_t priority;
	const struct page_buffer *buffers;
	size_t buffer_count;
	struct slice type;     /* of the Any, without the leading slash */
	struct slice encoding; /* its value: ArrayEncoding, PageLayout or PlanarLayout */
};

struct file_column {
	uint32_t index;
	bool is_blob; /* a blob column by the column's own encoding (2.0) */
	const struct page *pages;
	size_t page_count;
	uint64_t length; /* sum over pages */
};

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
/* Bytes of a global buffer. */
int datafile_global_buffer(const struct datafile *file, uint32_t index,
	struct page_buffer *ret_place, struct lancet_error *err);
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

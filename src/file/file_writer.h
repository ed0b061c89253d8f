/* Writing a data file of version 2.0, 2.1 or 2.2, column by column.
 *
 * Columns are independent: each gathers values until they make a page, which is encoded and handed
 * to the sink at once. So a writer may be fed a batch of all columns at a time, or one whole column
 * after the other, which holds no more than one page. Different columns may be fed from different
 * threads; the sink is called by one at a time. Nothing is written that the format can't hold: what
 * is refused is refused by file_writer_open, by name. Format facts: file layout, writer rules,
 * page-level concatenation.
 */
#ifndef FILE_FILE_WRITER_H
#define FILE_FILE_WRITER_H

#include "array.h"
#include "datafile.h"
#include "reader.h"

struct Lance__File__Field;

/* Where the bytes go, front to back. What it returns other than LANCET_OK is returned as it is. */
struct file_sink {
	int (*put)(
		void *context, const struct slice *parts, size_t count, struct lancet_error *err);
	void *context;
};

struct file_writer_options {
	enum file_version version; /* 2.0, 2.1 or 2.2 */
	/* The fields as the file is to store them, depth first, lineage columns last; not kept. */
	struct Lance__File__Field *const *fields;
	size_t field_count;
	/* Decoded bytes of a top-level field that make a page, about; 0: 8 MiB. */
	size_t page_bytes;
};

struct file_writer;

/* UNSUPPORTED names the first column, and what of it this build can't write. */
int file_writer_open(const struct file_writer_options *options, struct file_sink sink,
	struct file_writer **ret_writer, struct lancet_error *err);
void file_writer_free(struct file_writer *writer); /* NULL is fine */
/* The tree of the fields, with blobs as their bytes (FIELD_BLOB_BYTES): arrays that are put are of
 * its roots, or of equal fields of another tree. */
const struct field_tree *file_writer_tree(const struct file_writer *writer);

/* Appends values [first, first + count) to column `root`. INVALID: null where the field allows
 * none. UNSUPPORTED: values that the version can't hold, by column (a null struct in 2.0). After
 * an error the writer may only be freed. */
int file_writer_put(struct file_writer *writer, size_t root, const struct array *values,
	uint64_t first, uint64_t count, struct lancet_error *err);
/* The root gets no more values: what was gathered of it becomes a page, and its memory is freed.
 * For those who feed one column after the other; file_writer_finish does it for all that are left.
 */
int file_writer_end(struct file_writer *writer, size_t root, struct lancet_error *err);
/* Whether the columns of a root can be taken over page by page: all in files of this version, no
 * blobs, nothing that refers to elsewhere, and nothing that pylance can't read of such pages
 * (structs above lists, fixed-size lists of structs). `places` is by the ordinals of
 * file_writer_tree. */
bool file_writer_can_copy(
	const struct file_writer *writer, size_t root, const struct column_place *places);
/* Appends all pages of these columns, which have `rows` rows, as they are: nothing is decoded but
 * the metadata. What was put before becomes a page of its own. */
int file_writer_copy(struct file_writer *writer, size_t root, const struct column_place *places,
	uint64_t rows, struct lancet_error *err);
/* A global buffer besides the schema; its index is what readers ask for. */
int file_writer_buffer(struct file_writer *writer, struct slice bytes, uint32_t *ret_index,
	struct lancet_error *err);
/* An entry of the schema's metadata. */
int file_writer_metadata(
	struct file_writer *writer, const char *key, const char *value, struct lancet_error *err);

struct file_written {
	uint64_t size; /* bytes of the file */
	uint64_t rows;
	uint32_t columns; /* physical ones */
};
/* Encodes what was gathered, and puts the tail. INVALID: columns of different lengths. The number
 * of each field's column is what datafile_number_columns says of the tree. */
int file_writer_finish(
	struct file_writer *writer, struct file_written *ret_written, struct lancet_error *err);

#endif

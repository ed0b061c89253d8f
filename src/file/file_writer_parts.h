/* What the files of the data file writer share. */
#ifndef FILE_FILE_WRITER_PARTS_H
#define FILE_FILE_WRITER_PARTS_H

#include <pthread.h>

#include "file_writer.h"
#include "gather.h"
#include "page_out.h"

#define FILE_ALIGNMENT 64u

struct column_out {
	const struct field *field; /* of writer->stored */
	struct buf pages;          /* as ColumnMetadata has them */
	uint64_t length;           /* sum over the pages */
};

struct root_out {
	const struct field *field; /* of writer->stored */
	struct array gathered;
	struct array_budget budget; /* counts, does not limit */
	uint64_t rows;              /* of all that was put or copied */
	uint32_t first_column, column_count;
	bool is_ended;
};

struct file_writer {
	enum file_version version;
	size_t page_bytes;
	struct field_tree tree;   /* what is put */
	struct field_tree stored; /* with blobs as what the pages have of them */
	int32_t *tree_columns;    /* by the ordinals of `tree` */
	struct root_out *roots;
	struct column_out *columns;
	uint32_t column_count;
	struct buf fields, metadata; /* of the schema, as the descriptor has them */
	struct buf globals;          /* struct page_buffer, the descriptor's not among them */

	struct file_sink sink;
	pthread_mutex_t lock; /* around the sink and what follows */
	uint64_t position;    /* a multiple of FILE_ALIGNMENT */
};

/* Puts the parts, each at a multiple of FILE_ALIGNMENT; count <= PAGE_BUFFERS_MAX. */
int file_writer_put_parts(struct file_writer *writer, const struct slice *parts, size_t count,
	struct page_buffer *ret_places, struct lancet_error *err);
/* The same for `size` bytes of a source. */
int file_writer_put_range(struct file_writer *writer, struct source *src, uint64_t offset,
	uint64_t size, struct page_buffer *ret_place, struct lancet_error *err);
/* Adds a page, whose buffers are in the file, to the column's metadata. */
int file_writer_add_page(struct file_writer *writer, struct column_out *column, uint64_t length,
	const struct page_buffer *places, size_t count, struct slice encoding,
	struct lancet_error *err);
/* Encodes what was gathered of the root. */
int file_writer_flush(struct file_writer *writer, struct root_out *root, struct lancet_error *err);
/* Descriptor, metadata of the columns, tables and footer. */
int file_writer_put_tail(struct file_writer *writer, uint64_t rows, struct lancet_error *err);

/* UNSUPPORTED: blobs that can't be written where they are. */
int file_blob_check(enum file_version version, const struct field *root, struct lancet_error *err);
/* A page of where the blobs are that were gathered; their bytes are in the file. */
int file_blob_write(enum file_version version, const struct array *root, const struct field *field,
	struct page_sink sink, struct lancet_error *err);

#endif

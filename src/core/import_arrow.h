/* Parts of the reader of Arrow IPC rows: columns of the file matched to fields, batches, values.
 *
 * Rows are read by ranges: of a regular file whose buffers are not packed, just the bytes of the
 * range; packed buffers are unpacked when they are first needed and kept for as long as their batch
 * is. Nodes and buffers of a batch are numbered by one walk of the columns, in the file's order.
 */
#ifndef CORE_IMPORT_ARROW_H
#define CORE_IMPORT_ARROW_H

#include "file/array.h"
#include "import_arrow_type.h"
#include "ipc_input.h"

#define IMPORT_ROWS_MAX ((uint64_t)INT32_MAX) /* of one batch */

struct import_dictionary;

/* A column of the file, or a part of one. */
struct import_column {
	const struct field *field; /* of the schema */
	struct import_type type;
	struct import_dictionary *dictionary; /* IMPORT_KEYS */
	struct import_column *children;       /* in the file's order */
	size_t child_count;
	/* In the batch that is read. */
	uint64_t length, null_count;
	size_t first_buffer, buffer_count;
};

struct import_dictionary {
	int64_t id;
	struct import_column values;
	struct array items; /* of values.field */
	bool present;       /* a batch of it has come */
	struct import_dictionary *next;
};

/* What the file's schema says. */
struct import_columns {
	struct arena arena;
	struct array_budget budget; /* of the dictionaries */
	struct import_column *columns;
	size_t count;
	const struct field_tree *tree;
	struct import_dictionary *dictionaries; /* inner ones before those that use them */
};

/* INVALID names the first column that does not fit. `memory`: bytes of all dictionaries. */
int import_columns_init(struct import_columns *columns, const struct flattable *schema,
	const struct field_tree *tree, size_t memory, struct lancet_error *err);
void import_columns_release(struct import_columns *columns);
/* "a.b.c", cut when it is long. */
#define IMPORT_PATH_MAX 300u
void import_path(const struct field *field, char into[IMPORT_PATH_MAX]);

struct import_buffer {
	uint64_t offset,
		size;   /* in the body; the size is that of the bytes once they are unpacked */
	uint8_t *bytes; /* in memory, owned */
};

struct import_batch {
	struct ipc_message message;
	uint64_t rows;
	int codec; /* -1: plain, 0: LZ4 frames, 1: Zstandard */
	struct import_buffer *buffers;
	size_t buffer_count;
	uint64_t memory;   /* bytes that buffers may take which are in memory as a whole */
	uint64_t loaded;   /* bytes that they take */
	uint64_t read_max; /* bytes of a range: LIMIT beyond */
};

/* Takes the message over, in any case; places the columns in it. */
int import_batch_open(struct import_batch *batch, struct ipc_message *message,
	const struct flattable *header, struct import_column *columns, size_t count,
	uint64_t memory, uint64_t read_max, struct lancet_error *err);
void import_batch_release(struct import_batch *batch);
/* `size` bytes of a buffer at *ret_data: where they are, or read into the scratch. CORRUPT: the
 * buffer has less. */
int import_batch_bytes(struct import_batch *batch, size_t buffer, uint64_t offset, uint64_t size,
	struct buf *scratch, const uint8_t **ret_data, struct lancet_error *err);
/* The whole buffer, in memory until the batch is released. */
int import_batch_whole(struct import_batch *batch, size_t buffer, struct slice *ret_bytes,
	struct lancet_error *err);

/* A value that does not fit, told from the inside out. */
struct import_fault {
	const struct field *field; /* NULL: no single value is to blame */
	uint64_t index;            /* in the column that looks at it */
};

/* Appends values [first, first + count) of the column. INVALID with the fault filled. */
int import_append(struct import_batch *batch, const struct import_column *column, uint64_t first,
	uint64_t count, struct array *into, struct import_fault *fault, struct lancet_error *err);
/* Values of variable size (import_bytes.c), and what has a dictionary here or there. */
struct import_range {
	uint64_t first, count;
	const uint8_t *valid; /* NULL: all are */
	uint64_t valid_bit;   /* of the first */
};
bool import_range_valid(const struct import_range *range, uint64_t index);
int import_append_bytes(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err);
int import_append_views(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err);
int import_append_keys(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err);
int import_append_plain(struct import_batch *batch, const struct import_column *column,
	uint64_t first, uint64_t count, struct array *into, struct import_fault *fault,
	struct lancet_error *err);

/* Takes a dictionary batch over. */
int import_dictionary_load(
	struct import_columns *columns, struct ipc_message *message, struct lancet_error *err);

struct row_source;

/* import_arrow_open with another limit for what has to be in memory as a whole: all dictionaries,
 * the packed buffers of a batch, and a batch that comes from a pipe, each. */
int import_arrow_open_within(const struct field_tree *schema, int file, uint64_t memory,
	struct row_source **ret_source, struct lancet_error *err);

/* INVALID when a row has a null that can be seen where its field allows none; nulls that can't be
 * seen, below others, lose their mark then. Of all columns the first row counts. */
int import_check_nulls(struct array *column, struct import_fault *fault, struct lancet_error *err);

#endif

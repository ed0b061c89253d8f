/* What sources of rows that are lines of text share: reading the file in blocks, taking rows until
 * a batch is full, and the beginning of every message.
 */
#ifndef CORE_IMPORT_ROWS_H
#define CORE_IMPORT_ROWS_H

#include "import.h"
#include "import_value.h"

#define IMPORT_LINE_MAX ((size_t)64 << 20) /* bytes of a row */

/* The file: bytes[at, …) have been read and not been taken. */
struct import_input {
	int file;
	struct buf bytes;
	size_t at;
	uint64_t offset; /* in the file, of bytes.data */
	bool ended;      /* the file has no more */
};

struct text_source;
struct text_source_ops {
	/* Reads the row behind the one in hand, whose first line is source->line; false at the end.
	 * It stays until the next call. */
	int (*read)(struct text_source *source, bool *ret_more, struct lancet_error *err);
	/* Appends the row in hand. */
	int (*put)(struct text_source *source, struct array *columns, struct lancet_error *err);
	void (*release)(struct text_source *source); /* may be NULL */
};

struct text_source {
	struct row_source base;
	const struct text_source_ops *ops;
	struct import_input input;
	struct arena arena;
	struct import_node root; /* its children are the columns */
	uint64_t line;           /* from 1, of the row in hand */
	uint64_t next_line;
	bool held;                        /* the row in hand waits for the next batch */
	const struct import_node *column; /* after put has failed: whose value it was, or NULL */
};

/* Makes the common part and reads the beginning of the file, without its byte order mark; the
 * source is released by text_source_free, also after a failure. INVALID: UTF-16. */
int text_source_init(struct text_source *source, const struct text_source_ops *ops,
	const struct field_tree *schema, int file, struct lancet_error *err);
void text_source_free(struct row_source *source);

/* More bytes: at least as many again as wait, or the rest of the file. LIMIT: a line of
 * IMPORT_LINE_MAX waits already. What waits moves. */
int import_input_more(struct text_source *source, struct lancet_error *err);
/* INVALID, with the byte in the file, when text, which is a part of the input, is not UTF-8. */
int import_check_text(
	const struct text_source *source, struct slice text, struct lancet_error *err);

#endif

/* Writing rows as text: what is known of each column beforehand, and the writer that all forms
 * share.
 *
 * Fields are made once from the schema, so that a row costs no parsing of types and no escaping of
 * names.
 */
#ifndef CORE_ROW_FIELD_H
#define CORE_ROW_FIELD_H

#include <lancet/rowtext.h>

#include "arrow_type.h"
#include "util/arena.h"
#include "util/buf.h"

struct row_field {
	struct arrow_type type;         /* of the values, or of the keys of a dictionary */
	const struct row_field *values; /* of the dictionary, or NULL */
	bool is_json;                   /* TEXT that is JSON */
	bool is_bfloat16;               /* FLOAT: the upper half of one of 32 bits */
	struct slice name;              /* "base64:…" where it is not UTF-8 */
	struct slice label; /* as a key of JSON, with the colon; of a map's entries key and value */
	struct row_field *children;
	size_t child_count;
};

/* Makes the field of a schema with all below it, in the arena. */
int row_field_init(struct row_field *field, const struct ArrowSchema *schema, unsigned depth,
	struct arena *arena, struct lancet_error *err);

#define ROW_BLOCK (48u << 10) /* bytes of a value written at a time: whole groups of base64 */

/* Where text goes. With a sink, `text` is emptied into it on the way: never more than a block and
 * what a small value takes is held. */
struct row_writer {
	struct buf *text;
	const struct lancet_output *sink; /* NULL: all stays in text */
	struct lancet_rowtext_cut cut;    /* as asked for */
	struct lancet_rowtext_cut left;   /* of the value in hand */
	struct lancet_error *err;
	int failed; /* the first code that was not LANCET_OK; then nothing more is written */
};

/* Empties text into the sink when it holds at least `enough` bytes. */
void row_flush(struct row_writer *writer, size_t enough);
/* How many of `size` bytes, or of `count` items, are to be shown; they are used up. */
size_t row_take_bytes(struct row_writer *writer, size_t size);
int64_t row_take_items(struct row_writer *writer, int64_t count);
/* The mark for what was left out. */
void row_put_mark(struct buf *text, uint64_t count, const char *unit);

/* Value `index` of an array, counted from its offset, that is no null. Numbers, decimals and times:
 * appends it without quotes. */
void row_put_scalar(struct buf *text, const struct row_field *field, const struct ArrowArray *array,
	int64_t index);
/* Whether that text is a literal of JSON, or has to be a string. */
bool row_is_literal(const struct row_field *field, const struct ArrowArray *array, int64_t index);
/* Bytes of a TEXT, BINARY or FIXED_BINARY value. */
struct slice row_bytes(
	const struct row_field *field, const struct ArrowArray *array, int64_t index);
/* Goes from the key of a dictionary to its value. False: the value is null. */
bool row_resolve(const struct row_field **field, const struct ArrowArray **array, int64_t *index);

/* Any value as JSON, and text as a string. */
void row_json_value(struct row_writer *writer, const struct row_field *field,
	const struct ArrowArray *array, int64_t index);
void row_json_text(struct row_writer *writer, struct slice text);
/* Lines. */
void row_json_line(struct row_writer *writer, const struct row_field *root,
	const struct ArrowArray *batch, int64_t row);
void row_csv_header(struct row_writer *writer, const struct row_field *root);
void row_csv_line(struct row_writer *writer, const struct row_field *root,
	const struct ArrowArray *batch, int64_t row);

#endif

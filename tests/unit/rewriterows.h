/* Rows of a version as a number that does not depend on their order. */
#ifndef TESTS_REWRITEROWS_H
#define TESTS_REWRITEROWS_H

#include <lancet/rowtext.h>
#include "rewritetables.h"

/* The same rows in any order have the same. */
struct rows_sign {
	uint64_t rows, sum;
};

struct rows_reading {
	lancet_rowtext *writer;
	struct buf text;
};

static inline int
rows_put(void *context, const void *data, size_t size)
{
	struct buf *text = context;

	buf_put(text, data, size);
	return (int)text->failed;
}

static inline int
rows_take(void *context, const struct ArrowArray *batch, struct lancet_error *err)
{
	return lancet_rowtext_write(((struct rows_reading *)context)->writer, batch, err);
}

/* FNV-1a of each line. */
static inline struct rows_sign
rows_sign_text(struct slice text)
{
	struct rows_sign sign = { 0 };
	uint64_t line = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text.size; i++) {
		line = (line ^ text.data[i]) * UINT64_C(0x100000001b3);
		if (text.data[i] != '\n')
			continue;
		sign.rows++;
		sign.sum += line;
		line = UINT64_C(0xcbf29ce484222325);
	}
	return sign;
}

static inline struct rows_sign
rows_sign(lancet_version *version, const struct rewrite_table *table)
{
	const struct lancet_scan_options options = { .columns = table->columns,
		.column_count = table->column_count,
		.limit = UINT64_MAX };
	struct rows_reading reading = { 0 };
	const struct lancet_output out = { rows_put, &reading.text };
	struct ArrowSchema schema;
	lancet_scan *scan = NULL;
	struct rows_sign sign;

	OK(lancet_scan_open(version, &options, &scan, &err));
	OK(lancet_scan_schema(scan, &schema, &err));
	OK(lancet_rowtext_open(&schema, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, &out,
		&reading.writer, &err));
	OK(lancet_scan_each(scan, rows_take, &reading, &err));
	sign = rows_sign_text(buf_slice(&reading.text));
	lancet_rowtext_free(reading.writer);
	schema.release(&schema);
	lancet_scan_free(scan);
	buf_release(&reading.text);
	return sign;
}

#endif

/* Lines of equal length: tables of padded columns, and columns of numbers. SPEC section 4. */
#ifndef FS_LINES_H
#define FS_LINES_H

#include "util/buf.h"

struct column_spec {
	const char *name;
	unsigned width; /* of the cells; the header's name may be longer */
};

/* Characters of a cell, and bytes of a line with its tabs and newline. */
unsigned column_width(const struct column_spec *column);
size_t line_size(const struct column_spec *columns, size_t count);

/* The header, and cell `at` of a line of `count`. A number that its ten digits can't hold is "-".
 */
void line_put_header(struct buf *out, const struct column_spec *columns, size_t count);
void line_put_text(struct buf *out, const struct column_spec *columns, size_t count, size_t at,
	const char *text);
void line_put_number(struct buf *out, const struct column_spec *columns, size_t count, size_t at,
	uint64_t value);

/* Room for `count` lines of `width` bytes at the end of out; NULL when there is none. */
uint8_t *lines_begin(struct buf *out, size_t count, size_t width);
/* A line of 21 bytes for each value. */
void lines_put_u64(const uint64_t *values, size_t count, struct buf *out);

#endif

/* Cells and lines into a buffer; see lines.h. */
#include "lines.h"

#include <string.h>

#include "util/text.h"

#define DIGITS_64 20u

unsigned
column_width(const struct column_spec *column)
{
	unsigned name = (unsigned)strlen(column->name);

	return name > column->width ? name : column->width;
}

size_t
line_size(const struct column_spec *columns, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += column_width(&columns[i]) + 1;
	return size;
}

void
line_put_header(struct buf *out, const struct column_spec *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		line_put_text(out, columns, count, i, columns[i].name);
}

void
line_put_text(struct buf *out, const struct column_spec *columns, size_t count, size_t at,
	const char *text)
{
	buf_put_cell(out, column_width(&columns[at]), slice_text(text));
	buf_put_byte(out, at + 1 < count ? '\t' : '\n');
}

void
line_put_number(
	struct buf *out, const struct column_spec *columns, size_t count, size_t at, uint64_t value)
{
	static const uint64_t widest = UINT64_C(9999999999); /* ten digits */

	if (columns[at].width == 10 && value > widest) {
		line_put_text(out, columns, count, at, "-");
		return;
	}
	buf_put_u64(out, column_width(&columns[at]), value);
	buf_put_byte(out, at + 1 < count ? '\t' : '\n');
}

uint8_t *
lines_begin(struct buf *out, size_t count, size_t width)
{
	if (!buf_reserve(out, count * width))
		return NULL;
	out->size += count * width;
	return out->data + out->size - count * width;
}

void
lines_put_u64(const uint64_t *values, size_t count, struct buf *out)
{
	uint8_t *line = lines_begin(out, count, DIGITS_64 + 1);

	for (size_t i = 0; line != NULL && i < count; i++, line += DIGITS_64 + 1) {
		text_put_u64(line, DIGITS_64, values[i]);
		line[DIGITS_64] = '\n';
	}
}

/* A data file of nothing but the buffers of one page; see pages.h. */
#ifndef TESTS_PAGEFILE_H
#define TESTS_PAGEFILE_H

#include <stdio.h>

#include "encode.h"
#include "file/datafile.h"
#include "unit.h"

static inline void
put_little(struct buf *out, uint64_t value, size_t width)
{
	buf_put(out, &value, width);
}

/* Adds a buffer at a multiple of 64. */
static inline struct page_buffer
put_page_buffer(struct buf *file, const struct buf *buffer)
{
	struct page_buffer place = { file->size, buffer->size };

	buf_put(file, buffer->data, buffer->size);
	buf_fill(file, 0x48, (64 - file->size % 64) % 64);
	return place;
}

/* A descriptor, columns with these pages (fields of ColumnMetadata), tables and footer. */
static inline void
end_page_file(struct buf *file, unsigned minor, const struct buf *pages, size_t columns)
{
	static const char encoding[] =
		"\x0a\x29\x12\x27\x0a\x25\x0a\x1f/lance.encodings.ColumnEncoding\x12\x02\x0a\x00";
	uint64_t descriptor = file->size, metadata, table, globals;
	struct buf places = { 0 };

	buf_put(file, "\x0a\x00", 2); /* FileDescriptor { schema #1 {} } */
	metadata = file->size;
	for (size_t i = 0; i < columns; i++) {
		put_little(&places, file->size, 8);
		put_little(&places, sizeof(encoding) - 1 + pages[i].size, 8);
		buf_put(file, encoding, sizeof(encoding) - 1);
		buf_put(file, pages[i].data, pages[i].size);
	}
	table = file->size;
	buf_put(file, places.data, places.size);
	buf_release(&places);
	globals = file->size;
	put_little(file, descriptor, 8);
	put_little(file, 2, 8);
	put_little(file, metadata, 8);
	put_little(file, table, 8);
	put_little(file, globals, 8);
	put_little(file, 1, 4);
	put_little(file, columns, 4);
	put_little(file, 2, 2);
	put_little(file, minor, 2);
	buf_put_text(file, "LANC");
}

/* Bytes of hex digits; blanks are skipped. */
static inline struct buf
page_hex(const char *hex)
{
	struct buf out = { 0 };
	unsigned byte;
	int used;

	buf_reserve(&out, 1);
	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		buf_put_byte(&out, (uint8_t)byte);
		hex += used;
	}
	return out;
}

#endif

/* Data files with one column of u64, made by hand from the format facts, as long as one likes: all
 * pages are one page, told many times.
 */
#ifndef TESTS_LINEAGEFILE_H
#define TESTS_LINEAGEFILE_H

#include "datafiles.h"

#include <check.h>

#define CHUNK_LOG2 9u /* values of a mini-block chunk */

struct lineage_spec {
	unsigned minor; /* of version 2 */
	uint64_t page_rows, pages;
	uint64_t (*value)(uint64_t row); /* of the first page */
	const char *type;                /* logical type; NULL: uint64 */
	bool nulls;                      /* 2.0: the first row of each page is null */
};

struct lineage_buffers {
	uint64_t offsets[3], sizes[3];
	size_t count;
};

static inline void
lineage_start(struct buf *file, struct lineage_buffers *buffers)
{
	while (file->size % 64 != 0)
		buf_put_byte(file, 0x48);
	buffers->offsets[buffers->count] = file->size;
}

static inline void
lineage_end(const struct buf *file, struct lineage_buffers *buffers)
{
	buffers->sizes[buffers->count] = file->size - buffers->offsets[buffers->count];
	buffers->count++;
}

static inline void
lineage_values(struct buf *file, const struct lineage_spec *spec, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = spec->value(first + i);

		buf_put(file, &value, sizeof(value));
	}
}

static inline void
lineage_flat(struct buf *file, const struct lineage_spec *spec, struct lineage_buffers *buffers)
{
	if (spec->nulls) {
		lineage_start(file, buffers);
		buf_put_byte(file, 0xfe);
		buf_fill(file, 0xff, (size_t)((spec->page_rows + 7) / 8 - 1));
		lineage_end(file, buffers);
	}
	lineage_start(file, buffers);
	lineage_values(file, spec, 0, spec->page_rows);
	lineage_end(file, buffers);
}

/* Chunks of 512 values: no levels, one buffer, its size in two or four bytes, padding to eight. */
static inline void
lineage_chunks(struct buf *file, const struct lineage_spec *spec, struct lineage_buffers *buffers)
{
	unsigned width = spec->minor == 1 ? 2 : 4;
	uint64_t chunk = 1u << CHUNK_LOG2;

	lineage_start(file, buffers);
	for (uint64_t row = 0; row < spec->page_rows; row += chunk) {
		uint64_t left = spec->page_rows - row;

		put_le(file,
			left > chunk ? chunk << 4 | CHUNK_LOG2 : (left < chunk ? left : chunk) << 4,
			width);
	}
	lineage_end(file, buffers);
	lineage_start(file, buffers);
	for (uint64_t row = 0; row < spec->page_rows; row += chunk) {
		uint64_t left = spec->page_rows - row;
		uint64_t count = left < chunk ? left : chunk;

		put_le(file, 0, 2);
		put_le(file, count * 8, width);
		buf_fill(file, 0xfe, 8 - 2 - width);
		lineage_values(file, spec, row, count);
	}
	lineage_end(file, buffers);
}

/* Flat of 64 bits in buffer `buffer` of the page, for 2.0. */
static inline struct buf
lineage_flat_node(unsigned bits, unsigned buffer)
{
	struct buf node = { 0 }, flat = { 0 }, place = { 0 };

	put_number(&place, 1, buffer);
	put_number(&flat, 1, bits);
	put_message(&flat, 2, &place);
	put_message(&node, 1, &flat);
	return node;
}

/* Nullable { no_nulls #1 { values #1 } or some_nulls #2 { validity #1, values #2 } } */
static inline struct buf
lineage_array_encoding(const struct lineage_spec *spec)
{
	struct buf values = lineage_flat_node(64, spec->nulls ? 1 : 0);
	struct buf inner = { 0 }, nullable = { 0 }, node = { 0 };

	if (spec->nulls) {
		struct buf validity = lineage_flat_node(1, 0);

		put_message(&inner, 1, &validity);
	}
	put_message(&inner, spec->nulls ? 2 : 1, &values);
	put_message(&nullable, spec->nulls ? 2 : 1, &inner);
	put_message(&node, 2, &nullable);
	return node;
}

/* CompressiveEncoding { flat #1 { bits_per_value #1 } } */
static inline struct buf
lineage_compression(void)
{
	struct buf flat = { 0 }, encoding = { 0 };

	put_number(&flat, 1, 64);
	put_message(&encoding, 1, &flat);
	return encoding;
}

/* PageLayout { mini_block #1 { value_compression #3, layers #6, num_buffers #7, num_items #9,
 * has_large_chunk #10 } } */
static inline struct buf
lineage_mini_block(const struct lineage_spec *spec)
{
	struct buf compression = lineage_compression(), block = { 0 }, layout = { 0 };

	put_message(&block, 3, &compression);
	put_head(&block, 6, 1);
	buf_put_byte(&block, 1); /* all valid */
	put_number(&block, 7, 1);
	put_number(&block, 9, spec->page_rows);
	if (spec->minor >= 2)
		put_number(&block, 10, 1);
	put_message(&layout, 1, &block);
	return layout;
}

/* PlanarLayout { structure #1 { dense #1 { layers #1 } }, values #2 { chunked #1 { compression #1,
 * levels #2, num_buffers #5, num_items #6 } } } */
static inline struct buf
lineage_planar(const struct lineage_spec *spec)
{
	struct buf compression = lineage_compression(), chunked = { 0 }, values = { 0 };
	struct buf dense = { 0 }, structure = { 0 }, layout = { 0 };

	put_head(&dense, 1, 1);
	buf_put_byte(&dense, 1);
	put_message(&structure, 1, &dense);
	put_message(&layout, 1, &structure);
	put_message(&chunked, 1, &compression);
	put_head(&chunked, 2, 0);
	put_number(&chunked, 5, 1);
	put_number(&chunked, 6, spec->page_rows);
	put_message(&values, 1, &chunked);
	put_message(&layout, 2, &values);
	return layout;
}

static inline void
lineage_page(
	struct buf *column, const struct lineage_spec *spec, const struct lineage_buffers *buffers)
{
	static const char *const types[] = { "lance.encodings.ArrayEncoding",
		"lance.encodings21.PageLayout", "lance.encodings21.PageLayout",
		"lance.encodings23.PlanarLayout" };
	struct buf page = { 0 }, list = { 0 };
	struct buf encoding = spec->minor == 0   ? lineage_array_encoding(spec)
			      : spec->minor == 3 ? lineage_planar(spec)
						 : lineage_mini_block(spec);

	for (size_t i = 0; i < buffers->count; i++)
		put_varint(&list, buffers->offsets[i]);
	put_message(&page, 1, &list);
	for (size_t i = 0; i < buffers->count; i++)
		put_varint(&list, buffers->sizes[i]);
	put_message(&page, 2, &list);
	put_number(&page, 3, spec->page_rows);
	put_encoding(&page, 4, types[spec->minor], &encoding);
	put_message(column, 2, &page);
}

/* FileDescriptor { schema #1 { fields #1 { name #2, parent_id #4, logical_type #5 } }, length #2 }
 */
static inline void
lineage_descriptor(struct buf *file, const struct lineage_spec *spec)
{
	const char *type = spec->type != NULL ? spec->type : "uint64";
	struct buf field = { 0 }, schema = { 0 };

	put_head(&field, 2, 6);
	buf_put_text(&field, "_rowid");
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, strlen(type));
	buf_put_text(&field, type);
	put_message(&schema, 1, &field);
	put_message(file, 1, &schema);
	put_number(file, 2, spec->page_rows * spec->pages);
}

static inline struct buf
lineage_file(const struct lineage_spec *spec)
{
	struct buf file = { 0 }, column = { 0 }, empty = { 0 };
	struct lineage_buffers buffers = { .count = 0 };
	uint64_t descriptor, metadata, columns, globals, end;

	if (spec->minor == 0)
		lineage_flat(&file, spec, &buffers);
	else
		lineage_chunks(&file, spec, &buffers);
	buf_put(&empty, "\x0a\x00", 2);
	put_encoding(&column, 1, "lance.encodings.ColumnEncoding", &empty);
	for (uint64_t i = 0; i < spec->pages; i++)
		lineage_page(&column, spec, &buffers);
	lineage_start(&file, &(struct lineage_buffers){ .count = 0 });
	descriptor = file.size;
	lineage_descriptor(&file, spec);
	metadata = file.size;
	buf_put(&file, column.data, column.size);
	columns = file.size;
	put_le(&file, metadata, 8);
	put_le(&file, column.size, 8);
	globals = file.size;
	put_le(&file, descriptor, 8);
	put_le(&file, metadata - descriptor, 8);
	end = file.size;
	put_le(&file, metadata, 8);
	put_le(&file, columns, 8);
	put_le(&file, globals, 8);
	put_le(&file, 1, 4);
	put_le(&file, 1, 4);
	put_le(&file, spec->minor == 0 ? 0 : 2, 2);
	put_le(&file, spec->minor == 0 ? 3 : spec->minor, 2);
	buf_put_text(&file, "LANC");
	ck_assert_uint_eq(file.size - end, 40);
	ck_assert_int_eq(file.failed, LANCET_OK);
	buf_release(&column);
	return file;
}

#endif

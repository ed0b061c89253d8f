/* Pages of u64: the messages that describe them, by the format facts. */
#ifndef TESTS_LINEAGEPAGES_H
#define TESTS_LINEAGEPAGES_H

#include "lineagebuffers.h"

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

#endif

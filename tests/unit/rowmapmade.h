/* The rest of a row map made by hand: its metadata and footer, and the transition that it is of. */
#ifndef TESTS_ROWMAPMADE_H
#define TESTS_ROWMAPMADE_H

#include "rowmapfile.h"
#include "util/cursor.h"

/* Nullable { some_nulls #2 { validity #1, values #2 } } */
static inline void
map_column(struct buf *column, const struct map_spec *spec, const struct lineage_buffers *buffers)
{
	struct buf validity = lineage_flat_node(1, 0), values = lineage_flat_node(16, 1);
	struct buf inner = { 0 }, nullable = { 0 }, node = { 0 }, page = { 0 }, list = { 0 };
	struct buf plain = { 0 };

	buf_put(&plain, "\x0a\x00", 2);
	put_encoding(column, 1, "lance.encodings.ColumnEncoding", &plain);
	put_message(&inner, 1, &validity);
	put_message(&inner, 2, &values);
	put_message(&nullable, 2, &inner);
	put_message(&node, 2, &nullable);
	for (size_t i = 0; i < buffers->count; i++)
		put_varint(&list, spec->gap + buffers->offsets[i]);
	put_message(&page, 1, &list);
	for (size_t i = 0; i < buffers->count; i++)
		put_varint(&list, buffers->sizes[i]);
	put_message(&page, 2, &list);
	put_number(&page, 3, spec->rows + (uint64_t)(int64_t)spec->column_rows);
	put_encoding(&page, 4, "lance.encodings.ArrayEncoding", &node);
	put_message(column, 2, &page);
	buf_release(&plain);
	buf_release(&node);
}

static inline uint64_t
map_place(struct buf *places, const struct map_spec *spec, uint64_t at, uint64_t size)
{
	put_le(places, spec->gap + at, 8);
	put_le(places, size, 8);
	return at + size;
}

static inline void
map_footer(struct map_made *made, const struct map_spec *spec, struct buf *places)
{
	struct buf *file = &made->bytes;
	uint64_t metadata = load_u64(places->data);
	uint64_t columns = spec->gap + file->size;

	buf_put(file, places->data, places->size);
	put_le(file, metadata, 8);
	put_le(file, columns, 8);
	put_le(file, columns + 16, 8);
	put_le(file, 2, 4);
	put_le(file, 1, 4);
	put_le(file, 0, 2);
	put_le(file, 3, 2);
	buf_put_text(file, "LANC");
	buf_release(places);
}

static inline void
map_finish(struct map_made *made, const struct map_spec *spec)
{
	struct buf *file = &made->bytes, column = { 0 }, places = { 0 }, descriptor = { 0 };
	struct lineage_buffers buffers = { .count = 0 };
	uint64_t counts_at, descriptor_at;

	map_buffers(made, spec, &buffers);
	map_column(&column, spec, &buffers);
	map_descriptor(&descriptor, spec);
	counts_at = file->size;
	buf_put(file, made->counts.data, made->counts.size);
	buf_fill(file, 0x48, spec->counts_size > 0 ? (size_t)spec->counts_size : 0);
	descriptor_at = file->size;
	buf_put(file, descriptor.data, descriptor.size);
	(void)map_place(&places, spec, file->size, column.size);
	(void)map_place(&places, spec, descriptor_at, descriptor.size);
	if (spec->gap == 0) {
		(void)map_place(&places, spec, counts_at,
			made->counts.size + (uint64_t)(int64_t)spec->counts_size);
	} else {
		put_le(&places, 0, 8);
		put_le(&places, spec->gap, 8);
	}
	buf_put(file, column.data, column.size);
	map_footer(made, spec, &places);
	buf_release(&column);
	buf_release(&descriptor);
}

static inline struct map_made *
map_make(const struct map_spec *spec)
{
	struct map_made *made = calloc(1, sizeof(*made));
	struct lancet_transition *transition = &made->transition;

	made->destinations = calloc(spec->destinations, sizeof(*made->destinations));
	made->labels = calloc(spec->gap == 0 ? spec->rows + 1 : 1, sizeof(*made->labels));
	made->row_addrs = calloc(spec->gap == 0 ? spec->rows + 1 : 1, sizeof(*made->row_addrs));
	for (uint32_t i = 0; i < spec->destinations; i++)
		made->destinations[i].id = 100 + 3 * (uint64_t)i;
	map_count(made, spec);
	if (spec->patch_word != 0)
		memcpy(made->counts.data + 4 * ((size_t)spec->patch_word - 1), &spec->patch_value,
			4);
	map_finish(made, spec);
	ck_assert_int_eq(made->bytes.failed, LANCET_OK);
	made->destinations[spec->destinations - 1].physical_rows +=
		(uint64_t)(int64_t)spec->destination_rows;
	made->source = (struct lancet_fragment_digest){ .id = 7,
		.physical_rows = spec->rows + (uint64_t)(int64_t)spec->source_rows };
	transition->mapping = LANCET_STABLE_PARTITION;
	transition->sources = &made->source;
	transition->source_count = 1;
	transition->destinations = made->destinations;
	transition->destination_count = spec->destinations;
	transition->source_rows = made->source.physical_rows;
	transition->map_bytes = spec->gap + made->bytes.size + (uint64_t)(int64_t)spec->map_bytes;
	return made;
}

static inline void
map_free(struct map_made *made)
{
	buf_release(&made->bytes);
	buf_release(&made->counts);
	free(made->destinations);
	free(made->labels);
	free(made->row_addrs);
	free(made);
}

#endif

/* Row maps of version 2.0 made by hand from the format facts: sound ones as long as one likes, and
 * ones that differ in one way. With them comes the transition, and where each row went, counted row
 * by row.
 */
#ifndef TESTS_ROWMAPFILE_H
#define TESTS_ROWMAPFILE_H

#include "lineagepages.h"

#include <lancet/transition.h>

struct map_spec {
	uint64_t rows;
	uint32_t block_rows, destinations;
	/* What is not as it should be. */
	const char *name, *type, *index; /* of the column; an index of "" is none */
	bool not_null, two_fields;
	int stored_rows, column_rows, counts_size, map_bytes, source_rows,
		destination_rows; /* more */
	unsigned patch_word;      /* of the counts, from 1; 0: none */
	uint32_t patch_value;     /* which is put there */
	uint64_t label_row;       /* whose label is changed behind the counts' back */
	unsigned label_add;       /* by so much */
	/* Bytes in front, which aren't made, for counts that fill them. */
	uint64_t gap;
};

struct map_made {
	struct buf bytes, counts;
	struct lancet_transition transition;
	struct lancet_fragment_digest source, *destinations;
	uint16_t *labels;
	uint64_t *row_addrs;
};

static inline uint16_t
map_label(const struct map_spec *spec, uint64_t row)
{
	uint64_t mixed = (row + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 24;

	if (mixed % 11 == 5)
		return LANCET_NO_LABEL;
	return (uint16_t)(mixed / 11 % (1 + mixed / 99 % spec->destinations));
}

/* "LSPC", version, representation, destinations, rows of a block, rows; then the cells. */
static inline void
map_count(struct map_made *made, const struct map_spec *spec)
{
	uint32_t *counters = calloc(spec->destinations, sizeof(*counters));

	buf_put_text(&made->counts, "LSPC");
	put_le(&made->counts, 1, 4);
	put_le(&made->counts, 0, 4);
	put_le(&made->counts, spec->destinations, 4);
	put_le(&made->counts, spec->block_rows, 4);
	put_le(&made->counts, spec->rows, 8);
	for (uint64_t row = 0; row < spec->rows && spec->gap == 0; row++) {
		uint16_t label = map_label(spec, row);

		made->labels[row] = label;
		made->row_addrs[row] = LANCET_NO_ROW;
		if (label != LANCET_NO_LABEL)
			made->row_addrs[row] =
				made->destinations[label].id << 32 | counters[label]++;
		if ((row + 1) % spec->block_rows == 0 || row + 1 == spec->rows)
			buf_put(&made->counts, counters, spec->destinations * sizeof(*counters));
	}
	for (uint32_t i = 0; i < spec->destinations; i++) {
		made->destinations[i].physical_rows = counters[i];
		made->transition.live_rows += counters[i];
	}
	free(counters);
}

static inline void
map_field(struct buf *schema, const char *name, const char *type, bool nullable)
{
	struct buf field = { 0 };

	put_head(&field, 2, strlen(name));
	buf_put_text(&field, name);
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, strlen(type));
	buf_put_text(&field, type);
	put_number(&field, 6, nullable);
	put_message(schema, 1, &field);
}

/* StringEntry { key #1, value #2 } in the schema's metadata #5. */
static inline void
map_descriptor(struct buf *file, const struct map_spec *spec)
{
	const char *index = spec->index != NULL ? spec->index : "1";
	struct buf schema = { 0 }, entry = { 0 };

	map_field(&schema, spec->name != NULL ? spec->name : "label",
		spec->type != NULL ? spec->type : "uint16", !spec->not_null);
	if (spec->two_fields)
		map_field(&schema, "more", "uint16", true);
	put_head(&entry, 1, 42);
	buf_put_text(&entry, "lance:stable_partition:counts_buffer_index");
	put_head(&entry, 2, strlen(index));
	buf_put_text(&entry, index);
	if (index[0] != '\0')
		put_message(&schema, 5, &entry);
	buf_release(&entry);
	put_message(file, 1, &schema);
	put_number(file, 2, spec->rows + (uint64_t)(int64_t)spec->stored_rows);
}

/* Validity, then values; a deleted row has a value that says nothing. */
static inline void
map_buffers(struct map_made *made, const struct map_spec *spec, struct lineage_buffers *buffers)
{
	struct buf *file = &made->bytes;
	uint64_t rows = spec->gap == 0 ? spec->rows : 0;

	lineage_start(file, buffers);
	for (uint64_t i = 0; i < rows; i += 8) {
		uint8_t byte = 0;

		for (uint64_t j = i; j < i + 8 && j < rows; j++)
			byte |= (uint8_t)((made->labels[j] != LANCET_NO_LABEL) << (j - i));
		buf_put_byte(file, byte);
	}
	lineage_end(file, buffers);
	lineage_start(file, buffers);
	for (uint64_t i = 0; i < rows; i++) {
		unsigned add = spec->label_add != 0 && i == spec->label_row ? spec->label_add : 0;

		put_le(file, made->labels[i] != LANCET_NO_LABEL ? made->labels[i] + add : i, 2);
	}
	lineage_end(file, buffers);
}

#endif

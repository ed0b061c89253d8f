/* Pages of u64: what their buffers hold, by the format facts. */
#ifndef TESTS_LINEAGEBUFFERS_H
#define TESTS_LINEAGEBUFFERS_H

#include "datafiles.h"

#include "marks.h"

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

#endif

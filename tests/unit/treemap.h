/* Treemaps of surviving rows for tests, put together from bitmaps of CRoaring. */
#ifndef TESTS_TREEMAP_H
#define TESTS_TREEMAP_H

#include "util/buf.h"

#include <lancet/transition.h>
#include <roaring/roaring.h>

#define ADDR(fragment, offset) ((uint64_t)(fragment) << 32 | (offset))
#define NO_ROW                 LANCET_NO_ROW

static inline void
put_le(struct buf *b, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* One key and its bitmap, as CRoaring writes it. */
static inline void
put_bitmap(struct buf *b, uint32_t key, const roaring_bitmap_t *bitmap)
{
	put_le(b, key, 4);
	if (buf_reserve(b, roaring_bitmap_portable_size_in_bytes(bitmap)))
		b->size += roaring_bitmap_portable_serialize(bitmap, (char *)b->data + b->size);
}

static inline struct lancet_transition
transition_of(const struct lancet_fragment_digest *sources, size_t source_count,
	const struct lancet_fragment_digest *destinations, size_t destination_count)
{
	struct lancet_transition t = {
		.sources = sources,
		.source_count = source_count,
		.destinations = destinations,
		.destination_count = destination_count,
	};

	for (size_t i = 0; i < source_count; i++) {
		t.source_rows += sources[i].physical_rows;
		t.live_rows += sources[i].physical_rows - sources[i].deleted_rows;
	}
	return t;
}

#endif

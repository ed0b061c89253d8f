/* Mini-block pages that are made up chunk by chunk, for tests that read parts of them. */
#ifndef TESTS_UNIT_MINIBLOCKPAGES_H
#define TESTS_UNIT_MINIBLOCKPAGES_H

#include "pages.h"

static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };
static struct field list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &list[1], .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 64, .format = "L", .parent = &list[0] },
};

#define FLAT16 "04 0a020810"
#define FLAT32 "04 0a020820"
#define FLAT64 "04 0a020840"

static inline void
put_le(struct buf *b, uint64_t value, size_t width)
{
	buf_put(b, &value, width);
}

static inline void
align_chunk(struct buf *chunks, size_t start)
{
	while ((chunks->size - start) % 8 != 0)
		buf_put_byte(chunks, 0xfe);
}

/* A chunk of list<uint64>, levels as flat 16-bit values. */
static inline void
put_list_chunk(struct buf *words_out, struct buf *chunks, bool last, const uint16_t *rep,
	const uint16_t *def, size_t entries, uint64_t first, size_t values, unsigned log2)
{
	size_t start = chunks->size;

	put_le(chunks, entries, 2);
	put_le(chunks, entries * 2, 2);
	put_le(chunks, entries * 2, 2);
	put_le(chunks, values * 8, 4);
	align_chunk(chunks, start);
	buf_put(chunks, rep, entries * 2);
	align_chunk(chunks, start);
	buf_put(chunks, def, entries * 2);
	align_chunk(chunks, start);
	for (size_t i = 0; i < values; i++)
		put_le(chunks, first + i, 8);
	put_le(words_out, ((chunks->size - start) / 8 - 1) << 4 | (last ? 0 : log2), 4);
}

/* Rows [0..2], [], [3..6], null, [7..13], [14] in chunks of 2, 4, 8 and 1 values: the third row
 * spans two chunks, the fifth does, and one chunk has nothing but a part of a row. */
static struct buf list_buffers[3];

static inline void
make_list_page(void)
{
	const uint16_t rep[] = { 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1 };
	const uint16_t def[] = { 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
	/* entries [0,2) [2,7) [7,9+2) [11,15) [15,17) */
	static const struct {
		size_t first, entries, values;
		unsigned log2;
		uint64_t ends, partial;
	} chunks[] = {
		{ 0, 2, 2, 1, 0, 2 },
		{ 2, 5, 4, 2, 2, 3 },
		{ 7, 3, 2, 1, 2, 1 },
		{ 10, 4, 4, 2, 0, 4 },
		{ 14, 3, 3, 0, 2, 0 },
	};
	uint64_t value = 0;

	memset(list_buffers, 0, sizeof(list_buffers));
	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		put_list_chunk(&list_buffers[0], &list_buffers[1], i + 1 == ARRAY_SIZE(chunks),
			rep + chunks[i].first, def + chunks[i].first, chunks[i].entries, value,
			chunks[i].values, chunks[i].log2);
		value += chunks[i].values;
		put_le(&list_buffers[2], chunks[i].ends, 8);
		put_le(&list_buffers[2], chunks[i].partial, 8);
	}
}

#define LIST_MESSAGE "0a1e 0a" FLAT16 " 12" FLAT16 " 1a" FLAT64 " 32020106 3801 4001 480f 5001"

#endif

/* Parts of mini-block pages: no chunk is read or decoded that isn't needed, nor twice. */
#include <zstd.h>

#include "miniblockpages.h"

static const struct {
	struct row_range ranges[3];
	size_t count;
	const char *text;
	uint64_t decoded; /* values and levels */
} asked[] = {
	{ { { 0, 6 } }, 1, "0 1 2 3 4 5 6 7 8 9 a b c d e | 3 0 4 - 7 1", 15 + 34 },
	{ { { 0, 1 } }, 1, "0 1 2 | 3", 6 + 14 },
	{ { { 1, 1 } }, 1, " | 0", 4 + 10 },
	{ { { 2, 1 } }, 1, "3 4 5 6 | 4", 6 + 16 },
	{ { { 3, 1 } }, 1, " | -", 2 + 6 },
	{ { { 4, 1 } }, 1, "7 8 9 a b c d | 7", 9 + 20 },
	{ { { 5, 1 } }, 1, "e | 1", 3 + 6 },
	{ { { 0, 1 }, { 2, 1 }, { 4, 2 } }, 3, "0 1 2 3 4 5 6 7 8 9 a b c d e | 3 4 7 1", 15 + 34 },
	{ { { 1, 1 }, { 3, 1 }, { 5, 1 } }, 3, "e | 0 - 1", 9 + 22 },
	{ { { 1, 3 } }, 1, "3 4 5 6 | 0 4 -", 6 + 16 },
	{ { { 3, 2 } }, 1, "7 8 9 a b c d | - 7", 9 + 20 },
};

START_TEST(rows_that_span_chunks_are_found)
{
	struct page_rig rig;

	make_list_page();
	ck_assert_msg(page_rig_open(&rig, 2, &list[1], 6, page_hex(LIST_MESSAGE), list_buffers,
			      3) == LANCET_OK,
		"%s", rig.err.text);
	ck_assert_msg(page_rig_read(&rig, asked[_i].ranges, asked[_i].count) == LANCET_OK, "%s",
		rig.err.text);
	ck_assert_str_eq((const char *)rig.text.data, asked[_i].text);
	ck_assert_uint_eq(rig.scratch.decoded, asked[_i].decoded);
	page_rig_free(&rig);
}
END_TEST

#define CHUNKS       100u
#define CHUNK_VALUES 64u

/* 100 chunks of 64 values: value i is 3 * i. */
static void
open_flat_page(struct page_rig *rig)
{
	struct buf buffers[2] = { { 0 } };
	struct buf message = { 0 }, layout = page_hex("1a" FLAT64 " 320101 3801 5001");

	for (uint64_t i = 0; i < CHUNKS * CHUNK_VALUES; i++) {
		if (i % CHUNK_VALUES == 0) {
			put_le(&buffers[0], (CHUNK_VALUES << 4) | 6, 4);
			put_le(&buffers[1], 0, 2);
			put_le(&buffers[1], CHUNK_VALUES * 8, 4);
			put_le(&buffers[1], 0, 2);
		}
		put_le(&buffers[1], 3 * i, 8);
	}
	put_number(&layout, 9, CHUNKS * CHUNK_VALUES);
	put_message(&message, 1, &layout);
	ck_assert_msg(page_rig_open(rig, 2, &u64, CHUNKS * CHUNK_VALUES, message, buffers, 2) ==
			      LANCET_OK,
		"%s", rig->err.text);
	rig->source->reads = rig->source->read_bytes = 0;
}

static void
check_values(const struct page_rig *rig, const struct row_range *ranges, size_t count)
{
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++)
		for (uint64_t row = 0; row < ranges[i].count; row++)
			ck_assert_uint_eq(
				array_unsigned(&rig->out.leaf, at++), 3 * (ranges[i].first + row));
	ck_assert_uint_eq(rig->out.leaf.length, at);
}

static const struct {
	const char *label;
	struct row_range ranges[5];
	size_t count;
	uint64_t reads, chunks;
} costs[] = {
	{ "all", { { 0, 6400 } }, 1, 1, 100 },
	{ "one", { { 777, 1 } }, 1, 1, 1 },
	{ "one chunk, several rows", { { 640, 1 }, { 650, 3 }, { 702, 2 } }, 3, 1, 1 },
	{ "200 rows", { { 6000, 100 } }, 1, 1, 3 },
	{ "neighbours", { { 60, 1 }, { 64, 1 }, { 130, 1 } }, 3, 1, 3 },
	{ "far apart", { { 0, 1 }, { 200, 1 }, { 1000, 1 }, { 4000, 1 }, { 6399, 1 } }, 5, 5, 5 },
	{ "a whole chunk and parts", { { 100, 128 }, { 230, 1 } }, 2, 1, 3 },
};

START_TEST(no_chunk_is_read_or_decoded_in_vain)
{
	struct page_rig rig;

	open_flat_page(&rig);
	ck_assert_int_eq(page_rig_read(&rig, costs[_i].ranges, costs[_i].count), LANCET_OK);
	check_values(&rig, costs[_i].ranges, costs[_i].count);
	ck_assert_msg(rig.source->reads == costs[_i].reads, "%s: %d reads", costs[_i].label,
		(int)rig.source->reads);
	ck_assert_uint_eq(rig.source->read_bytes, costs[_i].chunks * (CHUNK_VALUES + 1) * 8);
	ck_assert_uint_eq(rig.scratch.decoded, costs[_i].chunks * CHUNK_VALUES);
	page_rig_free(&rig);
}
END_TEST

/* Reading on in steps decodes each chunk once, and reads it once. */
START_TEST(reading_on_decodes_no_chunk_again)
{
	struct page_rig rig;

	open_flat_page(&rig);
	for (uint64_t row = 5; row < 650; row += 10) {
		const struct row_range range = { row, 10 };

		ck_assert_int_eq(page_rig_read(&rig, &range, 1), LANCET_OK);
		check_values(&rig, &range, 1);
	}
	ck_assert_uint_eq(rig.scratch.decoded, 11 * CHUNK_VALUES);
	ck_assert_uint_eq(rig.source->read_bytes, 11 * (CHUNK_VALUES + 1) * 8);
	page_rig_free(&rig);

	make_list_page();
	ck_assert_int_eq(
		page_rig_open(&rig, 2, &list[1], 6, page_hex(LIST_MESSAGE), list_buffers, 3),
		LANCET_OK);
	for (size_t i = 0; i < 3 * ARRAY_SIZE(asked); i++) {
		size_t which = i % ARRAY_SIZE(asked);

		ck_assert_int_eq(
			page_rig_read(&rig, asked[which].ranges, asked[which].count), LANCET_OK);
		ck_assert_str_eq((const char *)rig.text.data, asked[which].text);
	}
	page_rig_free(&rig);
}
END_TEST

/* Two chunks of 128 values of 8 KiB, zeros under zstd, are too large to be kept. */
START_TEST(large_chunks_are_read_too)
{
	enum { VALUES = 128, WIDTH = 8192 };
	static const struct field wide = {
		.kind = FIELD_FIXED, .bits = WIDTH * 8, .format = "w:8192"
	};
	static const uint8_t zeros[VALUES * WIDTH];
	struct buf buffers[2] = { { 0 } };
	struct page_rig rig;

	for (int i = 0; i < 2; i++) {
		uint8_t frame[1024] = { 0 };
		size_t size = ZSTD_compress(frame, sizeof(frame), zeros, sizeof(zeros), 1);
		size_t padded = (8 + size + 7) & ~(size_t)7;

		ck_assert(!ZSTD_isError(size));
		put_le(&buffers[0], (padded / 8 - 1) << 4 | (i == 0 ? 7 : 0), 4);
		put_le(&buffers[1], 0, 2);
		put_le(&buffers[1], size, 4);
		put_le(&buffers[1], 0, 2);
		buf_put(&buffers[1], frame, padded - 8);
	}
	/* general(zstd, flat 65536) */
	ck_assert_msg(page_rig_open(&rig, 2, &wide, 2 * VALUES,
			      page_hex("0a1a 1a0e 520c0a0208021a060a0408808004 320101 3801 "
				       "48800250 01"),
			      buffers, 2) == LANCET_OK,
		"%s", rig.err.text);
	for (uint64_t row = 0; row < 2 * VALUES; row += 50) {
		const struct row_range range = { row, 3 };

		leaf_out_reset(&rig.out);
		ck_assert_msg(
			page_reader_read(&rig.reader, &range, 1, &rig.out, &rig.err) == LANCET_OK,
			"%s", rig.err.text);
		ck_assert_uint_eq(rig.out.leaf.length, 3);
		ck_assert_int_eq(memcmp(rig.out.leaf.data.data, zeros, 3 * WIDTH), 0);
	}
	page_rig_free(&rig);
}
END_TEST

UNIT_MAIN("miniblock_chunks", UNIT_LOOP(rows_that_span_chunks_are_found, asked),
	UNIT_LOOP(no_chunk_is_read_or_decoded_in_vain, costs),
	UNIT_TEST(reading_on_decodes_no_chunk_again), UNIT_TEST(large_chunks_are_read_too))

/* Mini-block pages written down from the format facts, pages that lie, and pages of many chunks of
 * which no more is read than what is asked for. */
#include "miniblockpages.h"

static const struct field u32 = { .kind = FIELD_FIXED, .bits = 32, .format = "I" };
static const struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field words_items[] = { { .kind = FIELD_VARIABLE, .format = "u" } };
static const struct field words = { .kind = FIELD_DICTIONARY,
	.bits = 32,
	.format = "I",
	.children = words_items,
	.child_count = 1 };
/* list<list<uint32>> and list<uint64> */
static struct field nested[3] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &nested[1], .child_count = 1 },
	{ .kind = FIELD_LIST,
		.format = "+l",
		.parent = &nested[0],
		.children = &nested[2],
		.child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 32, .format = "I", .parent = &nested[1] },
};

#define TEXT_BLOCK "08 1206 0a04 0a020820"
#define VALUES_3   "e803000000000000 e903000000000000 ed03000000000000"
#define CHUNK_3    "0000 18000000 fefe " VALUES_3
#define MESSAGE_3  "0a0f 1a" FLAT64 " 320101 3801 4803 5001"
#define NULLABLE_3 "0a15 12" FLAT16 " 1a" FLAT64 " 320103 3801 4803 5001"
#define LIST_PAGE  "0a1f 0a" FLAT16 " 12" FLAT16 " 1a" FLAT32 " 3203030606 3801 4001 4803 5001"
#define LIST_CHUNK                                                                                 \
	"0700 0e00 0e00 0c000000 fefefefefefe"                                                     \
	"0200 0000 0100 0100 0200 0200 0200 fefe 0000 0100 0200 0300 0400 0500 0000 fefe"          \
	"01000000 63000000 02000000 fefefefe"
#define DICTIONARY_PAGE "0a21 12" FLAT16 " 1a" FLAT32 " 22" TEXT_BLOCK " 2802 320103 3801 4804 5001"
#define DICTIONARY_CHUNK                                                                           \
	"0400 0800 10000000 0000 0100 0000 0000 01000000 ffffffff 00000000 01000000"
#define DICTIONARY_ITEMS "20000000 14000000 00000000 01000000 03000000 61 6262"

static const struct page_row pages[] = {
	{ "2.2", 2, &u64, 3, MESSAGE_3, { "30000000", CHUNK_3 }, 0, "3e8 3e9 3ed" },
	{ "2.1", 1, &u64, 3, "0a0d 1a" FLAT64 " 320101 3801 4803",
		{ "3000", "0000 1800 fefefefe " VALUES_3 }, 0, "3e8 3e9 3ed" },
	{ "2.3", 3, &u64, 3, "0a05 0a030a0101 120e 0a0c 0a" FLAT64 " 1200 2801 3003",
		{ "30000000", CHUNK_3 }, 0, "3e8 3e9 3ed" },
	{ "the last chunk says its number of values", 2, &u64, 2,
		"0a0f 1a" FLAT64 " 320101 3801 4802 5001",
		{ "21000000", "0000 10000000 fefe e803000000000000 e903000000000000" }, 0,
		"3e8 3e9" },
	{ "nulls", 2, &u64, 3, NULLABLE_3,
		{ "40000000", "0300 0600 18000000 0000 0100 0000 fefe " VALUES_3 }, 0,
		"3e8 - 3ed" },
	{ "nullable without a null", 2, &u64, 3, NULLABLE_3,
		{ "40000000", "0300 0600 18000000 0000 0000 0000 fefe " VALUES_3 }, 0,
		"3e8 3e9 3ed" },
	{ "two chunks", 2, &u64, 3, MESSAGE_3,
		{ "21000000 10000000", "0000 10000000 fefe e803000000000000 e903000000000000"
				       "0000 08000000 fefe ed03000000000000" },
		0, "3e8 3e9 3ed" },
	{ "nested lists", 2, &nested[2], 4, LIST_PAGE,
		{ "70000000", LIST_CHUNK, "0400000000000000 0000000000000000" }, 0,
		"1 - 2 | 2 - 0 1 | 3 - 0 1" },
	{ "a dictionary, expanded", 2, &text, 4, DICTIONARY_PAGE,
		{ "30000000", DICTIONARY_CHUNK, DICTIONARY_ITEMS }, 0, "'bb' - 'a' 'bb'" },
	{ "a dictionary, kept", 2, &words, 4, DICTIONARY_PAGE,
		{ "30000000", DICTIONARY_CHUNK, DICTIONARY_ITEMS }, 0, "'bb' - 'a' 'bb'" },
	{ "nulls of an empty dictionary", 2, &text, 1,
		"0a21 12" FLAT16 " 1a" FLAT32 " 22" TEXT_BLOCK " 2800 320103 3801 4801 5001",
		{ "20000000", "0100 0200 04000000 0100 fefefefefefe 01000000 fefefefe",
			"20000000 0c000000 00000000" },
		0, "-" },
	{ "text, of which parts are decoded alone", 2, &text, 3,
		"0a19 12" FLAT16 " 1a" TEXT_BLOCK " 320103 3801 4803 5001",
		{ "40000000", "0300 0600 16000000 0000 0100 0000 fefe"
			      "10000000 12000000 12000000 15000000 6869 616263 48 fefe" },
		0, "'hi' - 'abc'" },
	{ "no rows", 2, &u64, 0, "0a0d 1a" FLAT64 " 320101 3801 5001", { "", "" }, 0, "" },

	{ "16-bit words in 2.2", 2, &u64, 3, "0a0d 1a" FLAT64 " 320101 3801 4803",
		{ "3000", "0000 1800 fefefefe " VALUES_3 }, LANCET_CORRUPT, "small chunks" },
	{ "32-bit words in 2.1", 1, &u64, 3, MESSAGE_3, { "30000000", CHUNK_3 }, LANCET_CORRUPT,
		"large chunks" },
	{ "half a word", 2, &u64, 3, MESSAGE_3, { "300000", CHUNK_3 }, LANCET_CORRUPT, "words" },
	{ "more words than chunks can be", 2, &u64, 3, MESSAGE_3,
		{ "30000000 30000000 30000000 30000000 30000000", CHUNK_3 }, LANCET_CORRUPT,
		"words" },
	{ "chunks longer than the buffer", 2, &u64, 3, MESSAGE_3, { "40000000", CHUNK_3 },
		LANCET_CORRUPT, "passes the end" },
	{ "chunks shorter than the buffer", 2, &u64, 3, MESSAGE_3, { "20000000", CHUNK_3 },
		LANCET_CORRUPT, "chunks of 24 bytes" },
	{ "a chunk of one value before the last", 2, &u64, 3, MESSAGE_3,
		{ "20000000 10000000", "0000 10000000 fefe " VALUES_3 "0000000000000000" },
		LANCET_CORRUPT, "of one value" },
	{ "the last chunk says another number", 2, &u64, 3, MESSAGE_3, { "31000000", CHUNK_3 },
		LANCET_CORRUPT, "3 values are left" },
	{ "more values than a chunk can hold", 2, &u64, 32769,
		"0a11 1a" FLAT64 " 320101 3801 48818002 5001", { "30000000", CHUNK_3 },
		LANCET_CORRUPT, "32769 values are left" },
	{ "values that are not rows", 2, &u64, 4, MESSAGE_3, { "30000000", CHUNK_3 },
		LANCET_CORRUPT, "3 values of 4 rows" },
	{ "two buffers of one", 2, &u64, 3, "0a0f 1a" FLAT64 " 320101 3802 4803 5001",
		{ "30000000", CHUNK_3 }, LANCET_CORRUPT, "2 value buffers" },
	{ "a buffer longer than its chunk", 2, &u64, 3, MESSAGE_3,
		{ "30000000", "0000 19000000 fefe " VALUES_3 }, LANCET_CORRUPT, "make up 32" },
	{ "a buffer shorter than its chunk", 2, &u64, 3, MESSAGE_3,
		{ "30000000", "0000 10000000 fefe " VALUES_3 }, LANCET_CORRUPT, "make up 32" },
	{ "values of another type", 2, &u32, 3, MESSAGE_3, { "30000000", CHUNK_3 }, LANCET_CORRUPT,
		"values of 64 bits" },
	{ "a missing buffer", 2, &u64, 3, MESSAGE_3, { "30000000" }, LANCET_CORRUPT,
		"page of 1 buffers" },
	{ "one buffer too many", 2, &u64, 3, MESSAGE_3, { "30000000", CHUNK_3, "00" },
		LANCET_CORRUPT, "page of 3 buffers" },
	{ "fewer levels than values", 2, &u64, 3, NULLABLE_3,
		{ "40000000", "0200 0600 18000000 0000 0000 0000 fefe " VALUES_3 }, LANCET_CORRUPT,
		"levels of 2 values" },
	{ "a level of no layer", 2, &u64, 3, NULLABLE_3,
		{ "40000000", "0300 0600 18000000 0000 0200 0000 fefe " VALUES_3 }, LANCET_CORRUPT,
		"levels of 2 values" },
	{ "an index of another number of rows", 2, &nested[2], 4, LIST_PAGE,
		{ "70000000", LIST_CHUNK, "0300000000000000 0000000000000000" }, LANCET_CORRUPT,
		"repetition index: 3 rows of 4" },
	{ "an index that ends inside of a row", 2, &nested[2], 4, LIST_PAGE,
		{ "70000000", LIST_CHUNK, "0300000000000000 0100000000000000" }, LANCET_CORRUPT,
		"repetition index: 4 rows of 4" },
	{ "an index of half a chunk", 2, &nested[2], 4, LIST_PAGE,
		{ "70000000", LIST_CHUNK, "0400000000000000" }, LANCET_CORRUPT,
		"index of 8 bytes" },
	{ "rows that the levels don't have", 2, &nested[2], 5, LIST_PAGE,
		{ "70000000", LIST_CHUNK, "0500000000000000 0000000000000000" }, LANCET_CORRUPT,
		"4 rows begin, 5 in the index" },
	{ "lists without an index", 2, &nested[2], 4,
		"0a1d 0a" FLAT16 " 12" FLAT16 " 1a" FLAT32 " 3203030606 3801 4803 5001",
		{ "70000000", LIST_CHUNK }, LANCET_CORRUPT, "index of depth 0" },
	{ "repetition levels without lists", 2, &u64, 3,
		"0a15 0a" FLAT16 " 1a" FLAT64 " 320101 3801 4803 5001", { "30000000", CHUNK_3 },
		LANCET_CORRUPT, "0 lists with repetition" },
	{ "an index beyond the dictionary", 2, &text, 4, DICTIONARY_PAGE,
		{ "30000000",
			"0400 0800 10000000 0000 0100 0000 0000 01000000 ffffffff 02000000 "
			"01000000",
			DICTIONARY_ITEMS },
		LANCET_CORRUPT, "item 2 of a dictionary of 2" },
	{ "a value of an empty dictionary", 2, &text, 1,
		"0a21 12" FLAT16 " 1a" FLAT32 " 22" TEXT_BLOCK " 2800 320103 3801 4801 5001",
		{ "20000000", "0100 0200 04000000 0000 fefefefefefe 00000000 fefefefe",
			"20000000 0c000000 00000000" },
		LANCET_CORRUPT, "empty dictionary" },
	{ "a missing dictionary", 2, &words, 3, "0a0f 1a" FLAT32 " 320101 3801 4803 5001",
		{ "20000000", "0000 0c000000 fefe 00000000 00000000 00000000 fefefefe" },
		LANCET_CORRUPT, "dictionary is missing" },
	{ "items without a dictionary", 2, &u64, 3, "0a11 1a" FLAT64 " 2801 320101 3801 4803 5001",
		{ "30000000", CHUNK_3 }, LANCET_CORRUPT, "dictionary is missing" },
	{ "indices that are text", 2, &text, 3,
		"0a1f 1a08 1206 0a04 0a020820 22" TEXT_BLOCK " 2802 320101 3801 4803 5001",
		{ "30000000", CHUNK_3, DICTIONARY_ITEMS }, LANCET_CORRUPT, "indices of 0 bits" },
	{ "no encoding of values", 2, &u64, 3, "0a09 320101 3801 4803 5001",
		{ "30000000", CHUNK_3 }, LANCET_CORRUPT, "encoding" },
	{ "no levels in 2.3", 3, &u64, 3, "0a05 0a030a0101 120c 0a0a 0a" FLAT64 " 2801 3003",
		{ "30000000", CHUNK_3 }, LANCET_CORRUPT, "without levels" },
};

/* A value that would begin among the offsets, which nobody sees who looks at it alone. */
START_TEST(parts_of_text_stay_behind_the_offsets)
{
	const struct row_range second = { 1, 1 };
	struct buf buffers[2] = { page_hex("30000000"),
		page_hex("0000 15000000 fefe 10000000 04000000 12000000 15000000 6869616263 "
			 "fefefe") };
	struct page_rig rig;

	ck_assert_int_eq(
		page_rig_open(&rig, 2, &text, 3,
			page_hex("0a13 1a" TEXT_BLOCK " 320101 3801 4803 5001"), buffers, 2),
		LANCET_OK);
	ck_assert_int_eq(page_rig_read(&rig, &second, 1), LANCET_CORRUPT);
	ck_assert_msg(
		strstr(rig.err.text, "offsets of values descend") != NULL, "%s", rig.err.text);
	page_rig_free(&rig);
}
END_TEST

START_TEST(pages_are_read_or_refused)
{
	check_page_row(&pages[_i]);
}
END_TEST

/* The runs of `total` equal levels, 255 at most each, as a block. */
static void
put_runs(struct buf *b, const uint16_t *values, const uint64_t *counts, size_t count)
{
	struct buf lengths = { 0 }, levels = { 0 };

	for (size_t i = 0; i < count; i++) {
		for (uint64_t left = counts[i]; left > 0;) {
			uint64_t run = left < 255 ? left : 255;

			put_le(&levels, values[i], 2);
			buf_put_byte(&lengths, (uint8_t)run);
			left -= run;
		}
	}
	put_le(b, levels.size, 8);
	buf_put(b, levels.data, levels.size);
	buf_put(b, lengths.data, lengths.size);
	buf_release(&levels);
	buf_release(&lengths);
}

#define RLE_LEVELS "0e 420c 0a04 0a020810 1204 0a020808"

/* 70 000 rows, of which two have an item: 16 bits can't tell the number of levels. */
START_TEST(wrapped_numbers_of_levels_are_made_up_by_runs)
{
	const uint16_t reps[] = { 1 }, defs[] = { 0, 2, 0 };
	const uint64_t rep_counts[] = { 70000 }, def_counts[] = { 1, 69998, 1 };
	struct buf buffers[3] = { { 0 } };
	struct buf rep = { 0 }, def = { 0 };
	struct page_rig rig;
	struct row_range ends[2] = { { 0, 1 }, { 69999, 1 } };
	struct row_range all = { 0, 70000 };

	put_runs(&rep, reps, rep_counts, 1);
	put_runs(&def, defs, def_counts, 3);
	put_le(&buffers[1], 70000 - 65536, 2);
	put_le(&buffers[1], rep.size, 2);
	put_le(&buffers[1], def.size, 2);
	put_le(&buffers[1], 16, 4);
	align_chunk(&buffers[1], 0);
	buf_put(&buffers[1], rep.data, rep.size);
	align_chunk(&buffers[1], 0);
	buf_put(&buffers[1], def.data, def.size);
	align_chunk(&buffers[1], 0);
	put_le(&buffers[1], 0x11, 8);
	put_le(&buffers[1], 0x22, 8);
	put_le(&buffers[0], (buffers[1].size / 8 - 1) << 4, 4);
	put_le(&buffers[2], 70000, 8);
	put_le(&buffers[2], 0, 8);
	buf_release(&rep);
	buf_release(&def);
	ck_assert_msg(page_rig_open(&rig, 2, &list[1], 70000,
			      page_hex("0a32 0a" RLE_LEVELS " 12" RLE_LEVELS " 1a" FLAT64
				       " 32020106 3801 4001 4802 5001"),
			      buffers, 3) == LANCET_OK,
		"%s", rig.err.text);
	ck_assert_msg(page_rig_read(&rig, ends, 2) == LANCET_OK, "%s", rig.err.text);
	ck_assert_str_eq((const char *)rig.text.data, "11 22 | 1 1");
	ck_assert_msg(page_rig_read(&rig, &all, 1) == LANCET_OK, "%s", rig.err.text);
	ck_assert_uint_eq(rig.out.nests[0].length, 70000);
	ck_assert_uint_eq(array_offset(&rig.out.nests[0], 69999), 1);
	ck_assert_uint_eq(array_offset(&rig.out.nests[0], 70000), 2);
	page_rig_free(&rig);
}
END_TEST

START_TEST(every_cut_and_flipped_bit_is_survived)
{
	struct buf original[3], buffers[3];
	const struct row_range all = { 0, 6 };

	make_list_page();
	memcpy(original, list_buffers, sizeof(original));
	for (size_t at = 0; at < 3; at++) {
		for (size_t bit = 0; bit < original[at].size * 8; bit++) {
			struct page_rig rig;

			memset(buffers, 0, sizeof(buffers));
			for (size_t i = 0; i < 3; i++)
				buf_put(&buffers[i], original[i].data, original[i].size);
			buffers[at].data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (page_rig_open(&rig, 2, &list[1], 6, page_hex(LIST_MESSAGE), buffers,
				    3) == LANCET_OK)
				(void)page_rig_read(&rig, &all, 1);
			page_rig_free(&rig);
		}
	}
	for (size_t i = 0; i < 3; i++)
		buf_release(&original[i]);
}
END_TEST

UNIT_MAIN("miniblock", UNIT_LOOP(pages_are_read_or_refused, pages),
	UNIT_TEST(wrapped_numbers_of_levels_are_made_up_by_runs),
	UNIT_TEST(parts_of_text_stay_behind_the_offsets),
	UNIT_TEST(every_cut_and_flipped_bit_is_survived))

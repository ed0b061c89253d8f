/* Runs: every width, packed parts of 2.3, runs past the end, and parts that don't agree. */
#include "codecs.h"

#include "file/rle.h"

/* Rle { values #1, run_lengths #2 } */
#define RLE8        "420c 0a04 0a020808 1204 0a020808"
#define RLE16       "420c 0a04 0a020810 1204 0a020808"
#define RLE32       "420c 0a04 0a020820 1204 0a020808"
#define RLE64       "420c 0a04 0a020840 1204 0a020808"
#define LENGTHS16   "420c 0a04 0a020810 1204 0a020810"
#define LENGTHS32   "420c 0a04 0a020810 1204 0a020820"
#define LENGTHS64   "420c 0a04 0a020810 1204 0a020840"
#define BITS3       "2208 0808 1a04 0a020803" /* u8 in 3 bits */
#define WIDE_BITS3  "2208 0810 1a04 0a020803" /* u16 in 3 bits */
#define VALUE_BITS  "4212 0a0a " WIDE_BITS3 " 1204 0a020808"
#define LENGTH_BITS "4212 0a04 0a020810 120a " BITS3
#define ALL_BITS    "4218 0a0a " WIDE_BITS3 " 120a " BITS3
#define VALUES_LZ4  "4214 0a0c 520a0a020801 1a04 0a020810 1204 0a020808"
#define LENGTHS_LZ4 "4214 0a04 0a020810 120c 520a0a020801 1a04 0a020808"
#define BITS_LZ4    "421a 0a12 52100a020801 1a0a " WIDE_BITS3 " 1204 0a020808"

/* 4 literal bytes: 1 and 2 as u16 */
#define LZ4_VALUES  "04000000 40 01000200"
#define LZ4_LENGTHS "02000000 20 0203"

static const struct codec_row rows[] = {
	{ "bytes", RLE8, CODEC_MINI, 0, &codec_u8, 6, { "0709ff", "010302" }, LANCET_OK,
		"07090909ffff" },
	{ "two bytes", RLE16, CODEC_MINI, 0, &codec_u16, 3, { "01020304", "0102" }, LANCET_OK,
		"010203040304" },
	{ "four bytes", RLE32, CODEC_MINI, 0, &codec_u32, 3, { "0102030405060708", "0201" },
		LANCET_OK, "010203040102030405060708" },
	{ "eight bytes", RLE64, CODEC_MINI, 0, &codec_u64, 2, { "0102030405060708", "02" },
		LANCET_OK, "01020304050607080102030405060708" },
	{ "nothing", RLE16, CODEC_MINI, 0, &codec_u16, 0, { "", "" }, LANCET_OK, "" },
	{ "a run past the end", RLE16, CODEC_MINI, FILE_2_1, &codec_u16, 3, { "01000200", "01ff" },
		LANCET_OK, "010002000200" },
	{ "runs past the end", RLE16, CODEC_MINI, 0, &codec_u16, 1, { "01000200", "0102" },
		LANCET_OK, "0100" },
	{ "a block", RLE16, CODEC_BLOCK, 0, &codec_u16, 3, { "0400000000000000 01000200 0102" },
		LANCET_OK, "010002000200" },
	{ "a block of nothing", RLE16, CODEC_BLOCK, 0, &codec_u16, 0, { "" }, LANCET_OK, "" },
	{ "a block of no runs", RLE16, CODEC_BLOCK, 0, &codec_u16, 0, { "0000000000000000" },
		LANCET_OK, "" },
	{ "lengths of two bytes", LENGTHS16, CODEC_MINI, FILE_2_3, &codec_u16, 3,
		{ "01000200", "02000100" }, LANCET_OK, "010001000200" },
	{ "lengths of four bytes", LENGTHS32, CODEC_MINI, FILE_2_3, &codec_u16, 3,
		{ "01000200", "0200000001000000" }, LANCET_OK, "010001000200" },
	{ "values in bits", VALUE_BITS, CODEC_MINI, FILE_2_3, &codec_u16, 3, { "01000200", "0201" },
		LANCET_OK, "010001000200" },
	{ "lengths in bits", LENGTH_BITS, CODEC_MINI, FILE_2_3, &codec_u16, 3,
		{ "01000200", "0201" }, LANCET_OK, "010001000200" },
	{ "values with lz4", VALUES_LZ4, CODEC_MINI, FILE_2_3, &codec_u16, 5,
		{ LZ4_VALUES, "0203" }, LANCET_OK, "01000100020002000200" },
	{ "lengths with lz4", LENGTHS_LZ4, CODEC_BLOCK, FILE_2_3, &codec_u16, 5,
		{ "0400000000000000 01000200" LZ4_LENGTHS }, LANCET_OK, "01000100020002000200" },
	{ "values in bits, then lz4", BITS_LZ4, CODEC_MINI, FILE_2_3, &codec_u16, 5,
		{ LZ4_VALUES, "0203" }, LANCET_OK, "01000100020002000200" },

	{ "a run of nothing", RLE16, CODEC_MINI, 0, &codec_u16, 3, { "01000200", "0300" },
		LANCET_CORRUPT, "rle: a run of length 0" },
	{ "too few values", RLE16, CODEC_MINI, 0, &codec_u16, 4, { "01000200", "0102" },
		LANCET_CORRUPT, "rle: 2 runs of 3 values, 4 expected" },
	{ "no runs", RLE16, CODEC_MINI, 0, &codec_u16, 4, { "", "" }, LANCET_CORRUPT,
		"rle: 0 runs of 0 values, 4 expected" },
	{ "more lengths than values", RLE16, CODEC_MINI, 0, &codec_u16, 3, { "01000200", "010101" },
		LANCET_CORRUPT, "rle: 2 values of runs, 3 lengths" },
	{ "half a value", RLE16, CODEC_MINI, 0, &codec_u16, 1, { "010002", "01" }, LANCET_CORRUPT,
		"rle: 3 bytes are no numbers of 2" },
	{ "half a length", LENGTHS16, CODEC_MINI, FILE_2_3, &codec_u16, 1, { "0100", "010000" },
		LANCET_CORRUPT, "rle: 3 bytes are no numbers of 2" },
	{ "both in bits", ALL_BITS, CODEC_MINI, FILE_2_3, &codec_u16, 1, { "0100", "01" },
		LANCET_CORRUPT, "nothing tells the number of the runs" },
	{ "bits of another count", VALUE_BITS, CODEC_MINI, FILE_2_3, &codec_u16, 3,
		{ "0100", "0201" }, LANCET_CORRUPT, "out_of_line_bitpacking" },
	{ "a cut block", RLE16, CODEC_BLOCK, 0, &codec_u16, 3, { "0400000000000000 010002" },
		LANCET_CORRUPT, "rle: a block of 11 bytes" },
	{ "a block without its head", RLE16, CODEC_BLOCK, 0, &codec_u16, 3, { "040000" },
		LANCET_CORRUPT, "rle: a block of 3 bytes" },
	{ "a block whose values wrap", RLE16, CODEC_BLOCK, 0, &codec_u16, 3,
		{ "ffffffffffffffff 01000200 0102" }, LANCET_CORRUPT, "rle: a block of 14 bytes" },
	{ "2^60 values", RLE16, CODEC_MINI, 0, &codec_u16, UINT64_C(1) << 60, { "0100", "ff" },
		LANCET_LIMIT, "ask for fewer rows" },
	{ "another width than the type's", RLE16, CODEC_MINI, 0, &codec_u32, 1, { "0100", "01" },
		LANCET_CORRUPT, "values of 16 bits, 32 expected" },
	{ "text", RLE16, CODEC_MINI, 0, &codec_text, 1, { "0100", "01" }, LANCET_CORRUPT,
		"where the type has none" },
	{ "wide lengths before 2.3", LENGTHS16, CODEC_MINI, 0, &codec_u16, 1, { "0100", "0100" },
		LANCET_CORRUPT, "rle: lengths of 16 bits" },
	{ "lengths of 64 bits", LENGTHS64, CODEC_MINI, FILE_2_3, &codec_u16, 1, { "", "" },
		LANCET_CORRUPT, "rle: lengths of 64 bits" },
	{ "bits before 2.3", VALUE_BITS, CODEC_MINI, 0, &codec_u16, 1, { "", "" }, LANCET_CORRUPT,
		"runs packed as out_of_line_bitpacking and flat" },
	{ "values of 128 bits", "420d 0a05 0a03088001 1204 0a020808", CODEC_MINI, 0, &codec_u16, 1,
		{ "", "" }, LANCET_CORRUPT, "rle: values of 128 bits" },
	{ "values of a bit", "420c 0a04 0a020801 1204 0a020808", CODEC_MINI, 0, &codec_bool, 1,
		{ "", "" }, LANCET_CORRUPT, "rle: values of 1 bits" },
	{ "runs of runs", "4216 0a0e 420c 0a04 0a020810 1204 0a020808 1204 0a020808", CODEC_MINI,
		FILE_2_3, &codec_u16, 1, { "", "" }, LANCET_CORRUPT,
		"runs packed as rle and flat" },
	{ "no parts", "4200", CODEC_MINI, 0, &codec_u16, 1, { "", "" }, LANCET_CORRUPT,
		"unknown kind" },
	{ "values alone", RLE16, CODEC_FIXED, 0, &codec_u16, 1, { "0100" }, LANCET_CORRUPT,
		"rle as a per-value encoding" },
	{ "one buffer", RLE16, CODEC_MINI, 0, &codec_u16, 1, { "0100" }, LANCET_CORRUPT,
		"rle: 1 buffers, 2 needed" },
};

START_TEST(runs_are_expanded)
{
	run_codec_row(&rows[_i]);
}
END_TEST

/* Whole stores write behind runs; whatever the lengths, nothing else changes. */
static const unsigned widths[] = { 1, 2, 4, 8 };

static void
check_random(unsigned width, unsigned length_width, uint64_t *random)
{
	uint64_t count = next_random(random) % 200, total = 0;
	uint8_t values[200 * 8], lengths[200 * 8] = { 0 }, *place, *want;
	struct rle_runs runs = { values, width, lengths, length_width, count };
	uint64_t most = 1 + next_random(random) % 100;

	for (uint64_t i = 0; i < sizeof(values); i++)
		values[i] = (uint8_t)next_random(random);
	for (uint64_t i = 0; i < count; i++) {
		uint8_t length = (uint8_t)(1 + next_random(random) % most);

		lengths[i * length_width] = length;
		total += length;
	}
	place = malloc(total * width + 1); /* of the exact size, for the sanitizer */
	want = malloc(total * width + 1);
	place[total * width] = 0xa5;
	for (uint64_t i = 0, at = 0; i < count; i++)
		for (unsigned j = 0; j < lengths[i * length_width]; j++, at += width)
			memcpy(want + at, values + i * width, width);
	ck_assert_int_eq(rle_expand(&runs, total, place, NULL), LANCET_OK);
	ck_assert_int_eq(memcmp(place, want, total * width), 0);
	ck_assert_uint_eq(place[total * width], 0xa5);
	free(place);
	free(want);
}

START_TEST(nothing_is_written_behind_the_end)
{
	uint64_t random = 20 + (uint64_t)_i;

	for (unsigned length = 0; length < ARRAY_SIZE(widths); length++)
		for (unsigned i = 0; i < 300; i++)
			check_random(widths[_i], widths[length], &random);
}
END_TEST

START_TEST(a_block_tells_its_length)
{
	struct codec_rig rig = { 0 };
	uint64_t length = 0;

	ck_assert_int_eq(rig_open(&rig, RLE16, CODEC_BLOCK, 0, &codec_u16), LANCET_OK);
	rig.buffers[rig.buffer_count++] = exact_hex("0600000000000000 010002000300 01ff07");
	ck_assert_int_eq(rle_block_length(rig.codec, rig.buffers[0], &rig.scratch, &length, NULL),
		LANCET_OK);
	ck_assert_uint_eq(length, 1 + 255 + 7);
	rig.buffers[0].size = 13;
	ck_assert_int_eq(rle_block_length(rig.codec, rig.buffers[0], &rig.scratch, &length, NULL),
		LANCET_CORRUPT);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("rle", UNIT_LOOP(runs_are_expanded, rows),
	UNIT_LOOP(nothing_is_written_behind_the_end, widths), UNIT_TEST(a_block_tells_its_length))

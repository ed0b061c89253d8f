/* Values of variable size in chunks, blocks of both forms and alone; offsets that lie are refused
 * before anything is read at them. */
#include "codecs.h"

#define VAR32 "12060a040a020820"
#define VAR64 "12060a040a020840"

#define TEXT  &codec_text
#define LARGE &codec_large_text

/* "ab", "", "c" with offsets from the start of the buffer, then padding. */
#define CHUNK32 "10000000 12000000 12000000 13000000 616263 48"
#define CHUNK64 "2000000000000000 2200000000000000 2200000000000000 2300000000000000 616263"
/* The same as a block. */
#define OFFSETS32 "00000000 02000000 02000000 03000000"
#define OFFSETS64 "0000000000000000 0200000000000000 0200000000000000 0300000000000000"

static const struct codec_row rows[] = {
	{ "a chunk", VAR32, CODEC_MINI, 0, TEXT, 3, { CHUNK32 }, LANCET_OK, "ab||c|" },
	{ "a chunk of large values", VAR64, CODEC_MINI, 0, LARGE, 3, { CHUNK64 }, LANCET_OK,
		"ab||c|" },
	{ "flat offsets of 2.3", VAR32, CODEC_MINI, FILE_2_3, TEXT, 3, { CHUNK32 }, LANCET_OK,
		"ab||c|" },
	{ "an empty chunk", VAR32, CODEC_MINI, 0, TEXT, 0, { "" }, LANCET_OK, "" },
	{ "no room for offsets", VAR32, CODEC_MINI, 0, TEXT, 3, { "100000001200000012000000" },
		LANCET_CORRUPT, "12 bytes are too few for 3 offsets" },
	{ "nothing at all", VAR32, CODEC_MINI, 0, TEXT, 1, { "" }, LANCET_CORRUPT,
		"0 bytes are too few for 1 offsets" },
	{ "2^64 - 1 values", VAR64, CODEC_MINI, 0, LARGE, UINT64_MAX, { CHUNK64 }, LANCET_CORRUPT,
		"35 bytes are too few" },
	{ "2^62 - 1 values: a product that wraps", VAR32, CODEC_MINI, 0, TEXT,
		(UINT64_C(1) << 62) - 1, { CHUNK32 }, LANCET_CORRUPT, "20 bytes are too few" },
	{ "offsets from elsewhere", VAR32, CODEC_MINI, 0, TEXT, 1, { "090000000a00000061" },
		LANCET_CORRUPT, "the first offset is 9, 8 expected" },
	{ "offsets that descend", VAR32, CODEC_MINI, 0, TEXT, 2, { "0c0000000e0000000d0000006162" },
		LANCET_CORRUPT, "descend" },
	{ "offsets beyond the end", VAR32, CODEC_MINI, 0, TEXT, 1, { "080000000a00000061" },
		LANCET_CORRUPT, "values end at 10 of 9 bytes" },
	{ "large offsets beyond the end", VAR64, CODEC_MINI, 0, LARGE, 1,
		{ "1000000000000000ffffffffffffffff" }, LANCET_CORRUPT, "values end at 1844674" },
	{ "narrow offsets of large values", VAR32, CODEC_MINI, 0, LARGE, 3, { CHUNK32 },
		LANCET_CORRUPT, "offsets of 32 bits, 64 expected" },
	{ "wide offsets of other values", VAR64, CODEC_MINI, 0, TEXT, 3, { CHUNK64 },
		LANCET_CORRUPT, "offsets of 64 bits, 32 expected" },
	{ "text where the type has numbers", VAR32, CODEC_MINI, 0, &codec_u8, 3, { CHUNK32 },
		LANCET_CORRUPT, "variable size where the type has none" },

	{ "a block", VAR32, CODEC_BLOCK, 0, TEXT, 3, { "20000000 18000000" OFFSETS32 "616263" },
		LANCET_OK, "ab||c|" },
	{ "a large block", VAR64, CODEC_BLOCK, 0, LARGE, 3,
		{ "4000000000000000 3000000000000000" OFFSETS64 "616263" }, LANCET_OK, "ab||c|" },
	{ "an older block", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "20 03000000 19000000" OFFSETS32 "616263" }, LANCET_OK, "ab||c|" },
	{ "an older large block", VAR64, CODEC_BLOCK, 0, LARGE, 3,
		{ "40 0300000000000000 3100000000000000" OFFSETS64 "616263" }, LANCET_OK,
		"ab||c|" },
	{ "an empty block", VAR32, CODEC_BLOCK, 0, TEXT, 0, { "" }, LANCET_OK, "" },
	{ "a block of no bytes", VAR32, CODEC_BLOCK, 0, TEXT, 1, { "" }, LANCET_CORRUPT,
		"a block of 0 bytes" },
	{ "offsets of 16 bits", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "10000000 18000000" OFFSETS32 "616263" }, LANCET_CORRUPT,
		"with offsets of 16 bits" },
	{ "a head that is cut", VAR32, CODEC_BLOCK, 0, TEXT, 3, { "20000000180000" },
		LANCET_CORRUPT, "in 7 bytes, 3 expected" },
	{ "an older head that is cut", VAR64, CODEC_BLOCK, 0, LARGE, 3,
		{ "400300000000000000310000000000" }, LANCET_CORRUPT, "in 15 bytes, 3 expected" },
	{ "a wide head in 4 bytes", VAR64, CODEC_BLOCK, 0, LARGE, 3, { "40000000" }, LANCET_CORRUPT,
		"in 4 bytes, 3 expected" },
	{ "an older block of 2 values", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "20 02000000 19000000" OFFSETS32 "616263" }, LANCET_CORRUPT,
		"a block of 2 values in 28 bytes, 3 expected" },
	{ "a block of another width than said", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "4000000000000000 3000000000000000" OFFSETS64 "616263" }, LANCET_CORRUPT,
		"a block with offsets of 64 bits, 32 expected" },
	{ "bytes among the offsets", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "20000000 17000000" OFFSETS32 "616263" }, LANCET_CORRUPT,
		"bytes start at 23 of a block of 27" },
	{ "bytes inside the head", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "20000000 00000000" OFFSETS32 "616263" }, LANCET_CORRUPT, "bytes start at 0" },
	{ "bytes behind the end", VAR32, CODEC_BLOCK, 0, TEXT, 3,
		{ "20000000 1c000000" OFFSETS32 "616263" }, LANCET_CORRUPT,
		"bytes start at 28 of a block of 27" },
	{ "a block that does not begin at 0", VAR32, CODEC_BLOCK, 0, TEXT, 1,
		{ "20000000 10000000 01000000 02000000 6162" }, LANCET_CORRUPT,
		"the first offset is 1, 0 expected" },
	{ "a block that ends behind its bytes", VAR32, CODEC_BLOCK, 0, TEXT, 1,
		{ "20000000 10000000 00000000 03000000 6162" }, LANCET_CORRUPT,
		"values end at 3 of 2 bytes" },
	{ "a block without its offsets", VAR32, CODEC_BLOCK, 0, TEXT, 1,
		{ "20000000 08000000 00000000" }, LANCET_CORRUPT, "too few for 1 offsets" },

	{ "values alone", VAR32, CODEC_VARIABLE, 0, TEXT, 3, { "6162", "", "63" }, LANCET_OK,
		"ab||c|" },
	{ "large values alone", VAR64, CODEC_VARIABLE, 0, LARGE, 2, { "", "6162" }, LANCET_OK,
		"|ab|" },
	{ "narrow values for a large type", VAR32, CODEC_VARIABLE, 0, LARGE, 1, { "61" },
		LANCET_CORRUPT, "offsets of 32 bits, 64 expected" },
	{ "values of a fixed size", VAR32, CODEC_FIXED, 0, TEXT, 1, { "61" }, LANCET_CORRUPT,
		"variable as a per-value encoding of a fixed size" },

	{ "offsets of 8 bits", "12060a040a020808", CODEC_MINI, 0, TEXT, 1, { "" }, LANCET_CORRUPT,
		"variable: offsets of 8 bits" },
	{ "packed offsets before 2.3", "12060a042a020820", CODEC_MINI, 0, TEXT, 1, { "" },
		LANCET_CORRUPT, "offsets: inline_bitpacking where it must be flat" },
	{ "packed offsets of values alone", "12060a042a020820", CODEC_VARIABLE, FILE_2_3, TEXT, 1,
		{ "" }, LANCET_CORRUPT, "offsets: inline_bitpacking where it must be flat" },
	{ "no offsets", "1200", CODEC_MINI, 0, TEXT, 1, { "" }, LANCET_CORRUPT,
		"encoding of an unknown kind" },
	{ "compressed inside", "120a0a040a02082012020802", CODEC_MINI, 0, TEXT, 1, { "" },
		LANCET_UNSUPPORTED, "variable: compressed buffers" },
};

START_TEST(values_come_out_or_a_reason)
{
	run_codec_row(&rows[_i]);
}
END_TEST

/* Offsets 0, 2, 4 by formula; deltas 2, 0, 1 behind 0; and deltas of deltas, which don't nest. */
#define RANGE   "12080a0672040820 1802"
#define DELTA   "120c0a0a7a0808201a04 0a020820"
#define INLINE  "12060a042a020820"
#define RANGE64 "12080a0672040840 1802"

/* An empty inline unit: all offsets are 0. */
static const struct codec_row packed[] = {
	{ "a range, bytes alone", RANGE, CODEC_MINI, FILE_2_3, TEXT, 2, { "61626364" }, LANCET_OK,
		"ab|cd|" },
	{ "a range of large values", RANGE64, CODEC_MINI, FILE_2_3, LARGE, 2, { "61626364" },
		LANCET_OK, "ab|cd|" },
	{ "steps, and bytes", DELTA, CODEC_MINI, FILE_2_3, TEXT, 3,
		{ "020000000000000001000000", "616263" }, LANCET_OK, "ab||c|" },
	{ "bits, and no bytes", INLINE, CODEC_MINI, FILE_2_3, TEXT, 3, { "00000000", "" },
		LANCET_OK, "|||" },
	{ "steps without bytes", DELTA, CODEC_MINI, FILE_2_3, TEXT, 3,
		{ "020000000000000001000000" }, LANCET_CORRUPT, "variable: 1 buffers, 2 needed" },
	{ "a range beyond the bytes", RANGE, CODEC_MINI, FILE_2_3, TEXT, 3, { "61626364" },
		LANCET_CORRUPT, "values end at 6 of 4 bytes" },
	{ "a range that begins later", "120a0a08720608201001 1802", CODEC_MINI, FILE_2_3, TEXT, 1,
		{ "61626364" }, LANCET_CORRUPT, "the first offset is 1, 0 expected" },
	{ "a narrow range of large values", RANGE, CODEC_MINI, FILE_2_3, LARGE, 2, { "61626364" },
		LANCET_CORRUPT, "offsets of 32 bits, 64 expected" },
	{ "a wide range of other values", RANGE64, CODEC_MINI, FILE_2_3, TEXT, 2, { "61626364" },
		LANCET_CORRUPT, "offsets of 64 bits, 32 expected" },
	{ "steps before 2.3", DELTA, CODEC_MINI, FILE_2_2, TEXT, 3, { "" }, LANCET_CORRUPT,
		"offsets: delta where it must be flat" },
	{ "2^64 - 1 values", RANGE, CODEC_MINI, FILE_2_3, TEXT, UINT64_MAX, { "61" }, LANCET_LIMIT,
		"too many values" },
	{ "2^61 values in 32 bits", RANGE, CODEC_MINI, FILE_2_3, TEXT, UINT64_C(1) << 61, { "61" },
		LANCET_CORRUPT, "pass 32 bits" },
	{ "2^61 empty values", "120e0a0c1a0a0a08 0000000000000000", CODEC_MINI, FILE_2_3, LARGE,
		UINT64_C(1) << 61, { "" }, LANCET_LIMIT, "ask for fewer rows" },
	{ "text as numbers", RANGE, CODEC_MINI, FILE_2_3, &codec_u8, 2, { "61626364" },
		LANCET_CORRUPT, "where the type has none" },
	{ "offsets of offsets", "120a0a0812060a040a020820", CODEC_MINI, FILE_2_3, TEXT, 1, { "" },
		LANCET_CORRUPT, "variable: offsets are neither of 32 bits (" },
};

START_TEST(offsets_of_2_3_are_runs_of_numbers)
{
	run_codec_row(&packed[_i]);
}
END_TEST

UNIT_MAIN("variable", UNIT_LOOP(values_come_out_or_a_reason, rows),
	UNIT_LOOP(offsets_of_2_3_are_runs_of_numbers, packed))

/* Flat values are taken as they are, in all places, and never read beyond what is there. */
#include "codecs.h"

#define FLAT1   "0a020801"
#define FLAT8   "0a020808"
#define FLAT16  "0a020810"
#define FLAT320 "0a0308c002"

#define FORTY "0102030405060708090a0102030405060708090a0102030405060708090a0102030405060708090a"

static const struct field wide = { .kind = FIELD_FIXED, .bits = 320, .format = "w:40" };

static const struct codec_row rows[] = {
	{ "numbers of a chunk", FLAT16, CODEC_MINI, 0, &codec_u16, 3, { "010002000300" }, 0,
		"010002000300" },
	{ "padding behind them", FLAT16, CODEC_MINI, 0, &codec_u16, 1, { "0100fefe" }, 0, "0100" },
	{ "levels of a block", FLAT16, CODEC_BLOCK, 0, &codec_u16, 2, { "ffff0100" }, 0,
		"ffff0100" },
	{ "values apart", FLAT16, CODEC_FIXED, 0, &codec_u16, 2, { "0102", "0304" }, 0,
		"01020304" },
	{ "bits", FLAT1, CODEC_MINI, 0, &codec_bool, 10, { "a5ff" }, 0, "a503" },
	{ "bits apart are bytes", FLAT1, CODEC_FIXED, 0, &codec_bool, 3, { "01", "00", "01" }, 0,
		"05" },
	{ "and called so", FLAT8, CODEC_FIXED, 0, &codec_bool, 3, { "00", "01", "01" }, 0, "06" },
	{ "wide values", FLAT320, CODEC_MINI, 0, &wide, 1, { FORTY }, 0, FORTY },
	{ "none", FLAT16, CODEC_MINI, 0, &codec_u16, 0, { "" }, 0, "" },
	{ "compression that is none", "0a0408101200", CODEC_MINI, 0, &codec_u16, 1, { "0100" }, 0,
		"0100" },
	{ "a byte short", FLAT16, CODEC_MINI, 0, &codec_u16, 3, { "0100020003" }, LANCET_CORRUPT,
		"flat: 5 bytes for 3 values of 16 bits" },
	{ "a bit short", FLAT1, CODEC_MINI, 0, &codec_bool, 9, { "ff" }, LANCET_CORRUPT,
		"flat: 1 bytes for 9 values of 1 bits" },
	{ "as many as 2^60", FLAT16, CODEC_MINI, 0, &codec_u16, UINT64_C(1) << 60, { "0100" },
		LANCET_CORRUPT, "flat: 2 bytes" },
	{ "a product that wraps", FLAT16, CODEC_MINI, 0, &codec_u16, (UINT64_C(1) << 60) + 1,
		{ "0100" }, LANCET_CORRUPT, "flat: 2 bytes" },
	{ "a long value", FLAT16, CODEC_FIXED, 0, &codec_u16, 2, { "0102", "030405" },
		LANCET_CORRUPT, "a value of 3 bytes, 2 expected" },
	{ "an empty bit", FLAT1, CODEC_FIXED, 0, &codec_bool, 1, { "" }, LANCET_CORRUPT,
		"a value of 0 bytes, 1 expected" },
	{ "another width than the type's", FLAT16, CODEC_MINI, 0, &codec_u8, 1, { "0100" },
		LANCET_CORRUPT, "values of 16 bits, 8 expected" },
	{ "bits where the type has bytes", FLAT1, CODEC_FIXED, 0, &codec_u8, 1, { "01" },
		LANCET_CORRUPT, "values of 1 bits, 8 expected" },
	{ "numbers where the type has text", FLAT16, CODEC_MINI, 0, &codec_text, 1, { "0100" },
		LANCET_CORRUPT, "values of 16 bits" },
	{ "bytes where the type has text", FLAT8, CODEC_FIXED, 0, &codec_text, 1, { "01" },
		LANCET_CORRUPT, "values of 8 bits" },
	{ "of no bits", "0a00", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"flat: values of 0 bits" },
	{ "of 12 bits", "0a02080c", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"flat: values of 12 bits" },
	{ "of 2^32 bits", "0a06088080808010", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"flat: values of 4294967296 bits" },
	{ "compressed inside", "0a06081012020802", CODEC_MINI, 0, &codec_u16, 1, { "0100" },
		LANCET_UNSUPPORTED, "flat: compressed buffers" },
	{ "as text", FLAT16, CODEC_VARIABLE, 0, &codec_u16, 1, { "0100" }, LANCET_CORRUPT,
		"flat as a per-value encoding of variable size" },
};

START_TEST(values_are_taken_as_they_are)
{
	run_codec_row(&rows[_i]);
}
END_TEST

START_TEST(many_bits_apart_become_a_bitmap)
{
	struct codec_rig rig = { 0 };
	struct slice values[3000];

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = slice_of(i % 7 == 0 ? "\1" : "\0", 1);
	ck_assert_int_eq(rig_open(&rig, FLAT1, CODEC_FIXED, 0, &codec_bool), LANCET_OK);
	ck_assert_int_eq(codec_decode_values(rig.codec, values, ARRAY_SIZE(values), &rig.scratch,
				 &rig.out, &rig.err),
		LANCET_OK);
	ck_assert_uint_eq(rig.out.length, ARRAY_SIZE(values));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		ck_assert_int_eq(array_bit(&rig.out, i), i % 7 == 0);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("flat", UNIT_LOOP(values_are_taken_as_they_are, rows),
	UNIT_TEST(many_bits_apart_become_a_bitmap))

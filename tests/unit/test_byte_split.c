/* Planes of bytes become values again. */
#include "codecs.h"

#define SPLIT32 "4a060a040a020820"
#define SPLIT64 "4a060a040a020840"

static const struct codec_row rows[] = {
	{ "four planes", SPLIT32, CODEC_MINI, 0, &codec_u32, 3, { "01a1b1 02a2b2 03a3b3 04a4b4" },
		LANCET_OK, "01020304a1a2a3a4b1b2b3b4" },
	{ "eight planes", SPLIT64, CODEC_MINI, 0, &codec_u64, 2,
		{ "0111 0212 0313 0414 0515 0616 0717 0818" }, LANCET_OK,
		"01020304050607081112131415161718" },
	{ "nothing", SPLIT32, CODEC_MINI, 0, &codec_u32, 0, { "" }, LANCET_OK, "" },
	{ "a plane short", SPLIT32, CODEC_MINI, 0, &codec_u32, 3, { "01a1b102a2b203a3b3" },
		LANCET_CORRUPT, "9 bytes for 3 values of 4" },
	{ "a value too much", SPLIT32, CODEC_MINI, 0, &codec_u32, 1, { "0102030405060708" },
		LANCET_CORRUPT, "8 bytes for 1 values of 4" },
	{ "2^62 values", SPLIT32, CODEC_MINI, 0, &codec_u32, UINT64_C(1) << 62, { "" },
		LANCET_CORRUPT, "0 bytes for 4611686018427387904 values" },
	{ "of 16 bits", "4a060a040a020810", CODEC_MINI, 0, &codec_u16, 1, { "0102" },
		LANCET_CORRUPT, "byte_stream_split: values of 16 bits" },
	{ "packed inside", "4a062a042a020820", CODEC_MINI, 0, &codec_u32, 1, { "01020304" },
		LANCET_CORRUPT, "unknown kind" },
	{ "bits inside", "4a060a042a020820", CODEC_MINI, 0, &codec_u32, 1, { "01020304" },
		LANCET_CORRUPT, "byte_stream_split: inline_bitpacking where it must be flat" },
	{ "nothing inside", "4a00", CODEC_MINI, 0, &codec_u32, 1, { "01020304" }, LANCET_CORRUPT,
		"unknown kind" },
	{ "another type", SPLIT64, CODEC_MINI, 0, &codec_u32, 1, { "0102030405060708" },
		LANCET_CORRUPT, "values of 64 bits, 32 expected" },
};

START_TEST(planes_are_joined)
{
	run_codec_row(&rows[_i]);
}
END_TEST

/* All lengths that vector code could get wrong. */
START_TEST(every_count_is_joined)
{
	for (size_t count = 0; count < 200; count++) {
		struct codec_rig rig = { 0 };
		uint8_t *planes = malloc(8 * count + 1);

		for (size_t i = 0; i < 8 * count; i++)
			planes[i] = (uint8_t)(i % 251);
		ck_assert_int_eq(rig_open(&rig, SPLIT64, CODEC_MINI, 0, &codec_u64), LANCET_OK);
		rig.buffers[rig.buffer_count++] = slice_of(planes, 8 * count);
		ck_assert_int_eq(rig_decode(&rig, count), LANCET_OK);
		for (size_t i = 0; i < 8 * count; i++)
			ck_assert_uint_eq(rig.out.data.data[i], (i % 8 * count + i / 8) % 251);
		rig_release(&rig);
	}
}
END_TEST

UNIT_MAIN("byte_split", UNIT_LOOP(planes_are_joined, rows), UNIT_TEST(every_count_is_joined))

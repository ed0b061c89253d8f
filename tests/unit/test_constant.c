/* One value for all, or none. */
#include "codecs.h"

#define FIVE16  "1a040a020500" /* 5 in two bytes */
#define NONE    "1a00"
#define SEVEN24 "1a050a03070809"

static const struct field three = { .kind = FIELD_FIXED, .bits = 24, .format = "w:3" };

static const struct codec_row rows[] = {
	{ "a block of levels", FIVE16, CODEC_BLOCK, 0, &codec_u16, 3, { "" }, LANCET_OK,
		"050005000500" },
	{ "one", FIVE16, CODEC_BLOCK, 0, &codec_u16, 1, { "" }, LANCET_OK, "0500" },
	{ "an odd width", SEVEN24, CODEC_BLOCK, 0, &three, 4, { "" }, LANCET_OK,
		"070809070809070809070809" },
	{ "no values", FIVE16, CODEC_BLOCK, 0, &codec_u16, 0, { "" }, LANCET_OK, "" },
	{ "no values of none", NONE, CODEC_BLOCK, 0, &codec_u16, 0, { "" }, LANCET_OK, "" },
	{ "values of none", NONE, CODEC_BLOCK, 0, &codec_u16, 2, { "" }, LANCET_CORRUPT,
		"constant: no value for 2 values" },
	{ "values alone", FIVE16, CODEC_FIXED, FILE_2_3, &codec_u16, 2, { "", "" }, LANCET_OK,
		"05000500" },
	{ "values alone that have bytes", FIVE16, CODEC_FIXED, FILE_2_3, &codec_u16, 2,
		{ "", "05" }, LANCET_CORRUPT, "a value of 1 bytes where none are stored" },
	{ "values alone before 2.3", FIVE16, CODEC_FIXED, FILE_2_2, &codec_u16, 1, { "" },
		LANCET_CORRUPT, "per-value encoding before 2.3" },
	{ "a mini-block", FIVE16, CODEC_MINI, 0, &codec_u16, 1, { "" }, LANCET_CORRUPT,
		"constant as the encoding of a mini-block" },
	{ "a value of no bytes", "1a020a00", CODEC_BLOCK, 0, &codec_u16, 1, { "" }, LANCET_CORRUPT,
		"constant: a value of 0 bytes" },
	{ "another width than the type's", FIVE16, CODEC_BLOCK, 0, &codec_u32, 1, { "" },
		LANCET_CORRUPT, "values of 16 bits, 32 expected" },
	{ "text", FIVE16, CODEC_BLOCK, 0, &codec_text, 1, { "" }, LANCET_CORRUPT,
		"where the type has none" },
	{ "2^62 values", FIVE16, CODEC_BLOCK, 0, &codec_u16, UINT64_C(1) << 62, { "" },
		LANCET_LIMIT, "ask for fewer rows" },
	{ "a product that wraps", FIVE16, CODEC_BLOCK, 0, &codec_u16, (UINT64_C(1) << 63) + 1,
		{ "" }, LANCET_LIMIT, "ask for fewer rows" },
};

START_TEST(values_are_repeated)
{
	run_codec_row(&rows[_i]);
}
END_TEST

START_TEST(many_repeat)
{
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(rig_open(&rig, SEVEN24, CODEC_BLOCK, 0, &three), LANCET_OK);
	ck_assert_int_eq(rig_decode(&rig, 100001), LANCET_OK);
	for (size_t i = 0; i < 3 * 100001; i++)
		ck_assert_uint_eq(rig.out.data.data[i], 7 + i % 3);
	rig_release(&rig);
}
END_TEST

/* The items of lists that are all null are not stored. */
START_TEST(values_alone_without_a_value_are_null)
{
	const struct slice empty[3] = { { 0 } };
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(rig_open(&rig, NONE, CODEC_FIXED, FILE_2_3, &codec_u16), LANCET_OK);
	ck_assert_int_eq(codec_decode_values(rig.codec, empty, 3, &rig.scratch, &rig.out, &rig.err),
		LANCET_OK);
	ck_assert_uint_eq(rig.out.length, 3);
	ck_assert_uint_eq(rig.out.null_count, 3);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("constant", UNIT_LOOP(values_are_repeated, rows), UNIT_TEST(many_repeat),
	UNIT_TEST(values_alone_without_a_value_are_null))

/* Packed bits: every width of every type against the formula of the format, both codecs, and what
 * does not add up. */
#include "codecs.h"

#include <stdio.h>

#include "file/fastlanes.h"

#define INLINE8  "2a020808"
#define INLINE16 "2a020810"
#define OOL16_3  "220808101a040a020803" /* 16 bits packed to 3 */
#define OOL16_0  "220808101a040a020800"
#define OOL16_16 "220808101a040a020810"

/* Packs a unit bit by bit, as the format says where each bit is. */
static void
pack(unsigned bits, unsigned width, const uint64_t *values, uint8_t *packed)
{
	static const unsigned order[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };
	unsigned lanes = 1024 / bits;

	memset(packed, 0, 128 * (size_t)width);
	for (unsigned row = 0; row < bits; row++)
		for (unsigned lane = 0; lane < lanes; lane++)
			for (unsigned bit = 0; bit < width; bit++) {
				unsigned index = order[row / 8] * 16 + row % 8 * 128 + lane;
				unsigned at = row * width + bit;
				size_t place =
					((size_t)(at / bits) * lanes + lane) * bits + at % bits;

				packed[place / 8] |=
					(uint8_t)((values[index] >> bit & 1) << place % 8);
			}
}

static void
fill(unsigned width, uint64_t *values, size_t count)
{
	uint64_t state = 0x9e3779b97f4a7c15u + width;

	for (size_t i = 0; i < count; i++)
		values[i] = width == 0 ? 0 : next_random(&state) >> (64 - width);
}

static uint64_t
number_at(const uint8_t *numbers, unsigned bits, size_t index)
{
	uint64_t number = 0;

	memcpy(&number, numbers + index * bits / 8, bits / 8);
	return number;
}

static const unsigned types[] = { 8, 16, 32, 64 };

START_TEST(all_widths_unpack)
{
	unsigned bits = types[_i];
	uint64_t values[1024];

	for (unsigned width = 0; width <= bits; width++) {
		uint8_t *packed = malloc(128 * (size_t)width + 1);
		uint8_t *out = malloc(128 * (size_t)bits + 1);

		/* an odd address: nothing need be aligned */
		fill(width, values, 1024);
		pack(bits, width, values, packed + 1);
		fastlanes_unpack(bits, width, packed + 1, out + 1);
		for (unsigned i = 0; i < 1024; i++)
			ck_assert_uint_eq(number_at(out + 1, bits, i), values[i]);
		free(packed);
		free(out);
	}
}
END_TEST

START_TEST(only_four_types_are_packed)
{
	for (uint64_t bits = 0; bits < 200; bits++)
		ck_assert_int_eq(
			fastlanes_knows(bits), bits == 8 || bits == 16 || bits == 32 || bits == 64);
	ck_assert(!fastlanes_knows((UINT64_C(1) << 32) + 8));
}
END_TEST

static const struct field *const fields[] = { &codec_u8, &codec_u16, &codec_u32, &codec_u64 };

static void
check_values(const struct array *out, const uint64_t *values, uint64_t count)
{
	ck_assert_uint_eq(out->length, count);
	for (uint64_t i = 0; i < count; i++)
		ck_assert_uint_eq(array_unsigned(out, i), values[i]);
}

/* One unit of which `count` values are asked for. */
static void
check_inline(unsigned type, unsigned width, uint64_t count, enum codec_place place)
{
	unsigned bits = types[type];
	size_t size = bits / 8 + 128 * (size_t)width;
	uint8_t *unit = calloc(1, size);
	char message[9];
	struct codec_rig rig = { 0 };
	uint64_t values[1024];

	snprintf(message, sizeof(message), "2a0208%02x", bits);
	fill(width, values, 1024);
	unit[0] = (uint8_t)width;
	pack(bits, width, values, unit + bits / 8);
	ck_assert_int_eq(rig_open(&rig, message, place, 0, fields[type]), LANCET_OK);
	ck_assert_uint_eq(rig.codec->bits, bits);
	rig.buffers[rig.buffer_count++] = slice_of(unit, size);
	ck_assert_int_eq(rig_decode(&rig, count), LANCET_OK);
	check_values(&rig.out, values, count);
	rig_release(&rig);
}

START_TEST(units_tell_their_width)
{
	for (unsigned width = 0; width <= types[_i]; width++) {
		check_inline((unsigned)_i, width, 1024, CODEC_MINI);
		check_inline((unsigned)_i, width, 1023 - width, CODEC_BLOCK);
	}
	check_inline((unsigned)_i, 5, 0, CODEC_MINI);
}
END_TEST

static const struct codec_row inline_rows[] = {
	{ "nothing of nothing", INLINE16, CODEC_MINI, 0, &codec_u16, 0, { "" }, LANCET_OK, "" },
	{ "no width", INLINE16, CODEC_MINI, 0, &codec_u16, 1, { "03" }, LANCET_CORRUPT,
		"1 bytes have no packed width" },
	{ "nothing for a value", INLINE16, CODEC_MINI, 0, &codec_u16, 1, { "" }, LANCET_CORRUPT,
		"0 bytes have no packed width" },
	{ "wider than the type", INLINE16, CODEC_MINI, 0, &codec_u16, 1, { "1100" }, LANCET_CORRUPT,
		"16 bits packed to 17" },
	{ "a width of 2^32", "2a020840", CODEC_MINI, 0, &codec_u64, 1, { "0000000001000000" },
		LANCET_CORRUPT, "64 bits packed to 4294967296" },
	{ "a cut unit", INLINE8, CODEC_MINI, 0, &codec_u8, 1, { "010203" }, LANCET_CORRUPT,
		"3 bytes of 1024 values packed to 1 bits" },
	{ "a byte too much", INLINE8, CODEC_MINI, 0, &codec_u8, 1, { "0000" }, LANCET_CORRUPT,
		"2 bytes of 1024 values packed to 0 bits" },
	{ "more than a unit", INLINE8, CODEC_MINI, 0, &codec_u8, 1025, { "00" }, LANCET_CORRUPT,
		"1025 values, 1024 are the most" },
	{ "as many as 2^64 - 1", INLINE8, CODEC_BLOCK, 0, &codec_u8, UINT64_MAX, { "00" },
		LANCET_CORRUPT, "1024 are the most" },
	{ "of 24 bits", "2a020818", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"inline_bitpacking: values of 24 bits" },
	{ "of no bits", "2a00", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"inline_bitpacking: values of 0 bits" },
	{ "compressed inside", "2a06081012020801", CODEC_MINI, 0, &codec_u16, 1, { "0000" },
		LANCET_UNSUPPORTED, "inline_bitpacking: compressed buffers" },
	{ "another type", INLINE16, CODEC_MINI, 0, &codec_u32, 1, { "0000" }, LANCET_CORRUPT,
		"values of 16 bits, 32 expected" },
};

START_TEST(units_that_do_not_add_up_are_refused)
{
	run_codec_row(&inline_rows[_i]);
}
END_TEST

/* `count` values: whole units, and the rest in either form. */
static int
decode_outofline(unsigned width, uint64_t count, bool raw_tail, int more, struct codec_rig *rig)
{
	static uint64_t values[3 * 1024];
	struct buf packed = { 0 };
	struct slice in;
	uint8_t unit[128 * 16];
	char message[21];
	int rc;

	snprintf(message, sizeof(message), "220808101a040a0208%02x", width);
	fill(width, values, ARRAY_SIZE(values));
	for (uint64_t at = 0; at < count; at += 1024) {
		if (raw_tail && count - at < 1024) {
			for (uint64_t i = at; i < count; i++)
				buf_put(&packed, &values[i], 2);
			break;
		}
		pack(16, width, values + at, unit);
		buf_put(&packed, unit, 128 * (size_t)width);
	}
	in = slice_of(malloc(packed.size + 64), packed.size + (size_t)more);
	if (packed.size > 0)
		memcpy((void *)(uintptr_t)in.data, packed.data, packed.size);
	buf_release(&packed);
	rc = rig_open(rig, message, CODEC_BLOCK, 0, &codec_u16);
	ck_assert_int_eq(rc, LANCET_OK);
	rig->buffers[rig->buffer_count++] = in;
	rc = rig_decode(rig, count);
	if (rc == LANCET_OK)
		check_values(&rig->out, values, count);
	return rc;
}

static const struct {
	unsigned width;
	uint64_t count;
	bool raw_tail;
} packed[] = {
	{ 3, 1024, false }, { 3, 3072, false }, { 3, 2000, false }, { 3, 2000, true },
	{ 3, 1025, true }, { 3, 1, false }, { 3, 1, true }, { 3, 0, false }, { 16, 2047, true },
	{ 16, 2047, false }, { 0, 3000, false }, { 0, 10, true },
	{ 4, 256, true }, /* as long raw as packed */
};

START_TEST(rests_are_raw_or_packed)
{
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(
		decode_outofline(packed[_i].width, packed[_i].count, packed[_i].raw_tail, 0, &rig),
		LANCET_OK);
	rig_release(&rig);
	ck_assert_int_eq(
		decode_outofline(packed[_i].width, packed[_i].count, packed[_i].raw_tail, 1, &rig),
		LANCET_CORRUPT);
	rig_release(&rig);
}
END_TEST

static const struct codec_row outofline_rows[] = {
	{ "nothing", OOL16_3, CODEC_BLOCK, 0, &codec_u16, 2, { "" }, LANCET_CORRUPT,
		"0 bytes for 2 values of 16 bits packed to 3" },
	{ "a word too few", OOL16_3, CODEC_BLOCK, 0, &codec_u16, 3, { "01000200" }, LANCET_CORRUPT,
		"4 bytes for 3 values" },
	{ "half a word", OOL16_3, CODEC_BLOCK, 0, &codec_u16, 1, { "010002" }, LANCET_CORRUPT,
		"3 bytes for 1 values" },
	{ "a rest of raw words", OOL16_3, CODEC_BLOCK, 0, &codec_u16, 2, { "01000200" }, LANCET_OK,
		"01000200" },
	{ "2^64 - 1 values", OOL16_16, CODEC_BLOCK, 0, &codec_u16, UINT64_MAX, { "01000200" },
		LANCET_CORRUPT, "4 bytes for 18446744073709551615 values" },
	{ "2^63 values of no bits", OOL16_0, CODEC_BLOCK, 0, &codec_u16, UINT64_C(1) << 63, { "" },
		LANCET_LIMIT, "ask for fewer rows" },
	{ "wider than the type", "220808101a040a020811", CODEC_BLOCK, 0, &codec_u16, 1, { "0100" },
		LANCET_CORRUPT, "16 bits packed to 17" },
	{ "of 12 bits", "2208080c1a040a020803", CODEC_BLOCK, 0, &codec_u16, 1, { "0100" },
		LANCET_CORRUPT, "12 bits packed to 3" },
	{ "packed to another encoding", "220808101a042a020810", CODEC_BLOCK, 0, &codec_u16, 1,
		{ "0100" }, LANCET_CORRUPT,
		"out_of_line_bitpacking: inline_bitpacking where it must be flat" },
	{ "packed to nothing", "22020810", CODEC_BLOCK, 0, &codec_u16, 1, { "0100" },
		LANCET_CORRUPT, "unknown kind" },
	{ "another type", OOL16_3, CODEC_BLOCK, 0, &codec_u8, 1, { "0100" }, LANCET_CORRUPT,
		"values of 16 bits, 8 expected" },
};

START_TEST(blocks_that_do_not_add_up_are_refused)
{
	run_codec_row(&outofline_rows[_i]);
}
END_TEST

UNIT_MAIN("bitpack", UNIT_LOOP(all_widths_unpack, types), UNIT_TEST(only_four_types_are_packed),
	UNIT_LOOP(units_tell_their_width, types),
	UNIT_LOOP(units_that_do_not_add_up_are_refused, inline_rows),
	UNIT_LOOP(rests_are_raw_or_packed, packed),
	UNIT_LOOP(blocks_that_do_not_add_up_are_refused, outofline_rows))

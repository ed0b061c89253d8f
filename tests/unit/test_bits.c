/* Runs of bits at every pair of positions, against bits moved one by one. */
#include "util/bits.h"

#include <string.h>

#include "unit.h"

#define BYTES 24

static bool
bit_of(const uint8_t *bitmap, uint64_t i)
{
	return bitmap[i / 8] >> (i % 8) & 1;
}

static void
fill_pattern(uint8_t *bytes, unsigned seed)
{
	for (unsigned i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(seed * 167 + i * 89 + (i * i) % 31);
}

START_TEST(copies_touch_only_their_bits)
{
	for (unsigned to_bit = 0; to_bit < 16; to_bit++) {
		for (unsigned from_bit = 0; from_bit < 16; from_bit++) {
			for (unsigned count = 0; count < 100; count++) {
				uint8_t to[BYTES], from[BYTES], before[BYTES];

				fill_pattern(from, count);
				fill_pattern(to, to_bit + 3);
				memcpy(before, to, sizeof(to));
				bits_copy(to, to_bit, from, from_bit, count);
				for (unsigned i = 0; i < BYTES * 8; i++) {
					bool inside = i >= to_bit && i - to_bit < count;
					bool want = inside ? bit_of(from, i - to_bit + from_bit)
							   : bit_of(before, i);

					ck_assert_int_eq(bit_of(to, i), want);
				}
			}
		}
	}
}
END_TEST

START_TEST(copies_read_no_byte_beyond_their_bits)
{
	for (unsigned from_bit = 0; from_bit < 8; from_bit++) {
		for (unsigned count = 1; count < 40; count++) {
			size_t size = (from_bit + count + 7) / 8;
			uint8_t *from = malloc(size); /* the sanitizer guards its end */
			uint8_t to[BYTES] = { 0 };

			ck_assert_ptr_nonnull(from);
			memset(from, 0xff, size);
			bits_copy(to, 3, from, from_bit, count);
			ck_assert_uint_eq(bits_count(to, 0, BYTES * 8), count);
			free(from);
		}
	}
}
END_TEST

START_TEST(fills_and_counts_agree)
{
	for (unsigned first = 0; first < 20; first++) {
		for (unsigned count = 0; count < 150; count++) {
			uint8_t ones[BYTES] = { 0 }, zeroes[BYTES];

			memset(zeroes, 0xff, sizeof(zeroes));
			bits_fill(ones, first, count, true);
			bits_fill(zeroes, first, count, false);
			ck_assert_uint_eq(bits_count(ones, 0, BYTES * 8), count);
			ck_assert_uint_eq(bits_count(ones, first, count), count);
			ck_assert_uint_eq(bits_count(zeroes, 0, BYTES * 8), BYTES * 8 - count);
			ck_assert_uint_eq(bits_count(zeroes, first, count), 0);
		}
	}
}
END_TEST

START_TEST(sizes_do_not_overflow)
{
	ck_assert_uint_eq(bits_size(0), 0);
	ck_assert_uint_eq(bits_size(1), 1);
	ck_assert_uint_eq(bits_size(8), 1);
	ck_assert_uint_eq(bits_size(9), 2);
	ck_assert_uint_eq(bits_size(UINT64_MAX), UINT64_C(1) << 61);
}
END_TEST

UNIT_MAIN("bits", UNIT_TEST(copies_touch_only_their_bits),
	UNIT_TEST(copies_read_no_byte_beyond_their_bits), UNIT_TEST(fills_and_counts_agree),
	UNIT_TEST(sizes_do_not_overflow))

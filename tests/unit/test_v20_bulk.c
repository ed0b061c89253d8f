/* Long pages of 2.0: packed widths against plain models of the format, and what reading a few rows
 * costs.
 */
#include "v20pages.h"

#include <stdio.h>

#include "util/bits.h"

#define ROWS 2500u

static struct field numbers[4] = {
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C" },
	{ .kind = FIELD_FIXED, .bits = 16, .format = "S" },
	{ .kind = FIELD_FIXED, .bits = 32, .format = "I" },
	{ .kind = FIELD_FIXED, .bits = 64, .format = "L" },
};
static struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field flag = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static struct field parts[3] = {
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C" },
	{ .kind = FIELD_FIXED, .bits = 16, .format = "S" },
	{ .kind = FIELD_FIXED, .bits = 24, .format = "w:3" },
};
static struct field packed_field = {
	.kind = FIELD_STRUCT, .packed = true, .format = "+s", .children = parts, .child_count = 3
};

static uint64_t
low_bits(uint64_t value, unsigned bits)
{
	return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static void
put_bits(uint8_t *bitmap, uint64_t at, uint64_t value, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++) {
		if (value >> i & 1)
			bitmap[(at + i) >> 3] |= (uint8_t)(1u << ((at + i) & 7));
	}
}

static struct buf
zeroes(size_t size)
{
	struct buf b = { 0 };

	buf_fill(&b, 0, size);
	return b;
}

/* Ranges that begin and end anywhere, within a unit and across several. */
static const struct row_range some[] = { { 0, 1 }, { 3, 5 }, { 1000, 30 }, { 1031, 1017 },
	{ 2048, 1 }, { 2490, 10 } };

static void
expect_values(
	struct page_rig *rig, const uint64_t *want, const struct row_range *ranges, size_t count)
{
	uint64_t at = 0;

	ck_assert_msg(rig_read(rig, ranges, count) == LANCET_OK, "%s", rig->err.text);
	for (size_t i = 0; i < count; i++) {
		for (uint64_t j = 0; j < ranges[i].count; j++, at++)
			ck_assert_msg(array_unsigned(&rig->out, at) == want[ranges[i].first + j],
				"row %" PRIu64, ranges[i].first + j);
	}
	ck_assert_uint_eq(rig->out.length, at);
}

static void
check_packed(const char *words, const struct field *field, struct buf bytes, const uint64_t *want)
{
	const struct row_range all = { 0, ROWS };
	struct page_rig rig;

	ck_assert_msg(rig_open(&rig, words, field, ROWS, &bytes, 1) == LANCET_OK, "%s: %s", words,
		rig.err.text);
	expect_values(&rig, want, &all, 1);
	expect_values(&rig, want, some, ARRAY_SIZE(some));
	rig_free(&rig);
}

START_TEST(streams_of_bits_have_any_width)
{
	const struct field *field = &numbers[_i];
	uint64_t want[ROWS], seed = 7;
	char words[64];

	for (unsigned bits = 1; bits <= field->bits; bits++) {
		for (unsigned is_signed = 0; is_signed < 2; is_signed++) {
			struct buf bytes = zeroes((size_t)bits_size((uint64_t)ROWS * bits));

			for (uint64_t i = 0; i < ROWS; i++) {
				uint64_t value = low_bits(next_random(&seed), bits);

				put_bits(bytes.data, i * bits, value, bits);
				if (is_signed && value >> (bits - 1) & 1)
					value |= ~low_bits(UINT64_MAX, bits);
				want[i] = low_bits(value, field->bits);
			}
			snprintf(words, sizeof(words), "bits %u %" PRIu32 " @0 %s", bits,
				field->bits, is_signed ? "signed" : "");
			check_packed(words, field, bytes, want);
		}
	}
}
END_TEST

/* Format facts: FastLanes bit layout, value by value. */
static void
put_unit(uint8_t *unit, const uint64_t *values, unsigned type, unsigned width)
{
	static const unsigned order[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };
	unsigned lanes = 1024 / type;

	for (unsigned r = 0; r < type; r++) {
		for (unsigned l = 0; l < lanes; l++) {
			uint64_t value = values[order[r / 8] * 16 + r % 8 * 128 + l];

			for (unsigned b = 0; b < width; b++) {
				unsigned bit = r * width + b;
				unsigned word = bit / type * lanes + l;

				put_bits(unit, (uint64_t)word * type + bit % type, value >> b & 1,
					1);
			}
		}
	}
}

START_TEST(units_of_fastlanes_have_any_width)
{
	const struct field *field = &numbers[_i];
	uint64_t want[3 * 1024] = { 0 }, seed = 11;
	char words[64];

	for (unsigned bits = 1; bits <= field->bits; bits++) {
		struct buf bytes = zeroes(3 * (size_t)128 * bits);

		for (uint64_t i = 0; i < ROWS; i++)
			want[i] = low_bits(next_random(&seed), bits);
		for (unsigned unit = 0; unit < 3; unit++)
			put_unit(bytes.data + unit * (size_t)128 * bits, want + unit * 1024ul,
				field->bits, bits);
		snprintf(words, sizeof(words), "nonneg %u %" PRIu32 " @0", bits, field->bits);
		check_packed(words, field, bytes, want);
	}
}
END_TEST

/* 600,000 rows of six bytes, more than is read at once. */
START_TEST(packed_structs_are_longer_than_a_window)
{
	const uint64_t rows = 600000;
	const struct row_range all = { 0, rows }, late = { 399990, 20 };
	struct buf bytes = { 0 };
	struct page_rig rig;

	for (uint64_t i = 0; i < rows; i++) {
		const uint8_t row[6] = { (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i * 3), 1,
			(uint8_t)(i >> 16), 9 };

		buf_put(&bytes, row, sizeof(row));
	}
	ck_assert_int_eq(rig_open(&rig, "packed @0(flat 8, flat 16, flat 24)", &packed_field, rows,
				 &bytes, 1),
		LANCET_OK);
	ck_assert_int_eq(rig_read(&rig, &all, 1), LANCET_OK);
	for (uint64_t i = 0; i < rows; i++) {
		ck_assert_uint_eq(array_unsigned(&rig.out.children[0], i), (uint8_t)i);
		ck_assert_uint_eq(array_unsigned(&rig.out.children[1], i),
			(uint64_t)(uint8_t)(i >> 8) | (uint64_t)(uint8_t)(i * 3) << 8);
		ck_assert_uint_eq(array_unsigned(&rig.out.children[2], i),
			1 | (uint64_t)(uint8_t)(i >> 16) << 8 | 9 << 16);
	}
	expect_rows(&rig, "late", &late, 0, "");
	ck_assert_int_eq(rig_read(&rig, &late, 1), LANCET_OK);
	ck_assert_uint_eq(array_unsigned(&rig.out.children[0], 19), (uint8_t)(399990 + 19));
	rig_free(&rig);
}
END_TEST

/* Format facts: FSST; symbol 0 is "abc", symbol 1 "d". */
START_TEST(symbols_are_expanded_and_nulls_kept)
{
	struct buf buffers[2] = { { 0 }, { 0 } };
	struct buf words = { 0 };
	uint8_t table[2312] = { 2, 0, 0, 1, 'T', 'S', 'S', 'F', 'a', 'b',
		'c', [16] = 'd', [24] = 3, [25] = 1 };
	const uint64_t ends[4] = { 2, 2 + 6, 5, 5 };
	const uint8_t bytes[5] = { 0, 1, 255, 'x', 0 };
	const struct row_range all = { 0, 4 }, last = { 2, 2 };
	struct page_rig rig;

	buf_put_text(&words, "fsst(binary 6(flat 64 @0, flat 8 @1)) ");
	for (size_t i = 0; i < sizeof(table); i++)
		buf_printf(&words, "%02x", table[i]);
	buf_put_byte(&words, '\0');
	buf_put(&buffers[0], ends, sizeof(ends));
	buf_put(&buffers[1], bytes, sizeof(bytes));
	ck_assert_msg(rig_open(&rig, (const char *)words.data, &text, 4, buffers, 2) == LANCET_OK,
		"%s", rig.err.text);
	expect_rows(&rig, "all", &all, 1, "'abcd' - 'xabc' ''");
	expect_rows(&rig, "last", &last, 1, "'xabc' ''");
	buf_release(&words);
	rig_free(&rig);
}
END_TEST

/* ---- what it costs ---- */

static struct buf
counting(uint64_t count)
{
	struct buf b = { 0 };

	for (uint64_t i = 0; i < count; i++)
		buf_put(&b, &i, sizeof(i));
	return b;
}

/* Strings of three bytes each, without nulls. */
static void
open_strings(struct page_rig *rig, uint64_t count)
{
	struct buf buffers[2] = { { 0 }, { 0 } };

	for (uint64_t i = 1; i <= count; i++) {
		uint64_t end = i * 3;

		buf_put(&buffers[0], &end, sizeof(end));
		buf_put_text(&buffers[1], "xyz");
	}
	ck_assert_int_eq(rig_open(rig, "binary 999999999(no_nulls(flat 64 @0), flat 8 @1)", &text,
				 count, buffers, 2),
		LANCET_OK);
}

static const struct cost {
	const char *label;
	struct row_range ranges[3];
	size_t count;
	uint64_t reads, bytes; /* of numbers of eight bytes */
	uint64_t text_reads, text_bytes;
} costs[] = {
	{ "one row", { { 70000, 1 } }, 1, 1, 8, 2, 16 + 3 },
	{ "a range", { { 70000, 1000 } }, 1, 1, 8000, 2, 8008 + 3000 },
	{ "the first rows", { { 0, 1000 } }, 1, 1, 8000, 2, 8000 + 3000 },
	{ "rows far apart", { { 10, 1 }, { 30000, 1 }, { 90000, 1 } }, 3, 3, 24, 6, 48 + 9 },
	{ "rows near one another", { { 10, 1 }, { 12, 1 }, { 14, 2 } }, 3, 1, 48, 2,
		7 * 8 + 6 * 3 },
	{ "a few and many", { { 10, 1 }, { 12, 5000 } }, 2, 2, 8 + 40000, 4,
		16 + 40008 + 3 + 15000 },
};

START_TEST(only_what_was_asked_for_is_read)
{
	const struct cost *cost = &costs[_i];
	struct buf bytes = counting(100000);
	struct page_rig rig;

	ck_assert_int_eq(
		rig_open(&rig, "no_nulls(flat 64 @0)", &numbers[3], 100000, &bytes, 1), LANCET_OK);
	ck_assert_uint_eq(rig.source->reads, 0);
	ck_assert_int_eq(rig_read(&rig, cost->ranges, cost->count), LANCET_OK);
	for (size_t i = 0, at = 0; i < cost->count; i++) {
		for (uint64_t j = 0; j < cost->ranges[i].count; j++, at++)
			ck_assert_uint_eq(array_unsigned(&rig.out, at), cost->ranges[i].first + j);
	}
	ck_assert_uint_eq(rig.source->reads, cost->reads);
	ck_assert_uint_eq(rig.source->bytes, cost->bytes);
	ck_assert_uint_eq(rig.scratch.decoded, rig.out.length);
	rig_free(&rig);
	open_strings(&rig, 100000);
	ck_assert_int_eq(rig_read(&rig, cost->ranges, cost->count), LANCET_OK);
	for (uint64_t i = 0; i < rig.out.length; i++)
		ck_assert(slice_equal(array_bytes(&rig.out, i), slice_text("xyz")));
	ck_assert_uint_eq(rig.source->reads, cost->text_reads);
	ck_assert_uint_eq(rig.source->bytes, cost->text_bytes);
	rig_free(&rig);
}
END_TEST

START_TEST(bits_are_read_by_their_bytes)
{
	const struct row_range ranges[] = { { 9, 2 }, { 80000, 17 } };
	struct buf bytes = zeroes(12500);
	struct page_rig rig;

	put_bits(bytes.data, 10, 1, 1);
	put_bits(bytes.data, 80016, 1, 1);
	ck_assert_int_eq(rig_open(&rig, "flat 1 @0", &flag, 100000, &bytes, 1), LANCET_OK);
	ck_assert_int_eq(rig_read(&rig, ranges, 2), LANCET_OK);
	ck_assert_uint_eq(rig.out.length, 19);
	for (uint64_t i = 0; i < 19; i++)
		ck_assert_int_eq(array_bit(&rig.out, i), i == 1 || i == 18);
	ck_assert_uint_eq(rig.source->reads, 2);
	ck_assert_uint_eq(rig.source->bytes, 1 + 3);
	rig_free(&rig);
}
END_TEST

/* 'a', 'bc' in an lz4 block of literals; rows are items 1, 2, 1, 2 … */
START_TEST(dictionaries_and_compressed_buffers_are_read_once)
{
	struct buf buffers[3] = { { 0 }, from_hex("01000000000000000300000000000000"),
		from_hex("0300000030616263") };
	const struct row_range first = { 0, 2 }, later = { 5000, 2 };
	struct page_rig rig;

	for (unsigned i = 0; i < 10000; i++)
		buf_put_byte(&buffers[0], (uint8_t)(1 + i % 2));
	ck_assert_int_eq(rig_open(&rig, "dict 2(flat 8 @0, binary 4(flat 64 @1, flat 8 @2 lz4))",
				 &text, 10000, buffers, 3),
		LANCET_OK);
	expect_rows(&rig, "first", &first, 1, "'a' 'bc'");
	ck_assert_uint_eq(rig.source->bytes, 2 + 16 + 8);
	expect_rows(&rig, "later", &later, 1, "'a' 'bc'");
	ck_assert_uint_eq(rig.source->bytes, 2 + 16 + 8 + 2);
	rig_free(&rig);
}
END_TEST

UNIT_MAIN("v20_bulk", UNIT_LOOP(streams_of_bits_have_any_width, numbers),
	UNIT_LOOP(units_of_fastlanes_have_any_width, numbers),
	UNIT_TEST(packed_structs_are_longer_than_a_window),
	UNIT_TEST(symbols_are_expanded_and_nulls_kept),
	UNIT_LOOP(only_what_was_asked_for_is_read, costs), UNIT_TEST(bits_are_read_by_their_bytes),
	UNIT_TEST(dictionaries_and_compressed_buffers_are_read_once))

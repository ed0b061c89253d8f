/* What a read of 4 KiB of row ids costs: bytes read and elements decoded, at any row of any
 * sequence.
 *
 * The long sequences are made up on demand, byte by byte, so that 100 million rows take no memory.
 * Each read is cold: a fresh handle, opening included.
 */
#include "core/sequence.h"
#include "encode.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>

#define ROWS_OF_4K  195 /* lines of 21 bytes */
#define BYTES_MAX   (64u * 1024)
#define DECODED_MAX 8192u
#define GAP         100u /* one hole in so many */

/* Payloads by byte, and the id of each row. */

static uint8_t
byte_of(uint64_t value, uint64_t at, unsigned width)
{
	return (uint8_t)(value >> 8 * (at % width));
}

static uint64_t
scatter(uint64_t i)
{
	return i * 0x9e3779b97f4a7c15 >> 40;
}

static uint8_t
u16_byte(uint64_t at)
{
	return byte_of(scatter(at / 2) & 0xffff, at, 2);
}
static uint64_t
u16_id(uint64_t row)
{
	return 1000 + (scatter(row) & 0xffff);
}
static uint8_t
u32_byte(uint64_t at)
{
	return byte_of(at / 4 * 3, at, 4);
}
static uint64_t
u32_id(uint64_t row)
{
	return 1000 + row * 3;
}
static uint8_t
u64_byte(uint64_t at)
{
	return byte_of((UINT64_C(1) << 40) + at / 8 * 5, at, 8);
}
static uint64_t
u64_id(uint64_t row)
{
	return (UINT64_C(1) << 40) + row * 5;
}
/* Holes at 50, 150, 250 … of a range that starts at 0. */
static uint8_t
hole32_byte(uint64_t at)
{
	return byte_of(at / 4 * GAP + 50, at, 4);
}
static uint8_t
hole64_byte(uint64_t at)
{
	return byte_of(at / 8 * GAP + 50, at, 8);
}
static uint64_t
hole_id(uint64_t row)
{
	return row / (GAP - 1) * GAP + row % (GAP - 1) + (row % (GAP - 1) >= 50);
}
/* 0b10110101: five values in each byte. */
static uint8_t
bits_byte(uint64_t at)
{
	(void)at;
	return 0xb5;
}
static uint64_t
bits_id(uint64_t row)
{
	static const uint64_t bits[] = { 0, 2, 4, 5, 7 };

	return row / 5 * 8 + bits[row % 5];
}

/* Prepends { start #1 = 0, end #2 } to the head of what follows in a range. */
static void
wrap_range(struct buf *head, uint64_t end)
{
	struct buf outer = { 0 };

	put_number(&outer, 1, 0);
	put_number(&outer, 2, end);
	buf_put(&outer, head->data, head->size);
	buf_release(head);
	*head = outer;
}

enum form { ARRAY, HOLES, BITMAP };

static const struct shape {
	const char *label;
	enum form form;
	unsigned kind, width;
	uint8_t (*byte)(uint64_t at);
	uint64_t (*id)(uint64_t row);
} shapes[] = {
	{ "array of u16", ARRAY, 5, 2, u16_byte, u16_id },
	{ "array of u32", ARRAY, 5, 4, u32_byte, u32_id },
	{ "array of u64", ARRAY, 5, 8, u64_byte, u64_id },
	{ "sorted array of u32", ARRAY, 4, 4, u32_byte, u32_id },
	{ "sorted array of u64", ARRAY, 4, 8, u64_byte, u64_id },
	{ "holes of u32", HOLES, 2, 4, hole32_byte, hole_id },
	{ "holes of u64", HOLES, 2, 8, hole64_byte, hole_id },
	{ "bitmap", BITMAP, 3, 0, bits_byte, bits_id },
};

static const uint64_t sizes[] = { 990000, 99000000 }; /* multiples of 5 and of GAP - 1 */

/* The message around a payload of *ret_payload bytes that gives `rows` ids. */
static struct buf
shape_head(const struct shape *shape, uint64_t rows, uint64_t *ret_payload)
{
	struct buf head = { 0 };
	uint64_t elements = shape->form == HOLES ? rows / (GAP - 1) : rows;
	uint64_t payload = shape->form == BITMAP ? rows / 5 : elements * shape->width;

	if (shape->form == BITMAP) {
		wrap_head(&head, 3, payload);
		wrap_range(&head, payload * 8);
	} else {
		struct buf body = { 0 };

		if (shape->form == ARRAY && shape->width != 8)
			put_number(&body, 1, 1000);
		put_head(&body, 2, payload);
		wrap_head(&body, shape->width == 2 ? 1 : shape->width == 4 ? 2 : 3, payload);
		head = body;
		if (shape->form == HOLES) {
			wrap_head(&head, 3, payload);
			wrap_range(&head, rows + elements);
		}
	}
	wrap_head(&head, shape->kind, payload);
	wrap_head(&head, 1, payload);
	*ret_payload = payload;
	return head;
}

static void
check_ids(struct sequence *seq, const struct shape *shape, uint64_t first)
{
	uint64_t ids[ROWS_OF_4K];
	struct lancet_error err = { 0 };

	ck_assert_msg(sequence_read(seq, first, ROWS_OF_4K, ids, &err) == LANCET_OK, "%s: %s",
		shape->label, err.text);
	for (size_t i = 0; i < ROWS_OF_4K; i++)
		ck_assert_msg(ids[i] == shape->id(first + i), "%s: row %" PRIu64, shape->label,
			first + i);
}

/* One cold read at `first`, then one warm one: the counting pass over a bitmap comes on top of the
 * first, whole and once. */
static void
check_cost(const struct shape *shape, uint64_t rows, uint64_t first)
{
	uint64_t payload;
	struct buf head = shape_head(shape, rows, &payload);
	struct test_source *src = test_source_new(buf_slice(&head), payload, shape->byte);
	uint64_t pass = shape->form == BITMAP ? payload : 0;
	uint64_t cold;
	struct sequence *seq;

	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, rows, &seq, NULL), LANCET_OK);
	ck_assert_uint_le(src->read_bytes, BYTES_MAX);
	check_ids(seq, shape, first);
	cold = src->read_bytes;
	ck_assert_msg(cold >= pass && cold - pass <= BYTES_MAX, "%s: %" PRIu64 " bytes read",
		shape->label, cold);
	ck_assert_msg(sequence_decoded(seq) <= DECODED_MAX, "%s: %" PRIu64 " decoded", shape->label,
		sequence_decoded(seq));
	check_ids(seq, shape, rows - ROWS_OF_4K - first);
	ck_assert_uint_le(src->read_bytes - cold, BYTES_MAX);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&head);
}

START_TEST(a_read_costs_the_same_at_any_row)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_cost(&shapes[_i], sizes[i], 0);
		check_cost(&shapes[_i], sizes[i], sizes[i] / 2);
		check_cost(&shapes[_i], sizes[i], sizes[i] - ROWS_OF_4K);
	}
}
END_TEST

START_TEST(one_range_costs_nothing_at_any_row)
{
	struct buf bytes = { 0 };
	struct buf segment = { 0 };
	struct test_source *src;
	struct sequence *seq;
	uint64_t ids[ROWS_OF_4K];

	put_range(&segment, 5, 100000005);
	put_message(&bytes, 1, &segment);
	src = test_source_new(buf_slice(&bytes), 0, NULL);
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 100000000, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(seq, 99999000, ROWS_OF_4K, ids, NULL), LANCET_OK);
	ck_assert_uint_eq(ids[0], 99999005);
	ck_assert_uint_eq(src->read_bytes, bytes.size);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&bytes);
}
END_TEST

/* A sequence of many short ranges is walked once, when it is opened; a read decodes a few of them.
 */
static const struct {
	uint64_t ranges, rows_each;
} folded[] = { { 10000, 100 }, { 1000000, 100 }, { 300000, 1 } };

START_TEST(many_ranges_are_walked_once_and_read_in_place)
{
	uint64_t each = folded[_i].rows_each;
	uint64_t rows = folded[_i].ranges * each;
	const uint64_t firsts[] = { 0, rows / 2, rows - ROWS_OF_4K };
	struct buf bytes = { 0 };
	struct test_source *src;
	struct sequence *seq;

	for (uint64_t i = 0; i < folded[_i].ranges; i++) {
		struct buf segment = { 0 };

		put_range(&segment, 2 * i * each, 2 * i * each + each);
		put_message(&bytes, 1, &segment);
	}
	src = test_source_new(buf_slice(&bytes), 0, NULL);
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, rows, &seq, NULL), LANCET_OK);
	ck_assert_uint_le(src->read_bytes, bytes.size + bytes.size / 16);
	for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
		uint64_t before = src->read_bytes;
		uint64_t decoded = sequence_decoded(seq);
		uint64_t ids[ROWS_OF_4K];

		ck_assert_int_eq(sequence_read(seq, firsts[i], ROWS_OF_4K, ids, NULL), LANCET_OK);
		for (uint64_t j = 0; j < ROWS_OF_4K; j++) {
			uint64_t row = firsts[i] + j;

			ck_assert_uint_eq(ids[j], row / each * 2 * each + row % each);
		}
		ck_assert_uint_le(src->read_bytes - before, BYTES_MAX);
		ck_assert_uint_le(sequence_decoded(seq) - decoded, DECODED_MAX);
	}
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&bytes);
}
END_TEST

UNIT_MAIN("rowids_cost", UNIT_LOOP(a_read_costs_the_same_at_any_row, shapes),
	UNIT_TEST(one_range_costs_nothing_at_any_row),
	UNIT_LOOP(many_ranges_are_walked_once_and_read_in_place, folded))

/* Row id sequences: what the bytes mean, what is refused, and what a read costs. */
#include "core/sequence.h"
#include "encode.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>

#define ROWS_OF_4K 195 /* lines of 21 bytes */

/* Sequences and ids as the reference implementation reads them. */
static const struct {
	const char *hex;
	size_t count;
	uint64_t ids[12];
} examples[] = {
	{ "", 0, { 0 } },
	{ "0a020a00", 0, { 0 } },
	{ "0a040a02100a", 10, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
	{ "0a091a07080210091a0149", 3, { 2, 5, 8 } },
	{ "0a060a04080110020a060a0408051006", 2, { 1, 5 } },
	{ "0a121210086410701a0a0a080867120400000500", 10,
		{ 100, 101, 102, 104, 105, 106, 107, 109, 110, 111 } },
	{ "0a0d1a0b08c80110db011a039e7401", 10,
		{ 201, 202, 203, 204, 207, 210, 212, 213, 214, 216 } },
	{ "0a1d221b0a1908cc0a121400000f020f05c105180ad80ae80cd20f3313ea13", 10,
		{ 1356, 1883, 2651, 2829, 3940, 4132, 4660, 5406, 6271, 6454 } },
	{ "0a322230122e0885c20712280000000068570100a5020200275a0300c8910400ef460500e9140700a42b0800"
	  "0f6308001f130a00",
		10,
		{ 123141, 211053, 254890, 342828, 422605, 468980, 587246, 658601, 672788,
			783396 } },
	{ "0a5622541a52125091d395e002000000d38ba8c105000000e5df602707000000d5fb84d3090000007dad31fd"
	  "0a00000006c3e0350d0000007b687c100e000000dcb66e9510000000daa4d79512000000a3b1ae161500000"
	  "0",
		10,
		{ 12357850001, 24723885011, 30725431269, 42203413461, 47197564285, 56738497286,
			60406130811, 71226537692, 79823348954, 90574860707 } },
	{ "0a1d2a1b0a1908c950121406095b0d45086b0b990e4c1156010000e8020405", 10,
		{ 12623, 13732, 12430, 13236, 14050, 14741, 10655, 10313, 11057, 11597 } },
	{ "0a060a04083210350a102a0e0a0c083c120803000100000002000a060a0408461049", 10,
		{ 50, 51, 52, 63, 61, 60, 62, 70, 71, 72 } },
	{ "0a1c121a08a09c0110ac9c011a10120e08a19c0112080000000009000000", 10,
		{ 20000, 20002, 20003, 20004, 20005, 20006, 20007, 20008, 20009, 20011 } },
	{ "0a18121608b0ea0110bbea011a0c1a0a12083475000000000000", 10,
		{ 30000, 30001, 30002, 30003, 30005, 30006, 30007, 30008, 30009, 30010 } },
};

START_TEST(examples_read_as_the_reference_reads_them)
{
	struct buf hex = from_hex(examples[_i].hex);
	struct test_source *src = test_source_new(buf_slice(&hex), 0, NULL);
	struct sequence *seq;
	uint64_t ids[12];

	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, examples[_i].count, &seq, NULL), 0);
	ck_assert_int_eq(sequence_read(seq, 0, examples[_i].count, ids, NULL), 0);
	for (size_t i = 0; i < examples[_i].count; i++) {
		ck_assert_uint_eq(ids[i], examples[_i].ids[i]);
		ck_assert_int_eq(sequence_read(seq, i, 1, ids + 11, NULL), 0);
		ck_assert_uint_eq(ids[11], examples[_i].ids[i]);
	}
	ck_assert_int_eq(sequence_read(seq, examples[_i].count, 1, ids, NULL), LANCET_INVALID);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&hex);
}
END_TEST

/* 40 rows less the ten ids {1, 2, 5, 7, 8, 11, 13, 17, 19, 23}: least significant bit first. */
START_TEST(bitmaps_start_at_the_least_significant_bit)
{
	static const uint64_t gone[] = { 1, 2, 5, 7, 8, 11, 13, 17, 19, 23 };
	struct buf hex = from_hex("0a0b1a0910281a0559d675ffff");
	struct test_source *src = test_source_new(buf_slice(&hex), 0, NULL);
	struct sequence *seq;
	uint64_t ids[30];
	size_t at = 0;

	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 30, &seq, NULL), 0);
	ck_assert_int_eq(sequence_read(seq, 0, 30, ids, NULL), 0);
	for (uint64_t id = 0, next = 0; id < 40; id++) {
		if (next < ARRAY_SIZE(gone) && gone[next] == id)
			next++;
		else
			ck_assert_uint_eq(ids[at++], id);
	}
	ck_assert_uint_eq(at, 30);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&hex);
}
END_TEST

static const struct {
	const char *label, *hex;
	uint64_t rows;
	const char *reason;
} damaged[] = {
	{ "fewer ids than rows", "0a040a021009", 10, "9 values for 10 rows" },
	{ "more ids than rows", "0a040a02100b", 10, "segment 0: more values than the 10 rows" },
	{ "none at all", "", 1, "0 values for 1 rows" },
	{ "second segment too much", "0a040a02100a0a040a021001", 10, "segment 1: more values" },
	{ "range of 2^63", "0a0d0a0b1080808080808080808001", 10, "segment 0: more values" },
	{ "range reversed", "0a060a04080a1005", 10, "range ends at 5, before its start 10" },
	{ "hole past the end", "0a121210086410701a0a0a080867120400001100", 10, "lies outside" },
	{ "hole before the start", "0a121210086410701a0a0a080860120400000500", 10, "lies outside" },
	{ "holes fall", "0a121210086410701a0a0a080867120405000000", 10, "do not ascend" },
	{ "holes repeat", "0a121210086410701a0a0a080867120405000500", 10, "do not ascend" },
	{ "no holes field", "0a06120408641070", 12, "no holes field" },
	{ "holes of no width",
		"0a08120608641070"
		"1a00",
		12, "unknown width" },
	{ "odd bytes", "0a11120f086410701a090a0708671203000005", 10, "not a multiple" },
	{ "more holes than range", "0a10120e086410651a080a06120400000100", 0, "holes in a range" },
	{ "bitmap short", "0a0a1a0810281a0459d675ff", 22, "bitmap of 4 bytes for a range of 40" },
	{ "bitmap long", "0a0c1a0a10281a0659d675ffff00", 30,
		"bitmap of 6 bytes for a range of 40" },
	{ "bitmap padding", "0a081a06100a1a02d90a", 7, "past the end of its range" },
	{ "bitmap count", "0a081a06100a1a02d902", 7, "6 values for 7 rows" },
	{ "sorted falls", "0a0a22080a06120405000400", 2, "does not ascend at element 1" },
	{ "sorted repeats", "0a0a22080a06120405000500", 2, "does not ascend at element 1" },
	{ "value past 64 bits", "0a132a110a0f08ffffffffffffffffff0112020100", 1, "passes 64 bits" },
	{ "unknown kind", "0a023200", 0, "segment 0: unknown kind" },
	{ "no kind", "0a040a02100a0a00", 10, "segment 1: unknown kind" },
	{ "array of no width", "0a022a00", 0, "unknown width" },
	{ "field beside the segments", "0a040a02100a1200", 10, "field 2 of wire type 2" },
	{ "segments as a number", "0801", 0, "field 1 of wire type 0" },
	{ "kind as a number", "0a020801", 0, "wire type" },
	{ "start as bytes", "0a040a020a00", 0, "wire type" },
	{ "cut", "0a060a040800", 10, "" },
	{ "garbage", "f3a1b24c90ee", 10, "" },
};

START_TEST(damaged_sequences_are_refused_by_segment_and_reason)
{
	struct buf hex = from_hex(damaged[_i].hex);
	struct test_source *src = test_source_new(buf_slice(&hex), 0, NULL);
	struct lancet_error err = { 0 };
	struct sequence *seq = NULL;

	ck_assert_msg(sequence_open(&rowids_ops, &src->base, damaged[_i].rows, &seq, &err) ==
			      LANCET_CORRUPT,
		"%s", damaged[_i].label);
	ck_assert_msg(strstr(err.text, damaged[_i].reason) != NULL, "%s: %s", damaged[_i].label,
		err.text);
	ck_assert_ptr_null(seq);
	source_unref(&src->base);
	buf_release(&hex);
}
END_TEST

/* A sequence made at random next to the ids it stands for. */
struct model {
	struct buf bytes;
	uint64_t *ids;
	size_t count, capacity;
	uint64_t random;
};

static void
model_add(struct model *m, uint64_t id)
{
	if (m->count == m->capacity) {
		m->capacity = m->capacity * 2 + 64;
		m->ids = realloc(m->ids, m->capacity * sizeof(*m->ids));
		ck_assert_ptr_nonnull(m->ids);
	}
	m->ids[m->count++] = id;
}

/* A range of which one in `one_in` is missing, as holes or as a bitmap. */
static void
model_gaps(struct model *m, struct buf *segment, bool as_holes, uint64_t start, uint64_t span,
	uint64_t one_in)
{
	static const unsigned widths[] = { 4, 8, 2 };
	bool *present = calloc(span + 1, sizeof(*present));
	uint64_t *holes = calloc(span + 1, sizeof(*holes));
	size_t hole_count = 0;

	for (uint64_t i = 0; i < span; i++) {
		present[i] = next_random(&m->random) % one_in != 0;
		if (present[i])
			model_add(m, start + i);
		else
			holes[hole_count++] = start + i;
	}
	if (as_holes)
		put_holes(segment, start, start + span, widths[span <= 65536 ? span % 3 : span % 2],
			holes, hole_count);
	else
		put_bitmap(segment, start, span, present);
	free(present);
	free(holes);
}

static void
model_values(struct model *m, struct buf *segment, unsigned kind, size_t count)
{
	static const unsigned widths[] = { 2, 4, 8 };
	unsigned width = widths[next_random(&m->random) % 3];
	uint64_t base = next_random(&m->random) >> 20;
	uint64_t step = width == 2 ? 65536 / (count + 1) : 1000;
	uint64_t *values = calloc(count + 1, sizeof(*values));
	uint64_t value = base;

	if (step == 0)
		step = width = 4;
	for (size_t i = 0; i < count; i++) {
		value += 1 + next_random(&m->random) % step;
		values[i] = kind == 4 ? value : base + next_random(&m->random) % 65536;
		model_add(m, values[i]);
	}
	put_values(segment, kind, width, base, values, count);
	free(values);
}

static void
model_segment(struct model *m, size_t count)
{
	unsigned kind = 1 + (unsigned)(next_random(&m->random) % 5);
	uint64_t start = next_random(&m->random) >> 24;
	uint64_t one_in = 1 + next_random(&m->random) % 40;
	struct buf segment = { 0 };

	if (kind == 1) {
		put_range(&segment, start, start + count);
		for (size_t i = 0; i < count; i++)
			model_add(m, start + i);
	} else if (kind <= 3) {
		model_gaps(m, &segment, kind == 2, start, count, one_in);
	} else {
		model_values(m, &segment, kind, count);
	}
	put_message(&m->bytes, 1, &segment);
}

static const struct {
	size_t segments, count_max;
} shapes[] = {
	{ 1, 40 },
	{ 7, 40 },
	{ 500, 12 },
	{ 5000, 30 },
	{ 5, 4000 },
	{ 40, 9000 },
	{ 3, 200000 },
};

static void
compare(struct sequence *seq, const struct model *m, uint64_t first, size_t count)
{
	uint64_t *ids = calloc(count + 1, sizeof(*ids));

	ck_assert_int_eq(sequence_read(seq, first, count, ids, NULL), LANCET_OK);
	for (size_t i = 0; i < count;
		i++) { /* an assertion for each would cost more than all else */
		if (ids[i] != m->ids[first + i])
			ck_abort_msg("row %zu", (size_t)first + i);
	}
	free(ids);
}

START_TEST(random_sequences_equal_a_plain_list)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct model m = { .random = seed * 0x9e3779b97f4a7c15 };
		struct test_source *src;
		struct sequence *seq;
		struct lancet_error err = { 0 };

		for (size_t i = 0; i < shapes[_i].segments; i++)
			model_segment(&m, next_random(&m.random) % shapes[_i].count_max);
		src = test_source_new(buf_slice(&m.bytes), 0, NULL);
		ck_assert_msg(
			sequence_open(&rowids_ops, &src->base, m.count, &seq, &err) == LANCET_OK,
			"seed %u: %s", (unsigned)seed, err.text);
		compare(seq, &m, 0, m.count);
		for (int i = 0; i < 200 && m.count > 0; i++) {
			uint64_t first = next_random(&m.random) % m.count;
			size_t left = m.count - (size_t)first;

			compare(seq, &m, first, left < ROWS_OF_4K ? left : ROWS_OF_4K);
		}
		sequence_free(seq);
		source_unref(&src->base);
		free(m.ids);
		buf_release(&m.bytes);
	}
}
END_TEST

/* Damage deep in a long sequence is found by whoever reads it, not by its neighbours. */

#define LONG_COUNT 40000u
#define LONG_BAD   30000u

static struct sequence *
open_long(unsigned kind, struct buf *bytes, uint64_t rows)
{
	uint64_t *values = calloc(LONG_COUNT, sizeof(*values));
	struct buf segment = { 0 };
	struct test_source *src;
	struct sequence *seq;

	for (size_t i = 0; i < LONG_COUNT; i++)
		values[i] = 10 * i;
	values[LONG_BAD] = values[LONG_BAD - 1];
	if (kind == 2)
		put_holes(&segment, 0, 10 * LONG_COUNT, 4, values, LONG_COUNT);
	else
		put_values(&segment, kind, 4, 0, values, LONG_COUNT);
	free(values);
	put_message(bytes, 1, &segment);
	src = test_source_new(buf_slice(bytes), 0, NULL);
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, rows, &seq, NULL), LANCET_OK);
	source_unref(&src->base);
	return seq;
}

START_TEST(unsorted_arrays_fail_where_they_are_read)
{
	struct buf bytes = { 0 };
	struct sequence *seq = open_long(4, &bytes, LONG_COUNT);
	struct lancet_error err = { 0 };
	uint64_t ids[100];

	ck_assert_int_eq(sequence_read(seq, 0, 100, ids, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(seq, LONG_COUNT - 100, 100, ids, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(seq, LONG_BAD - 50, 100, ids, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "segment 0: sorted array does not ascend at element 30000");
	ck_assert_int_eq(sequence_read(seq, LONG_BAD, 1, ids, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(sequence_read(seq, LONG_BAD - 100, 100, ids, NULL), LANCET_OK);
	sequence_free(seq);
	buf_release(&bytes);
}
END_TEST

START_TEST(unsorted_holes_fail_where_they_are_read)
{
	struct buf bytes = { 0 };
	struct sequence *seq = open_long(2, &bytes, 9 * LONG_COUNT);
	struct lancet_error err = { 0 };
	uint64_t ids[100];

	ck_assert_int_eq(sequence_read(seq, 0, 100, ids, NULL), LANCET_OK);
	ck_assert_uint_eq(ids[0], 1);
	ck_assert_uint_eq(ids[9], 11);
	ck_assert_int_eq(sequence_read(seq, 9 * LONG_BAD - 50, 100, ids, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "segment 0: holes do not ascend at element 30000");
	sequence_free(seq);
	buf_release(&bytes);
}
END_TEST

START_TEST(long_bitmaps_of_another_length_fail_at_the_first_read)
{
	bool *present = calloc(800000, sizeof(*present));
	struct buf bytes = { 0 };
	struct buf segment = { 0 };
	struct test_source *src;
	struct lancet_error err = { 0 };
	struct sequence *seq;
	uint64_t id;

	for (size_t i = 0; i < 800000; i += 2)
		present[i] = true;
	put_bitmap(&segment, 7, 800000, present);
	put_message(&bytes, 1, &segment);
	src = test_source_new(buf_slice(&bytes), 0, NULL);
	ck_assert_int_eq(
		sequence_open(&rowids_ops, &src->base, 800001, &seq, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "at most 800000 values for 800001 rows");
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 400001, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(seq, 0, 1, &id, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "400000 values for 400001 rows");
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&bytes);
	free(present);
}
END_TEST

UNIT_MAIN("rowids", UNIT_LOOP(examples_read_as_the_reference_reads_them, examples),
	UNIT_TEST(bitmaps_start_at_the_least_significant_bit),
	UNIT_LOOP(damaged_sequences_are_refused_by_segment_and_reason, damaged),
	UNIT_LOOP(random_sequences_equal_a_plain_list, shapes),
	UNIT_TEST(unsorted_arrays_fail_where_they_are_read),
	UNIT_TEST(unsorted_holes_fail_where_they_are_read),
	UNIT_TEST(long_bitmaps_of_another_length_fail_at_the_first_read))

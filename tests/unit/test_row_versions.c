/* Version sequences: only the number of a span's values counts, and all rows are covered exactly.
 */
#include "core/sequence.h"
#include "encode.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>

#define ROWS_OF_4K 195

/* Written by the reference implementation, with the versions it reads back. */
static const struct {
	const char *hex;
	size_t count;
	uint8_t versions[16];
} examples[] = {
	{ "", 0, { 0 } },
	{ "0a080a040a02100a1001", 10, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ "0a0c0a081a06100a1a02d90210010a0b0a071a0510031a010510020a080a040a0210021003", 10,
		{ 1, 1, 1, 1, 1, 1, 2, 2, 3, 3 } },
	{ "0a080a040a02100610010a0a0a060a040806100a1003", 10, { 1, 1, 1, 1, 1, 1, 3, 3, 3, 3 } },
	{ "0a0a0a060a040800100210010a0a0a060a040802100510030a0a0a060a040805100710050a0a0a060a040807"
	  "100810050a0a0a060a040808100a10040a0a0a060a04080a100b10030a0a0a060a04080b100c1002",
		12, { 1, 1, 3, 3, 3, 5, 5, 5, 4, 4, 3, 2 } },
	{ "0a080a040a02100710010a0a0a060a040807100810030a0a0a060a040808100910040a0a0a060a040809100b"
	  "10010a0a0a060a04080b100c10070a0a0a060a04080c100d1008",
		13, { 1, 1, 1, 1, 1, 1, 1, 3, 4, 1, 1, 7, 8 } },
	/* holes: 0..4 less one; arrays of any order count too; an unknown field is passed over */
	{ "0a100a0c120a10051a060a04120201001007", 4, { 7, 7, 7, 7 } },
	{ "0a100a0a2a080a06120405000400100918001200", 2, { 9, 9 } },
};

START_TEST(examples_read_as_the_reference_reads_them)
{
	struct buf hex = from_hex(examples[_i].hex);
	struct test_source *src = test_source_new(buf_slice(&hex), 0, NULL);
	struct lancet_error err = { 0 };
	struct sequence *seq;
	uint64_t versions[16];

	ck_assert_msg(
		sequence_open(&row_versions_ops, &src->base, examples[_i].count, &seq, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(sequence_read(seq, 0, examples[_i].count, versions, NULL), 0);
	for (size_t i = 0; i < examples[_i].count; i++)
		ck_assert_uint_eq(versions[i], examples[_i].versions[i]);
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
	{ "short", "0a080a040a0210091001", 10, "9 values for 10 rows" },
	{ "long", "0a080a040a02100b1001", 10, "run 0: more values than the 10 rows" },
	{ "2^63 rows", "0a110a0d0a0b10808080808080808080011001", 10, "run 0: more values" },
	{ "no span", "0a021001", 0, "run 0: no span" },
	{ "two spans", "0a0e0a040a0210050a040a0210051001", 5, "run 0: two spans" },
	{ "span of no kind", "0a040a001001", 0, "run 0: unknown kind" },
	{ "span reversed", "0a0a0a060a04080a10051001", 0, "ends at 5" },
	{ "bitmap padding", "0a0c0a081a06100a1a02d90a1001", 7, "past the end" },
	{ "version as bytes", "0a080a040a02100a1200", 10, "wire type" },
	{ "run as a number", "0801", 0, "wire type" },
	{ "cut", "0a080a040a02100a10", 10, "" },
	{ "garbage", "c3a1b24c90ee", 10, "" },
};

START_TEST(damaged_sequences_are_refused_by_run_and_reason)
{
	struct buf hex = from_hex(damaged[_i].hex);
	struct test_source *src = test_source_new(buf_slice(&hex), 0, NULL);
	struct lancet_error err = { 0 };
	struct sequence *seq = NULL;

	ck_assert_msg(sequence_open(&row_versions_ops, &src->base, damaged[_i].rows, &seq, &err) ==
			      LANCET_CORRUPT,
		"%s", damaged[_i].label);
	ck_assert_msg(strstr(err.text, damaged[_i].reason) != NULL, "%s: %s", damaged[_i].label,
		err.text);
	source_unref(&src->base);
	buf_release(&hex);
}
END_TEST

/* A span of `count` values of any kind; what the values are must not matter. */
static void
put_span(struct buf *run, uint64_t *random, size_t count)
{
	uint64_t *values = calloc(count + 1, sizeof(*values));
	bool *present = calloc(2 * count + 1, sizeof(*present));
	struct buf span = { 0 };

	switch (next_random(random) % 4) {
	case 0:
		put_range(&span, 1000, 1000 + count);
		break;
	case 1: /* even values are there, odd ones are holes */
		for (size_t i = 0; i < count; i++)
			values[i] = 2 * i + 1;
		put_holes(&span, 0, 2 * count, 4, values, count);
		break;
	case 2:
		for (size_t i = 0; i < count; i++)
			present[2 * i] = true;
		put_bitmap(&span, 77, 2 * count, present);
		break;
	default:
		put_values(&span, 5, 2, 0, values, count);
		break;
	}
	free(values);
	free(present);
	put_message(run, 1, &span);
}

static const struct {
	size_t runs, count_max;
} shapes[] = {
	{ 1, 30 },
	{ 300, 5 },
	{ 20000, 9 },
	{ 6, 1000 },
	{ 3, 150 * 1000 },
};

START_TEST(random_runs_equal_a_plain_list)
{
	size_t capacity = shapes[_i].runs * shapes[_i].count_max;
	uint64_t *expected = calloc(capacity, sizeof(*expected));
	uint64_t *got = calloc(capacity, sizeof(*got));
	uint64_t random = 0x1234567 + (uint64_t)_i;
	struct buf bytes = { 0 };
	struct test_source *src;
	struct sequence *seq;
	size_t rows = 0;

	for (size_t i = 0; i < shapes[_i].runs; i++) {
		size_t count = next_random(&random) % shapes[_i].count_max;
		uint64_t version = next_random(&random) >> (i % 60);
		struct buf run = { 0 };

		put_span(&run, &random, count);
		put_number(&run, 2, version);
		put_message(&bytes, 1, &run);
		for (size_t j = 0; j < count; j++)
			expected[rows++] = version;
	}
	src = test_source_new(buf_slice(&bytes), 0, NULL);
	ck_assert_int_eq(sequence_open(&row_versions_ops, &src->base, rows, &seq, NULL), 0);
	ck_assert_int_eq(sequence_read(seq, 0, rows, got, NULL), 0);
	ck_assert_mem_eq(got, expected, rows * sizeof(*got));
	for (int i = 0; i < 300 && rows > 0; i++) {
		size_t first = next_random(&random) % rows;
		size_t count = rows - first < ROWS_OF_4K ? rows - first : ROWS_OF_4K;

		ck_assert_int_eq(sequence_read(seq, first, count, got, NULL), 0);
		ck_assert_mem_eq(got, expected + first, count * sizeof(*got));
	}
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&bytes);
	free(expected);
	free(got);
}
END_TEST

/* A million runs: one walk, then 4 KiB of rows cost 4 KiB or two of the sequence. */
START_TEST(many_runs_are_walked_once_and_read_in_place)
{
	const uint64_t runs = 1000000;
	const uint64_t firsts[] = { 0, 50 * runs, 100 * runs - ROWS_OF_4K };
	struct buf bytes = { 0 };
	struct test_source *src;
	struct sequence *seq;

	for (uint64_t i = 0; i < runs; i++) {
		struct buf run = { 0 };
		struct buf span = { 0 };

		put_range(&span, 100 * i, 100 * i + 100);
		put_message(&run, 1, &span);
		put_number(&run, 2, i);
		put_message(&bytes, 1, &run);
	}
	src = test_source_new(buf_slice(&bytes), 0, NULL);
	ck_assert_int_eq(sequence_open(&row_versions_ops, &src->base, 100 * runs, &seq, NULL), 0);
	ck_assert_uint_le(src->read_bytes, bytes.size + bytes.size / 16);
	for (size_t i = 0; i < ARRAY_SIZE(firsts); i++) {
		uint64_t before = src->read_bytes;
		uint64_t decoded = sequence_decoded(seq);
		uint64_t versions[ROWS_OF_4K];

		ck_assert_int_eq(sequence_read(seq, firsts[i], ROWS_OF_4K, versions, NULL), 0);
		for (uint64_t j = 0; j < ROWS_OF_4K; j++)
			ck_assert_uint_eq(versions[j], (firsts[i] + j) / 100);
		ck_assert_uint_le(src->read_bytes - before, 64 * 1024);
		ck_assert_uint_le(sequence_decoded(seq) - decoded, 8192);
	}
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&bytes);
}
END_TEST

UNIT_MAIN("row_versions", UNIT_LOOP(examples_read_as_the_reference_reads_them, examples),
	UNIT_LOOP(damaged_sequences_are_refused_by_run_and_reason, damaged),
	UNIT_LOOP(random_runs_equal_a_plain_list, shapes),
	UNIT_TEST(many_runs_are_walked_once_and_read_in_place))

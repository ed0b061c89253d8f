/* Rows by id: every segment kind, told by its values and not by decoding what can't hold them. */
#include "core/sequence.h"
#include "encode.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>

#define ROWS_MAX 64u

struct hits {
	uint64_t rows[ROWS_MAX];
	size_t indices[ROWS_MAX];
	size_t count;
};

static int
note(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	struct hits *hits = user;

	(void)err;
	ck_assert_uint_lt(hits->count, ROWS_MAX);
	hits->rows[hits->count] = row;
	hits->indices[hits->count++] = index;
	return LANCET_OK;
}

struct counted {
	const uint64_t *values, *wanted;
	uint64_t count;
};

static int
note_counted(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	struct counted *hits = user;

	(void)err;
	ck_assert_uint_eq(hits->values[row], hits->wanted[index]);
	hits->count++;
	return LANCET_OK;
}

/* One segment of each kind: ids 10-14; 20, 22, 23; 30, 32, 35; 40, 41, 50; 7, 60, 5. */
static struct buf
all_kinds(void)
{
	static const uint64_t holes[] = { 21 }, sorted[] = { 40, 41, 50 }, any[] = { 7, 60, 5 };
	static const bool present[] = { true, false, true, false, false, true };
	struct buf list = { 0 }, segment = { 0 };

	put_range(&segment, 10, 15);
	put_message(&list, 1, &segment);
	put_holes(&segment, 20, 24, 2, holes, 1);
	put_message(&list, 1, &segment);
	put_bitmap(&segment, 30, 6, present);
	put_message(&list, 1, &segment);
	put_values(&segment, 4, 2, 40, sorted, 3);
	put_message(&list, 1, &segment);
	put_values(&segment, 5, 8, 0, any, 3);
	put_message(&list, 1, &segment);
	return list;
}

START_TEST(ids_are_found_in_every_kind_of_segment)
{
	static const uint64_t ids[] = { 10, 11, 12, 13, 14, 20, 22, 23, 30, 32, 35, 40, 41, 50, 7,
		60, 5 };
	uint64_t wanted[61];
	struct buf list = all_kinds();
	struct test_source *src = test_source_new(buf_slice(&list), 0, NULL);
	struct hits hits = { .count = 0 };
	struct sequence_search search = { wanted, ARRAY_SIZE(wanted), note, &hits };
	struct sequence *seq;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		wanted[i] = i;
	ck_assert_int_eq(
		sequence_open(&rowids_ops, &src->base, ARRAY_SIZE(ids), &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_find(seq, &search, NULL), LANCET_OK);
	ck_assert_uint_eq(hits.count, ARRAY_SIZE(ids));
	for (size_t i = 0; i < hits.count; i++) {
		ck_assert_uint_eq(hits.rows[i], i);
		ck_assert_uint_eq(wanted[hits.indices[i]], ids[i]);
	}
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&list);
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
	static const uint64_t wanted[] = { 0, 6, 9, 15, 21, 24, 31, 36, 42, 61, UINT64_MAX };
	struct buf list = all_kinds();
	struct test_source *src = test_source_new(buf_slice(&list), 0, NULL);
	struct hits hits = { .count = 0 };
	struct sequence_search search = { wanted, ARRAY_SIZE(wanted), note, &hits };
	struct sequence *seq;

	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 17, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_find(seq, &search, NULL), LANCET_OK);
	search.count = 0;
	ck_assert_int_eq(sequence_find(seq, &search, NULL), LANCET_OK);
	ck_assert_uint_eq(hits.count, 0);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&list);
}
END_TEST

/* Values of a long bitmap are told by their bits. */
START_TEST(ids_are_found_in_a_long_bitmap)
{
	enum { BITS = 70003 };
	static bool present[BITS];
	uint64_t wanted[] = { 999, 1000, 1001, 5095, 5096, 5097, 9191, 9192, 71001, 71002, 71003 };
	struct buf list = { 0 }, segment = { 0 };
	struct test_source *src;
	struct hits hits = { .count = 0 };
	struct sequence_search search = { wanted, ARRAY_SIZE(wanted), note, &hits };
	struct sequence *seq;
	uint64_t rows = 0, expected[BITS];
	size_t at = 0;

	for (size_t i = 0; i < BITS; i++) {
		present[i] = i % 7 < 3 || i == BITS - 1;
		expected[i] = rows;
		rows += present[i];
	}
	put_bitmap(&segment, 1000, BITS, present);
	put_message(&list, 1, &segment);
	src = test_source_new(buf_slice(&list), 0, NULL);
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, rows, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_find(seq, &search, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (wanted[i] < 1000 || wanted[i] >= 1000 + BITS || !present[wanted[i] - 1000])
			continue;
		ck_assert_uint_lt(at, hits.count);
		ck_assert_uint_eq(hits.indices[at], i);
		ck_assert_uint_eq(hits.rows[at++], expected[wanted[i] - 1000]);
	}
	ck_assert_uint_eq(hits.count, at);
	ck_assert_uint_ge(at, 4);
	ck_assert_uint_le(sequence_decoded(seq), ARRAY_SIZE(wanted));
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&list);
}
END_TEST

static const bool ways[] = { false, true }; /* whether values ascend */

/* Few wanted values are sifted, many are not; where values ascend, they are looked up. */
START_TEST(ids_are_found_whatever_their_number)
{
	enum { COUNT = 5000, STEP = 3 };
	static uint64_t values[COUNT], wanted[COUNT * STEP];
	static const size_t numbers[] = { 1, 100, 512, 513, COUNT * STEP };

	for (size_t i = 0; i < COUNT; i++)
		values[i] = (ways[_i] ? i : i * 2003 % COUNT) * STEP;
	for (size_t n = 0; n < ARRAY_SIZE(numbers); n++) {
		uint64_t every = COUNT * STEP / numbers[n], due = 0;
		struct counted hits = { values, wanted, 0 };
		struct sequence_search search = { wanted, numbers[n], note_counted, &hits };

		for (size_t i = 0; i < numbers[n]; i++) {
			wanted[i] = i * every;
			due += wanted[i] % STEP == 0;
		}
		ck_assert_int_eq(sequence_search_values(&search, 0, values, COUNT, ways[_i], NULL),
			LANCET_OK);
		ck_assert_uint_eq(hits.count, due);
	}
}
END_TEST

/* A million ranges of a hundred ids: a search looks at their heads. */
START_TEST(ranges_are_not_decoded)
{
	static const uint64_t wanted[] = { 5, 99999999, 150000042 };
	struct buf list = { 0 };
	struct test_source *src;
	struct hits hits = { .count = 0 };
	struct sequence_search search = { wanted, ARRAY_SIZE(wanted), note, &hits };
	struct sequence *seq;

	for (uint64_t i = 0; i < 1000000; i++) {
		struct buf segment = { 0 };

		put_range(&segment, i * 200, i * 200 + 100);
		put_message(&list, 1, &segment);
	}
	src = test_source_new(buf_slice(&list), 0, NULL);
	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 100000000, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_find(seq, &search, NULL), LANCET_OK);
	ck_assert_uint_eq(sequence_decoded(seq), 0);
	ck_assert_uint_eq(hits.count, 2);
	ck_assert_uint_eq(hits.rows[0], 5);
	ck_assert_uint_eq(hits.rows[1], 75000042);
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&list);
}
END_TEST

static int
give_up(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	(void)user;
	(void)index;
	return lancet_fail(err, LANCET_CANCELLED, "row %" PRIu64, row);
}

START_TEST(the_finder_may_end_the_search)
{
	static const uint64_t wanted[] = { 12, 13 };
	struct buf list = all_kinds();
	struct test_source *src = test_source_new(buf_slice(&list), 0, NULL);
	struct sequence_search search = { wanted, 2, give_up, NULL };
	struct lancet_error err = { 0 };
	struct sequence *seq;

	ck_assert_int_eq(sequence_open(&rowids_ops, &src->base, 17, &seq, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_find(seq, &search, &err), LANCET_CANCELLED);
	ck_assert_str_eq(err.text, "segment 0: row 2");
	sequence_free(seq);
	source_unref(&src->base);
	buf_release(&list);
}
END_TEST

UNIT_MAIN("sequence_find", UNIT_TEST(ids_are_found_in_every_kind_of_segment),
	UNIT_TEST(what_is_not_there_is_not_found), UNIT_TEST(ids_are_found_in_a_long_bitmap),
	UNIT_LOOP(ids_are_found_whatever_their_number, ways), UNIT_TEST(ranges_are_not_decoded),
	UNIT_TEST(the_finder_may_end_the_search))

/* Surviving rows: the format facts' bytes, a model that goes row by row, and treemaps that
 * contradict their transition. */
#include "compaction.h"
#include "unit.h"

#include "core/survivors.h"

#include <time.h>

/* Fragments 0 (10 rows, row 3 deleted) and 1 (10 rows): bytes and result from the format facts. */
#define FRAGMENT_0                                                                                 \
	"\x3b\x30\0\0"                                                                             \
	"\1"                                                                                       \
	"\0\0\x08\0"                                                                               \
	"\2\0"                                                                                     \
	"\0\0\2\0"                                                                                 \
	"\4\0\5\0"
#define FRAGMENT_1                                                                                 \
	"\x3b\x30\0\0"                                                                             \
	"\1"                                                                                       \
	"\0\0\x09\0"                                                                               \
	"\1\0"                                                                                     \
	"\0\0\x09\0"
#define KEYS(n) n "\0\0\0\0\0\0\0"
#define KEY(n)  n "\0\0\0"

static const char two_fragments[] = KEYS("\2") KEY("\0") FRAGMENT_0 KEY("\1") FRAGMENT_1;

static struct slice
two_fragments_slice(void)
{
	return slice_of(two_fragments, sizeof(two_fragments) - 1);
}

static struct reuse_survivors *
open_sound(struct slice bytes, const struct lancet_transition *transition)
{
	struct reuse_survivors *survivors = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(
		survivors_open(bytes, transition, &survivors, &err) == LANCET_OK, "%s", err.text);
	return survivors;
}

/* How the same treemap reads for other lists of sources and destinations. */
static const struct {
	const char *label;
	struct lancet_fragment_digest sources[3], destinations[5];
	size_t source_count, destination_count;
	uint64_t located[23]; /* row by row */
} lists[] = {
	{ "one destination", { { 0, 10, 1 }, { 1, 10, 0 } }, { { 2, 19, 0 } }, 2, 1,
		{ ADDR(2, 0), ADDR(2, 1), ADDR(2, 2), NO_ROW, ADDR(2, 3), ADDR(2, 4), ADDR(2, 5),
			ADDR(2, 6), ADDR(2, 7), ADDR(2, 8), ADDR(2, 9), ADDR(2, 10), ADDR(2, 11),
			ADDR(2, 12), ADDR(2, 13), ADDR(2, 14), ADDR(2, 15), ADDR(2, 16),
			ADDR(2, 17), ADDR(2, 18) } },
	{ "sources that descend", { { 1, 10, 0 }, { 0, 10, 1 } }, { { 2, 19, 0 } }, 2, 1,
		{ ADDR(2, 0), ADDR(2, 1), ADDR(2, 2), ADDR(2, 3), ADDR(2, 4), ADDR(2, 5),
			ADDR(2, 6), ADDR(2, 7), ADDR(2, 8), ADDR(2, 9), ADDR(2, 10), ADDR(2, 11),
			ADDR(2, 12), NO_ROW, ADDR(2, 13), ADDR(2, 14), ADDR(2, 15), ADDR(2, 16),
			ADDR(2, 17), ADDR(2, 18) } },
	{ "empty destinations, and a cut inside a source", { { 0, 10, 1 }, { 1, 10, 0 } },
		{ { 9, 0, 0 }, { 7, 4, 0 }, { 3, 0, 0 }, { 5, 15, 0 }, { 6, 0, 0 } }, 2, 5,
		{ ADDR(7, 0), ADDR(7, 1), ADDR(7, 2), NO_ROW, ADDR(7, 3), ADDR(5, 0), ADDR(5, 1),
			ADDR(5, 2), ADDR(5, 3), ADDR(5, 4), ADDR(5, 5), ADDR(5, 6), ADDR(5, 7),
			ADDR(5, 8), ADDR(5, 9), ADDR(5, 10), ADDR(5, 11), ADDR(5, 12), ADDR(5, 13),
			ADDR(5, 14) } },
	{ "a source without survivors between", { { 0, 10, 1 }, { 4, 3, 3 }, { 1, 10, 0 } },
		{ { 2, 9, 0 }, { 8, 10, 0 } }, 3, 2,
		{ ADDR(2, 0), ADDR(2, 1), ADDR(2, 2), NO_ROW, ADDR(2, 3), ADDR(2, 4), ADDR(2, 5),
			ADDR(2, 6), ADDR(2, 7), ADDR(2, 8), NO_ROW, NO_ROW, NO_ROW, ADDR(8, 0),
			ADDR(8, 1), ADDR(8, 2), ADDR(8, 3), ADDR(8, 4), ADDR(8, 5), ADDR(8, 6),
			ADDR(8, 7), ADDR(8, 8), ADDR(8, 9) } },
};

START_TEST(rows_go_where_the_lists_say)
{
	struct lancet_transition t = transition_of(lists[_i].sources, lists[_i].source_count,
		lists[_i].destinations, lists[_i].destination_count);
	struct reuse_survivors *survivors = open_sound(two_fragments_slice(), &t);
	uint64_t rows[23];
	uint64_t addrs[23];

	for (uint64_t i = 0; i < t.source_rows; i++)
		rows[i] = i;
	survivors_locate(survivors, rows, t.source_rows, addrs);
	for (size_t i = 0; i < t.source_rows; i++)
		ck_assert_uint_eq(addrs[i], lists[_i].located[i]);
	survivors_free(survivors);
}
END_TEST

START_TEST(survivors_have_their_source_addresses)
{
	struct lancet_transition t = transition_of(lists[3].sources, 3, lists[3].destinations, 2);
	struct reuse_survivors *survivors = open_sound(two_fragments_slice(), &t);
	static const uint64_t want[] = { ADDR(0, 2), ADDR(0, 4), ADDR(0, 5), ADDR(0, 6), ADDR(0, 7),
		ADDR(0, 8), ADDR(0, 9), ADDR(1, 0), ADDR(1, 1) };
	uint64_t addrs[19];

	survivors_select(survivors, 2, ARRAY_SIZE(want), addrs);
	ck_assert(memcmp(addrs, want, sizeof(want)) == 0);
	survivors_select(survivors, 9, 10, addrs);
	for (uint64_t i = 0; i < 10; i++)
		ck_assert_uint_eq(addrs[i], ADDR(1, i));
	survivors_select(survivors, 19, 0, addrs);
	survivors_free(survivors);
}
END_TEST

static const size_t empty_counts[] = { 0, 1 }; /* destinations without rows */

START_TEST(a_rewrite_may_leave_nothing)
{
	static const struct lancet_fragment_digest sources[] = { { 5, 3, 3 }, { 6, 0, 0 } };
	static const struct lancet_fragment_digest none[] = { { 7, 0, 0 } };
	struct lancet_transition t = transition_of(sources, 2, none, empty_counts[_i]);
	struct reuse_survivors *survivors = open_sound(slice_of(KEYS("\0"), 8), &t);
	uint64_t rows[] = { 0, 1, 2 };
	uint64_t addrs[3] = { 0 };

	survivors_locate(survivors, rows, 3, addrs);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(addrs[i], NO_ROW);
	survivors_select(survivors, 0, 0, addrs);
	survivors_free(survivors);
}
END_TEST

static const int seeds[24];

START_TEST(any_ascending_rows_go_where_the_model_says)
{
	struct model *m = model_make((uint64_t)_i);
	struct reuse_survivors *survivors = open_sound(buf_slice(&m->bytes), &m->transition);
	uint64_t *rows = calloc(ROWS_MAX, sizeof(*rows));
	uint64_t *addrs = calloc(ROWS_MAX, sizeof(*addrs));

	for (uint64_t stride = 1; stride < 40000; stride = stride * 3 + 1) {
		size_t count = 0;

		/* repeats, too */
		for (uint64_t row = draw(m, stride); row < m->row_count && count < ROWS_MAX;
			row += draw(m, 2 * stride))
			rows[count++] = row;
		survivors_locate(survivors, rows, count, addrs);
		for (size_t i = 0; i < count; i++)
			rows[i] = m->located[rows[i]];
		ck_assert(memcmp(addrs, rows, count * sizeof(*addrs)) == 0);
	}
	free(addrs);
	free(rows);
	survivors_free(survivors);
	model_free(m);
}
END_TEST

/* Asked alone, where the next destination is no guess. */
START_TEST(first_rows_of_destinations_are_found_by_themselves)
{
	struct model *m = model_make((uint64_t)_i);
	struct reuse_survivors *survivors = open_sound(buf_slice(&m->bytes), &m->transition);
	size_t wrong = 0;

	for (uint64_t row = 0; row < m->row_count; row++) {
		uint64_t addr = 0;

		if ((m->located[row] & UINT32_MAX) != 0)
			continue;
		survivors_locate(survivors, &row, 1, &addr);
		wrong += addr != m->located[row];
	}
	ck_assert_uint_eq(wrong, 0);
	survivors_free(survivors);
	model_free(m);
}
END_TEST

START_TEST(any_survivors_have_the_addresses_of_the_model)
{
	struct model *m = model_make((uint64_t)_i);
	struct reuse_survivors *survivors = open_sound(buf_slice(&m->bytes), &m->transition);
	uint64_t *addrs = calloc(ROWS_MAX, sizeof(*addrs));

	survivors_select(survivors, 0, (size_t)m->live_count, addrs);
	ck_assert(memcmp(addrs, m->selected, (size_t)m->live_count * sizeof(*addrs)) == 0);
	for (unsigned round = 0; round < 200 && m->live_count > 0; round++) {
		uint64_t first = draw(m, m->live_count);
		size_t count = (size_t)draw(m, 1 + (m->live_count - first) / (1 + round));

		survivors_select(survivors, first, count, addrs);
		ck_assert(memcmp(addrs, m->selected + first, count * sizeof(*addrs)) == 0);
	}
	free(addrs);
	survivors_free(survivors);
	model_free(m);
}
END_TEST

/* Treemaps for sources 0 (10 rows, 1 deleted) and 1 (10 rows), and what is said of them. */
#define BYTES(literal) literal, sizeof(literal) - 1
#define CUT_ROW                                                                                    \
	"\x3a\x30\0\0"                                                                             \
	"\1\0\0\0"                                                                                 \
	"\0\0\0\0"                                                                                 \
	"\x10\0\0\0" /* and its value */
static const struct {
	const char *bytes;
	size_t size;
	const char *want;
} refusals[] = {
	{ BYTES(""), "0 fragments in 0 bytes" },
	{ BYTES(KEYS("\2")), "2 fragments in 8 bytes" },
	{ BYTES("\0\0\0\0\0\0\0\x10" KEY("\0") FRAGMENT_0),
		"1152921504606846976 fragments in 31 bytes" },
	{ BYTES(KEYS("\3") KEY("\0") FRAGMENT_0 KEY("\1") FRAGMENT_1 KEY("\2") CUT_ROW "\0"),
		"fragment 2 is no source" },
	{ BYTES(KEYS("\2") KEY("\1") FRAGMENT_1 KEY("\0") FRAGMENT_0),
		"fragment 0 after fragment 1" },
	{ BYTES(KEYS("\2") KEY("\1") FRAGMENT_1 KEY("\1") FRAGMENT_1),
		"fragment 1 after fragment 1" },
	{ BYTES(KEYS("\2") KEY("\0") FRAGMENT_0 KEY("\1") FRAGMENT_1 "\0"),
		"1 bytes behind the end" },
	{ BYTES(KEYS("\1") KEY("\0") FRAGMENT_0 KEY("\1") FRAGMENT_1), "19 bytes behind the end" },
	{ BYTES(KEYS("\2") KEY("\0") FRAGMENT_0 "\1\0"), "cut at 33 bytes" },
	{ BYTES(KEYS("\2") KEY("\0") FRAGMENT_0 KEY("\1") FRAGMENT_0),
		"fragment 1: 9 surviving rows, 0 of 10 were deleted" },
	{ BYTES(KEYS("\2") KEY("\0") FRAGMENT_1 KEY("\1") FRAGMENT_1),
		"fragment 0: 10 surviving rows, 1 of 10 were deleted" },
	{ BYTES(KEYS("\1") KEY("\0") FRAGMENT_0),
		"fragment 1: 0 surviving rows, 0 of 10 were deleted" },
	{ BYTES(KEYS("\2") KEY("\0") FRAGMENT_0 KEY("\1") "\x3b\x30\0\0"
							  "\1"
							  "\0\0\x09\0"
							  "\1\0"
							  "\1\0\x09\0"),
		"fragment 1: roaring bitmap: value 10, must be below 10" },
	{ BYTES(KEYS("\1") KEY("\0") "\x39\x30\0\0"
				     "\0\0\0\0"),
		"fragment 0: roaring bitmap: cookie is 12345" },
};

START_TEST(a_contradiction_is_refused_with_its_reason)
{
	static const struct lancet_fragment_digest sources[] = { { 0, 10, 1 }, { 1, 10, 0 } };
	static const struct lancet_fragment_digest destination = { 2, 19, 0 };
	struct lancet_transition t = transition_of(sources, 2, &destination, 1);
	struct reuse_survivors *survivors = NULL;
	struct lancet_error err = { 0 };
	struct slice bytes = slice_of(refusals[_i].bytes, refusals[_i].size);
	char want[200];

	snprintf(want, sizeof(want), "surviving rows: %s", refusals[_i].want);
	ck_assert_int_eq(survivors_open(bytes, &t, &survivors, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, want);
	ck_assert_ptr_null(survivors);
}
END_TEST

START_TEST(every_cut_is_refused)
{
	struct lancet_transition t = transition_of(lists[0].sources, 2, lists[0].destinations, 1);
	struct reuse_survivors *survivors = NULL;
	struct slice whole = two_fragments_slice();

	for (size_t size = 0; size < whole.size; size++) {
		uint8_t *exact = malloc(size == 0 ? 1 : size); /* a sanitizer sees overruns */

		memcpy(exact, whole.data, size);
		ck_assert_int_eq(survivors_open(slice_of(exact, size), &t, &survivors, NULL),
			LANCET_CORRUPT);
		free(exact);
	}
	ck_assert_ptr_null(survivors);
}
END_TEST

START_TEST(destinations_that_do_not_add_up_are_refused)
{
	static const struct lancet_fragment_digest few[] = { { 2, 10, 0 }, { 3, 8, 0 } };
	struct lancet_transition t = transition_of(lists[0].sources, 2, few, 2);
	struct reuse_survivors *survivors = NULL;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(
		survivors_open(two_fragments_slice(), &t, &survivors, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "surviving rows: 19 surviving rows for 18 of the destinations");
	ck_assert_ptr_null(survivors);
}
END_TEST

#define MANY        200000u
#define CPU_SECONDS 5 /* each source against each would take more */

START_TEST(many_sources_in_any_order_are_found)
{
	struct lancet_fragment_digest *sources = calloc(MANY, sizeof(*sources));
	struct lancet_fragment_digest destination = { MANY, MANY, 0 };
	struct lancet_transition t;
	struct reuse_survivors *survivors;
	struct buf bytes = { 0 };
	uint64_t *rows = calloc(MANY, sizeof(*rows));
	uint64_t *addrs = calloc(MANY, sizeof(*addrs));
	clock_t start = clock();
	size_t wrong = 0;

	put_le(&bytes, MANY, 8);
	for (uint32_t i = 0; i < MANY; i++) { /* row 0 of each, by descending ids */
		sources[i] = (struct lancet_fragment_digest){ MANY - 1 - i, 2, 1 };
		put_le(&bytes, i, 4);
		buf_put(&bytes, CUT_ROW "\0", 18);
		rows[i] = i * UINT64_C(2);
	}
	t = transition_of(sources, MANY, &destination, 1);
	survivors = open_sound(buf_slice(&bytes), &t);
	ck_assert_uint_le(survivors_footprint(survivors), 10 * bytes.size);
	survivors_locate(survivors, rows, MANY, addrs);
	for (uint64_t i = 0; i < MANY; i++)
		wrong += addrs[i] != ADDR(MANY, i);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t row = 2 * (i * 7919 % MANY);

		survivors_locate(survivors, &row, 1, addrs);
		wrong += addrs[0] != ADDR(MANY, row / 2);
	}
	survivors_select(survivors, 0, MANY, addrs);
	for (uint64_t i = 0; i < MANY; i++)
		wrong += addrs[i] != ADDR(MANY - 1 - i, 0);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, CPU_SECONDS);
	survivors_free(survivors);
	buf_release(&bytes);
	free(addrs);
	free(rows);
	free(sources);
}
END_TEST

/* Runs name all the rows a fragment can have in a megabyte, and cost no more. */
START_TEST(memory_follows_the_bytes_and_not_the_rows)
{
	static const struct lancet_fragment_digest source = { 8, UINT32_MAX, 1 };
	static const struct lancet_fragment_digest destinations[] = { { 1, UINT32_MAX - 5u, 0 },
		{ 2, 4, 0 } };
	struct lancet_transition t = transition_of(&source, 1, destinations, 2);
	roaring_bitmap_t *kept = roaring_bitmap_from_range(1, UINT32_MAX, 1);
	static const uint64_t rows[] = { 0, 1, 100000, UINT32_MAX - 5u, UINT32_MAX - 4u,
		UINT32_MAX - 1u };
	static const uint64_t want[] = { NO_ROW, ADDR(1, 0), ADDR(1, 99999),
		ADDR(1, UINT32_MAX - 6u), ADDR(2, 0), ADDR(2, 3) };
	struct reuse_survivors *survivors;
	struct buf bytes = { 0 };
	uint64_t addrs[ARRAY_SIZE(rows)];

	roaring_bitmap_run_optimize(kept);
	put_le(&bytes, 1, 8);
	put_bitmap(&bytes, 8, kept);
	ck_assert_uint_lt(bytes.size, 1 << 20);
	survivors = open_sound(buf_slice(&bytes), &t);
	ck_assert_uint_gt(survivors_footprint(survivors), bytes.size);
	ck_assert_uint_le(survivors_footprint(survivors), 4 * bytes.size);
	survivors_locate(survivors, rows, ARRAY_SIZE(rows), addrs);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_uint_eq(addrs[i], want[i]);
	survivors_select(survivors, UINT32_MAX - 2u, 1, addrs);
	ck_assert_uint_eq(addrs[0], ADDR(8, UINT32_MAX - 1u));
	survivors_free(survivors);
	buf_release(&bytes);
	roaring_bitmap_free(kept);
}
END_TEST

UNIT_MAIN("survivors", UNIT_LOOP(rows_go_where_the_lists_say, lists),
	UNIT_TEST(survivors_have_their_source_addresses),
	UNIT_LOOP(a_rewrite_may_leave_nothing, empty_counts),
	UNIT_LOOP(any_ascending_rows_go_where_the_model_says, seeds),
	UNIT_LOOP(first_rows_of_destinations_are_found_by_themselves, seeds),
	UNIT_LOOP(any_survivors_have_the_addresses_of_the_model, seeds),
	UNIT_LOOP(a_contradiction_is_refused_with_its_reason, refusals),
	UNIT_TEST(every_cut_is_refused), UNIT_TEST(destinations_that_do_not_add_up_are_refused),
	UNIT_TEST(many_sources_in_any_order_are_found),
	UNIT_TEST(memory_follows_the_bytes_and_not_the_rows))

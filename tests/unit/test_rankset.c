/* Rank and select on stored bitmaps: as CRoaring and hand-made bytes have it, in a bounded index.
 */
#include "unit.h"

#include "util/buf.h"
#include "util/rankset.h"

#include <roaring/roaring.h>

#define ANY_VALUE (UINT64_C(1) << 32)

/* The same numbers each time (SplitMix64). */
static uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static roaring_bitmap_t *
make_empty(void)
{
	return roaring_bitmap_create();
}

static roaring_bitmap_t *
make_ends(void)
{
	return roaring_bitmap_of(6, 0, 1, 65535, 65536, 4294901760u, 4294967295u);
}

/* Values of several keys, each of which is there with a chance of one in `rarity`. */
static roaring_bitmap_t *
scattered(uint32_t end, uint64_t rarity)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_create();
	uint64_t state = rarity;

	for (uint32_t value = 0; value < end; value++) {
		if (draw(&state) % rarity == 0)
			roaring_bitmap_add(bitmap, value);
	}
	return bitmap;
}

static roaring_bitmap_t *
make_arrays(void)
{
	return scattered(300000, 40);
}

static roaring_bitmap_t *
make_bitsets(void)
{
	return scattered(200000, 2);
}

/* A bitset whose words and blocks are in part empty and in part full. */
static roaring_bitmap_t *
make_lumpy_bitset(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_create();

	for (uint32_t value = 1024; value < 65536; value++) {
		if (value % 3 != 0 && (value / 700) % 5 != 2)
			roaring_bitmap_add(bitmap, value);
	}
	roaring_bitmap_add_range(bitmap, 40000, 44000);
	return bitmap;
}

/* All but one in `rarity`, as runs; fewer than four containers have no offsets. */
static roaring_bitmap_t *
pierced(uint32_t end, uint64_t rarity)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(9, end, 1);
	uint64_t state = rarity;

	for (uint32_t value = 10; value < end; value += 1 + (uint32_t)(draw(&state) % rarity))
		roaring_bitmap_remove(bitmap, value);
	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *
make_few_runs(void)
{
	return pierced(100000, 20000);
}

static roaring_bitmap_t *
make_many_runs(void)
{
	return pierced(270000, 50);
}

/* All kinds side by side, with keys that are left out. */
static roaring_bitmap_t *
make_mixture(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_create();
	uint64_t state = 1;

	for (uint32_t key = 3; key < 40; key += 1 + key % 3) {
		uint32_t first = key << 16;

		if (key % 4 == 0)
			roaring_bitmap_add_range(bitmap, first, first + 65536);
		else if (key % 4 == 1)
			roaring_bitmap_add_range(bitmap, first + 70, first + 90);
		for (uint32_t i = 0; i < 200; i++)
			roaring_bitmap_add(bitmap, first + (uint32_t)(draw(&state) & 0xffff));
		for (uint32_t low = 0; key % 4 == 2 && low < 65536; low += 2)
			roaring_bitmap_add(bitmap, first + low);
	}
	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *
make_everything(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(0, ANY_VALUE, 1);

	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *(*const makers[])(void) = {
	make_empty,
	make_ends,
	make_arrays,
	make_bitsets,
	make_lumpy_bitset,
	make_few_runs,
	make_many_runs,
	make_mixture,
	make_everything,
};

/* A bitmap, its bytes, and the set that is opened over them. */
struct subject {
	roaring_bitmap_t *bitmap;
	struct buf bytes;
	struct rankset *set;
};

static struct subject
subject_make(roaring_bitmap_t *bitmap)
{
	struct subject s = { .bitmap = bitmap };
	struct lancet_error err = { 0 };
	size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);

	ck_assert(buf_reserve(&s.bytes, size + 1));
	s.bytes.size = roaring_bitmap_portable_serialize(bitmap, (char *)s.bytes.data);
	ck_assert_msg(rankset_open(buf_slice(&s.bytes), ANY_VALUE, &s.set, &err) == LANCET_OK, "%s",
		err.text);
	return s;
}

static void
subject_release(struct subject *s)
{
	rankset_free(s->set);
	buf_release(&s->bytes);
	roaring_bitmap_free(s->bitmap);
}

static void
check_rank(const struct subject *s, uint32_t value, uint64_t rank)
{
	uint64_t want = RANKSET_ABSENT;

	if (roaring_bitmap_contains(s->bitmap, value))
		want = roaring_bitmap_rank(s->bitmap, value) - 1;
	if (rank != want)
		ck_abort_msg("rank of %u is %llu, not %llu", (unsigned)value,
			(unsigned long long)rank, (unsigned long long)want);
}

START_TEST(ranks_are_those_of_croaring_in_any_order)
{
	struct subject s = subject_make(makers[_i]());
	uint32_t values[1500];
	uint64_t ranks[1500];
	uint64_t state = 7;
	uint32_t end = roaring_bitmap_is_empty(s.bitmap) ? 70000 : roaring_bitmap_maximum(s.bitmap);
	uint64_t range = (uint64_t)end + 70000 < ANY_VALUE ? (uint64_t)end + 70000 : ANY_VALUE;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		values[i] = (uint32_t)(draw(&state) % range);
		if (i > 0 && i % 7 == 0) /* neighbours, and the same again */
			values[i] = values[i - 1] + (uint32_t)(i % 3) - 1;
	}
	rankset_ranks(s.set, values, ARRAY_SIZE(values), ranks);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		check_rank(&s, values[i], ranks[i]);
	subject_release(&s);
}
END_TEST

START_TEST(ascending_values_count_up_at_any_stride)
{
	static const uint32_t strides[] = { 0, 1, 2, 3, 63, 64, 100, 511, 1000, 5000, 65535,
		70000 };
	struct subject s = subject_make(makers[_i]());
	uint64_t ranks[3000];
	uint32_t values[ARRAY_SIZE(ranks)];

	for (size_t k = 0; k < ARRAY_SIZE(strides); k++) {
		for (uint32_t i = 0; i < ARRAY_SIZE(values); i++)
			values[i] = 64000 + i * strides[k];
		rankset_ranks(s.set, values, ARRAY_SIZE(values), ranks);
		for (size_t i = 0; i < ARRAY_SIZE(values); i += 1 + i % 67)
			check_rank(&s, values[i], ranks[i]);
	}
	subject_release(&s);
}
END_TEST

#define MEMBERS_MAX 400000u

START_TEST(members_come_by_number_from_any_place)
{
	struct subject s = subject_make(makers[_i]());
	uint64_t total = roaring_bitmap_get_cardinality(s.bitmap);
	uint64_t state = 3;
	uint32_t *members = malloc(MEMBERS_MAX * sizeof(*members));

	ck_assert_uint_eq(rankset_count(s.set), total);
	rankset_select(s.set, total, 0, NULL);
	for (unsigned round = 0; round < 20 && total > 0; round++) {
		uint64_t first = round == 0 ? 0 : draw(&state) % total;
		size_t count = round % 3 == 0 ? MEMBERS_MAX : (size_t)(draw(&state) % 300);

		if (count > total - first)
			count = (size_t)(total - first);
		rankset_select(s.set, first, count, members);
		for (size_t i = 0; i < count; i += 1 + count / 40) {
			uint32_t want = 0;

			ck_assert(roaring_bitmap_select(s.bitmap, (uint32_t)(first + i), &want));
			ck_assert_uint_eq(members[i], want);
		}
	}
	free(members);
	subject_release(&s);
}
END_TEST

START_TEST(all_members_come_in_order)
{
	struct subject s = subject_make(makers[_i]());
	uint64_t total = roaring_bitmap_get_cardinality(s.bitmap);
	size_t count = total < 1000000 ? (size_t)total : 0; /* not 4 billion of them */
	uint32_t *want = malloc((count + 1) * sizeof(*want));
	uint32_t *members = malloc((count + 1) * sizeof(*members));
	uint64_t *ranks = malloc((count + 1) * sizeof(*ranks));
	size_t wrong = 0;

	if (count > 0)
		roaring_bitmap_to_uint32_array(s.bitmap, want);
	rankset_select(s.set, 0, count, members);
	ck_assert(memcmp(members, want, count * sizeof(*want)) == 0);
	rankset_ranks(s.set, members, count, ranks);
	for (size_t i = 0; i < count; i++)
		wrong += ranks[i] != i;
	ck_assert_uint_eq(wrong, 0);
	free(ranks);
	free(members);
	free(want);
	subject_release(&s);
}
END_TEST

START_TEST(the_index_follows_the_bytes_and_not_the_values)
{
	struct subject s = subject_make(makers[_i]());

	ck_assert_uint_gt(rankset_footprint(s.set), 0);
	ck_assert_uint_le(rankset_footprint(s.set), 64 + 6 * s.bytes.size);
	if (makers[_i] == make_bitsets) /* 256 bytes of sums for each 8,192 */
		ck_assert_uint_le(rankset_footprint(s.set), s.bytes.size / 20);
	subject_release(&s);
}
END_TEST

START_TEST(a_limit_of_values_and_the_end_of_the_bytes_are_kept)
{
	struct subject s = subject_make(makers[_i]());
	struct rankset *set = NULL;
	struct lancet_error err = { 0 };
	uint64_t end = 0;

	if (!roaring_bitmap_is_empty(s.bitmap))
		end = (uint64_t)roaring_bitmap_maximum(s.bitmap) + 1;
	ck_assert_int_eq(rankset_open(buf_slice(&s.bytes), end, &set, NULL), LANCET_OK);
	rankset_free(set);
	set = NULL;
	if (end > 0)
		ck_assert_int_eq(
			rankset_open(buf_slice(&s.bytes), end - 1, &set, NULL), LANCET_CORRUPT);
	for (size_t size = 0; size < s.bytes.size; size += 1 + size / 8) {
		uint8_t *exact = malloc(size == 0 ? 1 : size); /* a sanitizer sees overruns */

		memcpy(exact, s.bytes.data, size);
		ck_assert_int_eq(
			rankset_open(slice_of(exact, size), ANY_VALUE, &set, NULL), LANCET_CORRUPT);
		free(exact);
	}
	buf_put_byte(&s.bytes, 0);
	ck_assert_int_eq(rankset_open(buf_slice(&s.bytes), ANY_VALUE, &set, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "roaring bitmap: 1 bytes behind its end");
	ck_assert_ptr_null(set);
	subject_release(&s);
}
END_TEST

#define NONE RANKSET_ABSENT

/* Ten rows without row 3, from the format facts; and runs that touch, which no optimiser leaves. */
static const struct {
	uint8_t bytes[19];
	uint64_t ranks[9];
	uint32_t members[4]; /* from number 2 on */
} stored[] = {
	{ { 0x3b, 0x30, 0, 0, 1, 0, 0, 8, 0, 2, 0, 0, 0, 2, 0, 4, 0, 5, 0 },
		{ 0, 2, NONE, 3, 8, NONE, NONE, NONE, NONE }, { 2, 4, 5, 6 } },
	{ { 0x3b, 0x30, 0, 0, 1, 0, 0, 8, 0, 2, 0, 0, 0, 2, 0, 3, 0, 5, 0 },
		{ 0, 2, 3, 4, NONE, NONE, NONE, NONE, NONE }, { 2, 3, 4, 5 } },
};

START_TEST(stored_runs_are_taken_as_they_are)
{
	static const uint32_t values[] = { 0, 2, 3, 4, 9, 10, 65535, 65536, UINT32_MAX };
	struct rankset *set = NULL;
	uint64_t ranks[ARRAY_SIZE(values)];
	uint32_t members[4];

	ck_assert_int_eq(
		rankset_open(slice_of(stored[_i].bytes, sizeof(stored[_i].bytes)), 10, &set, NULL),
		LANCET_OK);
	ck_assert_uint_eq(rankset_count(set), 9);
	rankset_ranks(set, values, ARRAY_SIZE(values), ranks);
	ck_assert(memcmp(ranks, stored[_i].ranks, sizeof(ranks)) == 0);
	rankset_select(set, 2, ARRAY_SIZE(members), members);
	ck_assert(memcmp(members, stored[_i].members, sizeof(members)) == 0);
	rankset_free(set);
}
END_TEST

UNIT_MAIN("rankset", UNIT_LOOP(ranks_are_those_of_croaring_in_any_order, makers),
	UNIT_LOOP(ascending_values_count_up_at_any_stride, makers),
	UNIT_LOOP(members_come_by_number_from_any_place, makers),
	UNIT_LOOP(all_members_come_in_order, makers),
	UNIT_LOOP(the_index_follows_the_bytes_and_not_the_values, makers),
	UNIT_LOOP(a_limit_of_values_and_the_end_of_the_bytes_are_kept, makers),
	UNIT_LOOP(stored_runs_are_taken_as_they_are, stored))

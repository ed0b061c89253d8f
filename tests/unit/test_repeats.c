/* Repeated values: found wherever they are, and never where there are none. */
#include "core/repeats.h"
#include "encode.h"
#include "unit.h"

static uint64_t values[REPEATS_MAX];

static void
shuffle(uint64_t *list, size_t count, uint64_t seed)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)(next_random(&seed) % i);
		uint64_t value = list[i - 1];

		list[i - 1] = list[other];
		list[other] = value;
	}
}

static const size_t counts[] = { 0, 1, 2, 3, 100, REPEATS_MAX };

START_TEST(distinct_values_do_not_repeat)
{
	uint64_t repeated = 0;

	for (size_t i = 0; i < counts[_i]; i++)
		values[i] = i * 3;
	ck_assert(!repeats_find(values, counts[_i], &repeated));
	shuffle(values, counts[_i], 42);
	ck_assert(!repeats_find(values, counts[_i], &repeated));
	for (size_t i = 0; i < counts[_i]; i++) /* few slots for all */
		values[i] = (uint64_t)i << 45;
	ck_assert(!repeats_find(values, counts[_i], &repeated));
}
END_TEST

START_TEST(one_repetition_is_found_anywhere)
{
	for (uint64_t seed = 1; seed < 200; seed++) {
		uint64_t repeated = 0;

		for (size_t i = 0; i < REPEATS_MAX; i++)
			values[i] = i;
		values[seed] = values[REPEATS_MAX - seed];
		if (seed % 2 == 0)
			shuffle(values, REPEATS_MAX, seed);
		ck_assert(repeats_find(values, REPEATS_MAX, &repeated));
		ck_assert_uint_eq(repeated, REPEATS_MAX - seed);
	}
}
END_TEST

UNIT_MAIN("repeats", UNIT_LOOP(distinct_values_do_not_repeat, counts),
	UNIT_TEST(one_repetition_is_found_anywhere))

/* Memory that dies together, and its limit. */
#include "unit.h"

#include "util/arena.h"
#include "util/pballoc.h"

#include <string.h>

static const size_t sizes[] = { 0, 1, 15, 16, 17, 100, 4095, 4096, 5000, 300000, 3 };

START_TEST(allocations_are_aligned_and_disjoint)
{
	struct arena a = { 0 };
	uint8_t *taken[200];

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		size_t size = sizes[i % ARRAY_SIZE(sizes)];

		taken[i] = arena_alloc(&a, size);
		ck_assert_ptr_nonnull(taken[i]);
		ck_assert_uint_eq((uintptr_t)taken[i] % 16, 0);
		memset(taken[i], (int)i, size);
	}
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		for (size_t at = 0; at < sizes[i % ARRAY_SIZE(sizes)]; at++)
			ck_assert_uint_eq(taken[i][at], i);
	}
	ck_assert_uint_ge(arena_footprint(&a), a.used);
	arena_release(&a);
	ck_assert_uint_eq(arena_footprint(&a), 0);
	ck_assert_uint_eq(a.used, 0);
}
END_TEST

START_TEST(the_limit_bounds_what_malloc_gives)
{
	struct arena a = { .limit = 100000 };
	size_t step = sizes[_i] == 0 ? 16 : sizes[_i];

	while (arena_alloc(&a, step) != NULL)
		ck_assert_uint_le(a.used, a.limit);
	ck_assert(a.full);
	ck_assert_uint_le(arena_footprint(&a), a.limit + a.limit / 2);
	if (step < 5000)
		ck_assert_uint_ge(a.used, a.limit - step - 200);
	arena_release(&a);
	ck_assert(!a.full);
	ck_assert_uint_eq(a.limit, 100000);
}
END_TEST

START_TEST(products_that_wrap_are_refused)
{
	struct arena a = { 0 };

	ck_assert_ptr_null(arena_zalloc(&a, SIZE_MAX / 2, 3));
	ck_assert(a.full);
	a.full = false;
	ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX));
	ck_assert(a.full);
	arena_release(&a);
}
END_TEST

START_TEST(zalloc_is_zero_and_copy_is_equal)
{
	struct arena a = { 0 };
	uint8_t *zeros;

	memset(arena_alloc(&a, 100), 0xff, 100);
	zeros = arena_zalloc(&a, 25, 4);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(zeros[i], 0);
	ck_assert_mem_eq(arena_copy(&a, "abc", 4), "abc", 4);
	ck_assert_ptr_nonnull(arena_copy(&a, NULL, 0));
	ck_assert_ptr_nonnull(arena_zalloc(&a, 0, 8));
	arena_release(&a);
}
END_TEST

START_TEST(protobuf_allocations_come_from_the_arena)
{
	struct arena a = { .limit = 200 };
	ProtobufCAllocator pb = pb_allocator(&a);
	void *taken = pb.alloc(pb.allocator_data, 40);

	ck_assert_ptr_nonnull(taken);
	ck_assert_uint_ge(a.used, 40);
	pb.free(pb.allocator_data, taken);
	ck_assert_ptr_null(pb.alloc(pb.allocator_data, 400));
	ck_assert(a.full);
	arena_release(&a);
}
END_TEST

UNIT_MAIN("arena", UNIT_TEST(allocations_are_aligned_and_disjoint),
          UNIT_LOOP(the_limit_bounds_what_malloc_gives, sizes),
          UNIT_TEST(products_that_wrap_are_refused), UNIT_TEST(zalloc_is_zero_and_copy_is_equal),
          UNIT_TEST(protobuf_allocations_come_from_the_arena))

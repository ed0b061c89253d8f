/* The growable buffer: content, limit, sticky failure. */
#include "unit.h"

#include "util/buf.h"

START_TEST(writers_append_in_order)
{
	struct buf b = { 0 };

	buf_put_text(&b, "ab");
	buf_put_byte(&b, '-');
	buf_fill(&b, ' ', 2);
	buf_printf(&b, "%d%s", 42, "!");
	buf_put_slice(&b, slice_of("z\0z", 3));
	buf_put(&b, NULL, 0);
	ck_assert(slice_equal(buf_slice(&b), slice_of("ab-  42!z\0z", 11)));
	ck_assert_int_eq(buf_check(&b, "text", NULL), LANCET_OK);
	buf_release(&b);
	ck_assert_uint_eq(b.size, 0);
	ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(printf_of_any_length_is_complete)
{
	struct buf b = { 0 };
	char want[5001];

	for (int length = 0; length < 5000; length += 61) {
		memset(want, 'x', (size_t)length);
		want[length] = '\0';
		buf_release(&b);
		buf_printf(&b, "%s", want);
		ck_assert(slice_equal(buf_slice(&b), slice_text(want)));
	}
	buf_release(&b);
}
END_TEST

START_TEST(the_limit_may_be_reached_but_not_passed)
{
	struct buf b = { .limit = 100 };
	struct lancet_error err = { 0 };

	buf_fill(&b, 'a', 95);
	buf_printf(&b, "%s", "bbbbb");
	ck_assert_uint_eq(b.size, 100);
	ck_assert_int_eq(b.failed, LANCET_OK);
	buf_put_byte(&b, 'c');
	ck_assert_uint_eq(b.size, 100);
	ck_assert_int_eq(buf_check(&b, "info.json", &err), LANCET_LIMIT);
	ck_assert_str_eq(err.text, "info.json: more than 100 bytes");
	buf_release(&b);
}
END_TEST

START_TEST(failure_is_sticky)
{
	struct buf b = { .limit = 8 };

	buf_put_text(&b, "1234");
	buf_printf(&b, "%s", "too long for this");
	ck_assert_int_eq(b.failed, LANCET_LIMIT);
	buf_put_byte(&b, '5');
	buf_fill(&b, '5', 1);
	buf_printf(&b, "5");
	ck_assert(!buf_reserve(&b, 0));
	ck_assert(slice_equal(buf_slice(&b), slice_text("1234")));
	buf_release(&b);
}
END_TEST

START_TEST(sizes_that_wrap_are_out_of_memory)
{
	struct buf b = { 0 };
	struct lancet_error err = { 0 };

	buf_put_byte(&b, 'a');
	ck_assert(!buf_reserve(&b, SIZE_MAX - 1));
	ck_assert_int_eq(buf_check(&b, "text", &err), LANCET_NO_MEMORY);
	ck_assert_str_eq(err.text, "text: out of memory");
	buf_release(&b);
}
END_TEST

UNIT_MAIN("buf", UNIT_TEST(writers_append_in_order), UNIT_TEST(printf_of_any_length_is_complete),
          UNIT_TEST(the_limit_may_be_reached_but_not_passed), UNIT_TEST(failure_is_sticky),
          UNIT_TEST(sizes_that_wrap_are_out_of_memory))

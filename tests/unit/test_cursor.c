/* Reading structured bytes: exact values, exact ends. */
#include "unit.h"

#include "util/cursor.h"

static const uint8_t bytes[] = { 1, 0x34, 0x12, 0x78, 0x56, 0x34, 0x92, 8, 7, 6, 5, 4, 3, 2, 0x81 };

START_TEST(integers_are_little_endian)
{
	struct cursor c = { .in = { bytes, sizeof(bytes) } };

	ck_assert_uint_eq(cursor_u8(&c), 1);
	ck_assert_uint_eq(cursor_u16(&c), 0x1234);
	ck_assert_uint_eq(cursor_u32(&c), 0x92345678);
	ck_assert_uint_eq(cursor_u64(&c), 0x8102030405060708);
	ck_assert(!c.bad);
	ck_assert_uint_eq(cursor_left(&c), 0);
}
END_TEST

START_TEST(a_read_past_the_end_is_sticky_and_gives_zero)
{
	struct cursor c = { .in = { bytes, 5 } };

	ck_assert_uint_eq(cursor_u32(&c), 0x78123401);
	ck_assert_uint_eq(cursor_u16(&c), 0);
	ck_assert(c.bad);
	ck_assert_uint_eq(c.at, 4);
	ck_assert_uint_eq(cursor_u8(&c), 0);
	ck_assert_uint_eq(cursor_varint(&c), 0);
	ck_assert_uint_eq(cursor_take(&c, 0).size, 0);
	ck_assert_uint_eq(cursor_left(&c), 0);
	ck_assert_uint_eq(c.at, 4);
}
END_TEST

START_TEST(huge_sizes_do_not_wrap)
{
	struct cursor c = { .in = { bytes, sizeof(bytes) }, .at = 3 };

	ck_assert_ptr_null(cursor_take(&c, UINT64_MAX - 1).data);
	ck_assert(c.bad);
	c = (struct cursor){ .in = { bytes, sizeof(bytes) }, .at = 3 };
	cursor_skip(&c, UINT64_MAX);
	ck_assert(c.bad);
}
END_TEST

START_TEST(an_empty_slice_without_address_can_be_read)
{
	struct cursor c = { 0 };

	ck_assert_uint_eq(cursor_take(&c, 0).size, 0);
	ck_assert(!c.bad);
	ck_assert_uint_eq(cursor_varint(&c), 0);
	ck_assert(c.bad);
}
END_TEST

static const struct {
	const char *label;
	size_t size;
	uint8_t bytes[12];
	bool good;
	uint64_t value;
} varints[] = {
	{ "zero", 1, { 0 }, true, 0 },
	{ "one byte", 1, { 0x7f }, true, 127 },
	{ "two bytes", 2, { 0x96, 0x01 }, true, 150 },
	{ "padded zero", 3, { 0x80, 0x80, 0 }, true, 0 },
	{ "largest", 10, { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 }, true, UINT64_MAX },
	{ "65 bits", 10, { 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 }, false, 0 },
	{ "eleven bytes", 11, { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0 }, false, 0 },
	{ "cut", 2, { 0x80, 0x80 }, false, 0 },
	{ "nothing", 0, { 0 }, false, 0 },
};

START_TEST(varints_have_at_most_ten_bytes_and_64_bits)
{
	struct cursor c = { .in = { varints[_i].bytes, varints[_i].size } };

	ck_assert_msg(cursor_varint(&c) == varints[_i].value, "%s", varints[_i].label);
	ck_assert_msg(c.bad == !varints[_i].good, "%s", varints[_i].label);
	ck_assert_uint_eq(c.at, varints[_i].good ? varints[_i].size : 0);
}
END_TEST

START_TEST(slices_order_like_memcmp_with_prefixes_first)
{
	ck_assert_int_lt(slice_compare(slice_text("a"), slice_text("ab")), 0);
	ck_assert_int_gt(slice_compare(slice_text("b"), slice_text("ab")), 0);
	ck_assert_int_lt(slice_compare(slice_of(NULL, 0), slice_text("a")), 0);
	ck_assert(slice_equal(slice_of(NULL, 0), slice_text("")));
	ck_assert(!slice_equal(slice_text("a"), slice_text("b")));
}
END_TEST

UNIT_MAIN("cursor", UNIT_TEST(integers_are_little_endian),
          UNIT_TEST(a_read_past_the_end_is_sticky_and_gives_zero),
          UNIT_TEST(huge_sizes_do_not_wrap),
          UNIT_TEST(an_empty_slice_without_address_can_be_read),
          UNIT_LOOP(varints_have_at_most_ten_bytes_and_64_bits, varints),
          UNIT_TEST(slices_order_like_memcmp_with_prefixes_first))

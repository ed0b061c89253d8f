/* JSON text becomes the bytes that pylance 14.0.2 stores for it, and text again. */
#include "core/json_binary.h"
#include "core/json_text.h"
#include "encode.h"
#include "unit.h"

/* What pylance stores; ours is the same. */
static const struct {
	const char *text, *hex;
} values[] = {
	{ "null", "2000000000000000" },
	{ "true", "2000000040000000" },
	{ " false\n", "2000000030000000" },
	{ "\"x\"", "200000001000000178" },
	{ "\"\"", "2000000010000000" },
	{ "{}", "40000000" },
	{ "[ ]", "80000000" },
	{ "0", "200000002000000100" },
	{ "-0", "200000002000000100" },
	{ "-1", "200000002000000240ff" },
	{ "255", "200000002000000250ff" },
	{ "256", "2000000020000003500100" },
	{ "-129", "200000002000000340ff7f" },
	{ "-32769", "200000002000000540ffff7fff" },
	{ "4294967296", "2000000020000009500000000100000000" },
	{ "18446744073709551615", "200000002000000950ffffffffffffffff" },
	{ "18446744073709551616", "20000000200000096043f0000000000000" },
	{ "-9223372036854775808", "2000000020000009408000000000000000" },
	{ "-9223372036854775809", "200000002000000960c3e0000000000000" },
	{ "123456789012345678901234567890", "20000000200000096045f8ee90ff6c373e" },
	{ "0.0", "2000000020000009600000000000000000" },
	{ "-0.0", "2000000020000009608000000000000000" },
	{ "1.10", "2000000020000009603ff199999999999a" },
	{ "1e5", "20000000200000096040f86a0000000000" },
	{ " { \"a\" : [ 1 , { } ] } ",
		"40000001100000015000001261800000022000000250000004500140000000" },
	{ "{\"\xc3\xa9\":\"\\u00e9\\ud83d\\ude00\\n\",\"\":null}",
		"4000000210000000100000020000000010000007c3a9c3a9f09f98800a" },
	{ "{\"b\":{\"z\":1,\"y\":2},\"aa\":1,\"B\":3}",
		"4000000310000001100000021000000120000002200000025000001a426161625003500140000002"
		"10000001100000012000000220000002797a50025001" },
	{ "[[]]", "800000015000000480000000" },
	{ "[{}]", "800000015000000440000000" },
	{ "[[1],2]", "800000025000000a20000002800000012000000250015002" },
};

START_TEST(bytes_are_those_of_the_reference)
{
	struct buf want = from_hex(values[_i].hex), got = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_msg(json_binary_put(slice_text(values[_i].text), &got, &err) == LANCET_OK, "%s",
		err.text);
	ck_assert(slice_equal(buf_slice(&got), buf_slice(&want)));
	buf_release(&got);
	buf_release(&want);
}
END_TEST

/* Behind what is there already, and as text again. */
START_TEST(values_are_appended)
{
	struct buf got = { 0 }, text = { 0 }, plain = { 0 };
	struct lancet_error err = { 0 };

	buf_put_text(&got, "before");
	ck_assert_int_eq(json_binary_put(slice_text(values[_i].text), &got, NULL), LANCET_OK);
	ck_assert(memcmp(got.data, "before", 6) == 0);
	ck_assert_msg(json_text_put(slice_of(got.data + 6, got.size - 6), &text, &err) == LANCET_OK,
		"%s", err.text);
	ck_assert_int_eq(json_binary_put(buf_slice(&text), &plain, NULL), LANCET_OK);
	ck_assert(slice_equal(buf_slice(&plain), slice_of(got.data + 6, got.size - 6)));
	buf_release(&got);
	buf_release(&text);
	buf_release(&plain);
}
END_TEST

/* Much of this pylance takes, and some of it it changes. */
static const struct {
	const char *text;
	const char *want;
} broken[] = {
	{ "", "byte 1: a value is missing" },
	{ "1 2", "byte 3: more behind the value" },
	{ "[1,]", "byte 4: a value is expected" },
	{ "[,]", "byte 2: a value is expected" },
	{ "{\"a\":1,}", "byte 8: a string is expected" },
	{ "{\"a\":1,\"a\":2}", "byte 14: an object that has a key twice" },
	{ "{\"a\":1,\"\\u0061\":2}", "byte 19: an object that has a key twice" },
	{ "{'a':1}", "byte 2: a string is expected" },
	{ "nan", "byte 1: a value is expected" },
	{ "NaN", "byte 1: a value is expected" },
	{ "01", "byte 2: more behind the value" },
	{ "+1", "byte 1: a value is expected" },
	{ ".5", "byte 1: a value is expected" },
	{ "1e400", "byte 6: a number that is too large" },
	{ "\"\\ud800\"", "byte 8: half a surrogate pair" },
	{ "\"a\nb\"", "byte 3: a control character in a string" },
	{ "TRUE", "byte 1: a value is expected" },
	{ "\"\xff\"", "JSON that is not UTF-8" },
};

START_TEST(what_is_not_json_is_refused)
{
	struct buf got = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_int_eq(json_binary_put(slice_text(broken[_i].text), &got, &err), LANCET_INVALID);
	ck_assert_str_eq(err.text, broken[_i].want);
	buf_release(&got);
}
END_TEST

START_TEST(depth_has_a_limit)
{
	struct buf text = { 0 }, got = { 0 };
	struct lancet_error err = { 0 };

	buf_fill(&text, '[', JSON_BINARY_DEPTH_MAX);
	buf_fill(&text, ']', JSON_BINARY_DEPTH_MAX);
	ck_assert_int_eq(json_binary_put(buf_slice(&text), &got, &err), LANCET_OK);
	text.size = 0;
	buf_fill(&text, '[', JSON_BINARY_DEPTH_MAX + 1);
	buf_fill(&text, ']', JSON_BINARY_DEPTH_MAX + 1);
	ck_assert_int_eq(json_binary_put(buf_slice(&text), &got, &err), LANCET_LIMIT);
	ck_assert_str_eq(err.text, "JSON nested deeper than 1024 levels");
	buf_release(&text);
	buf_release(&got);
}
END_TEST

START_TEST(objects_may_be_wide)
{
	struct buf text = { 0 }, got = { 0 }, again = { 0 };

	for (unsigned i = 0; i < 20000; i++)
		buf_printf(&text, "%s\"%u\":[%u]", i == 0 ? "{" : ",", (i * 7919) % 20000, i);
	buf_put_byte(&text, '}');
	ck_assert_int_eq(json_binary_put(buf_slice(&text), &got, NULL), LANCET_OK);
	ck_assert_int_eq(json_text_put(buf_slice(&got), &again, NULL), LANCET_OK);
	ck_assert_uint_eq(again.size, text.size);
	ck_assert(memcmp(again.data, "{\"0\":[0],\"1\":[", 13) == 0);
	buf_release(&text);
	buf_release(&got);
	buf_release(&again);
}
END_TEST

UNIT_MAIN("json_binary", UNIT_LOOP(bytes_are_those_of_the_reference, values),
	UNIT_LOOP(values_are_appended, values), UNIT_LOOP(what_is_not_json_is_refused, broken),
	UNIT_TEST(depth_has_a_limit), UNIT_TEST(objects_may_be_wide))

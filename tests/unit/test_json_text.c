/* JSONB as text: the spelling of the reference, and bytes that are no JSONB. */
#include "core/json_text.h"
#include "encode.h"
#include "unit.h"

/* Stored bytes and what pylance 14.0.2 reads them as. */
static const struct {
	const char *hex, *text;
} values[] = {
	{ "", "null" },
	{ "2000000000000000", "null" },
	{ "2000000040000000", "true" },
	{ "2000000030000000", "false" },
	{ "80000000", "[]" },
	{ "40000000", "{}" },
	{ "4000000310000001100000011000000120000002500000235000001161626350018000000440000000000000"
	  "002000000910000006603ff8000000000000782279c3a90a4000000110000001500000046440000000",
		"{\"a\":1,\"b\":[true,null,1.5,\"x\\\"y\xc3\xa9\\n\"],\"c\":{\"d\":{}}}" },
	{ "4000000210000001100000012000000220000002616250025001", "{\"a\":2,\"b\":1}" },
	{ "40000001100000011000000501f09f98802f", "{\"\\u0001\":\"\xf0\x9f\x98\x80/\"}" },
	{ "200000001000000173", "\"s\"" },
	{ "200000001000000108", "\"\\b\"" },
	{ "20000000100000010c", "\"\\f\"" },
	{ "20000000100000010d", "\"\\r\"" },
	{ "20000000100000011f", "\"\\u001f\"" },
	{ "20000000100000015c", "\"\\\\\"" },
	{ "20000000100000017f", "\"\x7f\"" },
	{ "200000001000000461626364ffff", "\"abcd\"" },
	{ "200000002000000950ab54a98ceb1f0ad2", "12345678901234567890" },
	{ "200000002000000950ffffffffffffffff", "18446744073709551615" },
	{ "200000002000000240fb", "-5" },
	{ "2000000020000003"
	  "40ff7f",
		"-129" },
	{ "2000000020000009408000000000000000", "-9223372036854775808" },
	{ "20000000200000055000010000", "65536" },
	{ "200000002000000100", "0" },
	{ "200000002000000110", "null" }, /* NaN, and the infinities */
	{ "200000002000000120", "null" },
	{ "200000002000000130", "null" },
	{ "2000000020000009607ff8000000000000", "null" },
	{ "2000000020000009608000000000000000", "-0.0" },
	{ "2000000020000009603ff0000000000000", "1.0" },
	{ "2000000020000009603fb999999999999a", "0.1" },
	{ "20000000200000096040fe240c9fbe76c9", "123456.789" },
	{ "2000000020000009603eb92a737110e454", "1.5e-6" },
	{ "2000000020000009603eef75104d551d69", "0.000015" },
	{ "2000000020000009603ee9e409302678ba", "0.000012345678901234568" },
	{ "2000000020000009603ee4f8b588e368f1", "0.00001" },
	{ "20000000200000096043118b54f22aeb03", "1234567890123456.8" },
	{ "200000002000000960430c6bf526340000", "1000000000000000.0" },
	{ "2000000020000009604340000000000000", "9007199254740992.0" },
	{ "2000000020000009604341c37937e08000", "1e+16" },
	{ "200000002000000960c3e0000000000000", "-9.223372036854776e+18" },
	{ "20000000200000096043f0000000000000", "1.8446744073709552e+19" },
	{ "20000000200000096045f8ee90ff6c373e", "1.2345678901234568e+29" },
	{ "2000000020000009607fefffffffffffff", "1.7976931348623157e+308" },
	{ "2000000020000009600000000000000001", "5e-324" },
};

START_TEST(values_read_as_the_reference_reads_them)
{
	struct buf stored = from_hex(values[_i].hex), text = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_msg(json_text_put(buf_slice(&stored), &text, &err) == LANCET_OK, "%s: %s",
		values[_i].text, err.text);
	buf_put_byte(&text, '\0');
	ck_assert_str_eq((const char *)text.data, values[_i].text);
	buf_release(&stored);
	buf_release(&text);
}
END_TEST

static const struct {
	const char *hex;
	int code;
	const char *text;
} broken[] = {
	{ "80", LANCET_CORRUPT, "JSON: 1 bytes" },
	{ "00000000", LANCET_CORRUPT, "JSON: head 0x00000000" },
	{ "80000001", LANCET_CORRUPT, "JSON: 1 entries in 4 bytes" },
	{ "9fffffff00000000", LANCET_CORRUPT, "JSON: 536870911 entries in 8 bytes" },
	{ "4000000110000000", LANCET_CORRUPT, "JSON: 1 entries in 8 bytes" },
	{ "400000010000000000000000", LANCET_CORRUPT, "JSON: a key that is no text" },
	{ "400000011000000100000000", LANCET_CORRUPT, "JSON: keys pass the end" },
	{ "8000000120000001", LANCET_CORRUPT, "JSON: a value passes the end" },
	{ "2000000020000001", LANCET_CORRUPT, "JSON: entry 0x20000001" },
	{ "200000005000000420000000", LANCET_CORRUPT, "JSON: entry 0x50000004" },
	{ "80000001500000022000", LANCET_CORRUPT, "JSON: 2 bytes" },
	{ "2000000010000001ff", LANCET_CORRUPT, "JSON: text is not UTF-8" },
	{ "2000000020000000", LANCET_CORRUPT, "JSON: a number of kind 0xff" },
	{ "20000000200000015000", LANCET_CORRUPT, "JSON: a number of kind 0x50 with 0 bytes" },
	{ "200000002000000450000000", LANCET_CORRUPT, "JSON: a number of kind 0x50 with 3 bytes" },
	{ "20000000200000056000000000", LANCET_CORRUPT,
		"JSON: a number of kind 0x60 with 4 bytes" },
	{ "200000002000000199", LANCET_CORRUPT, "JSON: a number of kind 0x99" },
	{ "20000000200000027000", LANCET_UNSUPPORTED, "JSON: a decimal number" },
	{ "20000000600000017f", LANCET_UNSUPPORTED, "JSON: a value of extension kind 0x60" },
};

START_TEST(bytes_that_are_no_json_are_refused)
{
	struct buf stored = from_hex(broken[_i].hex), text = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_int_eq(json_text_put(buf_slice(&stored), &text, &err), broken[_i].code);
	ck_assert_str_eq(err.text, broken[_i].text);
	buf_release(&stored);
	buf_release(&text);
}
END_TEST

/* [[[…]]], `depth` brackets in all. */
static struct buf
nested(unsigned depth)
{
	struct buf b = { 0 };

	for (unsigned i = depth; i > 0; i--) {
		unsigned inner = (i - 1) * 8 - (i > 1 ? 4 : 0);
		uint32_t words[] = { __builtin_bswap32(i > 1 ? 0x80000001 : 0x80000000),
			__builtin_bswap32(0x50000000 | inner) };

		buf_put(&b, words, i > 1 ? sizeof(words) : sizeof(words[0]));
	}
	return b;
}

START_TEST(nesting_takes_no_stack_and_has_a_limit)
{
	struct buf deep = nested(JSON_DEPTH_MAX), deeper = nested(JSON_DEPTH_MAX + 1);
	struct buf text = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_int_eq(json_text_put(buf_slice(&deep), &text, &err), LANCET_OK);
	ck_assert_uint_eq(text.size, 2 * JSON_DEPTH_MAX);
	ck_assert_int_eq(json_text_put(buf_slice(&deeper), &text, &err), LANCET_LIMIT);
	ck_assert_str_eq(err.text, "JSON: nested 65536 levels deep");
	buf_release(&deep);
	buf_release(&deeper);
	buf_release(&text);
}
END_TEST

static const struct field_entry extension[] = {
	{ { (const uint8_t *)"a", 1 }, { (const uint8_t *)"b", 1 } },
	{ { (const uint8_t *)EXTENSION_KEY, sizeof(EXTENSION_KEY) - 1 },
		{ (const uint8_t *)JSON_STORED_AS, sizeof(JSON_STORED_AS) - 1 } },
};

START_TEST(values_of_a_tree_are_replaced)
{
	struct field json = { .kind = FIELD_VARIABLE,
		.large = true,
		.format = "Z",
		.metadata = extension,
		.metadata_count = 2 };
	struct field list = { .kind = FIELD_LIST, .children = &json, .child_count = 1 };
	struct array_budget budget = { .limit = 4096 };
	struct buf one = from_hex("20000000200000025007");
	struct array array;
	struct lancet_error err = { 0 };

	ck_assert(!json_text_is_for(&list) && json_text_is_in(&list) && json_text_is_for(&json));
	ck_assert(!json_text_is_in(field_bytes(true)));
	ck_assert_int_eq(array_init(&array, &list, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_bytes(&array.children[0], buf_slice(&one), NULL), 0);
	ck_assert_int_eq(array_append_nulls(&array.children[0], 1, NULL), 0);
	ck_assert_int_eq(array_append_list(&array, 2, NULL), 0);
	ck_assert_int_eq(json_text_convert(&array, &err), LANCET_OK);
	ck_assert_ptr_eq(array.children[0].field, field_bytes(false));
	ck_assert_uint_eq(array.children[0].length, 2);
	ck_assert(slice_equal(array_bytes(&array.children[0], 0), slice_text("7")));
	ck_assert(!array_is_valid(&array.children[0], 1));
	array_release(&array);
	ck_assert_uint_eq(budget.used, 0);
	buf_release(&one);
}
END_TEST

/* A text may be six times as long as what is stored; it has the budget of the batch, no more. */
START_TEST(text_is_bounded_by_the_budget)
{
	struct field json = {
		.kind = FIELD_VARIABLE, .large = true, .metadata = extension, .metadata_count = 2
	};
	struct array_budget budget = { .limit = 8192 };
	struct buf one = from_hex("20000000100003e8");
	struct array array;
	struct lancet_error err = { 0 };

	buf_fill(&one, 1, 1000);
	ck_assert_int_eq(array_init(&array, &json, &budget, NULL), LANCET_OK);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(array_append_bytes(&array, buf_slice(&one), NULL), LANCET_OK);
	ck_assert_int_eq(json_text_convert(&array, &err), LANCET_LIMIT);
	array_release(&array);
	ck_assert_uint_eq(budget.used, 0);
	buf_release(&one);
}
END_TEST

UNIT_MAIN("json_text", UNIT_LOOP(values_read_as_the_reference_reads_them, values),
	UNIT_LOOP(bytes_that_are_no_json_are_refused, broken),
	UNIT_TEST(nesting_takes_no_stack_and_has_a_limit), UNIT_TEST(values_of_a_tree_are_replaced),
	UNIT_TEST(text_is_bounded_by_the_budget))

/* Documents of users: what json-c alone would pass over; and base64 back to bytes. */
#include "unit.h"

#include <json-c/json.h>

#include "util/base64.h"
#include "util/json_large.h"

#include <inttypes.h>
#include <string.h>

#define SIZE_LIMIT ((size_t)1 << 20)
#define DEPTH_MAX  8

static const struct {
	const char *text;
	int want;
	const char *why; /* a part of what is said */
} documents[] = {
	{ "{}", LANCET_OK, "" },
	{ " {\"a\" : [1, -2, 3.5e-1, true, false, null, \"\\u00e9\\n\\\\\"]} \n", LANCET_OK, "" },
	{ "{\"a\": \"\\ud83d\\ude00\"}", LANCET_OK, "" },
	{ "{\"a\": 18446744073709551615, \"b\": -9223372036854775808}", LANCET_OK, "" },
	{ "{\"a\": [[[[[[1]]]]]]}", LANCET_OK, "" },
	{ "{\"a\": {\"a\": {\"a\": 1}}, \"b\": [{\"a\": 1}, {\"a\": 1}]}", LANCET_OK, "" },
	{ "{\"a\": \"b\\\": 1, \\\"a\"}", LANCET_OK, "" },
	{ "{\"a\": 18446744073709551616}", LANCET_CORRUPT, "byte 6: a whole number" },
	{ "{\"a\": -9223372036854775809}", LANCET_CORRUPT, "byte 6: a whole number" },
	{ "{\"a\": 01}", LANCET_CORRUPT, "byte 6: a whole number" },
	{ "{\"a\": 1, \"a\": 2}", LANCET_CORRUPT, "key twice" },
	{ "{\"a\": 1, \"\\u0061\": 2}", LANCET_CORRUPT, "key twice" },
	{ "{\"a\": {\"b\": 1, \"c\": [{\"d\": 1, \"d\": 1}]}}", LANCET_CORRUPT, "key twice" },
	{ "{\"a\\u0000b\": 1, \"a\\u0000b\": 2}", LANCET_CORRUPT, "key twice" },
	{ "{\"a\": \"\\ud83d\"}", LANCET_CORRUPT, "byte 7: half a surrogate" },
	{ "{\"a\": \"\\ud83d\\u0041\"}", LANCET_CORRUPT, "half a surrogate" },
	{ "{\"a\": \"\\ude00\\ud83d\"}", LANCET_CORRUPT, "half a surrogate" },
	{ "{\"a\": \"\\u12g4\"}", LANCET_CORRUPT, "four digits" },
	{ "{\"a\": \"\\u12", LANCET_CORRUPT, "four digits" },
	{ "{\"a\": \"\\", LANCET_CORRUPT, "cut off" },
	{ "{\"a\": \"x", LANCET_CORRUPT, "cut off" },
	{ "{\"a\": \"\\x\"}", LANCET_CORRUPT, "JSON at byte" },
	{ "{\"a\": \"\t\"}", LANCET_CORRUPT, "control character" },
	{ "{\"a\": NaN}", LANCET_CORRUPT, "not allowed" },
	{ "{'a': 1}", LANCET_CORRUPT, "not allowed" },
	{ "{\"a\": 1} {}", LANCET_CORRUPT, "JSON at byte 9" },
	{ "{\"a\": [[[[[[[[1]]]]]]]]}", LANCET_CORRUPT, "nested deeper than 8" },
	{ "{\"a\": \"\xff\"}", LANCET_CORRUPT, "JSON at byte" },
	{ "[1]", LANCET_CORRUPT, "not an object" },
	{ "", LANCET_CORRUPT, "empty" },
};

START_TEST(a_document_is_strict_and_exact)
{
	struct json_object *root = NULL;
	struct lancet_error err = { 0 };
	int rc = json_parse_large(
		slice_text(documents[_i].text), SIZE_LIMIT, DEPTH_MAX, &root, &err);

	ck_assert_msg(rc == documents[_i].want && strstr(err.text, documents[_i].why) != NULL,
		"%s: %d %s", documents[_i].text, rc, err.text);
	ck_assert_int_eq(root != NULL, rc == LANCET_OK);
	json_free(root);
}
END_TEST

START_TEST(keys_keep_every_byte)
{
	static const char text[] = "{\"a\\u0000b\": 1, \"\\u0001\": 2, \"\\u00010\": 3, \"c\": "
				   "\"v\\u0000\\u0001\", \"\": 4}";
	static const struct slice want[] = {
		{ (const uint8_t *)"a\0b", 3 },
		{ (const uint8_t *)"\1", 1 },
		{ (const uint8_t *)"\1"
				   "0",
			2 },
		{ (const uint8_t *)"c", 1 },
		{ (const uint8_t *)"", 0 },
	};
	struct json_object *root = NULL;
	size_t at = 0;

	ck_assert_int_eq(
		json_parse_large(slice_text(text), SIZE_LIMIT, DEPTH_MAX, &root, NULL), LANCET_OK);
	json_object_object_foreach(root, key, value)
	{
		struct buf plain = { 0 };

		json_key_put(key, &plain);
		ck_assert_uint_lt(at, ARRAY_SIZE(want));
		ck_assert(slice_equal(buf_slice(&plain), want[at]));
		if (at == 3) /* values are as they were */
			ck_assert_int_eq(json_object_get_string_len(value), 3);
		at++;
		buf_release(&plain);
	}
	ck_assert_uint_eq(at, ARRAY_SIZE(want));
	json_free(root);
}
END_TEST

/* `count` times the text between the brackets of a list. */
static int
parse_many(const char *item, unsigned count)
{
	struct json_object *root = NULL;
	struct buf text = { 0 };
	int rc;

	buf_put_text(&text, "{\"a\": [");
	for (unsigned i = 0; i < count; i++)
		buf_printf(&text, "%s%s", i > 0 ? "," : "", item);
	buf_put_text(&text, "]}");
	rc = json_parse_large(buf_slice(&text), (size_t)64 << 20, DEPTH_MAX, &root, NULL);
	json_free(root);
	buf_release(&text);
	return rc;
}

START_TEST(size_and_memory_are_limited)
{
	struct json_object *root = NULL;

	ck_assert_int_eq(json_parse_large(slice_text("{\"a\": 1}"), 7, DEPTH_MAX, &root, NULL),
		LANCET_LIMIT);
	ck_assert_int_eq(parse_many("{}", 10000), LANCET_OK);
	ck_assert_int_eq(parse_many("{}", 1000000), LANCET_LIMIT);
	ck_assert_int_eq(parse_many("[]", 1000000), LANCET_LIMIT);
	ck_assert_int_eq(parse_many("1", 5000000), LANCET_LIMIT);
	/* what documents are made of: names, lists of numbers */
	ck_assert_int_eq(
		parse_many("{\"path\": \"0111010000100101110010004e02a34203a926f4579382288b"
			   ".lance\", \"fields\": [0, 1, 2], \"file_size_bytes\": 1234}",
			100000),
		LANCET_OK);
}
END_TEST

static const struct {
	const char *text, *bytes; /* bytes NULL: no base64 */
} base64_texts[] = {
	{ "", "" },
	{ "YQ==", "a" },
	{ "YWI=", "ab" },
	{ "YWJj", "abc" },
	{ "YWJjZA==", "abcd" },
	{ "+/+/", "\xfb\xff\xbf" },
	{ "YQ", NULL },
	{ "YQ=", NULL },
	{ "YR==", NULL },
	{ "YWJ=", NULL },
	{ "YQ==YQ==", NULL },
	{ "Y===", NULL },
	{ "====", NULL },
	{ "YW J", NULL },
	{ "YWJj\n", NULL },
	{ "-_-_", NULL },
};

START_TEST(base64_has_one_spelling)
{
	uint8_t bytes[16];
	size_t size = 0;
	bool good = base64_decode(slice_text(base64_texts[_i].text), bytes, &size);

	ck_assert_msg(good == (base64_texts[_i].bytes != NULL), "%s", base64_texts[_i].text);
	if (good)
		ck_assert(slice_equal(slice_of(bytes, size), slice_text(base64_texts[_i].bytes)));
}
END_TEST

UNIT_MAIN("json_large", UNIT_LOOP(a_document_is_strict_and_exact, documents),
	UNIT_TEST(keys_keep_every_byte), UNIT_TEST(size_and_memory_are_limited),
	UNIT_LOOP(base64_has_one_spelling, base64_texts))

/* Strict reading of JSON documents. */
#include "unit.h"

#include "util/buf.h"
#include "util/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *text;
	int want;
} documents[] = {
	{ "{}", LANCET_OK },
	{ " { \"a\" : 1 } \n", LANCET_OK },
	{ "{\"a\": [1, {\"b\": null}]}\r\n\t ", LANCET_OK },
	{ "", LANCET_CORRUPT },
	{ "  \n", LANCET_CORRUPT },
	{ "[]", LANCET_CORRUPT },
	{ "1", LANCET_CORRUPT },
	{ "null", LANCET_CORRUPT },
	{ "\"text\"", LANCET_CORRUPT },
	{ "{", LANCET_CORRUPT },
	{ "{\"a\": 1", LANCET_CORRUPT },
	{ "{\"a\": 1,}", LANCET_CORRUPT },
	{ "{\"a\": 1} x", LANCET_CORRUPT },
	{ "{\"a\": 1}{}", LANCET_CORRUPT },
	{ "{'a': 1}", LANCET_CORRUPT },
	{ "{a: 1}", LANCET_CORRUPT },
	{ "{\"a\": NaN}", LANCET_CORRUPT },
	{ "{\"a\": 1 /* one */}", LANCET_CORRUPT },
	{ "{\"a\": '1'}", LANCET_CORRUPT },
	{ "{\"a\": -Infinity}", LANCET_CORRUPT },
	{ "{\"a\": True}", LANCET_CORRUPT },
	{ "{\"a\": \"'N\\\"/\"}", LANCET_OK },
	{ "{\"a\": \"\n\"}", LANCET_CORRUPT },
	{ "{\"a\": \"\\", LANCET_CORRUPT },
	{ "{\"a\": \"\xff\"}", LANCET_CORRUPT },
	{ "\xef\xbb\xbf{}", LANCET_CORRUPT },
};

START_TEST(a_document_is_one_strict_object)
{
	struct json_object *root = NULL;
	struct lancet_error err = { 0 };
	int rc = json_parse(slice_text(documents[_i].text), &root, &err);

	ck_assert_msg(rc == documents[_i].want, "%s: %d %s", documents[_i].text, rc, err.text);
	ck_assert_int_eq(root != NULL, rc == LANCET_OK);
	ck_assert(rc == LANCET_OK || err.text[0] != '\0');
	json_free(root);
}
END_TEST

START_TEST(a_nul_byte_does_not_end_a_document)
{
	static const char text[] = "{\"a\": 1}\0{\"b\": 2}";
	struct json_object *root = NULL;

	ck_assert_int_eq(json_parse(slice_of(text, sizeof(text) - 1), &root, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(json_parse(slice_of(text, 9), &root, NULL), LANCET_CORRUPT);
	ck_assert_ptr_null(root);
}
END_TEST

/* Objects in objects: {"a":{"a":{}}} is 3 deep. */
static int
nested_code(unsigned depth)
{
	struct json_object *root = NULL;
	struct buf text = { 0 };
	int rc;

	for (unsigned i = 1; i < depth; i++)
		buf_put_text(&text, "{\"a\":");
	buf_put_text(&text, "{}");
	buf_fill(&text, '}', depth - 1);
	rc = json_parse(buf_slice(&text), &root, NULL);
	json_free(root);
	buf_release(&text);
	return rc;
}

START_TEST(depth_and_size_are_limited)
{
	char *text = calloc(1, JSON_SIZE_MAX + 1);
	struct json_object *root = NULL;

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(nested_code(JSON_DEPTH_MAX - 1), LANCET_OK);
	ck_assert_int_eq(nested_code(JSON_DEPTH_MAX + 1), LANCET_CORRUPT);
	memset(text, '[', JSON_SIZE_MAX + 1);
	ck_assert_int_eq(json_parse(slice_of(text, JSON_SIZE_MAX), &root, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(json_parse(slice_of(text, JSON_SIZE_MAX + 1), &root, NULL), LANCET_LIMIT);
	free(text);
}
END_TEST

static const struct {
	const char *value;
	int want;
	uint64_t number;
} numbers[] = {
	{ "0", LANCET_OK, 0 },
	{ "42", LANCET_OK, 42 },
	{ "9223372036854775807", LANCET_OK, INT64_MAX },
	{ "9223372036854775808", LANCET_OK, UINT64_C(1) << 63 },
	{ "10725386629318268134", LANCET_OK, 10725386629318268134u },
	{ "18446744073709551614", LANCET_OK, UINT64_MAX - 1 },
	{ "18446744073709551615", LANCET_CORRUPT, 0 },
	{ "18446744073709551616", LANCET_CORRUPT, 0 },
	{ "99999999999999999999999", LANCET_CORRUPT, 0 },
	{ "-1", LANCET_CORRUPT, 0 },
	{ "-9223372036854775809", LANCET_CORRUPT, 0 },
	{ "1.0", LANCET_CORRUPT, 0 },
	{ "1e3", LANCET_CORRUPT, 0 },
	{ "\"1\"", LANCET_CORRUPT, 0 },
	{ "true", LANCET_CORRUPT, 0 },
	{ "null", LANCET_CORRUPT, 0 },
	{ "[1]", LANCET_CORRUPT, 0 },
};

START_TEST(numbers_are_exact_or_refused)
{
	struct json_object *root = NULL;
	char text[64];
	uint64_t number = 7;
	int rc;

	(void)snprintf(text, sizeof(text), "{\"n\": %s}", numbers[_i].value);
	ck_assert_int_eq(json_parse(slice_text(text), &root, NULL), LANCET_OK);
	rc = json_get_u64(root, "n", &number, NULL);
	ck_assert_msg(rc == numbers[_i].want, "%s: %d, %" PRIu64, text, rc, number);
	ck_assert_uint_eq(number, rc == LANCET_OK ? numbers[_i].number : 7);
	ck_assert_int_eq(json_get_u64(root, "m", &number, NULL), LANCET_CORRUPT);
	json_free(root);
}
END_TEST

START_TEST(text_keeps_every_byte)
{
	static const char text[] =
		"{\"t\": \"a\\u0000\xc3\xa9\\n\", \"n\": 1, \"o\": null, \"t2\": \"\", \"n\": 2}";
	struct json_object *root = NULL;
	struct slice got = { 0 };
	uint64_t number;

	ck_assert_int_eq(json_parse(slice_text(text), &root, NULL), LANCET_OK);
	ck_assert_int_eq(json_get_text(root, "t", &got, NULL), LANCET_OK);
	ck_assert(slice_equal(got, slice_of("a\0\xc3\xa9\n", 5)));
	ck_assert_int_eq(json_get_text(root, "t2", &got, NULL), LANCET_OK);
	ck_assert_uint_eq(got.size, 0);
	ck_assert_int_eq(json_get_text(root, "n", &got, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(json_get_text(root, "o", &got, NULL), LANCET_CORRUPT);
	ck_assert(json_has(root, "t") && !json_has(root, "o") && !json_has(root, "x"));
	ck_assert_int_eq(json_get_u64(root, "n", &number, NULL), LANCET_OK);
	ck_assert_uint_eq(number, 2); /* the last one counts */
	json_free(root);
}
END_TEST

UNIT_MAIN("json",
          UNIT_LOOP(a_document_is_one_strict_object, documents),
          UNIT_TEST(a_nul_byte_does_not_end_a_document),
          UNIT_TEST(depth_and_size_are_limited),
          UNIT_LOOP(numbers_are_exact_or_refused, numbers),
          UNIT_TEST(text_keeps_every_byte))

/* JSON text: layout, escapes, numbers, base64. */
#include "unit.h"

#include "util/jsonw.h"

#include <math.h>

static void
check_text(struct buf *b, const char *want)
{
	buf_put_byte(b, '\0');
	ck_assert_int_eq(b->failed, LANCET_OK);
	ck_assert_str_eq((const char *)b->data, want);
	buf_release(b);
}

static void
write_nested(struct jsonw *w)
{
	jsonw_object(w, NULL);
	jsonw_text(w, "format", "v1");
	jsonw_array(w, "list");
	jsonw_u64(w, NULL, UINT64_MAX);
	jsonw_i64(w, NULL, INT64_MIN);
	jsonw_object(w, NULL);
	jsonw_end(w);
	jsonw_end(w);
	jsonw_array(w, "none");
	jsonw_end(w);
	jsonw_key_slice(w, slice_text("k\"ey"));
	jsonw_object(w, NULL);
	jsonw_bool(w, "yes", true);
	jsonw_null(w, "nil");
	jsonw_text(w, "absent", NULL);
	jsonw_end(w);
	jsonw_u64_text(w, "id", 9223372036854775808u);
	jsonw_i64_text(w, "delta", -5);
	jsonw_end(w);
	jsonw_finish(w);
}

START_TEST(layout_has_two_spaces_a_level_and_empty_ones_closed)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	write_nested(&w);
	check_text(&b, "{\n"
	               "  \"format\": \"v1\",\n"
	               "  \"list\": [\n"
	               "    18446744073709551615,\n"
	               "    -9223372036854775808,\n"
	               "    {}\n"
	               "  ],\n"
	               "  \"none\": [],\n"
	               "  \"k\\\"ey\": {\n"
	               "    \"yes\": true,\n"
	               "    \"nil\": null,\n"
	               "    \"absent\": null\n"
	               "  },\n"
	               "  \"id\": \"9223372036854775808\",\n"
	               "  \"delta\": \"-5\"\n"
	               "}\n");
}
END_TEST

START_TEST(compact_is_one_line)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	w.compact = true;
	write_nested(&w);
	check_text(&b, "{\"format\":\"v1\",\"list\":[18446744073709551615,-9223372036854775808,{}],"
	               "\"none\":[],\"k\\\"ey\":{\"yes\":true,\"nil\":null,\"absent\":null},"
	               "\"id\":\"9223372036854775808\",\"delta\":\"-5\"}\n");
}
END_TEST

START_TEST(members_go_into_an_object_that_is_begun_later)
{
	struct buf members = { 0 }, b = { 0 };
	struct jsonw inner, w;

	jsonw_init_members(&inner, &members);
	jsonw_u64(&inner, "rows", 5);
	jsonw_array(&inner, "list");
	jsonw_u64(&inner, NULL, 1);
	jsonw_end(&inner);
	jsonw_init(&w, &b);
	jsonw_object(&w, NULL);
	jsonw_bool(&w, "ok", true);
	jsonw_members(&w, &members);
	jsonw_members(&w, &(struct buf){ 0 });
	jsonw_text(&w, "end", "z");
	jsonw_end(&w);
	jsonw_finish(&w);
	buf_release(&members);
	check_text(&b, "{\n"
	               "  \"ok\": true,\n"
	               "  \"rows\": 5,\n"
	               "  \"list\": [\n"
	               "    1\n"
	               "  ],\n"
	               "  \"end\": \"z\"\n"
	               "}\n");
}
END_TEST

START_TEST(members_alone_make_the_object)
{
	struct buf members = { .limit = 30 }, b = { 0 };
	struct jsonw inner, w;

	jsonw_init_members(&inner, &members);
	jsonw_u64(&inner, "rows", 5);
	jsonw_init(&w, &b);
	jsonw_object(&w, NULL);
	jsonw_members(&w, &members);
	jsonw_end(&w);
	jsonw_finish(&w);
	check_text(&b, "{\n  \"rows\": 5\n}\n");

	jsonw_text(&inner, "name", "longer than the limit of them");
	jsonw_init(&w, &b);
	jsonw_object(&w, NULL);
	jsonw_members(&w, &members);
	jsonw_end(&w);
	ck_assert_int_eq(b.failed, LANCET_LIMIT);
	buf_release(&b);
	buf_release(&members);
}
END_TEST

#define BYTES(literal) literal, sizeof(literal) - 1
static const struct {
	const char *bytes;
	size_t size;
	const char *want;
} texts[] = {
	{ BYTES(""), "\"\"\n" },
	{ BYTES("plain"), "\"plain\"\n" },
	{ BYTES("a\0b"), "\"a\\u0000b\"\n" },
	{ BYTES("\"\\/"), "\"\\\"\\\\/\"\n" },
	{ BYTES("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"\n" },
	{ BYTES("\x01\x0b\x0e\x1f\x7f"), "\"\\u0001\\u000b\\u000e\\u001f\x7f\"\n" },
	{ BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
	  "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"\n" },
	{ BYTES("\xff"), "{\n  \"base64\": \"/w==\"\n}\n" },
	{ BYTES("long enough for words \xc3"),
	  "{\n  \"base64\": \"bG9uZyBlbm91Z2ggZm9yIHdvcmRzIMM=\"\n}\n" },
};

START_TEST(text_is_escaped_as_little_as_possible)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	jsonw_slice(&w, NULL, slice_of(texts[_i].bytes, texts[_i].size));
	jsonw_finish(&w);
	check_text(&b, texts[_i].want);
}
END_TEST

/* RFC 4648 section 10, and the two last digits of the alphabet */
static const char *const base64s[][2] = {
	{ "", "\"\"\n" },          { "f", "\"Zg==\"\n" },         { "fo", "\"Zm8=\"\n" },
	{ "foo", "\"Zm9v\"\n" },   { "foob", "\"Zm9vYg==\"\n" },  { "fooba", "\"Zm9vYmE=\"\n" },
	{ "foobar", "\"Zm9vYmFy\"\n" }, { "\xfb\xff\xbf", "\"+/+/\"\n" },
};

START_TEST(base64_is_rfc_4648)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	jsonw_base64(&w, NULL, slice_text(base64s[_i][0]));
	jsonw_finish(&w);
	check_text(&b, base64s[_i][1]);
}
END_TEST

static const struct {
	double value;
	const char *want;
} doubles[] = {
	{ 0, "0\n" },           { 0.1, "0.1\n" },   { -2.5, "-2.5\n" },
	{ 1e300, "1e+300\n" },  { 1e15, "1e+15\n" }, { 123456789012345, "123456789012345\n" },
	{ 0x1.fffffffffffffp1023, "1.7976931348623157e+308\n" },
	{ INFINITY, "null\n" }, { -INFINITY, "null\n" }, { NAN, "null\n" },
	{ 0.30000000000000004, "0.30000000000000004\n" },
};

START_TEST(doubles_are_the_shortest_that_read_back)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	jsonw_double(&w, NULL, doubles[_i].value);
	jsonw_finish(&w);
	check_text(&b, doubles[_i].want);
}
END_TEST

START_TEST(a_key_that_is_not_utf8_is_still_a_key)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	w.compact = true;
	jsonw_object(&w, NULL);
	jsonw_key_slice(&w, slice_text("\xff"));
	jsonw_u64(&w, NULL, 1);
	jsonw_end(&w);
	jsonw_finish(&w);
	check_text(&b, "{\"base64:/w==\":1}\n");
}
END_TEST

START_TEST(nesting_too_deep_fails_the_buffer_only)
{
	struct buf b = { 0 };
	struct jsonw w;

	jsonw_init(&w, &b);
	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_array(&w, NULL);
	ck_assert_int_eq(b.failed, LANCET_OK);
	jsonw_object(&w, NULL);
	jsonw_object(&w, "deeper");
	jsonw_u64(&w, "x", 1);
	for (int i = 0; i < JSONW_DEPTH_MAX + 2; i++)
		jsonw_end(&w);
	jsonw_finish(&w);
	ck_assert_int_eq(b.failed, LANCET_LIMIT);
	buf_release(&b);
}
END_TEST

UNIT_MAIN("jsonw", UNIT_TEST(layout_has_two_spaces_a_level_and_empty_ones_closed),
          UNIT_TEST(compact_is_one_line),
          UNIT_TEST(members_go_into_an_object_that_is_begun_later),
          UNIT_TEST(members_alone_make_the_object),
          UNIT_LOOP(text_is_escaped_as_little_as_possible, texts),
          UNIT_LOOP(base64_is_rfc_4648, base64s),
          UNIT_LOOP(doubles_are_the_shortest_that_read_back, doubles),
          UNIT_TEST(a_key_that_is_not_utf8_is_still_a_key),
          UNIT_TEST(nesting_too_deep_fails_the_buffer_only))

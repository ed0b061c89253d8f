/* Rows as JSON lines and CSV: a value of every type, nulls, slices, what is cut. */
#include "unit.h"

#include <lancet/bytes.h>
#include <lancet/rowtext.h>

#include <stdbool.h>
#include <stdio.h>

#include "arrows.h"

static struct arrows_sink sink;

/* The text of a batch, or the code of the failure. */
static int
render(const struct arrows *batch, enum lancet_rowtext_form form, struct lancet_rowtext_cut cut,
	struct lancet_error *err)
{
	const struct lancet_output out = { arrows_write, &sink };
	lancet_rowtext *rows = NULL;
	int rc;

	sink.size = 0;
	rc = lancet_rowtext_open(&batch->schema, form, cut, &out, &rows, err);
	if (rc == LANCET_OK)
		rc = lancet_rowtext_write(rows, &batch->array, err);
	lancet_rowtext_free(rows);
	sink.bytes[sink.size] = '\0';
	return rc;
}

static void
check_text(const struct arrows *batch, enum lancet_rowtext_form form, struct lancet_rowtext_cut cut,
	const char *want)
{
	struct lancet_error err = { 0 };

	ck_assert_msg(render(batch, form, cut, &err) == LANCET_OK, "%s", err.text);
	ck_assert_str_eq((const char *)sink.bytes, want);
}

/* Values of one fixed-width column; JSON has quotes around those that are marked so. */
static const struct {
	const char *format;
	uint8_t bytes[32];
	const char *text;
	bool quoted;
} scalars[] = {
	{ "b", { 1 }, "true", false },
	{ "b", { 0 }, "false", false },
	{ "c", { 0x80 }, "-128", false },
	{ "C", { 0xff }, "255", false },
	{ "s", { 0x00, 0x80 }, "-32768", false },
	{ "S", { 0xff, 0xff }, "65535", false },
	{ "i", { 0, 0, 0, 0x80 }, "-2147483648", false },
	{ "I", { 0xff, 0xff, 0xff, 0xff }, "4294967295", false },
	{ "l", { 0, 0, 0, 0, 0, 0, 0, 0x80 }, "-9223372036854775808", false },
	{ "L", { 255, 255, 255, 255, 255, 255, 255, 255 }, "18446744073709551615", false },
	{ "e", { 0x00, 0x3e }, "1.5", false },
	{ "e", { 0x00, 0x7c }, "Infinity", true },
	{ "f", { 0xcd, 0xcc, 0xcc, 0x3d }, "0.1", false },
	{ "f", { 0, 0, 0xc0, 0x7f }, "NaN", true },
	{ "g", { 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f }, "0.1", false },
	{ "g", { 0, 0, 0, 0, 0, 0, 0xf0, 0xff }, "-Infinity", true },
	{ "d:5,2", { 0x39, 0x30 }, "123.45", true },
	{ "d:5,2", { 5 }, "0.05", true },
	{ "d:5,0", { 0 }, "0", true },
	{ "d:5,2", { 0 }, "0.00", true },
	{ "d:5,-2", { 12 }, "1200", true },
	{ "d:5,-2", { 0 }, "0", true },
	{ "d:38,1",
		{ 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 },
		"-0.1", true },
	{ "d:38,0", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80 },
		"-170141183460469231731687303715884105728", true },
	{ "d:76,0,256", { [31] = 0x80 },
		"-5789604461865809771178549250434395392663499233282028201972879200395656481996"
		"8",
		true },
	{ "d:39,0,256", { [16] = 1 }, "340282366920938463463374607431768211456", true },
	{ "d:19,18,64", { 1 }, "0.000000000000000001", true },
	{ "tdD", { 0 }, "1970-01-01", true },
	{ "tdD", { 0xff, 0xff, 0xff, 0xff }, "1969-12-31", true },
	{ "tdD", { 0xff, 0xff, 0xff, 0x7f }, "+5881580-07-11", true },
	{ "tdD", { 0, 0, 0, 0x80 }, "-5877641-06-23", true },
	{ "tdm", { 0x00, 0x5c, 0x26, 0x05 }, "1970-01-02", true },
	{ "tdm", { 0x01, 0x5c, 0x26, 0x05 }, "1970-01-02T00:00:00.001", true },
	{ "tts", { 0x7f, 0x51, 0x01, 0x00 }, "23:59:59", true },
	{ "tts", { 0x80, 0x51, 0x01, 0x00 }, "86400", true },
	{ "ttm", { 1 }, "00:00:00.001", true },
	{ "ttu", { 1 }, "00:00:00.000001", true },
	{ "ttn", { 1 }, "00:00:00.000000001", true },
	{ "tss:", { 1 }, "1970-01-01T00:00:01", true },
	{ "tss:UTC", { 1 }, "1970-01-01T00:00:01Z", true },
	{ "tsm:+08:00", { 1 }, "1970-01-01T08:00:00.001+08:00", true },
	{ "tsu:-0330", { 0 }, "1969-12-31T20:30:00.000000-03:30", true },
	{ "tsn:Europe/Paris", { 255, 255, 255, 255, 255, 255, 255, 255 },
		"1969-12-31T23:59:59.999999999Z", true },
	{ "tss:+01", { 255, 255, 255, 255, 255, 255, 255, 0x7f },
		"+292277026596-12-04T16:30:07+01:00", true },
	{ "tss:-23:59", { 0, 0, 0, 0, 0, 0, 0, 0x80 }, "-292277022657-01-26T08:30:52-23:59", true },
	{ "tDs", { 3 }, "PT3S", true },
	{ "tDm", { 0xff, 255, 255, 255, 255, 255, 255, 255 }, "-PT0.001S", true },
	{ "tDn", { 0, 0, 0, 0, 0, 0, 0, 0x80 }, "-PT9223372036.854775808S", true },
	{ "w:3", { 'f', 'o', 'o' }, "Zm9v", true },
};

START_TEST(scalars_read_as_documented)
{
	struct arrows batch, column;
	char want[128];

	arrows_batch(&batch, 1);
	arrows_init(&column, scalars[_i].format, "v", 1, 2);
	column.buffers[1] = scalars[_i].bytes;
	arrows_add(&batch, &column);
	(void)snprintf(want, sizeof(want), scalars[_i].quoted ? "{\"v\":\"%s\"}\n" : "{\"v\":%s}\n",
		scalars[_i].text);
	check_text(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, want);
	(void)snprintf(want, sizeof(want), "v\n%s\n", scalars[_i].text);
	check_text(&batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 }, want);
}
END_TEST

/* An extension name as schema metadata: one entry, lengths before key and value. */
#define EXTENSION(name, size) "\1\0\0\0\24\0\0\0ARROW:extension:name" size "\0\0\0" name

/* One text or binary value. */
static const struct {
	const char *format, *metadata;
	const char *bytes;
	int32_t size;
	const char *json, *csv;
} texts[] = {
	{ "u", NULL, "plain", 5, "\"plain\"", "plain" },
	{ "u", NULL, "", 0, "\"\"", "\"\"" },
	{ "u", NULL, "a,b", 3, "\"a,b\"", "\"a,b\"" },
	{ "u", NULL, "say \"hi\"", 8, "\"say \\\"hi\\\"\"", "\"say \"\"hi\"\"\"" },
	{ "u", NULL, "a\r\nb", 4, "\"a\\r\\nb\"", "\"a\r\nb\"" },
	{ "u", NULL, "a\0b", 3, "\"a\\u0000b\"", NULL },
	{ "u", NULL, " a ", 3, "\" a \"", " a " },
	{ "u", NULL, "\xff\xfe", 2, "{\"base64\":\"//4=\"}", "\"{\"\"base64\"\":\"\"//4=\"\"}\"" },
	{ "z", NULL, "foobar", 6, "\"Zm9vYmFy\"", "Zm9vYmFy" },
	{ "z", NULL, "", 0, "\"\"", "\"\"" },
	{ "u", EXTENSION("arrow.json", "\12"), "{\"a\":[1,null]}", 14, "{\"a\":[1,null]}",
		"\"{\"\"a\"\":[1,null]}\"" },
	{ "u", EXTENSION("arrow.json", "\12"), "{a", 2, "\"{a\"", "{a" },
	{ "u", EXTENSION("arrow.uuid", "\12"), "{}", 2, "\"{}\"", "{}" },
};

START_TEST(texts_are_escaped_for_their_form)
{
	int32_t offsets[2] = { 0, texts[_i].size };
	struct arrows batch, column;
	char want[128];

	arrows_batch(&batch, 1);
	arrows_init(&column, texts[_i].format, "v", 1, 3);
	column.schema.metadata = texts[_i].metadata;
	column.buffers[1] = offsets;
	column.buffers[2] = texts[_i].bytes;
	arrows_add(&batch, &column);
	(void)snprintf(want, sizeof(want), "{\"v\":%s}\n", texts[_i].json);
	check_text(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, want);
	if (texts[_i].csv == NULL)
		return;
	(void)snprintf(want, sizeof(want), "v\n%s\n", texts[_i].csv);
	check_text(&batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 }, want);
}
END_TEST

/* Four rows, of which a batch with offset 1 shows the last three:
 * l: list of { n: int8, d: dictionary of text }, m: map of int8 to bool, f: two floats, z: null */
struct nested {
	struct arrows batch, list, item, number, keyed, values, map, entry, key, value, pair, half;
	struct arrows none;
};

static void
make_nested(struct nested *n)
{
	static const uint8_t list_valid[] = { 0x0b }, half_valid[] = { 0x0d }, bits[] = { 0x05 };
	static const int32_t list_offsets[] = { 0, 1, 3, 3, 4 }, map_offsets[] = { 0, 1, 1, 3, 3 };
	static const int32_t text_offsets[] = { 0, 1, 3 };
	static const int8_t numbers[] = { 9, 1, 2, 3, 4 }, keys[] = { 9, 0, 1, 1, 0 };
	static const uint8_t number_valid[] = { 0x1b };
	static const float halves[] = { 0, 0.5f, 1, -1, 2, 3, 4, 5.25f };

	arrows_batch(&n->batch, 3);
	n->batch.array.offset = 1;
	arrows_init(&n->list, "+l", "l", 4, 2);
	n->list.buffers[0] = list_valid;
	n->list.buffers[1] = list_offsets;
	arrows_init(&n->item, "+s", "item", 4, 1);
	n->item.array.offset = 1; /* so its children begin one further on */
	arrows_init(&n->number, "c", "n", 5, 2);
	n->number.buffers[0] = number_valid;
	n->number.buffers[1] = numbers;
	arrows_init(&n->keyed, "c", "d", 5, 2);
	n->keyed.buffers[1] = keys;
	arrows_init(&n->values, "u", "", 2, 3);
	n->values.buffers[1] = text_offsets;
	n->values.buffers[2] = "xyz";
	n->keyed.schema.dictionary = &n->values.schema;
	n->keyed.array.dictionary = &n->values.array;
	arrows_add(&n->item, &n->number);
	arrows_add(&n->item, &n->keyed);
	arrows_add(&n->list, &n->item);
	arrows_init(&n->map, "+m", "m", 4, 2);
	n->map.buffers[1] = map_offsets;
	arrows_init(&n->entry, "+s", "entries", 3, 1);
	arrows_init(&n->key, "c", "k", 3, 2);
	n->key.buffers[1] = numbers;
	arrows_init(&n->value, "b", "v", 3, 2);
	n->value.buffers[1] = bits;
	arrows_add(&n->entry, &n->key);
	arrows_add(&n->entry, &n->value);
	arrows_add(&n->map, &n->entry);
	arrows_init(&n->pair, "+w:2", "f", 4, 1);
	n->pair.buffers[0] = half_valid;
	arrows_init(&n->half, "f", "item", 8, 2);
	n->half.buffers[1] = halves;
	arrows_add(&n->pair, &n->half);
	arrows_init(&n->none, "n", "z", 4, 0);
	arrows_add(&n->batch, &n->list);
	arrows_add(&n->batch, &n->map);
	arrows_add(&n->batch, &n->pair);
	arrows_add(&n->batch, &n->none);
}

START_TEST(nested_values_follow_offsets_at_every_level)
{
	struct nested n;

	make_nested(&n);
	check_text(&n.batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 },
		"{\"l\":[{\"n\":null,\"d\":\"yz\"},{\"n\":3,\"d\":\"yz\"}],\"m\":[],"
		"\"f\":null,\"z\":null}\n"
		"{\"l\":null,\"m\":[{\"key\":1,\"value\":false},{\"key\":2,\"value\":true}],"
		"\"f\":[2.0,3.0],\"z\":null}\n"
		"{\"l\":[{\"n\":4,\"d\":\"x\"}],\"m\":[],\"f\":[4.0,5.25],\"z\":null}\n");
	check_text(&n.batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 },
		"l,m,f,z\n"
		"\"[{\"\"n\"\":null,\"\"d\"\":\"\"yz\"\"},{\"\"n\"\":3,\"\"d\"\":\"\"yz\"\"}]\",[],"
		",\n"
		",\"[{\"\"key\"\":1,\"\"value\"\":false},{\"\"key\"\":2,\"\"value\"\":true}]\","
		"\"[2.0,3.0]\",\n"
		"\"[{\"\"n\"\":4,\"\"d\"\":\"\"x\"\"}]\",[],\"[4.0,5.25]\",\n");
}
END_TEST

START_TEST(a_key_beyond_its_dictionary_is_null)
{
	static const int8_t keys[] = { -1, 2 };
	struct arrows batch;
	struct nested n;

	make_nested(&n);
	arrows_batch(&batch, 2);
	n.keyed.array.length = 2;
	n.keyed.buffers[1] = keys;
	arrows_add(&batch, &n.keyed);
	check_text(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 },
		"{\"d\":null}\n{\"d\":null}\n");
}
END_TEST

/* One row: a text that a cut must not part inside a character, a list, bytes. */
static const struct {
	struct lancet_rowtext_cut cut;
	const char *want;
} cuts[] = {
	{ { 0, 0 }, "{\"t\":\"ab\xe2\x82\xac\xe2\x82\xac\",\"l\":[1,2,3],\"b\":\"Zm9vYmFy\"}\n" },
	{ { 8, 3 }, "{\"t\":\"ab\xe2\x82\xac\xe2\x82\xac\",\"l\":[1,2,3],\"b\":\"Zm9vYmFy\"}\n" },
	{ { 7, 2 }, "{\"t\":\"ab\xe2\x82\xac\xe2\x80\xa6(+3 bytes)\","
		    "\"l\":[1,2,\"\xe2\x80\xa6(+1 items)\"],\"b\":\"Zm9vYmFy\"}\n" },
	{ { 4, 1 }, "{\"t\":\"ab\xe2\x80\xa6(+6 bytes)\",\"l\":[1,\"\xe2\x80\xa6(+2 items)\"],"
		    "\"b\":\"Zm9v\xe2\x80\xa6(+3 bytes)\"}\n" },
	{ { 1, 0 }, "{\"t\":\"a\xe2\x80\xa6(+7 bytes)\",\"l\":[1,2,3],"
		    "\"b\":\"\xe2\x80\xa6(+6 bytes)\"}\n" },
};

START_TEST(long_values_are_cut_with_a_mark)
{
	static const int32_t text_offsets[] = { 0, 8 }, list_offsets[] = { 0, 3 };
	static const int32_t byte_offsets[] = { 0, 6 };
	static const int8_t numbers[] = { 1, 2, 3 };
	struct arrows batch, text, list, item, bytes;

	arrows_batch(&batch, 1);
	arrows_init(&text, "u", "t", 1, 3);
	text.buffers[1] = text_offsets;
	text.buffers[2] = "ab\xe2\x82\xac\xe2\x82\xac";
	arrows_init(&list, "+l", "l", 1, 2);
	list.buffers[1] = list_offsets;
	arrows_init(&item, "c", "item", 3, 2);
	item.buffers[1] = numbers;
	arrows_add(&list, &item);
	arrows_init(&bytes, "z", "b", 1, 3);
	bytes.buffers[1] = byte_offsets;
	bytes.buffers[2] = "foobar";
	arrows_add(&batch, &text);
	arrows_add(&batch, &list);
	arrows_add(&batch, &bytes);
	check_text(&batch, LANCET_JSON_LINES, cuts[_i].cut, cuts[_i].want);
}
END_TEST

START_TEST(names_are_keys_whatever_they_hold)
{
	static const int8_t one[] = { 1 };
	static const char *const names[] = { "a\"b", "", "x,y", "\xff", NULL };
	struct arrows batch, columns[ARRAY_SIZE(names)];

	arrows_batch(&batch, 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		arrows_init(&columns[i], "c", names[i], 1, 2);
		columns[i].buffers[1] = one;
		arrows_add(&batch, &columns[i]);
	}
	check_text(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 },
		"{\"a\\\"b\":1,\"\":1,\"x,y\":1,\"base64:/w==\":1,\"\":1}\n");
	check_text(&batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 },
		"\"a\"\"b\",\"\",\"x,y\",base64:/w==,\"\"\n1,1,1,1,1\n");
}
END_TEST

/* Values far larger than a block go out piece by piece, and are what they were. */
START_TEST(large_values_pass_in_pieces)
{
	enum { SIZE = 60000 };
	static char text[SIZE];
	int32_t offsets[] = { 0, SIZE };
	struct arrows batch, column;

	memset(text, 'x', sizeof(text));
	text[49151] = '"';
	arrows_batch(&batch, 1);
	arrows_init(&column, "u", "t", 1, 3);
	column.buffers[1] = offsets;
	column.buffers[2] = text;
	arrows_add(&batch, &column);
	ck_assert_int_eq(render(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, NULL),
		LANCET_OK);
	ck_assert_uint_eq(sink.size, SIZE + strlen("{\"t\":\"\"}\n") + 1);
	ck_assert(memcmp(sink.bytes + 6 + 49151, "\\\"xxx", 5) == 0);
	ck_assert_int_eq(
		render(&batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 }, NULL), LANCET_OK);
	ck_assert_uint_eq(sink.size, SIZE + strlen("t\n\"\"\n") + 1);
	offsets[1] = 40000;
	column.schema.format = "z";
	ck_assert_int_eq(render(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, NULL),
		LANCET_OK);
	ck_assert_uint_eq(sink.size, 53336 + strlen("{\"t\":\"\"}\n"));
	ck_assert(memcmp(sink.bytes + sink.size - 8, "eHg=\"}\n", 7) != 0);
}
END_TEST

/* What a sink says ends the writing, in the middle of a row too. */
START_TEST(a_failing_sink_ends_it)
{
	struct nested n;

	make_nested(&n);
	sink.fails = LANCET_CANCELLED;
	for (size_t room = 1; room < 60; room++) {
		sink.room = room;
		ck_assert_int_eq(
			render(&n.batch, LANCET_CSV, (struct lancet_rowtext_cut){ 0 }, NULL),
			LANCET_CANCELLED);
	}
	sink.room = 0;
}
END_TEST

static const struct {
	const char *format;
	int want;
} refused[] = {
	{ "+ud:0,1", LANCET_UNSUPPORTED },
	{ "vu", LANCET_UNSUPPORTED },
	{ "tiM", LANCET_UNSUPPORTED },
	{ "d:5", LANCET_UNSUPPORTED },
	{ "d:5,2,17", LANCET_UNSUPPORTED },
	{ "d:5,200", LANCET_UNSUPPORTED },
	{ "w:-1", LANCET_UNSUPPORTED },
	{ "w:99999999999", LANCET_UNSUPPORTED },
	{ "ts", LANCET_UNSUPPORTED },
	{ "tsx:", LANCET_UNSUPPORTED },
	{ "", LANCET_UNSUPPORTED },
	{ NULL, LANCET_INVALID },
	{ "+l", LANCET_INVALID },
	{ "+m", LANCET_INVALID },
};

START_TEST(types_that_are_none_are_refused_by_name)
{
	struct lancet_error err = { 0 };
	struct arrows batch, column;

	arrows_batch(&batch, 0);
	arrows_init(&column, refused[_i].format, "strange", 0, 2);
	arrows_add(&batch, &column);
	ck_assert_int_eq(render(&batch, LANCET_JSON_LINES, (struct lancet_rowtext_cut){ 0 }, &err),
		refused[_i].want);
	ck_assert(strstr(err.text, "strange") != NULL);
	ck_assert_int_eq(render(&batch, LANCET_CSV, (struct lancet_rowtext_cut){ 1, 1 }, &err),
		LANCET_INVALID);
}
END_TEST

UNIT_MAIN("rowtext", UNIT_LOOP(scalars_read_as_documented, scalars),
	UNIT_LOOP(texts_are_escaped_for_their_form, texts),
	UNIT_TEST(nested_values_follow_offsets_at_every_level),
	UNIT_TEST(a_key_beyond_its_dictionary_is_null),
	UNIT_LOOP(long_values_are_cut_with_a_mark, cuts),
	UNIT_TEST(names_are_keys_whatever_they_hold), UNIT_TEST(large_values_pass_in_pieces),
	UNIT_TEST(a_failing_sink_ends_it),
	UNIT_LOOP(types_that_are_none_are_refused_by_name, refused))

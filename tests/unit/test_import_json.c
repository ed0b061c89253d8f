/* JSON lines as rows: objects by name, every kind of value, and messages that say where. */
#include "importtext.h"

#include <signal.h>
#include <sys/time.h>

#define NO_OBJECT "no object, which each line has to be; jq -c '.[]' makes lines of an array"

static const struct import_field plain[] = {
	{ "i", "int64", -1, false, NULL },
	{ "f", "double", -1, false, NULL },
	{ "b", "bool", -1, false, NULL },
	{ "t", "string", -1, false, NULL },
	{ "x", "decimal:128:38:2", -1, false, NULL },
};
#define ROW(i, f, b, t, x) "{\"i\":" i ",\"f\":" f ",\"b\":" b ",\"t\":" t ",\"x\":" x "}\n"
#define NONE               ROW("null", "null", "null", "null", "null")

static const struct {
	const char *text, *want;
} files[] = {
	{ "", "" },
	{ "\n \t\r\n", "" },
	{ "{}", NONE },
	{ "\xef\xbb\xbf{}\r\n\n{}\n", NONE NONE },
	{ " { \"t\" : \"x\" , \"i\" : 5 } \n", ROW("5", "null", "null", "\"x\"", "null") },
	{ "{\"i\":null,\"f\":null,\"b\":null,\"t\":null,\"x\":null}", NONE },
	{ "{\"i\":-9223372036854775808,\"f\":1,\"b\":true,\"t\":\"\",\"x\":1}",
		ROW("-9223372036854775808", "1.0", "true", "\"\"", "\"1.00\"") },
	{ "{\"i\":\"9223372036854775807\",\"f\":\"NaN\",\"b\":false,\"x\":\"-0.5\"}",
		ROW("9223372036854775807", "\"NaN\"", "false", "null", "\"-0.50\"") },
	{ "{\"i\":1.0,\"f\":-1.5e-3,\"b\":1,\"x\":123456789012345678901234567890123456.78}",
		ROW("1", "-0.0015", "true", "null",
			"\"123456789012345678901234567890123456.78\"") },
	{ "{\"f\":NaN}\n{\"f\":-Infinity}\n{\"f\": Infinity }",
		ROW("null", "\"NaN\"", "null", "null", "null") ROW("null", "\"-Infinity\"", "null",
			"null", "null") ROW("null", "\"Infinity\"", "null", "null", "null") },
	{ "{\"t\":\"\\u00e9\\n\\\"\\\\\\/\\b\\f\\r\\t\\ud83d\\ude00\\u0000\"}",
		ROW("null", "null", "null",
			"\"\xc3\xa9\\n\\\"\\\\/\\b\\f\\r\\t\xf0\x9f\x98\x80\\u0000\"", "null") },
	{ "{\"\\u0069\":7}", ROW("7", "null", "null", "null", "null") },
	{ "[{}]", "line 1: byte 1: " NO_OBJECT },
	{ "{}\n5", "line 2: byte 1: " NO_OBJECT },
	{ "{} {}", "line 1: byte 4: more behind the value" },
	{ "{", "line 1: byte 2: it ends in the middle of a value" },
	{ "{\n\"i\":1}", "line 1: byte 2: it ends in the middle of a value" },
	{ "{\"i\":1", "line 1: byte 7: it ends in the middle of a value" },
	{ "{\"i\":1,}", "line 1: byte 8: a string is expected" },
	{ "{\"i\":1 \"f\":2}", "line 1: byte 8: a comma or } is expected" },
	{ "{i:1}", "line 1: byte 2: a string is expected" },
	{ "{\"i\" 1}", "line 1: byte 6: a colon is expected" },
	{ "{\"i\":}", "line 1, column \"i\": byte 6: a value is expected" },
	{ "{\"i\":", "line 1, column \"i\": byte 6: a value is missing" },
	{ "{\"i\":01}", "line 1: byte 7: a comma or } is expected" },
	{ "{\"i\":-}", "line 1, column \"i\": byte 7: a number without digits" },
	{ "{\"f\":1.}", "line 1, column \"f\": byte 8: a number without digits behind its point" },
	{ "{\"f\":1e}", "line 1, column \"f\": byte 8: a number without digits in its exponent" },
	{ "{\"i\":nul}", "line 1, column \"i\": byte 6: a value is expected" },
	{ "{\"i\":NaN}", "line 1, column \"i\": byte 6: a value is expected" },
	{ "{\"i\":1.5}", "line 1, column \"i\": \"1.5\" is no int64" },
	{ "{\"i\":9223372036854775808}",
		"line 1, column \"i\": \"9223372036854775808\" is out of range for int64" },
	{ "{}\n{\"i\":\"x\"}", "line 2, column \"i\": \"x\" is no int64" },
	{ "{\"i\":\"\"}", "line 1, column \"i\": \"\" is no int64" },
	{ "{\"i\":{}}", "line 1, column \"i\": an object is no int64" },
	{ "{\"b\":[]}", "line 1, column \"b\": an array is no bool" },
	{ "{\"t\":5}", "line 1, column \"t\": 5 is no string" },
	{ "{\"t\":true}", "line 1, column \"t\": true is no string" },
	{ "{\"t\":{\"base64\":\"//4=\"}}", "line 1, column \"t\": an object is no string" },
	{ "{\"i\":true}", "line 1, column \"i\": \"true\" is no int64" },
	{ "{\"y\":1}", "line 1: no column has the name \"y\"" },
	{ "{\"i\":1,\"t\":\"x\",\"i\":2}", "line 1: \"i\" comes twice" },
	{ "{\"t\":\"x", "line 1, column \"t\": byte 8: a string that does not end" },
	{ "{\"t\":\"x\\", "line 1, column \"t\": byte 9: a string that does not end" },
	{ "{\"t\":\"a\tb\"}", "line 1, column \"t\": byte 8: a control character in a string" },
	{ "{\"t\":\"\\x\"}", "line 1, column \"t\": byte 8: an escape that JSON does not have" },
	{ "{\"t\":\"\\u12g4\"}", "line 1, column \"t\": byte 9: \\u without four digits" },
	{ "{\"t\":\"\\ud83d\"}", "line 1, column \"t\": byte 13: half a surrogate pair" },
	{ "{\"t\":\"\\ude00\"}", "line 1, column \"t\": byte 13: half a surrogate pair" },
	{ "{\"t\":\"\\ud83d\\u0041\"}", "line 1, column \"t\": byte 19: half a surrogate pair" },
	{ "{}\n{\"t\":\"\xff\"}", "line 2: byte 10 of the file: not UTF-8" },
	{ "{\"t\":\"x\"}//", "line 1: byte 10: more behind the value" },
};

START_TEST(files_are_rows_or_refused)
{
	import_check(
		plain, ARRAY_SIZE(plain), TEXT_JSON, slice_text(files[_i].text), files[_i].want);
}
END_TEST

static const struct import_field nested[] = {
	{ "l", "list", -1, false, NULL },
	{ "item", "struct", 0, false, NULL },
	{ "n", "int32", 1, true, NULL },
	{ "s", "string", 1, false, NULL },
	{ "m", "map", -1, false, NULL },
	{ "entries", "struct", 4, true, NULL },
	{ "k", "string", 5, true, NULL },
	{ "w", "int8", 5, false, NULL },
	{ "v", "fixed_size_list:float:2", -1, false, NULL },
	{ "d", "dict:large_string:int16:false", -1, false, NULL },
	{ "j", "json", -1, true, "lance.json" },
	{ "a", "string", -1, false, "arrow.json" },
	{ "y", "fixed_size_binary:2", -1, false, NULL },
	{ "z", "null", -1, false, NULL },
	{ "h", "fixed_size_binary:2", -1, false, "lance.bfloat16" },
};
#define NESTED(l, m, v, d, j, a, y, h)                                                             \
	"{\"l\":" l ",\"m\":" m ",\"v\":" v ",\"d\":" d ",\"j\":" j ",\"a\":" a ",\"y\":" y        \
	",\"z\":null,\"h\":" h "}\n"
#define EMPTY(j) NESTED("null", "null", "null", "null", j, "null", "null", "null")

static const struct {
	const char *text, *want;
} nested_files[] = {
	{ "{\"l\":[{\"n\":1,\"s\":\"x\"},{\"n\":2},null],\"m\":[{\"key\":\"a\",\"value\":1},"
	  "{\"value\":null,\"key\":\"b\"}],\"v\":[1,-0.5],\"d\":\"w\",\"j\":{\"b\":1,\"a\":null},"
	  "\"a\":[1],\"y\":\"AQI=\",\"z\":null,\"h\":0.1}",
		NESTED("[{\"n\":1,\"s\":\"x\"},{\"n\":2,\"s\":null},null]",
			"[{\"key\":\"a\",\"value\":1},{\"key\":\"b\",\"value\":null}]",
			"[1.0,-0.5]", "\"w\"", "{\"a\":null,\"b\":1}", "[1]", "\"AQI=\"",
			"0.100097656") },
	{ "{\"m\":{\"a\":1,\"b\":null},\"l\":[],\"d\":null,\"j\":0,\"y\":\"\\u0041QI=\"}",
		NESTED("[]", "[{\"key\":\"a\",\"value\":1},{\"key\":\"b\",\"value\":null}]", "null",
			"null", "0", "null", "\"AQI=\"", "null") },
	{ "{\"m\":{},\"v\":[null,1],\"j\":null,\"a\":\"x\"}",
		NESTED("null", "[]", "[null,1.0]", "null", "null", "\"x\"", "null", "null") },
	{ "{\"j\":[1,2", "line 1, column \"j\": byte 10: it ends in the middle of a value" },
	{ "{}", "line 1: \"j\" is missing, and can't be null" },
	{ "{\"l\":[{}]}", "line 1, column \"l\": item 1: \"n\" is missing, and can't be null" },
	{ "{\"l\":[{\"n\":1},{\"n\":null}]}",
		"line 1, column \"l\": item 2: member \"n\": null where a value is needed" },
	{ "{\"l\":[{\"n\":1,\"n\":2}]}", "line 1, column \"l\": item 1: \"n\" comes twice" },
	{ "{\"l\":{\"n\":1}}", "line 1, column \"l\": an object is no list" },
	{ "{\"l\":\"x\"}", "line 1, column \"l\": a string is no list" },
	{ "{\"l\":5}", "line 1, column \"l\": 5 is no list" },
	{ "{\"l\":[{\"n\":1},]}", "line 1, column \"l\": item 2: byte 15: a value is expected" },
	{ "{\"m\":[null]}", "line 1, column \"m\": item 1: null where a value is needed" },
	{ "{\"m\":[{\"value\":1}]}",
		"line 1, column \"m\": item 1: \"key\" is missing, and can't be null" },
	{ "{\"m\":[{\"key\":null}]}",
		"line 1, column \"m\": item 1: member \"key\": null where a value is needed" },
	{ "{\"m\":{\"a\":300}}", "line 1, column \"m\": \"300\" is out of range for int8" },
	{ "{\"v\":[1]}", "line 1, column \"v\": 1 items, 2 expected" },
	{ "{\"v\":[1,2,3]}", "line 1, column \"v\": 3 items, 2 expected" },
	{ "{\"d\":5}", "line 1, column \"d\": 5 is no large_string" },
	{ "{\"y\":5}", "line 1, column \"y\": 5 is no fixed_size_binary:2" },
	{ "{\"y\":\"AQ==\"}", "line 1, column \"y\": \"AQ==\" has another number of bytes than "
			      "fixed_size_binary:2" },
	{ "{\"z\":1}", "line 1, column \"z\": 1 is no null" },
	{ "{\"j\":{\"a\":1,\"a\":2}}",
		"line 1, column \"j\": byte 19: an object that has a key twice" },
};

START_TEST(nested_values_are_built)
{
	import_check(nested, ARRAY_SIZE(nested), TEXT_JSON, slice_text(nested_files[_i].text),
		nested_files[_i].want);
}
END_TEST

/* A batch ends in the middle of what one row has of values; the row comes whole in the next. */
START_TEST(batches_fit_their_budget)
{
	struct import_test test = { .fields = nested,
		.field_count = ARRAY_SIZE(nested),
		.form = TEXT_JSON,
		.budget = 9000 + 991 * (size_t)_i,
		.batch = 5000 };
	struct buf text = { 0 }, want = { 0 };

	for (unsigned i = 0; i < 1500; i++) {
		buf_printf(&text,
			"{\"j\":%u,\"l\":[{\"n\":%u},null,{\"n\":2,\"s\":\"%u\"}],"
			"\"m\":{\"k%u\":1},\"d\":\"%u\",\"v\":[%u,1]}\n",
			i, i, i, i, i % 9, i);
		buf_printf(&want,
			"{\"l\":[{\"n\":%u,\"s\":null},null,{\"n\":2,\"s\":\"%u\"}],\"m\":[{"
			"\"key\":"
			"\"k%u\",\"value\":1}],\"v\":[%u.0,1.0],\"d\":\"%u\",\"j\":%u,\"a\":null,"
			"\"y\":null,\"z\":null,\"h\":null}\n",
			i, i, i, i, i % 9, i);
	}
	buf_put_byte(&want, '\0');
	import_run(&test, buf_slice(&text));
	ck_assert_msg(test.code == LANCET_OK, "%s", test.err.text);
	ck_assert_str_eq((const char *)test.out.data, (const char *)want.data);
	ck_assert_uint_gt(test.batches, 1);
	buf_release(&test.out);
	buf_release(&text);
	buf_release(&want);
}
END_TEST

static void
do_nothing(int number)
{
	(void)number;
}

/* Nothing comes from the pipe, and nobody writes into it. */
START_TEST(a_signal_ends_waiting)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	const struct itimerval soon = { .it_interval = { 0, 20000 }, .it_value = { 0, 20000 } };
	const struct itimerval never = { 0 };
	struct row_source *source = NULL;
	struct lancet_error err = { 0 };
	struct field_tree tree;
	int ends[2];

	import_tree(plain, ARRAY_SIZE(plain), &tree);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	ck_assert_int_eq(import_json_open(&tree, ends[0], &source, &err), LANCET_CANCELLED);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	ck_assert_str_eq(err.text, "cancelled by a signal");
	ck_assert_ptr_null(source);
	field_tree_release(&tree);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

static const char budgets[40];

UNIT_MAIN("import_json", UNIT_LOOP(files_are_rows_or_refused, files),
	UNIT_LOOP(nested_values_are_built, nested_files),
	UNIT_LOOP(batches_fit_their_budget, budgets), UNIT_TEST(a_signal_ends_waiting))

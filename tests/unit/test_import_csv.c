/* CSV as rows: its grammar, columns by name, null and empty, messages, and batches that fit. */
#include "importtext.h"

static const struct import_field three[] = {
	{ "a", "int32", -1, false, NULL },
	{ "b", "string", -1, false, NULL },
	{ "c", "string", -1, true, NULL },
};
#define ROW(a, b, c) "{\"a\":" a ",\"b\":" b ",\"c\":" c "}\n"

static const struct {
	const char *text, *want;
} files[] = {
	{ "a,b,c\n1,x,y\n", ROW("1", "\"x\"", "\"y\"") },
	{ "a,b,c\n1,x,y", ROW("1", "\"x\"", "\"y\"") },
	{ "a,b,c\r\n1,x,y\r\n", ROW("1", "\"x\"", "\"y\"") },
	{ "\xef\xbb\xbf"
	  "a,b,c\n1,x,y\n",
		ROW("1", "\"x\"", "\"y\"") },
	{ "c,a,b\ny,1,x\n", ROW("1", "\"x\"", "\"y\"") },
	{ "c\ny\n", ROW("null", "null", "\"y\"") },
	{ "\"a\",\"b\",\"c\"\n\"1\",\"x\",\"y\"\n", ROW("1", "\"x\"", "\"y\"") },
	{ "a,b,c\n", "" },
	{ "a,b,c", "" },
	{ "a,b,c\n\n\r\n1,x,y\n\n", ROW("1", "\"x\"", "\"y\"") },
	{ "a,b,c\n,,y\n", ROW("null", "null", "\"y\"") },
	{ "a,b,c\n,\"\",\"\"\n", ROW("null", "\"\"", "\"\"") },
	{ "a,b,c\n\"\",,y\n", ROW("null", "null", "\"y\"") },
	{ "a,b,c\n1,\"say \"\"hi\"\", you\",\"\"\"\"\n",
		ROW("1", "\"say \\\"hi\\\", you\"", "\"\\\"\"") },
	{ "a,b,c\n1,\"x\ny\r\n\",\" \"\n", ROW("1", "\"x\\ny\\r\\n\"", "\" \"") },
	{ "a,b,c\n1, x ,\xc3\xa9\n", ROW("1", "\" x \"", "\"\xc3\xa9\"") },
	{ "a,b,c\n 1 ,x,y\n", ROW("1", "\"x\"", "\"y\"") },
	{ "", "no header line" },
	{ "\n\n", "no header line" },
	{ "a,b,d\n", "line 1: no column has the name \"d\"" },
	{ "a,b,c,\n", "line 1: no column has the name \"\"" },
	{ "a;b;c\n", "line 1: no column has the name \"a;b;c\"" },
	{ "A,b,c\n", "line 1: no column has the name \"A\"" },
	{ "a,b,c,a\n", "line 1: column \"a\" comes twice" },
	{ "a,b\n1,x\n", "line 1: column \"c\" is missing, and can't be null" },
	{ "a,b,c\n1,x\n", "line 2: 2 cells, 3 expected" },
	{ "a,b,c\n1,x,y,\n", "line 2: 4 cells, 3 expected" },
	{ "a,b,c\n1,x,\n", "line 2, column \"c\": null where a value is needed" },
	{ "a,b,c\n1,x,y\nz,x,y\n", "line 3, column \"a\": \"z\" is no int32" },
	{ "a,b,c\n1,\"\n\n\",y\nz,x,y\n", "line 5, column \"a\": \"z\" is no int32" },
	{ "a,b,c\n1,\"x,y\n2,x,y\n", "line 2: a quote that is not closed" },
	{ "a,b,c\n1,\"x\"y,z\n", "line 2: text behind the quote that closes a cell" },
	{ "a,b,c\n1,5\" disk,z\n", "line 2: a quote in a cell that does not begin with one" },
	{ "a,b,c\n1,x\ry,z\n", "line 2: a carriage return that ends no line" },
	{ "a,b,c\n1,x,y\r", "line 2: a carriage return that ends no line" },
	{ "a,b,c\n1,x\xff,y\n", "line 2: byte 10 of the file: not UTF-8" },
	{ "a,b,c\n1,\xc3\xa9\xe2\x82,y\n", "line 2: byte 11 of the file: not UTF-8" },
	{ "a,b,c\n1,x,\xc3", "line 2: byte 11 of the file: not UTF-8" },
	{ "\xff\xfe"
	  "a",
		"the text is UTF-16, UTF-8 is needed" },
	{ "a,b,c\nabcdefghijklmnopqrstuvwxyz0123456789abc\xc3\xa9z,x,y\n",
		"line 2, column \"a\": \"abcdefghijklmnopqrstuvwxyz0123456789abc...\" is no "
		"int32" },
	{ "a,b,c\n\"1\n2\",x,y\n", "line 2, column \"a\": \"1?2\" is no int32" },
};

START_TEST(files_are_rows_or_refused)
{
	import_check(
		three, ARRAY_SIZE(three), TEXT_CSV, slice_text(files[_i].text), files[_i].want);
}
END_TEST

START_TEST(nul_is_text_like_any_other)
{
	static const char text[] = "a,b,c\n1,x\0y,z\n";

	import_check(three, ARRAY_SIZE(three), TEXT_CSV, slice_of(text, sizeof(text) - 1),
		ROW("1", "\"x\\u0000y\"", "\"z\""));
}
END_TEST

/* In a file of one column an empty line is a row. */
START_TEST(one_column_has_rows_of_nothing)
{
	import_check(three, 1, TEXT_CSV, slice_text("a\n\n1\n\n"),
		"{\"a\":null}\n{\"a\":1}\n{\"a\":null}\n");
}
END_TEST

static const struct import_field nested[] = {
	{ "l", "list", -1, false, NULL },
	{ "item", "int8", 0, false, NULL },
	{ "s", "struct", -1, false, NULL },
	{ "x", "string", 2, false, NULL },
	{ "j", "json", -1, false, "lance.json" },
};

static const struct {
	const char *text, *want;
} nested_files[] = {
	{ "l,s,j\n\"[1,null]\",\"{\"\"x\"\":\"\"y\"\"}\",\"{\"\"b\"\":1,\"\"a\"\":[]}\"\n",
		"{\"l\":[1,null],\"s\":{\"x\":\"y\"},\"j\":{\"a\":[],\"b\":1}}\n" },
	{ "l,s,j\n[],{},null\n", "{\"l\":[],\"s\":{\"x\":null},\"j\":null}\n" },
	{ "l,s,j\n,,\n", "{\"l\":null,\"s\":null,\"j\":null}\n" },
	{ "l,s,j\nnull,null,\"\"\"x\"\"\"\n", "{\"l\":null,\"s\":null,\"j\":\"x\"}\n" },
	{ "l\n[200]\n", "line 2, column \"l\": item 1: \"200\" is out of range for int8" },
	{ "l\n[1] 2\n", "line 2, column \"l\": byte 5: more behind the value" },
	{ "l\n5\n", "line 2, column \"l\": 5 is no list" },
	{ "s\n{\"y\":1}\n", "line 2: a quote in a cell that does not begin with one" },
	{ "s\n\"{\"\"y\"\":1}\"\n", "line 2, column \"s\": no member has the name \"y\"" },
	{ "s\n\"{\"\"x\"\":1}\"\n", "line 2, column \"s\": member \"x\": 1 is no string" },
	{ "j\nword\n", "line 2, column \"j\": byte 1: a value is expected" },
};

START_TEST(nested_values_are_json)
{
	import_check(nested, ARRAY_SIZE(nested), TEXT_CSV, slice_text(nested_files[_i].text),
		nested_files[_i].want);
}
END_TEST

/* Rows of all kinds of values, so that what is taken back is a bit of each. */
static const struct import_field wide[] = {
	{ "n", "int32", -1, false, NULL },
	{ "t", "string", -1, false, NULL },
	{ "b", "bool", -1, false, NULL },
	{ "l", "list", -1, false, NULL },
	{ "item", "string", 3, false, NULL },
	{ "v", "fixed_size_list:float:3", -1, false, NULL },
	{ "s", "struct", -1, false, NULL },
	{ "x", "int16", 6, false, NULL },
	{ "d", "dict:string:int8:false", -1, false, NULL },
	{ "absent", "fixed_size_list:double:9", -1, false, NULL },
	{ "j", "json", -1, false, "lance.json" },
};

static void
put_wide_row(struct buf *csv, struct buf *json, unsigned i)
{
	bool null = i % 7 == 3;

	if (null) {
		buf_put_text(csv, ",,,,,,,\n");
		buf_put_text(json,
			"{\"n\":null,\"t\":null,\"b\":null,\"l\":null,\"v\":null,\"s\":null,"
			"\"d\":null,\"absent\":null,\"j\":null}\n");
		return;
	}
	buf_printf(csv,
		"%u,text %u,%s,\"[\"\"i%u\"\",null]\",\"[1,2,%u]\",\"{\"\"x\"\":%u}\",w%u,%u\n", i,
		i, i % 2 ? "true" : "false", i, i, i, i % 100, i);
	buf_printf(json,
		"{\"n\":%u,\"t\":\"text %u\",\"b\":%s,\"l\":[\"i%u\",null],\"v\":[1.0,2.0,%u.0],"
		"\"s\":{\"x\":%u},\"d\":\"w%u\",\"absent\":null,\"j\":%u}\n",
		i, i, i % 2 ? "true" : "false", i, i, i, i % 100, i);
}

/* Budgets that end in any row, and in any value of it. */
START_TEST(batches_fit_their_budget)
{
	struct import_test test = { .fields = wide, .field_count = ARRAY_SIZE(wide) };
	struct buf csv = { 0 }, json = { 0 };

	buf_put_text(&csv, "n,t,b,l,v,s,d,j\n");
	for (unsigned i = 0; i < 2000; i++)
		put_wide_row(&csv, &json, i);
	buf_put_byte(&json, '\0');
	test.budget = 6000 + 997 * (size_t)_i;
	test.batch = 3000;
	import_run(&test, buf_slice(&csv));
	ck_assert_msg(test.code == LANCET_OK, "%s", test.err.text);
	ck_assert_str_eq((const char *)test.out.data, (const char *)json.data);
	ck_assert_uint_gt(test.batches, 1);
	buf_release(&test.out);
	buf_release(&csv);
	buf_release(&json);
}
END_TEST

START_TEST(a_row_beyond_the_budget_is_refused)
{
	struct import_test test = {
		.fields = wide, .field_count = ARRAY_SIZE(wide), .budget = 5000
	};
	struct buf csv = { 0 };

	buf_put_text(&csv, "t\nx\n");
	buf_fill(&csv, 'y', 5000);
	import_run(&test, buf_slice(&csv));
	ck_assert_int_eq(test.code, LANCET_LIMIT);
	ck_assert_ptr_eq(strstr(test.err.text, "line 3, column \"t\": "), test.err.text);
	ck_assert_str_eq((const char *)test.out.data,
		"{\"n\":null,\"t\":\"x\",\"b\":null,\"l\":null,\"v\":null,\"s\":null,\"d\":null,"
		"\"absent\":null,\"j\":null}\n");
	buf_release(&test.out);
	buf_release(&csv);
}
END_TEST

/* Keys of 8 bits tell 128 values: then a new batch begins, whose dictionary is a new one. */
START_TEST(dictionaries_that_are_full_end_a_batch)
{
	struct import_test test = { .fields = &wide[8], .field_count = 1 };
	struct buf csv = { 0 };

	buf_put_text(&csv, "d\n");
	for (unsigned i = 0; i < 300; i++)
		buf_printf(&csv, "%u\n", i);
	import_run(&test, buf_slice(&csv));
	ck_assert_msg(test.code == LANCET_OK, "%s", test.err.text);
	ck_assert_uint_eq(test.batches, 3);
	buf_release(&test.out);
	buf_release(&csv);
}
END_TEST

static const size_t sizes[] = { 1 << 20, (1 << 20) + 1, 3 << 20, 20 << 20 };

/* Cells larger than a block of the file. */
START_TEST(cells_may_be_large)
{
	struct import_test test = { .fields = &three[1], .field_count = 1 };
	struct buf csv = { 0 };

	buf_put_text(&csv, "b\n\"");
	buf_fill(&csv, 'x', sizes[_i]);
	buf_put_text(&csv, "\"\nlast\n");
	import_run(&test, buf_slice(&csv));
	ck_assert_msg(test.code == LANCET_OK, "%s", test.err.text);
	ck_assert_uint_eq(
		test.out.size, sizes[_i] + strlen("{\"b\":\"\"}\n{\"b\":\"last\"}\n") + 1);
	buf_release(&test.out);
	buf_release(&csv);
}
END_TEST

START_TEST(lines_have_a_limit)
{
	struct import_test test = { .fields = &three[1], .field_count = 1, .form = _i };
	struct buf text = { 0 };

	buf_put_text(&text, _i == TEXT_CSV ? "b\nx\n\"" : "{\"b\":\"x\"}\n{\"b\":\"");
	buf_fill(&text, 'x', (size_t)130 << 20);
	import_run(&test, buf_slice(&text));
	ck_assert_int_eq(test.code, LANCET_LIMIT);
	ck_assert_str_eq(test.err.text, _i == TEXT_CSV ? "line 3: longer than 67108864 bytes"
						       : "line 2: longer than 67108864 bytes");
	buf_release(&test.out);
	buf_release(&text);
}
END_TEST

static const enum import_text forms[] = { TEXT_CSV, TEXT_JSON };
static const char budgets[40];

UNIT_MAIN("import_csv", UNIT_LOOP(files_are_rows_or_refused, files),
	UNIT_TEST(nul_is_text_like_any_other), UNIT_TEST(one_column_has_rows_of_nothing),
	UNIT_LOOP(nested_values_are_json, nested_files),
	UNIT_LOOP(batches_fit_their_budget, budgets), UNIT_TEST(a_row_beyond_the_budget_is_refused),
	UNIT_TEST(dictionaries_that_are_full_end_a_batch), UNIT_LOOP(cells_may_be_large, sizes),
	UNIT_LOOP(lines_have_a_limit, forms))

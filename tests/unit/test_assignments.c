/* New values for columns: exactly, rounded where the column asks for it, or refused. */
#include "conditionrows.h"
#include "importtext.h"

static const struct {
	const char *text, *want; /* the values of the column as JSON, blanks between them */
} assignments[] = {
	{ "i32 = 7", "7 7 7 7 7 7" },
	{ "i32 = 7.0", "7 7 7 7 7 7" },
	{ "i32 = i32", "1 -1 null 2147483647 -2147483648 0" },
	{ "i32 = null", "null null null null null null" },
	{ "i8 = i8 / 2", "0 0 null 63 -64 0" },
	{ "u8 = 255 - u8", "254 0 null 128 255 250" },
	{ "u64 = u64", "1 18446744073709551615 null 9223372036854775808 0 5" },
	{ "u64 = u64 - 0", "1 18446744073709551615 null 9223372036854775808 0 5" },
	{ "i64 = dec * 100", "150 -225 null 0 12345 1" },
	{ "f32 = 0.1", "0.1 0.1 0.1 0.1 0.1 0.1" },
	{ "f32 = i8", "1.0 -1.0 null 127.0 -128.0 0.0" },
	{ "f64 = dec", "1.5 -2.25 null 0.0 123.45 0.01" },
	{ "f64 = u64", "1.0 1.8446744073709552e+19 null 9.223372036854776e+18 0.0 5.0" },
	{ "b = i32 > 0", "true false null true false false" },
	{ "b = b is null", "false false true false false true" },
	{ "b = true", "true true true true true true" },
	{ "s = s || '!'", "\"a!\" \"B!\" null \"ab!\" \"!\" \"a%b!\"" },
	{ "s = word", "\"a\" \"b\" null \"a\" \"c\" \"b\"" },
	{ "word = s", "\"a\" \"B\" null \"ab\" \"\" \"a%b\"" },
	{ "word = 'new'", "\"new\" \"new\" \"new\" \"new\" \"new\" \"new\"" },
	{ "y = X'00'", "\"AA==\" \"AA==\" \"AA==\" \"AA==\" \"AA==\" \"AA==\"" },
	{ "day = '2020-02-29'", "\"2020-02-29\" \"2020-02-29\" \"2020-02-29\" \"2020-02-29\" "
				"\"2020-02-29\" \"2020-02-29\"" },
	{ "ts = day", "\"2020-01-01T00:00:00.000000\" \"1970-01-01T00:00:00.000000\" null "
		      "\"1969-12-31T00:00:00.000000\" \"2020-01-02T00:00:00.000000\" "
		      "\"9999-01-01T00:00:00.000000\"" },
	{ "t = time '23:00:00'", "\"23:00:00\" \"23:00:00\" \"23:00:00\" \"23:00:00\" "
				 "\"23:00:00\" \"23:00:00\"" },
	{ "dec = 1.505", "\"1.51\" \"1.51\" \"1.51\" \"1.51\" \"1.51\" \"1.51\"" },
	{ "dec = dec * dec", "\"2.25\" \"5.06\" null \"0.00\" \"15239.90\" \"0.00\"" },
	{ "dec = i8", "\"1.00\" \"-1.00\" null \"127.00\" \"-128.00\" \"0.00\"" },
	{ "`a name` = 9", "9 9 9 9 9 9" },
	{ "st = null", "null null null null null null" },
	{ "l = null", "null null null null null null" },
	{ "i64 = _rowid", "100 101 102 103 104 105" },
};

/* The values of one column of JSON lines. */
static void
strip(struct buf *lines, char *into)
{
	char *save = NULL, *line;

	buf_put_byte(lines, '\0');
	*into = '\0';
	for (line = strtok_r((char *)lines->data, "\n", &save); line != NULL;
		line = strtok_r(NULL, "\n", &save)) {
		line = strchr(line, ':') + 1;
		line[strlen(line) - 1] = '\0';
		if (*into != '\0')
			strcat(into, " ");
		strcat(into, line);
	}
}

static int
apply(struct condition_rows *rows, const char *text, struct array *out, struct lancet_error *err)
{
	struct assignments *made = NULL;
	int rc = assignments_parse(text, &rows->tree, &made, err);

	if (rc != LANCET_OK)
		return rc;
	ck_assert_uint_eq(assignments_count(made), 1);
	rc = array_init(out, &rows->tree.roots[assignments_root(made, 0)], &rows->budget, err);
	if (rc == LANCET_OK)
		rc = assignments_apply(made, 0, rows->places, CONDITION_ROWS, out, err);
	assignments_free(made);
	return rc;
}

START_TEST(values_are_those_of_the_expression)
{
	struct condition_rows rows;
	struct lancet_error err = { 0 };
	struct array out = { 0 };
	struct buf lines = { 0 };
	struct field_tree one;
	char got[1024];
	int rc;

	condition_rows_make(&rows);
	rc = apply(&rows, assignments[_i].text, &out, &err);
	ck_assert_msg(rc == LANCET_OK, "%s: %s", assignments[_i].text, err.text);
	one = (struct field_tree){ .roots = (struct field *)(uintptr_t)out.field, .root_count = 1 };
	import_print(&one, &out, CONDITION_ROWS, &lines);
	strip(&lines, got);
	ck_assert_msg(strcmp(got, assignments[_i].want) == 0, "%s: %s", assignments[_i].text, got);
	array_release(&out);
	buf_release(&lines);
	condition_rows_release(&rows);
}
END_TEST

static const struct {
	const char *text, *want; /* the beginning of the message */
} refusals[] = {
	{ "", "at 1: a name is missing" },
	{ "i32", "at 4: = is missing" },
	{ "i32 = 1,", "at 9: a name is missing" },
	{ "i32 = 1 i8 = 2", "at 9: expected an operator or the end, not \"i8\"" },
	{ "i32 = 1, I32 = 2", "at 10: column \"I32\" is set twice" },
	{ "nothing = 1", "at 1: column \"nothing\": there is none" },
	{ "i32 = nothing", "at 7: column \"nothing\": there is none" },
	{ "_rowid = 1", "at 1: column \"_rowid\" is set by commits alone" },
	{ "st.x = 1", "at 1: \"st.x\": only whole columns can be set" },
	{ "l = l", "at 1: column \"l\" can only be set to null" },
	{ "`A name` = null", "at 1: column \"A name\" can't be null" },
	{ "`A name` = i32", "column \"A name\": a value would be null" },
	{ "i32 = 'a'", "at 7: text where a whole number is needed" },
	{ "i32 = s", "at 7: text for column \"i32\", which is a whole number" },
	{ "s = 5", "at 5: a number where text is needed" },
	{ "dec = f64", "at 7: a floating-point number for column \"dec\"" },
	{ "i32 = 1.5", "column \"i32\": a value can't be held exactly" },
	{ "i32 = 3000000000", "column \"i32\": 3000000000 can't be held exactly" },
	{ "u8 = -1", "column \"u8\": -1 can't be held exactly" },
	{ "i8 = i32", "column \"i8\": 2147483647 can't be held exactly" },
	{ "i32 = f64", "column \"i32\": 0.10000000000000001 can't be held exactly" },
	{ "i64 = u64", "column \"i64\": 18446744073709551615 can't be held exactly" },
	{ "dec = 123456789", "column \"dec\": 123456789 can't be held exactly" },
	{ "f32 = 1e39", "at 7: 1e39: too large for the column" },
	{ "day = ts", "column \"day\": 1577840523000000 can't be held exactly" },
	{ "ts = tz", "at 1: column \"ts\" and the value differ in having a zone" },
	{ "t = '00:00:00.5'", "at 5: 00:00:00.5: finer than the unit of the column" },
	{ "i64 = i64 + 1", "column \"i64\": at 11: 9223372036854775807 + 1 is beyond 64 bits" },
	{ "b = 1", "at 5: a whole number where a condition is needed" },
};

START_TEST(what_a_column_can_not_hold_is_refused)
{
	struct condition_rows rows;
	struct lancet_error err = { 0 };
	struct array out = { 0 };

	condition_rows_make(&rows);
	ck_assert_msg(apply(&rows, refusals[_i].text, &out, &err) == LANCET_INVALID, "%s",
		refusals[_i].text);
	ck_assert_msg(strncmp(err.text, refusals[_i].want, strlen(refusals[_i].want)) == 0,
		"%s: %s", refusals[_i].text, err.text);
	array_release(&out);
	condition_rows_release(&rows);
}
END_TEST

START_TEST(several_assignments_know_what_they_look_at)
{
	struct condition_rows rows;
	struct assignments *made = NULL;
	struct lancet_error err = { 0 };

	condition_rows_make(&rows);
	ck_assert_int_eq(assignments_parse("i32 = i8 + 1, s = 'a, b = c'", &rows.tree, &made, &err),
		LANCET_OK);
	ck_assert_uint_eq(assignments_count(made), 2);
	ck_assert_uint_eq(assignments_root(made, 0), 3);
	ck_assert_uint_eq(assignments_root(made, 1), 8);
	ck_assert(
		assignments_use(made, 1) && !assignments_use(made, 3) && !assignments_use(made, 8));
	assignments_free(made);
	condition_rows_release(&rows);
}
END_TEST

UNIT_MAIN("assignments", UNIT_LOOP(values_are_those_of_the_expression, assignments),
	UNIT_LOOP(what_a_column_can_not_hold_is_refused, refusals),
	UNIT_TEST(several_assignments_know_what_they_look_at))

/* Conditions: which rows they are true for, and what is refused, with the place. Rows that both
 * accept were looked up with the reference; what it refuses follows from the exact values. */
#include "conditionrows.h"
#include "unit.h"

#include "util/bits.h"

static const struct {
	const char *text, *want; /* a digit for each row */
} conditions[] = {
	{ "true", "111111" },
	{ "false", "000000" },
	{ "null", "000000" },
	{ "b", "100100" },
	{ "not b", "010010" },
	{ "b is not true", "011011" },
	{ "b is false", "010010" },
	{ "b is null", "001001" },
	{ "b and null", "000000" },
	{ "b or null", "100100" },
	{ "not (b and null)", "010010" },
	{ "b > false", "100100" },
	{ "i32 = 1", "100000" },
	{ "I32 == 1", "100000" },
	{ "i32 = 1 = true", "100000" },
	{ "not i32 = 1", "010111" },
	{ "i32 > 0 is true", "100100" },
	{ "(i32 > 0) is not false", "101100" },
	{ "i32 = null", "000000" },
	{ "null = null", "000000" },
	{ "i32 is null", "001000" },
	{ "i32 is not null and l is null", "000000" },
	{ "i32 = 1 or i32 = -1 and false", "100000" },
	/* whole numbers of all types, exactly */
	{ "i32 = 1.0", "100000" },
	{ "i32 > 0.5", "100100" },
	{ "i32 >= -2147483648", "110111" },
	{ "u8 > -1", "110111" },
	{ "u8 = 300", "000000" },
	{ "i8 < 1000", "110111" },
	{ "i64 >= -9223372036854775808", "110111" },
	{ "i64 > 9223372036854775807", "000000" },
	{ "i64 < 9223372036854775808", "110111" },
	{ "u64 = 18446744073709551615", "010000" },
	{ "u64 < 18446744073709551616", "110111" },
	{ "u64 > i64", "010111" },
	{ "u64 = i64", "100000" },
	{ "i64 <= i8", "110011" },
	{ "i64 < 1e30", "110111" },
	/* floating-point numbers: -0 is 0, NaN is equal to itself and beyond all */
	{ "f64 = 0", "000110" },
	{ "f64 = -0.0", "000110" },
	{ "f64 = f64", "110111" },
	{ "f64 > 1e300", "010000" },
	{ "f64 < 0", "000001" },
	{ "f64 <> 0.1", "010111" },
	{ "f32 = 0.1", "100000" },
	{ "f32 = f64", "010110" },
	{ "f64 in (0.0, 0.1)", "100110" },
	{ "f64 not in (0.0)", "110001" },
	{ "i64 < f64", "010010" },
	{ "u64 >= f64", "100111" },
	/* text and binary, by bytes */
	{ "s < 'a'", "010010" },
	{ "s > 'B'", "100101" },
	{ "s = 'it''s'", "000000" },
	{ "s || 'x' = 'abx'", "000100" },
	{ "s || null is null", "111111" },
	{ "y = X'61'", "100000" },
	{ "y < x'FF'", "110110" },
	{ "y >= X''", "110111" },
	{ "word = 'a'", "100100" },
	{ "word in ('a', 'c', 'd', 'e')", "100110" },
	{ "word like 'a%'", "100100" },
	{ "s in ('a', 'ab', '', 'q', 'r')", "100110" },
	{ "s not in ('a', 'ab', '', 'q', null)", "000000" },
	/* dates and times */
	{ "day > date '2020-01-01'", "000011" },
	{ "day = '2020-01-01'", "100000" },
	{ "day < timestamp '2020-01-01T00:00:01'", "110100" },
	{ "ts = timestamp '2020-01-01 01:02:03'", "100000" },
	{ "ts < '1970-01-01'", "000100" },
	{ "ts > '2020-01-01T01:02:03+02:00'", "100011" },
	{ "ts > day", "100100" },
	{ "tz = '2020-01-01T03:02:03'", "100000" },
	{ "tz = '2020-01-01T01:02:03Z'", "100000" },
	{ "t = time '01:02:03'", "100000" },
	{ "t between '01:00:00' and '02:00:00'", "100001" },
	{ "span > span", "000000" },
	{ "span is not null", "110111" },
	/* decimals of any scale */
	{ "dec > 1", "100010" },
	{ "dec = 1.5", "100000" },
	{ "dec < 123.455", "110111" },
	{ "dec > 1.505", "000010" },
	{ "dec > 1e-300", "100011" },
	{ "dec < 99999999999999999999999999999999999999.9", "110111" },
	{ "dec < big", "010101" },
	{ "big = 9999999999999999999999999999999999999999999999999999999999999999999999999999",
		"000100" },
	{ "big > u64", "000101" },
	{ "dec in (1.50, 0, 7, 8, 0.01)", "100101" },
	/* arithmetic */
	{ "i32 + 1 > 2147483647", "000100" },
	{ "i8 + i8 > 0", "100100" },
	{ "-i8 = 128", "000010" },
	{ "u8 - 5 < 0", "100010" },
	{ "i64 % 2 = -1", "010000" },
	{ "i32 / 2 = 0", "110001" },
	{ "f64 / 0 > 1", "110000" },
	{ "f32 * 2 > 0.2", "010001" },
	{ "dec * dec = 2.25", "100000" },
	{ "dec / 2 = 0.75", "100000" },
	{ "dec + 0.005 = 1.505", "100000" },
	{ "-dec > 0", "010000" },
	{ "u64 + 1 > 18446744073709551615", "010000" },
	{ "u64 - 6 < 0", "100011" },
	{ "2 - 1 - 1 = 0", "111111" },
	{ "2 + 3 * 2 = 8 and -2 + 3 = 1 and (2 + 3) * 2 = 10", "111111" },
	{ "i32 + null is null", "111111" },
	/* what is decided already is not computed */
	{ "i32 <> 0 and 10 / i32 = 10", "100000" },
	{ "i32 = 0 or 10 / i32 = 10", "100001" },
	{ "b is null or i64 < 9223372036854775807 and i64 + 1 > 0", "101001" },
	/* names */
	{ "`A name` > 4", "000011" },
	{ "`a NAME` > 4", "000011" },
	{ "st.x > 1", "000101" },
	{ "ST.`x` is null", "011000" },
	{ "st is null", "001000" },
	{ "_rowid = 102", "001000" },
	{ "_rowaddr in (100, 103)", "100100" },
	{ "_rowid > i64 and i64 is not null", "110011" },
	/* sets */
	{ "i32 in (1, 2, 3, 0, -1)", "110001" },
	{ "i32 in (1.5, 1.0, 0, 5, 6)", "100001" },
	{ "i32 not in (1, null)", "000000" },
	{ "i32 in (i64, 7)", "110001" },
	{ "5 in (i32, u8)", "000001" },
	{ "i32 between -1 and 1", "110001" },
	{ "i32 not between -1 and 1", "000110" },
	{ "i32 between null and -5", "000000" },
	{ "i32 not between null and -5", "110101" },
};

/* Bits of the rows, or -1; err tells why. */
static int
match(const struct condition_rows *rows, const char *text, uint8_t *matches,
	struct lancet_error *err)
{
	struct predicate *predicate = NULL;
	int rc = predicate_parse(text, &rows->tree, &predicate, err);

	if (rc == LANCET_OK)
		rc = predicate_match(predicate, rows->places, CONDITION_ROWS, matches, err);
	predicate_free(predicate);
	return rc;
}

START_TEST(conditions_are_true_for_these_rows)
{
	struct condition_rows rows;
	struct lancet_error err = { 0 };
	char got[CONDITION_ROWS + 1] = "";
	uint8_t matches = 0;

	condition_rows_make(&rows);
	ck_assert_msg(match(&rows, conditions[_i].text, &matches, &err) == LANCET_OK, "%s: %s",
		conditions[_i].text, err.text);
	for (unsigned i = 0; i < CONDITION_ROWS; i++)
		got[i] = bits_get(&matches, i) ? '1' : '0';
	ck_assert_msg(strcmp(got, conditions[_i].want) == 0, "%s: %s, not %s", conditions[_i].text,
		conditions[_i].want, got);
	condition_rows_release(&rows);
}
END_TEST

static const struct {
	const char *text, *want; /* the beginning of the message */
} refusals[] = {
	{ "", "at 1: a value, a column or a condition is missing" },
	{ "i32 =", "at 6: a value, a column or a condition is missing" },
	{ "i32 = 1 1", "at 9: expected an operator or the end, not \"1\"" },
	{ "i32 = 1;", "at 8: \";\" is not understood" },
	{ "i32 = 1 -- all", "at 9: conditions have no comments" },
	{ "(i32 = 1", "at 9: ) is missing" },
	{ "i32 = +1", "at 7: expected a value" },
	{ "i32 in ()", "at 9: expected a value" },
	{ "i32 in 1", "at 8: expected (, not \"1\"" },
	{ "i32 between 1 or 2", "at 15: expected and, not \"or\"" },
	{ "i32 is 1", "at 8: expected NULL, TRUE or FALSE" },
	{ "not", "at 4: a value" },
	{ "s = 'a", "at 5: a quote that is not closed" },
	{ "s = \"a\"", "at 5: double quotes mean a name to some and text to others" },
	{ "y = X'6'", "at 5: X'...' needs two digits for each byte" },
	{ "y = X'6g'", "at 5: X'...' has other than hexadecimal digits" },
	{ "i32 = 1e", "at 7: a number without its exponent" },
	{ "i32 = 1x", "at 7: a number that does not end as one" },
	{ "i32 = 1.2.3", "at 7: a number that does not end as one" },
	{ "abs(i32) = 1", "at 1: conditions have no functions" },
	{ "s like s", "at 8: expected a pattern in 'quotes', not \"s\"" },
	{ "s like 'a\\b'", "at 3: \\ in a pattern stands before %, _ or itself" },
	{ "s like 'a' escape 'ab'", "at 19: expected one ASCII character in 'quotes'" },
	{ "nothing = 1", "at 1: column \"nothing\": there is none" },
	{ "st.z = 1", "at 1: \"st\" has no field \"z\"" },
	{ "l.item = 1", "at 1: \"l\" has no field \"item\"" },
	{ "_rowid.x = 1", "at 1: column \"_rowid\": there is none" },
	{ "i32", "at 1: a whole number where a condition is needed" },
	{ "'a'", "at 1: text where a condition is needed" },
	{ "not s", "at 5: text where a condition is needed" },
	{ "i32 = 'a'", "at 7: text where a whole number is needed" },
	{ "s = 1", "at 5: a number where text is needed" },
	{ "s = y", "at 3: can't compare text with binary" },
	{ "dec = f64", "at 5: can't compare a decimal with a floating-point number" },
	{ "dec + f64 > 1", "at 5: can't compute with a decimal and a floating-point number" },
	{ "l = l", "at 3: can't compare a type that can only be null or not" },
	{ "s + 1 = 2", "at 1: text where a number is needed" },
	{ "i32 || 'a' = 'b'", "at 1: a whole number where text is needed" },
	{ "ts = tz", "at 4: can't compare times with a zone and times without" },
	{ "day = '2020-1-1'", "at 7: 2020-1-1: no date like" },
	{ "day = date '2020-01-01 00:00:00'", "at 12: 2020-01-01 00:00:00: no date like" },
	{ "ts = '2020-01-01T00:00:00.0000001'", "at 6: 2020-01-01T00:00:00.0000001: finer" },
	{ "t = '01:02:03.5'", "at 5: 01:02:03.5: finer than the unit of the column" },
	{ "t = '25:00:00'", "at 5: 25:00:00: no time like" },
	{ "f32 = 1e39", "at 7: 1e39: too large for the column" },
	{ "f64 = 1e999", "at 7: 1e999: too large" },
	{ "i32 = 99999999999999999999999999999999999999999999999999999999999999999999999999999",
		"at 7: 99999999999999999999" },
	{ "i64 + 1 > 0", "at 5: 9223372036854775807 + 1 is beyond 64 bits" },
	{ "i64 * 2 > 0", "at 5: 9223372036854775807 * 2 is beyond 64 bits" },
	{ "i64 / 0 = 1", "at 5: 1 / 0 is no number" },
	{ "i64 % (i64 - i64) = 1", "at 5: 1 % 0 is no number" },
	{ "dec / 0 = 1", "at 5: divided by zero" },
	{ "big * 100 > 0", "at 5: more digits than a decimal has" },
};

START_TEST(what_can_not_be_is_refused_with_its_place)
{
	struct condition_rows rows;
	struct lancet_error err = { 0 };
	uint8_t matches;

	condition_rows_make(&rows);
	ck_assert_msg(match(&rows, refusals[_i].text, &matches, &err) == LANCET_INVALID, "%s",
		refusals[_i].text);
	ck_assert_msg(strncmp(err.text, refusals[_i].want, strlen(refusals[_i].want)) == 0,
		"%s: %s", refusals[_i].text, err.text);
	condition_rows_release(&rows);
}
END_TEST

/* `before`, `count` times `text`, `after` */
static char *
repeat(const char *before, const char *text, size_t count, const char *after)
{
	struct buf all = { 0 };

	buf_put_text(&all, before);
	for (size_t i = 0; i < count; i++)
		buf_put_text(&all, text);
	buf_put_text(&all, after);
	buf_put_byte(&all, '\0');
	ck_assert_int_eq(all.failed, LANCET_OK);
	return (char *)all.data;
}

static const struct {
	const char *before, *text;
	size_t count;
	const char *after;
	int want;
} lengths[] = {
	{ "i32 = 1", " or i32 = 7", 20000, "", LANCET_OK },
	{ "i32 = 1", " and b", 20000, "", LANCET_OK },
	{ "i32 in (1", ", 8", 100000, ")", LANCET_OK },
	{ "", "(", 150, "i32 = 1", LANCET_INVALID },
	{ "", "(", 100000, "i32 = 1", LANCET_LIMIT },
	{ "", "not ", 100000, "b", LANCET_LIMIT },
	{ "i32 = ", "-", 100000, "1", LANCET_INVALID }, /* "--" */
	{ "i32 = ", "- ", 100000, "1", LANCET_LIMIT },
	{ "i32 = 1", " + 0", 100000, "", LANCET_LIMIT },
	{ "b", " is true", 100000, "", LANCET_LIMIT },
	{ "i32 = 1", " ", 1 << 20, "", LANCET_LIMIT },
	{ "a", ".a", 20, " = 1", LANCET_LIMIT },
};

START_TEST(length_and_depth_have_limits)
{
	struct condition_rows rows;
	struct lancet_error err = { 0 };
	uint8_t matches;
	char *text =
		repeat(lengths[_i].before, lengths[_i].text, lengths[_i].count, lengths[_i].after);

	condition_rows_make(&rows);
	ck_assert_msg(
		match(&rows, text, &matches, &err) == lengths[_i].want, "%d: %s", _i, err.text);
	condition_rows_release(&rows);
	free(text);
}
END_TEST

/* Rows beyond one block: row i has number i % 7, null where i % 11 is 0. */
START_TEST(many_rows_are_gone_through_in_blocks)
{
	static const struct import_field fields[] = { { "n", "int32", -1, false, NULL } };
	static uint8_t matches[1000];
	struct array_budget budget = { .limit = 1 << 20 };
	const struct array *columns[1 + PREDICATE_LINEAGE] = { 0 };
	struct predicate *predicate = NULL;
	struct field_tree tree;
	struct array array;
	const uint64_t rows = 5003;

	import_tree(fields, 1, &tree);
	ck_assert_int_eq(array_init(&array, &tree.roots[0], &budget, NULL), LANCET_OK);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t value = i % 7;

		ck_assert_int_eq(i % 11 == 0 ? array_append_nulls(&array, 1, NULL)
					     : array_append_fixed(&array, 32,
						       (const uint8_t *)&value, 1, NULL),
			LANCET_OK);
	}
	columns[0] = &array;
	ck_assert_int_eq(predicate_parse("n in (1, 3, 4, 5)", &tree, &predicate, NULL), LANCET_OK);
	ck_assert(predicate_uses(predicate, 0) && !predicate_uses(predicate, 1));
	matches[rows / 8 + 1] = 0xaa;
	ck_assert_int_eq(predicate_match(predicate, columns, rows, matches, NULL), LANCET_OK);
	for (uint32_t i = 0; i < rows; i++)
		ck_assert_int_eq(bits_get(matches, i),
			i % 11 != 0 && strchr("1345", '0' + (int)(i % 7)) != NULL);
	ck_assert_uint_eq(matches[rows / 8] >> rows % 8, 0);
	ck_assert_uint_eq(matches[rows / 8 + 1], 0xaa);
	predicate_free(predicate);
	array_release(&array);
	field_tree_release(&tree);
}
END_TEST

UNIT_MAIN("predicate", UNIT_LOOP(conditions_are_true_for_these_rows, conditions),
	UNIT_LOOP(what_can_not_be_is_refused_with_its_place, refusals),
	UNIT_LOOP(length_and_depth_have_limits, lengths),
	UNIT_TEST(many_rows_are_gone_through_in_blocks))

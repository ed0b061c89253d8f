/* Text of every scalar type as values: what rows print, what others write, and what is refused.
 * The values were compared with numpy's and pyarrow's. */
#include "core/import_number.h"
#include "importtext.h"

#include <math.h>

/* A cell of CSV, and what JSON lines print of it, or what is wrong with it. */
static const struct {
	const char *type, *cell, *want;
} cells[] = {
	{ "bool", "true", "true" },
	{ "bool", "True", "true" },
	{ "bool", "1", "true" },
	{ "bool", "FALSE", "false" },
	{ "bool", "0", "false" },
	{ "bool", "yes", "\"yes\" is no bool" },
	{ "int8", "-128", "-128" },
	{ "int8", "128", "\"128\" is out of range for int8" },
	{ "int8", "-129", "\"-129\" is out of range for int8" },
	{ "uint8", "255", "255" },
	{ "uint8", "256", "\"256\" is out of range for uint8" },
	{ "uint8", "-1", "\"-1\" is out of range for uint8" },
	{ "uint8", "-0", "0" },
	{ "int16", "007", "7" },
	{ "int32", " 5\t", "5" },
	{ "int32", "5.00", "5" },
	{ "int32", "5.", "5" },
	{ "int32", "5.01", "\"5.01\" is no int32" },
	{ "int32", "1e3", "\"1e3\" is no int32" },
	{ "int32", "+5", "\"+5\" is no int32" },
	{ "int32", "0x5", "\"0x5\" is no int32" },
	{ "int32", "-", "\"-\" is no int32" },
	{ "int32", " ", "\"\" is no int32" },
	{ "int32", "1 2", "\"1 2\" is no int32" },
	{ "int64", "-9223372036854775808", "-9223372036854775808" },
	{ "int64", "9223372036854775807", "9223372036854775807" },
	{ "int64", "9223372036854775808", "\"9223372036854775808\" is out of range for int64" },
	{ "uint64", "18446744073709551615", "18446744073709551615" },
	{ "uint64", "18446744073709551616", "\"18446744073709551616\" is out of range for uint64" },
	{ "halffloat", "0.1", "0.1" },
	{ "halffloat", "2049", "2048.0" },
	{ "halffloat", "2051", "2052.0" },
	{ "halffloat", "65519", "65504.0" },
	{ "halffloat", "65520", "\"65520\" is out of range for halffloat" },
	{ "halffloat", "2.9802322387695312e-08", "0.0" },
	{ "halffloat", "2.99e-08", "6e-08" },
	{ "halffloat", "-inf", "\"-Infinity\"" },
	{ "float", "0.1", "0.1" },
	{ "float", "16777217", "16777216.0" },
	{ "float", "16777219", "16777220.0" },
	{ "float", "7.038531e-26", "7.0385307e-26" },
	{ "float", "16777217.0000000000000000000000000000000001", "16777218.0" },
	{ "float", "1e-45", "1e-45" },
	{ "float", "3.4028235677973366e+38", "3.4028235e+38" },
	{ "float", "3.4028235677973367e+38",
		"\"3.4028235677973367e+38\" is out of range for float" },
	{ "double", "-1.5", "-1.5" },
	{ "double", "-0", "-0.0" },
	{ "double", ".5", "0.5" },
	{ "double", "5.", "5.0" },
	{ "double", "1E3", "1000.0" },
	{ "double", "9007199254740993", "9007199254740992.0" },
	{ "double", "9007199254740993.00000000000000000000000000000000000001",
		"9007199254740994.0" },
	{ "double", "0.30000000000000004", "0.30000000000000004" },
	{ "double", "1.7976931348623157e+308", "1.7976931348623157e+308" },
	{ "double", "1e309", "\"1e309\" is out of range for double" },
	{ "double", "4.9e-324", "5e-324" },
	{ "double", "1e-400", "0.0" },
	{ "double", "1e-99999999999999999999", "0.0" },
	{ "double", "0e99999999999999999999", "0.0" },
	{ "double", "NaN", "\"NaN\"" },
	{ "double", "nan", "\"NaN\"" },
	{ "double", "inf", "\"Infinity\"" },
	{ "double", "-Infinity", "\"-Infinity\"" },
	{ "double", "1e", "\"1e\" is no double" },
	{ "double", ".", "\".\" is no double" },
	{ "double", "0x1p3", "\"0x1p3\" is no double" },
	{ "double", "infinit", "\"infinit\" is no double" },
	{ "decimal:128:5:2", "123.45", "\"123.45\"" },
	{ "decimal:128:5:2", "-0.05", "\"-0.05\"" },
	{ "decimal:128:5:2", "1.2e1", "\"12.00\"" },
	{ "decimal:128:5:2", "12345e-2", "\"123.45\"" },
	{ "decimal:128:5:2", "1.500", "\"1.50\"" },
	{ "decimal:128:5:2", "0000123.4500", "\"123.45\"" },
	{ "decimal:128:5:2", "0e999", "\"0.00\"" },
	{ "decimal:128:5:2", "1.505", "\"1.505\" has too many decimals for decimal:128:5:2" },
	{ "decimal:128:5:2", "1e-9", "\"1e-9\" has too many decimals for decimal:128:5:2" },
	{ "decimal:128:5:2", "1000", "\"1000\" has too many digits for decimal:128:5:2" },
	{ "decimal:128:5:2", "1e99999999999",
		"\"1e99999999999\" has too many digits for decimal:128:5:2" },
	{ "decimal:128:5:2", "1,5", "2 cells, 1 expected" },
	{ "decimal:128:5:2", "NaN", "\"NaN\" is no decimal:128:5:2" },
	{ "decimal:128:5:-2", "1200", "\"1200\"" },
	{ "decimal:128:5:-2", "1250", "\"1250\" has too many decimals for decimal:128:5:-2" },
	{ "decimal:128:38:0", "-99999999999999999999999999999999999999",
		"\"-99999999999999999999999999999999999999\"" },
	{ "decimal:256:76:38",
		"99999999999999999999999999999999999999.99999999999999999999999999999999999999",
		"\"99999999999999999999999999999999999999.99999999999999999999999999999999999999"
		"\"" },
	{ "date32:day", "2026-11-30", "\"2026-11-30\"" },
	{ "date32:day", "2026-11-30 00:00:00", "\"2026-11-30\"" },
	{ "date32:day", "+5881580-07-11", "\"+5881580-07-11\"" },
	{ "date32:day", "-5877641-06-23", "\"-5877641-06-23\"" },
	{ "date32:day", "+5881580-07-12", "\"+5881580-07-12\" is out of range for date32:day" },
	{ "date32:day", "2024-02-29", "\"2024-02-29\"" },
	{ "date32:day", "2023-02-29", "\"2023-02-29\" is no date32:day" },
	{ "date32:day", "2026-11-30T12:00", "\"2026-11-30T12:00\" is too fine for date32:day" },
	{ "date32:day", "30.11.2026", "\"30.11.2026\" is no date32:day" },
	{ "date32:day", "2026-1-1", "\"2026-1-1\" is no date32:day" },
	{ "date64:ms", "1970-01-02T00:00:00.001", "\"1970-01-02T00:00:00.001\"" },
	{ "date64:ms", "1970-01-02", "\"1970-01-02\"" },
	{ "time32:s", "23:59:59", "\"23:59:59\"" },
	{ "time32:s", "23:59", "\"23:59:00\"" },
	{ "time32:s", "23:59:59.0000", "\"23:59:59\"" },
	{ "time32:s", "23:59:59.5", "\"23:59:59.5\" is too fine for time32:s" },
	{ "time32:s", "86400", "\"86400\"" },
	{ "time32:s", "5", "\"5\" is no time32:s" },
	{ "time32:s", "-1", "\"-1\"" },
	{ "time32:s", "24:00:00", "\"24:00:00\" is no time32:s" },
	{ "time64:ns", "00:00:00.123456789", "\"00:00:00.123456789\"" },
	{ "time64:ns", "00:00:00.1234567891", "\"00:00:00.1234567891\" is too fine for time64:ns" },
	{ "timestamp:us:-", "2026-11-30T07:30:00", "\"2026-11-30T07:30:00.000000\"" },
	{ "timestamp:us:-", "2026-11-30 07:30:00.25", "\"2026-11-30T07:30:00.250000\"" },
	{ "timestamp:us:-", "2026-11-30", "\"2026-11-30T00:00:00.000000\"" },
	{ "timestamp:us:-", "2026-11-30T07:30:00Z",
		"\"2026-11-30T07:30:00Z\" has an offset from UTC, which there is none in "
		"timestamp:us:-" },
	{ "timestamp:us:-", "2026-11-30T", "\"2026-11-30T\" is no timestamp:us:-" },
	{ "timestamp:us:-", "2026-11-30T07:30:00.0000001",
		"\"2026-11-30T07:30:00.0000001\" is too fine for timestamp:us:-" },
	{ "timestamp:s:UTC", "1970-01-01 01:00:00+01", "\"1970-01-01T00:00:00Z\"" },
	{ "timestamp:s:UTC", "1970-01-01",
		"\"1970-01-01\" has no offset from UTC, which is needed for timestamp:s:UTC" },
	{ "timestamp:s:+08:00", "1969-12-31T20:30:00-0330", "\"1970-01-01T08:00:00+08:00\"" },
	{ "timestamp:s:+01", "+292277026596-12-04T16:30:07+01:00",
		"\"+292277026596-12-04T16:30:07+01:00\"" },
	{ "timestamp:s:+01", "+292277026596-12-04T16:30:08+01:00",
		"\"+292277026596-12-04T16:30:08+01:00\" is out of range for timestamp:s:+01" },
	{ "timestamp:s:-23:59", "-292277022657-01-26T08:30:52-23:59",
		"\"-292277022657-01-26T08:30:52-23:59\"" },
	{ "duration:s", "PT3S", "\"PT3S\"" },
	{ "duration:s", "-PT9223372036854775808S", "\"-PT9223372036854775808S\"" },
	{ "duration:s", "PT9223372036854775808S",
		"\"PT9223372036854775808S\" is out of range for duration:s" },
	{ "duration:s", "P1W2DT3H4M5S", "\"PT788645S\"" },
	{ "duration:ms", "-PT0.001S", "\"-PT0.001S\"" },
	{ "duration:ms", "P1D", "\"PT86400.000S\"" },
	{ "duration:ns", "-PT9223372036.854775808S", "\"-PT9223372036.854775808S\"" },
	{ "duration:us", "PT0.0000001S", "\"PT0.0000001S\" is too fine for duration:us" },
	{ "duration:s", "P", "\"P\" is no duration:s" },
	{ "duration:s", "PT", "\"PT\" is no duration:s" },
	{ "duration:s", "P1Y", "\"P1Y\" is no duration:s" },
	{ "duration:s", "PT1S2M", "\"PT1S2M\" is no duration:s" },
	{ "duration:s", "P1S", "\"P1S\" is no duration:s" },
	{ "duration:s", "PT0.5M", "\"PT0.5M\" is no duration:s" },
	{ "duration:s", "1:00", "\"1:00\" is no duration:s" },
	{ "string", " a ", "\" a \"" },
	{ "large_string", "NULL", "\"NULL\"" },
	{ "binary", "Zm9vYmFy", "\"Zm9vYmFy\"" },
	{ "binary", "Zm9vYmF", "\"Zm9vYmF\" is no base64, as it is needed for binary" },
	{ "fixed_size_binary:3", "Zm9v", "\"Zm9v\"" },
	{ "fixed_size_binary:3",
		"Zm8=", "\"Zm8=\" has another number of bytes than fixed_size_binary:3" },
	{ "dict:string:int8:false", "word", "\"word\"" },
	{ "dict:int32:uint8:false", "x", "\"x\" is no int32" },
	{ "fixed_size_list:float:2", "\"[1,2.5]\"", "[1.0,2.5]" },
	{ "fixed_size_list:float:2", "[1]", "1 items, 2 expected" },
	{ "fixed_size_list:lance.bfloat16:2", "\"[1,3.140625]\"", "[1.0,3.140625]" },
	{ "null", "x", "\"x\" is no null" },
};

/* As a row of CSV, and where it is no nested value as a string of JSON. */
START_TEST(cells_are_values_or_refused)
{
	const struct import_field column = { "v", cells[_i].type, -1, false, NULL };
	const char *want = cells[_i].want;
	bool good = want[0] != '"' || want[strlen(want) - 1] == '"';
	char text[256], answer[256];

	good = good && strstr(want, "expected") == NULL;
	(void)snprintf(text, sizeof(text), "v\n%s\n", cells[_i].cell);
	(void)snprintf(answer, sizeof(answer),
		good                            ? "{\"v\":%s}\n"
		: strstr(want, "cells") != NULL ? "line 2: %s"
						: "line 2, column \"v\": %s",
		want);
	import_check(&column, 1, TEXT_CSV, slice_text(text), answer);
}
END_TEST

START_TEST(strings_of_json_are_the_same)
{
	const struct import_field column = { "v", cells[_i].type, -1, false, NULL };
	const char *cell = cells[_i].cell, *want = cells[_i].want;
	bool good = want[0] != '"' || want[strlen(want) - 1] == '"';
	char text[256], answer[256];

	if (strchr(cell, '[') != NULL || strchr(cell, ',') != NULL || cell[0] == ' ' ||
		strcmp(cells[_i].type, "null") == 0)
		return;
	(void)snprintf(text, sizeof(text), "{\"v\":\"%s\"}", cell);
	(void)snprintf(
		answer, sizeof(answer), good ? "{\"v\":%s}\n" : "line 1, column \"v\": %s", want);
	import_check(&column, 1, TEXT_JSON, slice_text(text), answer);
}
END_TEST

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 11;
}

/* Digits with a point and an exponent, of all sizes. */
static void
random_number(uint64_t *state, char into[64])
{
	unsigned digits = 1 + (unsigned)(next_random(state) % 24), at = 0;
	unsigned point = (unsigned)(next_random(state) % (digits + 4));
	int spread = next_random(state) % 2 ? 30 : 330;
	int exponent = (int)(next_random(state) % (unsigned)(2 * spread)) - spread;

	if (next_random(state) % 2)
		into[at++] = '-';
	for (unsigned i = 0; i < digits; i++) {
		if (i == point)
			into[at++] = '.';
		into[at++] = (char)('0' + next_random(state) % 10);
	}
	(void)snprintf(into + at, 64 - at, next_random(state) % 4 ? "e%d" : "", exponent);
}

START_TEST(floats_are_the_nearest)
{
	const struct arrow_type wide = { .bits = 64 }, narrow = { .bits = 32 };
	uint64_t state = 7;
	char text[64];

	for (unsigned i = 0; i < 300000; i++) {
		uint8_t bytes[IMPORT_SCALAR_MAX];
		double want, got;
		float want_narrow, got_narrow;

		random_number(&state, text);
		want = strtod(text, NULL);
		want_narrow = strtof(text, NULL);
		if (import_parse_float(&wide, slice_text(text), bytes) != NULL) {
			ck_assert_msg(isinf(want), "%s", text);
			continue;
		}
		memcpy(&got, bytes, sizeof(got));
		ck_assert_msg(memcmp(&got, &want, sizeof(got)) == 0, "%s", text);
		if (import_parse_float(&narrow, slice_text(text), bytes) != NULL) {
			ck_assert_msg(isinf(want_narrow), "%s", text);
			continue;
		}
		memcpy(&got_narrow, bytes, sizeof(got_narrow));
		ck_assert_msg(
			memcmp(&got_narrow, &want_narrow, sizeof(got_narrow)) == 0, "%s", text);
	}
}
END_TEST

UNIT_MAIN("import_value", UNIT_LOOP(cells_are_values_or_refused, cells),
	UNIT_LOOP(strings_of_json_are_the_same, cells), UNIT_TEST(floats_are_the_nearest))

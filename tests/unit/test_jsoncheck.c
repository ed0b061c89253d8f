/* What is one line of compact JSON, and what is not. */
#include "unit.h"

#include "util/jsoncheck.h"

static const struct {
	const char *text;
	bool is_json;
} texts[] = {
	{ "null", true },
	{ "true", true },
	{ "false", true },
	{ "0", true },
	{ "-0", true },
	{ "-12.50e+3", true },
	{ "1E5", true },
	{ "\"\"", true },
	{ "\"a\\u00e9\\n\\\"\\\\ \xc3\xa9\"", true },
	{ "[]", true },
	{ "{}", true },
	{ "[1,[],{},[[2]],\"x\"]", true },
	{ "{\"a\":{\"b\":[null,{\"\":0}]},\"c\":[]}", true },
	{ "", false },
	{ "nul", false },
	{ "nullx", false },
	{ "01", false },
	{ "-", false },
	{ "1.", false },
	{ ".5", false },
	{ "1e", false },
	{ "+1", false },
	{ "NaN", false },
	{ "'a'", false },
	{ "\"", false },
	{ "\"a", false },
	{ "\"\\x\"", false },
	{ "\"\\u12g4\"", false },
	{ "\"\\u12", false },
	{ "\"a\nb\"", false },
	{ "\"\xff\"", false },
	{ "[", false },
	{ "[1", false },
	{ "[1,]", false },
	{ "[,1]", false },
	{ "[1}", false },
	{ "{\"a\":1]", false },
	{ "{\"a\"}", false },
	{ "{\"a\":}", false },
	{ "{a:1}", false },
	{ "{\"a\":1,}", false },
	{ "{1:2}", false },
	{ "[1] ", false },
	{ "[1, 2]", false },
	{ "[1]\n", false },
	{ "1,2", false },
	{ "[]]", false },
};

START_TEST(compact_json_is_told_from_other_text)
{
	size_t size = strlen(texts[_i].text);
	uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees overruns */

	memcpy(copy, texts[_i].text, size);
	copy = realloc(copy, size > 0 ? size : 1);
	ck_assert_msg(jsoncheck_is_compact(slice_of(copy, size)) == texts[_i].is_json, "%s",
		texts[_i].text);
	free(copy);
}
END_TEST

START_TEST(nesting_has_a_limit)
{
	enum { DEPTH = JSONCHECK_DEPTH_MAX };
	char text[2 * DEPTH + 4];

	memset(text, '[', DEPTH);
	text[DEPTH] = '1';
	memset(text + DEPTH + 1, ']', DEPTH);
	ck_assert(jsoncheck_is_compact(slice_of(text, 2 * DEPTH + 1)));
	memset(text, '[', DEPTH + 1);
	text[DEPTH + 1] = '1';
	memset(text + DEPTH + 2, ']', DEPTH + 1);
	ck_assert(!jsoncheck_is_compact(slice_of(text, 2 * DEPTH + 3)));
}
END_TEST

UNIT_MAIN("jsoncheck", UNIT_LOOP(compact_json_is_told_from_other_text, texts),
	UNIT_TEST(nesting_has_a_limit))

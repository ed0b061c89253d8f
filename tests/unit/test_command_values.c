/* Values of words: numbers, truths, times, lists and versions. */
#include "unit.h"

#include "command/values.h"

#include <string.h>

const struct command commands[] = { { 0 } };

int
lancet_dataset_latest(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	(void)dataset;
	(void)err;
	*ret_number = 42;
	return LANCET_OK;
}

static struct command_words
words_of(const char *line)
{
	struct command_words words = { 0 };

	ck_assert_int_eq(command_words_parse((struct slice){ (const uint8_t *)line, strlen(line) },
				 &words, NULL),
		LANCET_OK);
	return words;
}

#define REFUSED UINT64_MAX

static const struct {
	const char *line;
	uint64_t want;
} times[] = {
	{ "t=90s", 90 },
	{ "t=30m", 1800 },
	{ "t=12h", 43200 },
	{ "t=14d", 1209600 },
	{ "t=2w", 1209600 },
	{ "t=0s", 0 },
	{ "other=1h", 7 }, /* what it was */
	{ "t=14", REFUSED },
	{ "t=0", REFUSED },
	{ "t=", REFUSED },
	{ "t=d", REFUSED },
	{ "t=1.5h", REFUSED },
	{ "t=-1h", REFUSED },
	{ "t=1y", REFUSED },
	{ "t='1 h'", REFUSED },
	{ "t=1hh", REFUSED },
	{ "t=30500568904944w", REFUSED }, /* 2^64 and more seconds */
	{ "t=30500568904943w", 30500568904943u * 604800 },
};

START_TEST(times_have_a_unit)
{
	struct command_words words = words_of(times[_i].line);
	struct lancet_error err = { 0 };
	uint64_t seconds = 7;
	int rc = value_seconds(&words, "t", &seconds, &err);

	if (times[_i].want == REFUSED) {
		ck_assert_int_eq(rc, LANCET_INVALID);
		ck_assert_ptr_nonnull(strstr(err.text, "14d"));
		ck_assert_uint_eq(seconds, 7);
	} else {
		ck_assert_int_eq(rc, LANCET_OK);
		ck_assert_uint_eq(seconds, times[_i].want);
	}
	command_words_release(&words);
}
END_TEST

static const struct {
	const char *line;
	int code;
	size_t count;
	uint64_t numbers[6];
} lists[] = {
	{ "l=2,5,7-9", LANCET_OK, 5, { 2, 5, 7, 8, 9 } },
	{ "l=0", LANCET_OK, 1, { 0 } },
	{ "l=3-3", LANCET_OK, 1, { 3 } },
	{ "l=9,2,9", LANCET_OK, 3, { 9, 2, 9 } },
	{ "l=18446744073709551614-18446744073709551615", LANCET_OK, 2,
		{ UINT64_MAX - 1, UINT64_MAX } },
	{ "other=1", LANCET_OK, 0, { 0 } },
	{ "l=", LANCET_INVALID, 0, { 0 } },
	{ "l=1,", LANCET_INVALID, 0, { 0 } },
	{ "l=,1", LANCET_INVALID, 0, { 0 } },
	{ "l=5-4", LANCET_INVALID, 0, { 0 } },
	{ "l=5-", LANCET_INVALID, 0, { 0 } },
	{ "l=-5", LANCET_INVALID, 0, { 0 } },
	{ "l=1-2-3", LANCET_INVALID, 0, { 0 } },
	{ "l=0x5", LANCET_INVALID, 0, { 0 } },
	{ "l='1, 2'", LANCET_INVALID, 0, { 0 } },
	{ "l=18446744073709551616", LANCET_INVALID, 0, { 0 } },
	{ "l=0-65536", LANCET_LIMIT, 0, { 0 } },
	{ "l=0-65535,7", LANCET_LIMIT, 0, { 0 } },
	{ "l=0-18446744073709551615", LANCET_LIMIT, 0, { 0 } },
};

START_TEST(lists_have_numbers_and_ranges)
{
	struct command_words words = words_of(lists[_i].line);
	struct lancet_error err = { 0 };
	uint64_t *list = NULL;
	size_t count = 0;

	ck_assert_int_eq(value_list(&words, "l", &list, &count, &err), lists[_i].code);
	ck_assert_uint_eq(count, lists[_i].count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(list[i], lists[_i].numbers[i]);
	free(list);
	command_words_release(&words);
}
END_TEST

static const struct {
	const char *line;
	uint64_t want;
} versions[] = {
	{ "run", 42 },
	{ "v=latest", 42 },
	{ "v=7", 7 },
	{ "v=9223372036854775809", 9223372036854775809u }, /* a detached one */
	{ "v=0", REFUSED },
	{ "v=", REFUSED },
	{ "v=newest", REFUSED },
	{ "v=-1", REFUSED },
};

START_TEST(versions_are_numbers_or_the_latest)
{
	struct command_words words = words_of(versions[_i].line);
	const struct command_host host = { 0 };
	const struct command_run run = { .words = &words, .host = &host };
	uint64_t number = 0;
	int rc = value_version(&run, "v", &number, NULL);

	ck_assert_int_eq(rc, versions[_i].want == REFUSED ? LANCET_INVALID : LANCET_OK);
	if (rc == LANCET_OK)
		ck_assert_uint_eq(number, versions[_i].want);
	command_words_release(&words);
}
END_TEST

START_TEST(numbers_truths_and_texts)
{
	struct command_words words = words_of("n=5 yes=true no=false empty= bad=maybe big=1001");
	struct lancet_error err = { 0 };
	const char *text = NULL;
	uint64_t number = 1;
	bool truth = false;

	ck_assert_int_eq(value_u64(&words, "n", 5, &number, &err), LANCET_OK);
	ck_assert_uint_eq(number, 5);
	ck_assert_int_eq(value_u64(&words, "none", 5, &number, &err), LANCET_OK);
	ck_assert_uint_eq(number, 5);
	ck_assert_int_eq(value_u64(&words, "big", 1000, &number, &err), LANCET_INVALID);
	ck_assert_ptr_nonnull(strstr(err.text, "at most 1000"));
	ck_assert_int_eq(value_u64(&words, "bad", 1000, &number, &err), LANCET_INVALID);
	ck_assert_int_eq(value_bool(&words, "yes", &truth, &err), LANCET_OK);
	ck_assert(truth);
	ck_assert_int_eq(value_bool(&words, "none", &truth, &err), LANCET_OK);
	ck_assert(truth);
	ck_assert_int_eq(value_bool(&words, "no", &truth, &err), LANCET_OK);
	ck_assert(!truth);
	ck_assert_int_eq(value_bool(&words, "bad", &truth, &err), LANCET_INVALID);
	ck_assert_int_eq(value_needed(&words, "empty", &text, &err), LANCET_INVALID);
	ck_assert_int_eq(value_needed(&words, "none", &text, &err), LANCET_INVALID);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(value_needed(&words, "n", &text, &err), LANCET_OK);
	ck_assert_str_eq(text, "5");
	command_words_release(&words);
}
END_TEST

UNIT_MAIN("command_values", UNIT_LOOP(times_have_a_unit, times),
	UNIT_LOOP(lists_have_numbers_and_ranges, lists),
	UNIT_LOOP(versions_are_numbers_or_the_latest, versions),
	UNIT_TEST(numbers_truths_and_texts))

/* Commands of a table made here: which words they take, and what their results look like. */
#include "unit.h"

#include "command/command.h"
#include "command/values.h"

#include <errno.h>
#include <string.h>

static int
run_fine(struct command_run *run, struct lancet_error *err)
{
	(void)err;
	(void)strcpy(run->facts.operation, "Append");
	run->facts.read_version = 4;
	run->facts.version = 6;
	run->facts.attempts = 2;
	jsonw_u64(&run->json, "rows", 7);
	return LANCET_OK;
}

static int
run_nothing(struct command_run *run, struct lancet_error *err)
{
	(void)run;
	(void)err;
	return LANCET_OK;
}

static int
run_conflict(struct command_run *run, struct lancet_error *err)
{
	run->facts.committed = true;
	run->facts.read_version = 4;
	run->facts.conflict_version = 5;
	run->facts.conflict_operation = "Delete";
	run->facts.conflict_rule = "rows";
	return lancet_fail(err,
		strcmp(value_of(run->words, "code"), "busy") == 0 ? LANCET_BUSY : LANCET_CONFLICT,
		"version 5 deleted\nthe same rows");
}

static int
run_condition(struct command_run *run, struct lancet_error *err)
{
	run->facts.committed = true;
	run->facts.has_cell = true;
	run->facts.conflict_version = 9;
	run->facts.failed_field = 3;
	run->facts.failed_fragment = 12;
	return lancet_fail(err, LANCET_PRECONDITION, "column price of fragment 12 was rewritten");
}

static int
run_referenced(struct command_run *run, struct lancet_error *err)
{
	(void)run;
	return lancet_fail(err, LANCET_BUSY, "tag v1 is on it");
}

/* More than a result may hold; `version` says whether there is a version by then. */
static int
run_long(struct command_run *run, struct lancet_error *err)
{
	(void)err;
	run->members.limit = 1000;
	run->facts.version = value_of(run->words, "version") != NULL ? 3 : 0;
	for (int i = 0; i < 100; i++)
		jsonw_text(&run->json, "line", "0123456789");
	return LANCET_OK;
}

const struct command commands[] = {
	{ "fine", COMMAND_COMMITS, "file config.* dry_run", "file=NAME\nmore", run_fine },
	{ "nothing", COMMAND_QUICK, "name", "name=N", run_nothing },
	{ "plan", COMMAND_LONG | COMMAND_DRY, "dry_run keep", "run", run_nothing },
	{ "verb", COMMAND_VERB | COMMAND_QUICK, "name", "create name=N\nmore", run_nothing },
	{ "bare", COMMAND_BARE, "config.*", "config.KEY", run_nothing },
	{ "conflict", COMMAND_COMMITS, "code", "code=N", run_conflict },
	{ "condition", COMMAND_COMMITS, "", "run", run_condition },
	{ "referenced", 0, "", "run", run_referenced },
	{ "long", 0, "version", "run", run_long },
	{ 0 },
};

static struct command_words
words_of(const char *line)
{
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_msg(command_words_parse((struct slice){ (const uint8_t *)line, strlen(line) },
			      &words, &err) == LANCET_OK,
		"%s", err.text);
	return words;
}

enum { SLOW = 0, QUICK = 1, ASYNC = 2, REFUSED = 4 };

static const struct {
	const char *name, *line;
	int want;
	const char *says; /* of a refusal */
} checks[] = {
	{ "fine", "run", SLOW, NULL },
	{ "fine", "file=a config.x=1 config.y=2 message=m retries=0 require=x token=t", SLOW,
		NULL },
	{ "fine", "file=a dry_run=true", QUICK, NULL },
	{ "fine", "file=a dry_run=false async=true", ASYNC, NULL },
	{ "fine", "fil=a", REFUSED, "file config.* dry_run read_version message" },
	{ "fine", "config.=1", REFUSED, "no such key" },
	{ "fine", "config=1", REFUSED, "no such key" },
	{ "fine", "files=1", REFUSED, "no such key" },
	{ "fine", "file=a file=b", REFUSED, "file= is there twice" },
	{ "fine", "config.x=1 config.x=1", REFUSED, "twice" },
	{ "fine", "run file=a", REFUSED, "all defaults, and alone" },
	{ "fine", "file=a run", REFUSED, "all defaults, and alone" },
	{ "fine", "stop", REFUSED, "stop" },
	{ "fine", "async=yes", REFUSED, "async=yes: not true or false" },
	{ "fine", "dry_run=1", REFUSED, "true or false" },
	{ "nothing", "name=1", QUICK, NULL },
	{ "nothing", "message=1", REFUSED, "no such key" },
	{ "nothing", "async=true", REFUSED, "no such key" },
	{ "nothing", "dry_run=true", REFUSED, "no such key" },
	{ "plan", "run", QUICK, NULL },
	{ "plan", "keep=1", QUICK, NULL },
	{ "plan", "dry_run=false", SLOW, NULL },
	{ "plan", "dry_run=false async=true", ASYNC, NULL },
	{ "plan", "message=m", REFUSED, "no such key" },
	{ "verb", "create name=1", QUICK, NULL },
	{ "verb", "name=1", REFUSED, "a verb comes first: create name=N" },
	{ "verb", "name=1 create", REFUSED, "verb" },
	{ "verb", "create delete", REFUSED, "delete" },
	{ "bare", "config.a config.b", SLOW, NULL },
};

START_TEST(words_are_checked_before_anything_runs)
{
	const struct command *command = command_find(checks[_i].name);
	struct command_words words = words_of(checks[_i].line);
	struct lancet_error err = { 0 };
	bool quick = false, async = false;
	int rc;

	ck_assert_ptr_nonnull(command);
	rc = command_check(command, &words, &quick, &async, &err);
	command_words_release(&words);
	if ((checks[_i].want & REFUSED) != 0) {
		ck_assert_int_eq(rc, LANCET_INVALID);
		ck_assert_msg(strstr(err.text, checks[_i].says) != NULL, "%s", err.text);
		ck_assert_ptr_null(strchr(err.text, '?')); /* no line break of the usage */
		return;
	}
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	ck_assert_int_eq(quick * QUICK + async * ASYNC, checks[_i].want);
}
END_TEST

START_TEST(names_are_found_or_not)
{
	ck_assert_str_eq(command_find("plan")->name, "plan");
	ck_assert_ptr_null(command_find(""));
	ck_assert_ptr_null(command_find("pla"));
	ck_assert_ptr_null(command_find("plans"));
}
END_TEST

/* "seconds" is the one member whose value nobody knows. */
static char *
result_text(struct buf *result)
{
	char *seconds, *end;

	buf_put_byte(result, '\0');
	ck_assert_int_eq(result->failed, LANCET_OK);
	seconds = strstr((char *)result->data, "\"seconds\": ");
	ck_assert_ptr_nonnull(seconds);
	seconds += strlen("\"seconds\": ");
	ck_assert_double_ge(strtod(seconds, &end), 0);
	memmove(seconds + 1, end, strlen(end) + 1);
	*seconds = 's';
	return (char *)result->data;
}

static const struct {
	const char *name, *line;
	uint64_t job;
	int code, error_number;
	const char *want;
} results[] = {
	{ "fine", "run", 12, LANCET_OK, 0,
		"{\n  \"format\": 1,\n  \"ok\": true,\n  \"command\": \"fine\",\n  \"job\": 12,\n"
		"  \"operation\": \"Append\",\n  \"read_version\": \"4\",\n  \"version\": \"6\",\n"
		"  \"attempts\": 2,\n  \"seconds\": s,\n  \"rows\": 7\n}\n" },
	{ "nothing", "run", 0, LANCET_OK, 0,
		"{\n  \"format\": 1,\n  \"ok\": true,\n  \"command\": \"nothing\",\n"
		"  \"seconds\": s\n}\n" },
	{ "conflict", "code=busy", 0, LANCET_BUSY, EBUSY,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"conflict\",\n"
		"  \"read_version\": \"4\",\n  \"seconds\": s,\n"
		"  \"errno\": \"EBUSY\",\n  \"code\": \"retryable\",\n"
		"  \"error\": \"conflict: version 5 deleted?the same rows\",\n"
		"  \"conflicts_with\": {\n    \"version\": \"5\",\n    \"operation\": \"Delete\",\n"
		"    \"rule\": \"rows\"\n  }\n}\n" },
	{ "conflict", "code=no", 0, LANCET_CONFLICT, ESTALE,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"conflict\",\n"
		"  \"read_version\": \"4\",\n  \"seconds\": s,\n"
		"  \"errno\": \"ESTALE\",\n  \"code\": \"incompatible\",\n"
		"  \"error\": \"conflict: version 5 deleted?the same rows\",\n"
		"  \"conflicts_with\": {\n    \"version\": \"5\",\n    \"operation\": \"Delete\",\n"
		"    \"rule\": \"rows\"\n  }\n}\n" },
	{ "condition", "run", 0, LANCET_PRECONDITION, ECANCELED,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"condition\",\n"
		"  \"seconds\": s,\n  \"errno\": \"ECANCELED\",\n  \"code\": \"precondition\",\n"
		"  \"error\": \"condition: column price of fragment 12 was rewritten\",\n"
		"  \"conflicts_with\": {\n    \"version\": \"9\",\n    \"field\": 3,\n"
		"    \"fragment\": \"12\"\n  }\n}\n" },
	{ "referenced", "run", 0, LANCET_BUSY, EBUSY,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"referenced\",\n"
		"  \"seconds\": s,\n  \"errno\": \"EBUSY\",\n  \"code\": \"busy\",\n"
		"  \"error\": \"referenced: tag v1 is on it\"\n}\n" },
	{ "nothing", "what=1", 0, LANCET_INVALID, EINVAL,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"nothing\",\n"
		"  \"seconds\": s,\n  \"errno\": \"EINVAL\",\n  \"code\": \"invalid\",\n"
		"  \"error\": \"nothing: what=: no such key; there are: name\"\n}\n" },
	{ "long", "version=1", 0, LANCET_OK, 0,
		"{\n  \"format\": 1,\n  \"ok\": true,\n  \"command\": \"long\",\n"
		"  \"version\": \"3\",\n  \"seconds\": s,\n  \"truncated\": true\n}\n" },
	{ "long", "run", 0, LANCET_LIMIT, EFBIG,
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"long\",\n"
		"  \"seconds\": s,\n  \"truncated\": true,\n  \"errno\": \"EFBIG\",\n"
		"  \"code\": \"limit\",\n  \"error\": \"long: the result: more than 1000 bytes\"\n"
		"}\n" },
};

START_TEST(a_result_says_it_all_in_order)
{
	struct command_words words = words_of(results[_i].line);
	const struct command_host host = { .job = results[_i].job };
	struct lancet_error err = { 0 };
	struct buf result = { 0 };

	ck_assert_int_eq(
		command_execute(command_find(results[_i].name), &words, &host, &result, &err),
		results[_i].code);
	ck_assert_str_eq(result_text(&result), results[_i].want);
	if (results[_i].code != LANCET_OK)
		ck_assert_int_eq(lancet_error_errno(&err), results[_i].error_number);
	buf_release(&result);
	command_words_release(&words);
}
END_TEST

START_TEST(a_line_that_never_ran_has_a_result_too)
{
	struct lancet_error err = { 0 };
	struct buf result = { 0 };

	(void)lancet_fail(&err, LANCET_CANCELLED, "cancelled while it waited");
	command_refused("cleanup", 3, &err, &result);
	ck_assert_str_eq(result_text(&result),
		"{\n  \"format\": 1,\n  \"ok\": false,\n  \"command\": \"cleanup\",\n"
		"  \"job\": 3,\n  \"seconds\": s,\n  \"errno\": \"ECANCELED\",\n"
		"  \"code\": \"cancelled\",\n  \"error\": \"cancelled while it waited\"\n}\n");
	buf_release(&result);
}
END_TEST

static bool
always(void *context)
{
	(void)context;
	return true;
}

START_TEST(what_is_cancelled_before_does_not_run)
{
	struct command_words words = words_of("run");
	const struct command_host host = { .cancelled = always };
	struct buf result = { 0 };

	ck_assert_int_eq(command_execute(command_find("fine"), &words, &host, &result, NULL),
		LANCET_CANCELLED);
	buf_put_byte(&result, '\0');
	ck_assert_ptr_null(strstr((char *)result.data, "version"));
	buf_release(&result);
	command_words_release(&words);
}
END_TEST

UNIT_MAIN("command", UNIT_LOOP(words_are_checked_before_anything_runs, checks),
	UNIT_TEST(names_are_found_or_not), UNIT_LOOP(a_result_says_it_all_in_order, results),
	UNIT_TEST(a_line_that_never_ran_has_a_result_too),
	UNIT_TEST(what_is_cancelled_before_does_not_run))

/* How a command gets to its commit, over an engine that is made here: what is done again, on which
 * version, how often, and what tokens and dry runs leave out. */
#include "unit.h"

#include "command/commit_common.h"
#include "command/values.h"

#include <lancet/transaction.h>
#include <lancet/version.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the engine: versions are numbers, commits follow a script ------------------------- */

/* What one call of lancet_commit says. */
struct reply {
	int code;
	unsigned attempts;
	bool conflict;
	const char *rule; /* of it; NULL: any */
};

static struct {
	const struct reply *replies; /* the last one again and again */
	size_t reply_count;
	uint64_t latest; /* grows with each conflict */
	int token_code;
	char log[2000]; /* what was called, in order */
} engine;

struct lancet_version {
	uint64_t number;
};
struct lancet_change {
	uint64_t read;
};

static void
note(const char *fmt, ...)
{
	size_t size = strlen(engine.log);
	va_list args;

	va_start(args, fmt);
	ck_assert_int_lt(vsnprintf(engine.log + size, sizeof(engine.log) - size, fmt, args), 200);
	va_end(args);
}

int
lancet_dataset_latest(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	(void)dataset;
	(void)err;
	*ret_number = engine.latest;
	return LANCET_OK;
}

int
lancet_version_open(lancet_dataset *dataset, uint64_t number, lancet_version **ret_version,
	struct lancet_error *err)
{
	(void)dataset;
	if (number > engine.latest)
		return lancet_fail(err, LANCET_NOT_FOUND, "no version");
	*ret_version = malloc(sizeof(**ret_version));
	(*ret_version)->number = number;
	return LANCET_OK;
}

void
lancet_version_unref(lancet_version *version)
{
	free(version);
}

int
lancet_transaction_open(
	lancet_version *version, lancet_transaction **ret_transaction, struct lancet_error *err)
{
	(void)version;
	(void)ret_transaction;
	return lancet_fail(err, LANCET_NOT_FOUND, "none");
}

uint64_t
lancet_transaction_read_version(const lancet_transaction *transaction)
{
	(void)transaction;
	return 0;
}

const char *
lancet_transaction_operation(const lancet_transaction *transaction)
{
	(void)transaction;
	return "";
}

void
lancet_transaction_free(lancet_transaction *transaction)
{
	(void)transaction;
}

void
lancet_change_free(lancet_change *change)
{
	free(change);
}

int
lancet_change_set_property(
	lancet_change *change, const char *key, const char *value, struct lancet_error *err)
{
	(void)change;
	(void)err;
	note("%s=%s ", key, value);
	return LANCET_OK;
}

int
lancet_change_set_token(lancet_change *change, const char *token, struct lancet_error *err)
{
	(void)change;
	(void)err;
	note("token=%s ", token);
	return LANCET_OK;
}

int
lancet_change_require(lancet_change *change, const char *text, struct lancet_error *err)
{
	(void)change;
	(void)err;
	note("require=%s ", text);
	return LANCET_OK;
}

int
lancet_commit_find_token(
	lancet_dataset *dataset, const char *token, uint64_t *ret_version, struct lancet_error *err)
{
	(void)dataset;
	note("find=%s ", token);
	if (engine.token_code != LANCET_OK)
		return lancet_fail(err, (enum lancet_code)engine.token_code, "tokens");
	*ret_version = 2;
	return LANCET_OK;
}

int
lancet_commit(lancet_change *change, const struct lancet_commit_options *options,
	struct lancet_commit_result *ret_result, struct lancet_error *err)
{
	const struct reply *reply = engine.replies;

	note("commit(read %d, retries %u) ", (int)change->read, options->retries);
	if (engine.reply_count > 1) {
		engine.replies++;
		engine.reply_count--;
	}
	*ret_result = (struct lancet_commit_result){
		.attempts = reply->attempts,
		.operation = "Delete",
		.read_version = change->read,
		.durable = true,
		.conflict_version = reply->conflict ? engine.latest + 1 : 0,
		.conflict_operation = reply->conflict ? "Append" : NULL,
		.conflict_rule = !reply->conflict      ? NULL
				 : reply->rule == NULL ? "rule"
						       : reply->rule,
	};
	engine.latest += reply->conflict;
	if (reply->code == LANCET_OK)
		ret_result->version = ++engine.latest;
	return reply->code == LANCET_OK
		       ? LANCET_OK
		       : lancet_fail(err, (enum lancet_code)reply->code, "as scripted");
}

/* ---- commands on it -------------------------------------------------------------------- */

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const bool *nothing = context;

	(void)err;
	note("build(%d) ", read != NULL ? (int)read->number : 0);
	if (*nothing)
		return LANCET_OK;
	*ret_change = malloc(sizeof(**ret_change));
	(*ret_change)->read = read != NULL ? read->number : 0;
	return LANCET_OK;
}

static bool nothing, staged;

static int
run(struct command_run *command_run, struct lancet_error *err)
{
	const struct commit_plan plan = { build, &nothing, staged };
	bool found;

	TRY(commit_run(command_run, &plan, &found, err));
	note("%s", found ? "found" : "");
	return LANCET_OK;
}

const struct command commands[] = {
	{ "do", COMMAND_COMMITS, "dry_run", "run", run },
	{ 0 },
};

#define FINE                                                                                       \
	{                                                                                          \
		LANCET_OK, 1, false                                                                \
	}
#define RETRYABLE                                                                                  \
	{                                                                                          \
		LANCET_BUSY, 1, true                                                               \
	}
#define CROWDED                                                                                    \
	{                                                                                          \
		LANCET_BUSY, 5, false                                                              \
	}
#define AGAINST                                                                                    \
	{                                                                                          \
		LANCET_CONFLICT, 1, true                                                           \
	}

static const struct {
	const char *line;
	struct reply replies[3];
	size_t reply_count;
	uint64_t arrived; /* the newest version when the line came */
	bool nothing, staged, token_known;
	int code;
	const char *log;
	unsigned attempts;
	uint64_t version;
} stories[] = {
	{ "run", { FINE }, 1, 0, false, false, false, LANCET_OK,
		"build(7) commit(read 7, retries 20) ", 1, 8 },
	{ "run", { FINE }, 1, 5, false, false, false, LANCET_OK,
		"build(5) commit(read 5, retries 20) ", 1, 8 },
	{ "read_version=3", { FINE }, 1, 5, false, false, false, LANCET_OK,
		"build(3) commit(read 3, retries 20) ", 1, 8 },
	{ "message='a b' require=x@0:* token=t", { FINE }, 1, 0, false, false, false, LANCET_OK,
		"find=t build(7) __lance_commit_message=a b token=t require=x@0:* "
		"commit(read 7, retries 20) ",
		1, 8 },
	/* done again on the newest, never more often than it may be in all */
	{ "run", { RETRYABLE, FINE }, 2, 5, false, false, false, LANCET_OK,
		"build(5) commit(read 5, retries 20) build(8) commit(read 8, retries 19) ", 2, 9 },
	{ "retries=2", { RETRYABLE }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) commit(read 7, retries 2) build(8) commit(read 8, retries 1) "
		"build(9) commit(read 9, retries 0) ",
		3, 0 },
	{ "retries=0", { RETRYABLE }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) commit(read 7, retries 0) ", 1, 0 },
	{ "retries=5", { { LANCET_BUSY, 4, true }, RETRYABLE, FINE }, 3, 0, false, false, false,
		LANCET_OK,
		"build(7) commit(read 7, retries 5) build(8) commit(read 8, retries 1) "
		"build(9) commit(read 9, retries 0) ",
		6, 10 },
	/* an engine that counts no attempt does not make it endless */
	{ "retries=1", { { LANCET_BUSY, 0, true } }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) commit(read 7, retries 1) build(8) commit(read 8, retries 0) ", 2, 0 },
	/* whoever says which version, or what must hold in it, is not given another */
	{ "read_version=7", { RETRYABLE }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) commit(read 7, retries 20) ", 1, 0 },
	{ "require=x@0:*", { RETRYABLE }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) require=x@0:* commit(read 7, retries 20) ", 1, 0 },
	{ "run", { RETRYABLE }, 1, 0, false, true, false, LANCET_BUSY,
		"build(0) commit(read 0, retries 20) ", 1, 0 },
	{ "run", { CROWDED }, 1, 0, false, false, false, LANCET_BUSY,
		"build(7) commit(read 7, retries 20) ", 5, 0 },
	{ "run", { AGAINST }, 1, 0, false, false, false, LANCET_CONFLICT,
		"build(7) commit(read 7, retries 20) ", 1, 0 },
	/* what never fits again, but can be made anew */
	{ "run", { { LANCET_CONFLICT, 0, true, LANCET_RULE_TRANSITIONS }, FINE }, 2, 0, false,
		false, false, LANCET_OK,
		"build(7) commit(read 7, retries 20) build(8) commit(read 8, retries 19) ", 2, 9 },
	{ "read_version=7", { { LANCET_CONFLICT, 0, true, LANCET_RULE_TRANSITIONS } }, 1, 0, false,
		false, false, LANCET_CONFLICT, "build(7) commit(read 7, retries 20) ", 1, 0 },
	{ "run", { FINE }, 1, 0, true, false, false, LANCET_OK, "build(7) ", 0, 0 },
	{ "dry_run=true require=x token=t", { FINE }, 1, 0, false, false, false, LANCET_OK,
		"build(7) token=t require=x ", 0, 0 },
	{ "token=t", { FINE }, 1, 0, false, false, true, LANCET_OK, "find=t found", 0, 2 },
	/* the newest of the time when the line came is gone: cleaned up since */
	{ "run", { FINE }, 1, 99, false, false, false, LANCET_OK,
		"build(7) commit(read 7, retries 20) ", 1, 8 },
	{ "require=x", { FINE }, 1, 99, false, false, false, LANCET_NOT_FOUND, "", 0, 0 },
	{ "read_version=9", { FINE }, 1, 0, false, false, false, LANCET_NOT_FOUND, "", 0, 0 },
	{ "read_version=0", { FINE }, 1, 0, false, false, false, LANCET_INVALID, "", 0, 0 },
	{ "read_version=1", { FINE }, 1, 0, false, true, false, LANCET_INVALID, "", 0, 0 },
	{ "read_version=x", { FINE }, 1, 0, false, false, false, LANCET_INVALID, "", 0, 0 },
	{ "retries=1001", { FINE }, 1, 0, false, false, false, LANCET_INVALID, "", 0, 0 },
	{ "retries=1000", { FINE }, 1, 0, false, false, false, LANCET_OK,
		"build(7) commit(read 7, retries 1000) ", 1, 8 },
	{ "token=", { FINE }, 1, 0, false, false, false, LANCET_INVALID, "", 0, 0 },
};

static void
begin_story(int index)
{
	memset(&engine, 0, sizeof(engine));
	engine.replies = stories[index].replies;
	engine.reply_count = stories[index].reply_count;
	engine.latest = 7;
	engine.token_code = stories[index].token_known ? LANCET_OK : LANCET_NOT_FOUND;
	nothing = stories[index].nothing;
	staged = stories[index].staged;
}

static void
expect_member(const struct buf *result, const char *key, uint64_t value, bool quoted)
{
	char member[80];

	(void)snprintf(member, sizeof(member), quoted ? "\"%s\": \"%llu\"" : "\"%s\": %llu,", key,
		(unsigned long long)value);
	if (value == 0)
		(void)snprintf(member, sizeof(member), "  \"%s\"", key);
	ck_assert_msg((strstr((const char *)result->data, member) != NULL) == (value != 0),
		"%s in %s", member, (const char *)result->data);
}

START_TEST(a_command_is_done_as_often_as_it_may)
{
	const struct command_host host = { .read_version = stories[_i].arrived };
	struct slice line = slice_text(stories[_i].line);
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };
	struct buf result = { 0 };
	int rc;

	begin_story(_i);
	ck_assert_int_eq(command_words_parse(line, &words, &err), LANCET_OK);
	rc = command_execute(commands, &words, &host, &result, &err);
	ck_assert_msg(rc == stories[_i].code, "%d: %s", rc, err.text);
	ck_assert_str_eq(engine.log, stories[_i].log);
	buf_put_byte(&result, '\0');
	expect_member(&result, "attempts", stories[_i].attempts, false);
	if (rc == LANCET_OK)
		expect_member(&result, "version", stories[_i].version, true);
	if (rc == LANCET_BUSY)
		ck_assert_ptr_nonnull(strstr((const char *)result.data, "\"code\": \"retryable\""));
	buf_release(&result);
	command_words_release(&words);
}
END_TEST

START_TEST(a_token_that_cannot_be_looked_up_stops_it)
{
	struct command_words words = { 0 };
	const struct command_host host = { 0 };
	struct buf result = { 0 };

	begin_story(0);
	engine.token_code = LANCET_IO;
	ck_assert_int_eq(command_words_parse(slice_text("token=t"), &words, NULL), LANCET_OK);
	ck_assert_int_eq(command_execute(commands, &words, &host, &result, NULL), LANCET_IO);
	ck_assert_str_eq(engine.log, "find=t ");
	buf_release(&result);
	command_words_release(&words);
}
END_TEST

UNIT_MAIN("command_commit", UNIT_LOOP(a_command_is_done_as_often_as_it_may, stories),
	UNIT_TEST(a_token_that_cannot_be_looked_up_stops_it))

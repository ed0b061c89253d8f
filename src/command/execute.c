/* Finding, checking and running commands; see command.h. */
#include "command.h"

#include <string.h>
#include <time.h>

#include "keys.h"
#include "result.h"
#include "util/macros.h"
#include "values.h"

#define COMMIT_KEYS "read_version message retries require token async"
#define LONG_KEYS   "async"

static const char *
common_keys(const struct command *command)
{
	if ((command->flags & COMMAND_COMMITS) != 0)
		return COMMIT_KEYS;
	return (command->flags & COMMAND_LONG) != 0 ? LONG_KEYS : "";
}

static int
check_key(const struct command *command, const struct command_words *words, size_t index,
	struct lancet_error *err)
{
	const char *key = words->words[index].key, *common = common_keys(command);

	if (!keys_have(command->keys, key) && !keys_have(common, key))
		return lancet_fail(err, LANCET_INVALID, "%.60s=: no such key; there are: %s%s%s",
			key, command->keys, *common != '\0' ? " " : "", common);
	for (size_t i = 0; i < index; i++) {
		if (words->words[i].key != NULL && strcmp(words->words[i].key, key) == 0)
			return lancet_fail(err, LANCET_INVALID, "%.60s= is there twice", key);
	}
	return LANCET_OK;
}

/* "run" by itself is no name. */
static bool
is_run(const struct command_words *words)
{
	return words->count == 1 && words->words[0].key == NULL &&
	       strcmp(words->words[0].value, "run") == 0;
}

static int
check_bare(const struct command *command, const struct command_words *words, size_t index,
	struct lancet_error *err)
{
	const char *word = words->words[index].value;

	if ((command->flags & COMMAND_BARE) != 0 || is_run(words))
		return LANCET_OK;
	if ((command->flags & COMMAND_VERB) != 0 && index == 0)
		return LANCET_OK;
	if (strcmp(word, "run") == 0)
		return lancet_fail(err, LANCET_INVALID,
			"\"run\" stands for all defaults, and alone: leave it out");
	return lancet_fail(err, LANCET_INVALID,
		"%.60s: write key=value, or key=\"value\" if it has blanks; there are: %s", word,
		command->keys);
}

static int
check_words(
	const struct command *command, const struct command_words *words, struct lancet_error *err)
{
	if (words->count == 0)
		return lancet_fail(err, LANCET_INVALID, "there are no words");
	if ((command->flags & COMMAND_VERB) != 0 && words->words[0].key != NULL)
		return lancet_fail(err, LANCET_INVALID, "a verb comes first: %.*s",
			(int)strcspn(command->usage, "\n"), command->usage);
	for (size_t i = 0; i < words->count; i++) {
		if (words->words[i].key == NULL)
			TRY(check_bare(command, words, i, err));
		else
			TRY(check_key(command, words, i, err));
	}
	return LANCET_OK;
}

const struct command *
command_find(const char *name)
{
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

int
command_check(const struct command *command, const struct command_words *words, bool *ret_quick,
	bool *ret_async, struct lancet_error *err)
{
	bool dry = (command->flags & COMMAND_DRY) != 0, async = false;

	TRY(check_words(command, words, err));
	TRY(value_bool(words, "dry_run", &dry, err));
	TRY(value_bool(words, "async", &async, err));
	*ret_quick = dry || (command->flags & COMMAND_QUICK) != 0;
	*ret_async = async;
	return LANCET_OK;
}

static double
now_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whole microseconds: no digits that mean nothing. */
static double
seconds_since(double start)
{
	return (double)(int64_t)((now_seconds() - start) * 1e6) / 1e6;
}

static int
check_and_run(struct command_run *run, struct lancet_error *err)
{
	bool quick, async;

	TRY(command_check(run->command, run->words, &quick, &async, err));
	if (run->host->cancelled != NULL && run->host->cancelled(run->host->context))
		return lancet_fail(err, LANCET_CANCELLED, "cancelled before it began");
	TRY(run->command->run(run, err));
	/* A version that was made is no failure because its description is too long. */
	return run->facts.version != 0 ? LANCET_OK : buf_check(&run->members, "the result", err);
}

int
command_execute(const struct command *command, const struct command_words *words,
	const struct command_host *host, struct buf *result, struct lancet_error *err)
{
	struct command_run run = { .command = command, .words = words, .host = host };
	struct lancet_error failure = { 0 };
	double start = now_seconds();
	int rc;

	run.members.limit = RESULT_MAX;
	jsonw_init_members(&run.json, &run.members);
	rc = check_and_run(&run, &failure);
	if (rc != LANCET_OK)
		(void)lancet_wrap(&failure, rc, "%s", command->name);
	if (run.members.failed != LANCET_OK) {
		buf_release(&run.members);
		run.members.failed = LANCET_OK;
		jsonw_init_members(&run.json, &run.members);
		jsonw_bool(&run.json, "truncated", true);
	}
	result_put(&(struct result){ command->name, host->job, &run.facts, &run.members,
			   seconds_since(start), rc, &failure },
		result);
	buf_release(&run.members);
	if (rc != LANCET_OK && err != NULL)
		*err = failure;
	return rc;
}

void
command_refused(const char *name, uint64_t job, const struct lancet_error *err, struct buf *result)
{
	const struct command_facts none = { 0 };

	result_put(&(struct result){ name, job, &none, NULL, 0, (int)err->code, err }, result);
}

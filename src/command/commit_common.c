/* The way of a command to its commit; see commit_common.h.
 *
 * A conflict that only doing the command again can solve is solved by doing it again, on the newest
 * version, as long as nobody is told otherwise: with read_version= or require= the line says what
 * it was meant for, and then a newer version is another question.
 */
#include "commit_common.h"

#include <stdio.h>
#include <string.h>

#include <lancet/transaction.h>
#include <lancet/version.h>
#include "util/macros.h"
#include "values.h"

#define RETRIES_MAX 1000u

struct request {
	const char *message, *require, *token;
	uint64_t read_version; /* 0: the newest */
	bool pinned;           /* read_version is what the line says */
	bool dry;
	uint64_t retries;
};

static int
parse_request(const struct command_run *run, const struct commit_plan *plan,
	struct request *request, struct lancet_error *err)
{
	const struct command_words *words = run->words;

	*request = (struct request){
		.message = value_of(words, "message"),
		.require = value_of(words, "require"),
		.token = value_of(words, "token"),
		.pinned = value_of(words, "read_version") != NULL,
		.read_version = run->host->read_version,
		.retries = LANCET_COMMIT_RETRIES,
	};
	if (request->pinned && plan->staged)
		return lancet_fail(err, LANCET_INVALID,
			"read_version=: the transaction itself says which version it read");
	if (request->token != NULL && *request->token == '\0')
		return lancet_fail(err, LANCET_INVALID, "token=: a token can't be empty");
	TRY(value_u64(words, "retries", RETRIES_MAX, &request->retries, err));
	TRY(value_u64(words, "read_version", UINT64_MAX, &request->read_version, err));
	if (request->pinned && request->read_version == 0)
		return lancet_fail(err, LANCET_INVALID, "read_version=0: versions begin at 1");
	return value_bool(words, "dry_run", &request->dry, err);
}

static void
note_operation(struct command_run *run, const char *operation)
{
	if (operation != NULL)
		(void)snprintf(run->facts.operation, sizeof(run->facts.operation), "%s", operation);
}

/* What the transaction of a version says of itself; a version without one just has less to say. */
static void
describe_version(struct command_run *run, uint64_t number)
{
	lancet_version *version = NULL;
	lancet_transaction *transaction = NULL;

	run->facts.version = number;
	if (lancet_version_open(run->host->dataset, number, &version, NULL) != LANCET_OK)
		return;
	if (lancet_transaction_open(version, &transaction, NULL) == LANCET_OK) {
		run->facts.read_version = lancet_transaction_read_version(transaction);
		note_operation(run, lancet_transaction_operation(transaction));
	}
	lancet_transaction_free(transaction);
	lancet_version_unref(version);
}

static int
find_token(struct command_run *run, const struct request *request, bool *ret_found,
	struct lancet_error *err)
{
	struct lancet_error failure = { 0 };
	uint64_t number = 0;
	int rc;

	*ret_found = false;
	if (request->token == NULL || request->dry)
		return LANCET_OK;
	rc = lancet_commit_find_token(run->host->dataset, request->token, &number, &failure);
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc != LANCET_OK) {
		*err = failure;
		return lancet_wrap(err, rc, "token=");
	}
	describe_version(run, number);
	jsonw_bool(&run->json, "found", true);
	*ret_found = true;
	return LANCET_OK;
}

/* The version that the command is about. One that only was the newest when the line came may have
 * been cleaned up since: then it is the newest now, as if the line had come later. */
static int
open_read(struct command_run *run, const struct request *request, lancet_version **ret_read,
	struct lancet_error *err)
{
	lancet_dataset *dataset = run->host->dataset;
	uint64_t number = request->read_version;
	struct lancet_error failure = { 0 };
	int rc = LANCET_NOT_FOUND;

	if (number != 0)
		rc = lancet_version_open(dataset, number, ret_read, &failure);
	if (number == 0 ||
		(rc == LANCET_NOT_FOUND && !request->pinned && request->require == NULL)) {
		TRY(lancet_dataset_latest(dataset, &number, err));
		rc = lancet_version_open(dataset, number, ret_read, &failure);
	}
	if (rc != LANCET_OK) {
		*err = failure;
		return rc;
	}
	run->facts.read_version = number;
	return LANCET_OK;
}

static int
build(struct command_run *run, const struct commit_plan *plan, const struct request *request,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_version *read = NULL;
	int rc;

	if (!plan->staged)
		TRY(open_read(run, request, &read, err));
	rc = plan->build(plan->context, read, ret_change, err);
	lancet_version_unref(read);
	return rc;
}

static int
describe_change(lancet_change *change, const struct request *request, struct lancet_error *err)
{
	if (request->message != NULL)
		TRY(lancet_change_set_property(
			change, LANCET_MESSAGE_PROPERTY, request->message, err));
	if (request->token != NULL)
		TRY(lancet_change_set_token(change, request->token, err));
	if (request->require != NULL)
		TRY(lancet_change_require(change, request->require, err));
	return LANCET_OK;
}

static void
note_result(struct command_run *run, const struct lancet_commit_result *result, int code)
{
	struct command_facts *facts = &run->facts;

	facts->committed = true;
	note_operation(run, result->operation);
	if (result->read_version != 0)
		facts->read_version = result->read_version;
	facts->version = result->version;
	facts->attempts += result->attempts;
	facts->conflict_version = result->conflict_version;
	facts->conflict_operation = result->conflict_operation;
	facts->conflict_rule = result->conflict_rule;
	facts->has_cell = code == LANCET_PRECONDITION;
	facts->failed_field = result->failed_field;
	facts->failed_fragment = result->failed_fragment;
}

static void
put_result(struct command_run *run, const struct lancet_commit_result *result)
{
	jsonw_text(&run->json, "uuid", result->uuid);
	if (result->rebased_over != 0)
		jsonw_u64_text(&run->json, "rebased_over", result->rebased_over);
	if (result->found)
		jsonw_bool(&run->json, "found", true);
	if (!result->durable)
		jsonw_bool(&run->json, "durable", false);
}

/* Lost to a commit that it can be built upon. */
static bool
can_be_built_again(int rc, const struct lancet_commit_result *result)
{
	return (rc == LANCET_BUSY && result->conflict_version != 0) ||
	       (rc == LANCET_CONFLICT && result->conflict_rule != NULL &&
		       strcmp(result->conflict_rule, LANCET_RULE_TRANSITIONS) == 0);
}

/* Builds and commits once. *ret_again: it lost to a commit that it can be built upon. */
static int
commit_once(struct command_run *run, const struct commit_plan *plan, const struct request *request,
	bool *ret_again, struct lancet_error *err)
{
	const struct lancet_commit_options options = {
		.retries = (unsigned)(request->retries - run->facts.attempts),
		.cancelled = run->host->cancelled,
		.context = run->host->context,
	};
	struct lancet_commit_result result = { 0 };
	lancet_change *change = NULL;
	int rc = build(run, plan, request, &change, err);

	*ret_again = false;
	if (rc == LANCET_OK && change != NULL)
		rc = describe_change(change, request, err);
	if (rc == LANCET_OK && change != NULL && !request->dry) {
		rc = lancet_commit(change, &options, &result, err);
		*ret_again = can_be_built_again(rc, &result);
		if (result.attempts == 0 && (rc == LANCET_BUSY || *ret_again))
			result.attempts = 1; /* so that an end is certain */
		note_result(run, &result, rc);
		if (rc == LANCET_OK)
			put_result(run, &result);
	}
	lancet_change_free(change);
	return rc;
}

int
commit_run(struct command_run *run, const struct commit_plan *plan, bool *ret_found,
	struct lancet_error *err)
{
	struct request request;
	bool found, again;
	int rc;

	TRY(parse_request(run, plan, &request, err));
	TRY(find_token(run, &request, &found, err));
	if (ret_found != NULL)
		*ret_found = found;
	if (found)
		return LANCET_OK;
	for (;;) {
		rc = commit_once(run, plan, &request, &again, err);
		if (!again || plan->staged || request.pinned || request.require != NULL ||
			run->facts.attempts > request.retries)
			break;
		request.read_version = 0;
	}
	if (request.dry && rc == LANCET_OK)
		jsonw_bool(&run->json, "dry_run", true);
	return rc;
}

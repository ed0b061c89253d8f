/* The loop of a commit: attempts until a version is made, or can't be.
 *
 * A lost race is no conflict: the transaction is held against the winner, and tried again on it.
 * The pause before that is random, in units of what the first attempt took, and longer after each
 * loss, so that writers that collided once come apart.
 */
#include "commit_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "dataset.h"
#include "lance/transaction.pb-c.h"
#include "precondition.h"
#include "touched.h"
#include "transaction.h"
#include "util/macros.h"
#include "version.h"

#define SLOTS_FIRST  4u
#define SLOTS_MAX    128u
#define UNIT_MS_MIN  1u
#define UNIT_MS_MAX  200u
#define PAUSE_MS_MAX 5000u
#define STEP_MS      50u /* between looks at `cancelled` */

struct pause {
	uint64_t unit_ms; /* 0: not known yet */
	uint64_t slots;
};

static uint64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool
is_cancelled(const struct lancet_commit_options *options)
{
	return options->cancelled != NULL && options->cancelled(options->context);
}

/* An attempt was lost that took so long. Ends early when the commit is cancelled. */
static void
pause_after(struct pause *pause, uint64_t took_ms, const struct lancet_commit_options *options)
{
	uint64_t random = 0, left;

	if (pause->unit_ms == 0) {
		pause->unit_ms = took_ms + took_ms / 10;
		if (pause->unit_ms < UNIT_MS_MIN)
			pause->unit_ms = UNIT_MS_MIN;
		if (pause->unit_ms > UNIT_MS_MAX)
			pause->unit_ms = UNIT_MS_MAX;
	}
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		random = now_ms();
	left = random % pause->slots * pause->unit_ms;
	if (left > PAUSE_MS_MAX)
		left = PAUSE_MS_MAX;
	pause->slots = 2 * pause->slots > SLOTS_MAX ? SLOTS_MAX : 2 * pause->slots;
	while (left > 0 && !is_cancelled(options)) {
		uint64_t step = left < STEP_MS ? left : STEP_MS;
		struct timespec wait = { .tv_nsec = (long)step * 1000000 };

		(void)nanosleep(&wait, NULL);
		left -= step;
	}
}

static bool
is_uuid(ProtobufCBinaryData text)
{
	if (text.len != UUID_TEXT_SIZE)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		uint8_t byte = text.data[i];

		if (dash ? byte != '-'
			 : !((byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
				   (byte >= 'A' && byte <= 'F')))
			return false;
	}
	return true;
}

/* The message as it was built, which stays as it is through all attempts. */
static int
freeze(struct commit *commit, struct lancet_error *err)
{
	const Lance__Table__Transaction *message = commit->change->message;
	size_t size = protobuf_c_message_get_packed_size(&message->base);
	lancet_autofree uint8_t *bytes = malloc(size + 1);

	if (!is_uuid(message->uuid))
		return lancet_fail(err, LANCET_INVALID, "the transaction's uuid is none");
	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "transaction of %zu bytes", size);
	(void)protobuf_c_message_pack(&message->base, bytes);
	TRY(transaction_parse(bytes, size, &commit->ours, err));
	(void)lancet_steal(&bytes);
	return LANCET_OK;
}

/* The version that the change holds may have been replaced by another one of the same number, when
 * its branch was deleted and made again. */
static int
check_read(const struct lancet_change *change, struct lancet_error *err)
{
	const struct stat *then = &change->read->info.manifest_stat;
	uint64_t number = change->read->info.number;
	struct stat now;
	int rc = lancet_dataset_manifest_stat(change->dataset, number, &now, err);

	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND)
		return rc;
	if (rc == LANCET_OK && now.st_ino == then->st_ino && now.st_dev == then->st_dev &&
		now.st_size == then->st_size)
		return LANCET_OK;
	return lancet_fail(err, LANCET_NOT_FOUND,
		"version %" PRIu64 ", which the transaction has read, is %s: make the change anew "
		"on the newest version",
		number, rc == LANCET_OK ? "another one now" : "gone");
}

/* A twin with the same token may have made a version before ours was built: that one is not among
 * those that are checked. */
static int
find_by_token(struct commit *commit, struct lancet_error *err)
{
	ProtobufCBinaryData uuid = commit->change->message->uuid;
	lancet_version *version;
	struct slice token;
	int rc;

	if (!change_property(commit->change->message, LANCET_TOKEN_PROPERTY, &token))
		return LANCET_OK;
	rc = commit_find_uuid(commit->dataset, slice_of(uuid.data, uuid.len), &version, err);
	if (rc != LANCET_OK)
		return rc == LANCET_NOT_FOUND ? LANCET_OK : rc;
	rc = commit_take_found(commit, version, err);
	lancet_version_unref(version);
	return rc;
}

static const struct lancet_commit_result no_result = {
	.operation = "", .conflict_operation = "", .conflict_rule = ""
};

static void
init(struct commit *commit, lancet_change *change, struct lancet_commit_result *result)
{
	*commit = (struct commit){ .change = change,
		.result = result,
		.dataset = change->dataset,
		.store = dataset_base(change->dataset)->store };
	*result = no_result;
}

static void
release(struct commit *commit)
{
	rebase_release(&commit->rebase);
	preconditions_free(commit->preconditions);
	lancet_transaction_free(commit->ours);
	lancet_version_unref(commit->newest);
}

static int
begin(struct commit *commit, struct lancet_error *err)
{
	lancet_change *change = commit->change;
	struct lancet_commit_result *result = commit->result;

	TRY(change_check_open(change, err));
	TRY(freeze(commit, err));
	(void)memcpy(result->uuid, change->message->uuid.data, UUID_TEXT_SIZE);
	TRY(change_open_read(change, err));
	TRY(check_read(change, err));
	result->read_version = change->read->info.number;
	TRY(rebase_init(&commit->rebase, commit->ours, change->read, change->affected,
		change->reuse_entry, err));
	result->operation = operation_kind_name(commit->rebase.touched.kind);
	return preconditions_open(commit->ours, change->read, &commit->preconditions, err);
}

static int
may_begin(struct commit *commit, struct lancet_error *err)
{
	TRY(begin(commit, err));
	TRY(find_by_token(commit, err));
	if (commit->done)
		return LANCET_OK;
	return store_can_publish(commit->store, VERSIONS_DIR, err);
}

static int
run(struct commit *commit, const struct lancet_commit_options *options, struct lancet_error *err)
{
	struct lancet_commit_result *result = commit->result;
	struct pause pause = { .slots = SLOTS_FIRST };

	for (;;) {
		uint64_t start = now_ms();
		enum commit_outcome outcome;

		if (is_cancelled(options))
			return lancet_fail(err, LANCET_CANCELLED, "cancelled before the commit");
		TRY(commit_find_newest(commit, err));
		TRY(commit_check(commit, err));
		if (commit->done)
			return LANCET_OK;
		if (result->attempts > options->retries)
			return lancet_fail(err, LANCET_BUSY,
				"lost the race against other commits %u times: try again later, or "
				"with more retries",
				result->attempts);
		result->attempts++;
		TRY(commit_attempt(commit, &outcome, err));
		if (outcome == COMMIT_MADE)
			return LANCET_OK;
		if (result->attempts <= options->retries)
			pause_after(&pause, now_ms() - start, options);
	}
}

int
lancet_commit(lancet_change *change, const struct lancet_commit_options *options,
	struct lancet_commit_result *ret_result, struct lancet_error *err)
{
	static const struct lancet_commit_options defaults = { .retries = LANCET_COMMIT_RETRIES };
	struct commit commit;
	int rc;

	if (options == NULL)
		options = &defaults;
	init(&commit, change, ret_result);
	commit.durable = !options->not_durable;
	rc = may_begin(&commit, err);
	if (rc == LANCET_OK && !commit.done)
		rc = run(&commit, options, err);
	ret_result->stored = (struct lancet_bytes){ change->stored, change->stored_size };
	release(&commit);
	return rc;
}

int
change_rehearse(lancet_change *change, struct lancet_error *err)
{
	struct lancet_commit_result result;
	struct commit commit;
	int rc;

	init(&commit, change, &result);
	rc = begin(&commit, err);
	if (rc == LANCET_OK)
		rc = commit_find_newest(&commit, err);
	if (rc == LANCET_OK)
		rc = commit_check(&commit, err);
	if (rc == LANCET_OK)
		rc = commit_rehearse(&commit, err);
	release(&commit);
	return rc;
}

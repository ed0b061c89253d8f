/* One attempt: the next manifest on the newest version, and its publication.
 *
 * Deletion files and the transaction file go first, in one round; then the manifest gets its name,
 * which is the commit. Everything that can be refused is refused before anything is written. When
 * the storage fails at the name, what is there decides: the version may have been made all the
 * same, and then it is a success, though not a durable one for certain.
 */
#include "commit_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dataset.h"
#include "deletion_write.h"
#include "fragment.h"
#include "lance/transaction.pb-c.h"
#include "manifest_write.h"
#include "operation.h"
#include "transaction.h"
#include "util/macros.h"
#include "version.h"

#define TRANSACTIONS_DIR    "_transactions"
#define TRANSACTION_KEY_MAX 128
#define NAMES_MAX           1000u /* of one transaction */

struct attempt {
	struct commit *commit;
	struct draft draft;
	struct commit_deletions deletions;
	struct publish files;
	struct slice encoded;          /* the message */
	uint8_t *bytes;                /* of it; NULL: they are those of commit->ours */
	char key[TRANSACTION_KEY_MAX]; /* of the transaction file */
	struct splice manifest;
};

static const char *
transaction_name(const struct attempt *attempt)
{
	return attempt->key + sizeof(TRANSACTIONS_DIR);
}

/* These three say what they were rebased onto, as the reference does. */
static bool
follows_rebase(enum operation_kind kind)
{
	return kind == OPERATION_DELETE || kind == OPERATION_UPDATE ||
	       kind == OPERATION_DATA_OVERLAY;
}

static int
build(struct attempt *attempt, struct lancet_error *err)
{
	const struct commit *commit = attempt->commit;
	struct draft *draft = &attempt->draft;
	struct timespec now;

	if (follows_rebase(commit->rebase.touched.kind))
		draft->message->read_version = commit->newest->info.number;
	TRY(commit_deletions_place(commit, draft, &attempt->deletions, err));
	TRY(operation_apply(draft, err));
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return draft_finish(draft, now.tv_sec, (int32_t)now.tv_nsec, err);
}

struct comparison {
	ProtobufCBuffer base;
	const uint8_t *at; /* what is to come */
	bool same;
};

static void
compare_next(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
	struct comparison *comparison = (struct comparison *)buffer;

	comparison->same = comparison->same && memcmp(comparison->at, data, size) == 0;
	comparison->at += size;
}

/* Whether the message is encoded as these bytes, which are as many as it takes. */
static bool
encodes_to(const ProtobufCMessage *message, const uint8_t *bytes)
{
	struct comparison comparison = { { compare_next }, bytes, true };

	(void)protobuf_c_message_pack_to_buffer(message, &comparison.base);
	return comparison.same;
}

/* Most transactions are published as they were built: those are not held twice. */
static int
encode(struct attempt *attempt, struct lancet_error *err)
{
	const ProtobufCMessage *message = &attempt->draft.message->base;
	size_t size = protobuf_c_message_get_packed_size(message);

	if (size > TRANSACTION_SIZE_MAX)
		return lancet_fail(err, LANCET_LIMIT, "transaction of %zu bytes, at most %zu", size,
			TRANSACTION_SIZE_MAX);
	attempt->encoded = slice_of(attempt->commit->ours->bytes, size);
	if (size == attempt->commit->ours->size && encodes_to(message, attempt->encoded.data))
		return LANCET_OK;
	attempt->bytes = malloc(size + 1);
	if (attempt->bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "transaction of %zu bytes", size);
	(void)protobuf_c_message_pack(message, attempt->bytes);
	attempt->encoded = slice_of(attempt->bytes, size);
	return LANCET_OK;
}

/* Names "READ_VERSION-UUID.txn", and others when that is taken: by what an attempt has left that
 * was killed, or by another process with the same token. */
static int
find_name(struct attempt *attempt, struct lancet_error *err)
{
	const Lance__Table__Transaction *message = attempt->draft.message;
	struct stat st;
	int rc = LANCET_OK;

	for (unsigned i = 0; i < NAMES_MAX && rc == LANCET_OK; i++) {
		char number[16] = "";

		if (i > 0)
			(void)snprintf(number, sizeof(number), ".%u", i);
		(void)snprintf(attempt->key, sizeof(attempt->key),
			TRANSACTIONS_DIR "/%" PRIu64 "-%.*s%s.txn", message->read_version,
			UUID_TEXT_SIZE, (const char *)message->uuid.data, number);
		rc = store_stat(attempt->commit->store, attempt->key, &st, err);
	}
	if (rc == LANCET_OK)
		return lancet_fail(
			err, LANCET_LIMIT, "%s: too many files of one transaction", attempt->key);
	return rc == LANCET_NOT_FOUND ? LANCET_OK : rc;
}

static int
write_files(struct attempt *attempt, struct lancet_error *err)
{
	for (size_t i = 0; i < attempt->deletions.count; i++) {
		const struct commit_deletion *deletion = &attempt->deletions.list[i];

		TRY(deletion_write(&attempt->files, deletion->fragment, deletion->file,
			deletion->deleted, err));
	}
	for (size_t i = 0; i < attempt->draft.file_count; i++)
		TRY(publish_add(&attempt->files, attempt->draft.files[i].key,
			&attempt->draft.files[i].content, 1, PUBLISH_NEW, err));
	TRY(publish_add(&attempt->files, attempt->key, &attempt->encoded, 1, PUBLISH_NEW, err));
	return publish_name_all(&attempt->files, err);
}

/* What is under the number now. */
static int
look_at_version(struct attempt *attempt, bool *ret_this, struct lancet_error *err)
{
	struct commit *commit = attempt->commit;
	lancet_version *version;
	struct lancet_bytes file;
	bool ours;
	int rc;

	TRY(lancet_version_open(commit->dataset, attempt->draft.number, &version, err));
	file = version->info.transaction_file;
	rc = commit_is_ours(commit, version, &ours, err);
	*ret_this =
		rc == LANCET_OK && ours &&
		slice_equal(slice_of(file.data, file.size), slice_text(transaction_name(attempt)));
	lancet_version_unref(version);
	return rc;
}

/* Publishing the manifest has failed with `why`. */
static int
settle(struct attempt *attempt, const struct lancet_error *why, enum commit_outcome *ret_outcome,
	struct lancet_error *err)
{
	bool is_this = attempt->draft.published;
	struct lancet_error unknown = { 0 };
	int rc = is_this ? LANCET_OK : look_at_version(attempt, &is_this, &unknown);

	if (rc == LANCET_OK && is_this) {
		attempt->commit->result->durable = false;
		*ret_outcome = COMMIT_MADE;
		return LANCET_OK;
	}
	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND) {
		attempt->commit->change->committed = true;
		(void)lancet_fail(err, rc,
			"whether version %" PRIu64 " was made is not known: %.150s; %.150s",
			attempt->draft.number, why->text, unknown.text);
		if (err != NULL)
			err->os_errno = unknown.os_errno;
		return rc;
	}
	publish_undo(&attempt->files);
	*ret_outcome = COMMIT_LOST;
	if (why->code == LANCET_EXISTS)
		return LANCET_OK;
	if (err != NULL)
		*err = *why;
	return why->code;
}

static int
publish(struct attempt *attempt, enum commit_outcome *ret_outcome, struct lancet_error *err)
{
	struct commit *commit = attempt->commit;
	struct lancet_error why = { 0 };
	int rc = write_files(attempt, err);

	if (rc != LANCET_OK) {
		publish_undo(&attempt->files);
		*ret_outcome = COMMIT_LOST;
		return rc == LANCET_EXISTS ? LANCET_OK : rc; /* the same transaction, elsewhere */
	}
	rc = manifest_write_publish(
		&attempt->draft, &attempt->manifest, commit->store, commit->durable, &why);
	if (rc != LANCET_OK)
		return settle(attempt, &why, ret_outcome, err);
	commit->result->durable = commit->durable;
	*ret_outcome = COMMIT_MADE;
	return LANCET_OK;
}

static void
take_result(struct attempt *attempt)
{
	struct commit *commit = attempt->commit;
	lancet_change *change = commit->change;

	free(change->stored);
	change->stored = attempt->bytes != NULL ? lancet_steal(&attempt->bytes)
						: lancet_steal(&commit->ours->bytes);
	change->stored_size = attempt->encoded.size;
	change->committed = true;
	commit->result->version = attempt->draft.number;
	commit->result->read_version = attempt->draft.message->read_version;
	manifest_write_hint(commit->store, attempt->draft.number);
}

/* All that is done before anything is written. */
static int
prepare(struct attempt *attempt, struct lancet_error *err)
{
	TRY(build(attempt, err));
	TRY(encode(attempt, err));
	TRY(find_name(attempt, err));
	return manifest_write_prepare(&attempt->draft, attempt->encoded, transaction_name(attempt),
		&attempt->manifest, err);
}

static int
begin(struct attempt *attempt, struct commit *commit, struct lancet_error *err)
{
	*attempt = (struct attempt){ .commit = commit };
	TRY(draft_init(&attempt->draft, commit->newest, commit->newest, &commit->rebase, err));
	publish_init(&attempt->files, commit->store, commit->durable);
	return LANCET_OK;
}

static void
release(struct attempt *attempt)
{
	splice_release(&attempt->manifest);
	publish_release(&attempt->files);
	free(attempt->bytes);
	draft_release(&attempt->draft);
}

int
commit_attempt(struct commit *commit, enum commit_outcome *ret_outcome, struct lancet_error *err)
{
	struct attempt attempt;
	int rc;

	TRY(begin(&attempt, commit, err));
	rc = prepare(&attempt, err);
	if (rc == LANCET_OK)
		rc = publish(&attempt, ret_outcome, err);
	if (rc == LANCET_OK && *ret_outcome == COMMIT_MADE)
		take_result(&attempt);
	release(&attempt);
	return rc;
}

int
commit_rehearse(struct commit *commit, struct lancet_error *err)
{
	struct attempt attempt;
	int rc;

	TRY(begin(&attempt, commit, err));
	attempt.draft.has_max_fragment_id = true;
	attempt.draft.max_fragment_id = FRAGMENT_ID_MAX;
	rc = prepare(&attempt, err);
	release(&attempt);
	return rc;
}

/* Holding a transaction against the versions that were made since it was built.
 *
 * One of them may be its own: made by an attempt whose end nobody has seen, or by another process
 * with the same token. So uuids are compared before anything else, and the versions after a
 * conflict are looked at for that, too.
 */
#include "commit_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset.h"
#include "lance/transaction.pb-c.h"
#include "precondition.h"
#include "touched.h"
#include "transaction.h"
#include "util/macros.h"
#include "version.h"

static bool
same_transaction(const struct commit *commit, const lancet_transaction *theirs)
{
	struct lancet_bytes a = lancet_transaction_uuid(commit->ours);
	struct lancet_bytes b = lancet_transaction_uuid(theirs);

	return slice_equal(slice_of(a.data, a.size), slice_of(b.data, b.size));
}

int
commit_is_ours(const struct commit *commit, lancet_version *version, bool *ret_ours,
	struct lancet_error *err)
{
	lancet_transaction *theirs;

	*ret_ours = false;
	if (!lancet_version_has_transaction(version))
		return LANCET_OK;
	TRY(lancet_transaction_open(version, &theirs, err));
	*ret_ours = same_transaction(commit, theirs);
	lancet_transaction_free(theirs);
	return LANCET_OK;
}

/* What the one who made it was told, or would have been. */
int
commit_take_found(struct commit *commit, lancet_version *version, struct lancet_error *err)
{
	struct lancet_commit_result *result = commit->result;
	lancet_change *change = commit->change;
	lancet_transaction *theirs;

	TRY(lancet_transaction_open(version, &theirs, err));
	free(change->stored);
	change->stored = lancet_steal(&theirs->bytes);
	change->stored_size = theirs->size;
	result->read_version = theirs->message->read_version;
	result->version = lancet_version_info(version)->number;
	result->rebased_over = 0;
	result->found = true;
	/* It may have been killed before this. */
	result->durable =
		commit->durable && store_sync_dir(commit->store, VERSIONS_DIR, NULL) == LANCET_OK;
	lancet_transaction_free(theirs);
	publish_undo(&change->files);
	change->committed = true;
	commit->done = true;
	return LANCET_OK;
}

/* Any of the versions from `number` on that is ours; those that can't be read are passed over,
 * since something else is wrong already. */
static void
look_for_ours(struct commit *commit, uint64_t number)
{
	uint64_t last = commit->newest->info.number;

	for (; number <= last && !commit->done; number++) {
		lancet_version *version;
		bool ours = false;

		if (lancet_version_open(commit->dataset, number, &version, NULL) != LANCET_OK)
			continue;
		if (commit_is_ours(commit, version, &ours, NULL) == LANCET_OK && ours)
			(void)commit_take_found(commit, version, NULL);
		lancet_version_unref(version);
	}
}

static int
check_transaction(struct commit *commit, lancet_version *version, struct conflict *ret_conflict,
	struct lancet_error *err)
{
	uint64_t number = version->info.number;
	lancet_transaction *theirs;
	int rc;

	if (!lancet_version_has_transaction(version))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"version %" PRIu64 " does not say what it changed: make the change anew on "
			"version %" PRIu64,
			number, commit->newest->info.number);
	rc = lancet_transaction_open(version, &theirs, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "version %" PRIu64, number);
	if (same_transaction(commit, theirs))
		rc = commit_take_found(commit, version, err);
	else
		rc = conflict_check(&commit->rebase, theirs, number, ret_conflict, err);
	lancet_transaction_free(theirs);
	return rc;
}

static int
check_version(struct commit *commit, uint64_t number, struct conflict *ret_conflict,
	struct lancet_error *err)
{
	lancet_version *version;
	int rc = lancet_version_open(commit->dataset, number, &version, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc,
			"version %" PRIu64 " is gone, and with it what it changed: make the change "
			"anew on version %" PRIu64,
			number, commit->newest->info.number);
	TRY(rc);
	rc = check_transaction(commit, version, ret_conflict, err);
	lancet_version_unref(version);
	return rc;
}

static int
check_since(struct commit *commit, struct conflict *ret_conflict, struct lancet_error *err)
{
	struct rebase *rebase = &commit->rebase;
	uint64_t last = commit->newest->info.number;
	int rc = LANCET_OK;

	rebase->newest = commit->newest;
	while (rebase->checked < last) {
		rc = check_version(commit, rebase->checked + 1, ret_conflict, err);
		if (commit->done)
			return rc;
		if (rc != LANCET_OK || ret_conflict->verdict != CONFLICT_NONE)
			break;
		rebase->checked++;
	}
	if (rebase->checked == last)
		rc = conflict_finish(rebase, ret_conflict, err);
	else
		look_for_ours(commit, rebase->checked + 2);
	return commit->done ? LANCET_OK : rc;
}

static int
refuse(struct commit *commit, const struct conflict *conflict, struct lancet_error *err)
{
	struct lancet_commit_result *result = commit->result;

	result->conflict_version = conflict->version;
	result->conflict_operation = conflict->operation;
	result->conflict_rule = conflict->rule;
	if (conflict->verdict == CONFLICT_INCOMPATIBLE)
		return lancet_fail(err, LANCET_CONFLICT,
			"%s can't be put on version %" PRIu64 " (%s): %s", result->operation,
			conflict->version, conflict->operation, conflict->text);
	return lancet_fail(err, LANCET_BUSY,
		"%s conflicts with version %" PRIu64 " (%s): %s; make the change anew on version "
		"%" PRIu64,
		result->operation, conflict->version, conflict->operation, conflict->text,
		commit->newest->info.number);
}

static int
check_preconditions(struct commit *commit, struct lancet_error *err)
{
	struct precondition_failure failure = { 0 };
	struct lancet_commit_result *result = commit->result;
	int rc;

	if (commit->preconditions == NULL)
		return LANCET_OK;
	rc = preconditions_check(commit->preconditions, commit->newest, &failure, err);
	if (rc != LANCET_PRECONDITION)
		return rc;
	result->failed_field = failure.field;
	result->failed_fragment = failure.fragment;
	result->conflict_version = preconditions_broken_by(commit->preconditions, commit->newest);
	return lancet_fail(
		err, rc, "%s (version %" PRIu64 ")", failure.text, result->conflict_version);
}

int
commit_check(struct commit *commit, struct lancet_error *err)
{
	uint64_t newest = commit->newest->info.number;
	struct conflict conflict = { .operation = "", .rule = "" };

	if (newest > commit->rebase.read->info.number)
		commit->result->rebased_over = newest;
	TRY(check_since(commit, &conflict, err));
	if (commit->done)
		return LANCET_OK;
	if (conflict.verdict != CONFLICT_NONE)
		return refuse(commit, &conflict, err);
	return check_preconditions(commit, err);
}

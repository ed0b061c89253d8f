/* Inside of a commit: what its steps hand on.
 *
 * An attempt finds the newest version, holds the transaction against all that were committed since
 * it was built, makes the next manifest on the newest one and publishes it. All that was written
 * for an attempt that lost the race is taken back.
 */
#ifndef CORE_COMMIT_PARTS_H
#define CORE_COMMIT_PARTS_H

#include "change.h"
#include "conflict.h"
#include "draft.h"

struct preconditions;
struct Lance__Table__DeletionFile;

struct commit {
	lancet_change *change;
	struct lancet_commit_result *result;
	lancet_dataset *dataset; /* the change's */
	struct store *store;
	bool durable;
	lancet_transaction *ours; /* the message as it was built */
	struct rebase rebase;
	struct preconditions *preconditions; /* NULL: none */
	lancet_version *newest;              /* counted; NULL before the first attempt */
	bool done;                           /* the result says how */
};

/* What became of an attempt that failed nowhere. */
enum commit_outcome { COMMIT_MADE, COMMIT_LOST };

/* The newest version of all becomes commit->newest (commit_newest.c). CORRUPT: it can't be read, or
 * names of both schemes are there: nothing may be committed then. */
int commit_find_newest(struct commit *commit, struct lancet_error *err);

/* Holds it against what was committed since the last attempt, and checks the preconditions
 * (commit_check.c). Sets done when a version is found that this very transaction has made. BUSY,
 * CONFLICT, PRECONDITION as lancet_commit. */
int commit_check(struct commit *commit, struct lancet_error *err);
/* The version was made by this transaction: done, and nothing of ours is needed. */
int commit_take_found(struct commit *commit, lancet_version *version, struct lancet_error *err);
/* Whether it was: an error when that can't be told. */
int commit_is_ours(const struct commit *commit, lancet_version *version, bool *ret_ours,
	struct lancet_error *err);

/* Builds on commit->newest and publishes (commit_attempt.c). LOST: the version is another's; all
 * that was written is gone again. After an error change->committed tells that it is not known
 * whether the version was made. */
int commit_attempt(
	struct commit *commit, enum commit_outcome *ret_outcome, struct lancet_error *err);
/* Builds on commit->newest, where all fragment ids count as reserved; nothing is published. */
int commit_rehearse(struct commit *commit, struct lancet_error *err);

/* Deletion files to be written for an attempt (commit_deletions.c). */
struct commit_deletion {
	uint64_t fragment;
	const roaring_bitmap_t *deleted; /* borrowed from the change or the rebase */
	struct Lance__Table__DeletionFile *file;
};
struct commit_deletions {
	struct commit_deletion *list; /* in the draft's arena */
	size_t count;
};
/* Puts the deletion vectors of the change and of the rebase into draft->message, whose read_version
 * is that of the files. */
int commit_deletions_place(const struct commit *commit, struct draft *draft,
	struct commit_deletions *ret_deletions, struct lancet_error *err);

/* The version that was made by a transaction with this uuid at most a day ago (commit_token.c). The
 * caller owns it. NOT_FOUND. */
int commit_find_uuid(lancet_dataset *dataset, struct slice uuid, lancet_version **ret_version,
	struct lancet_error *err);

#endif

/* Cell preconditions: cells that must be the same in the version a commit is built on as in the
 * version it read. Format facts: cell preconditions.
 *
 * The message inside Transaction.preconditions is provisional and ours
 * (proto/lance/precondition.proto). A list in any other shape can be shown raw; it is never
 * evaluated, and a transaction with one is never committed (UNSUPPORTED).
 */
#ifndef CORE_PRECONDITION_H
#define CORE_PRECONDITION_H

#include "transaction.h"
#include "util/buf.h"
#include "version.h"

struct preconditions;

/* The conditions of a transaction that read version `read`, validated: CORRUPT for negative or
 * duplicate field ids, duplicate or unknown fragments, undecodable rows, offsets beyond the
 * fragment's rows; entries that declare no cells are skipped. *ret is NULL when there are none. */
int preconditions_open(const lancet_transaction *transaction, lancet_version *read,
	struct preconditions **ret_preconditions, struct lancet_error *err);
void preconditions_free(struct preconditions *preconditions);

struct precondition_failure {
	int32_t field;     /* id */
	uint64_t fragment; /* UINT64_MAX: the field itself has changed */
	const char *reason; /* static: "deleted", "rewritten", … */
	char text[240];    /* one line, with the field's name */
};

/* PRECONDITION, with *ret_failure filled, when a condition does not hold in `current`; other codes:
 * it can't be told, so the commit must not go on. `read` is the version given to
 * preconditions_open, whose reference is kept. */
int preconditions_check(const struct preconditions *preconditions, lancet_version *current,
	struct precondition_failure *ret_failure, struct lancet_error *err);
/* The first version after `read` up to `current` in which it does not hold; 0: can't be told. */
uint64_t preconditions_broken_by(
	const struct preconditions *preconditions, lancet_version *current);

/* One encoded Precondition for each part of "COLUMNS@FRAG:OFFSETS;FRAG:*" (columns by name or
 * dotted path, separated by ','; offsets "5,17-20"), in *ret_list: `count` slices in `into`.
 * INVALID: the text can't be understood, or names nothing; NOT_FOUND: a column or fragment. */
int preconditions_encode(lancet_version *read, const char *text, struct arena *arena,
	struct slice **ret_list, size_t *ret_count, struct lancet_error *err);

#endif

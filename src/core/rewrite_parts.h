/* Inside of Rewrite: what its steps hand on. */
#ifndef CORE_REWRITE_PARTS_H
#define CORE_REWRITE_PARTS_H

#include "draft.h"
#include "rewrite_history.h"

struct Lance__Table__DataFragment;

/* A group of the message, and what has become of it. */
struct rewrite_step {
	struct rewrite_group group; /* of draft->message */
	/* Its old fragments as the draft has them, without inline ids and versions. */
	const struct Lance__Table__DataFragment **current;
	uint64_t *new_ids; /* once they are added */
	bool recorded;     /* the reuse history leads through it */
	bool has_overlays;
};

struct rewrite {
	struct draft *draft;
	struct rewrite_step *steps;
	size_t count, old_count; /* groups, and fragments in all of them */
	bool carries;            /* a reuse entry goes with it */
	bool tagged;             /* the history is tagged afterwards */
};

/* Makes the steps; fragments are not touched. INVALID: an old fragment that is not there. */
int rewrite_init(struct rewrite *rewrite, struct draft *draft, struct lancet_error *err);

/* Which groups the checked history records; each of its added transitions must be one of them, to
 * the rows. UNSUPPORTED: one with overlays, or from which rows were deleted since (rewrite_bind.c).
 */
int rewrite_bind(struct rewrite *rewrite, const struct history *history, struct lancet_error *err);
/* In a tagged table, no index may answer for what is rewritten without a record. */
int rewrite_check_unrecorded(const struct rewrite *rewrite, struct lancet_error *err);

/* Index entries of rewritten fragments (rewrite_indices.c). The steps have their new ids. */
int rewrite_indices_check(const struct rewrite *rewrite, struct lancet_error *err);
int rewrite_indices_apply(const struct rewrite *rewrite, struct lancet_error *err);

#endif

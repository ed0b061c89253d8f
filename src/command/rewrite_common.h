/* What commands that rewrite fragments have in common: planning on each version that is tried,
 * carrying the plan out or not, and what the result says of it. */
#ifndef COMMAND_REWRITE_COMMON_H
#define COMMAND_REWRITE_COMMON_H

#include <lancet/rewrite.h>
#include "command.h"

struct rewriting {
	struct command_run *run;
	int (*plan)(void *context, lancet_version *read, const struct lancet_rewrite_run *run,
		lancet_rewrite **ret_rewrite, struct lancet_error *err);
	void *context;
	bool dry;                /* nothing is carried out */
	lancet_rewrite *rewrite; /* of the last attempt; the owner of this frees it */
};

/* As commit_run. */
int rewriting_commit(struct rewriting *rewriting, bool *ret_found, struct lancet_error *err);
/* Fragments, rows and bytes; then the plan. */
void rewriting_put_totals(const struct rewriting *rewriting);
int rewriting_put_plan(const struct rewriting *rewriting, struct lancet_error *err);

#endif

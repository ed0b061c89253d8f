/* What all commands that commit have in common: which version they read, their properties, doing
 * them again, and what their result says. SPEC section 5. */
#ifndef COMMAND_COMMIT_COMMON_H
#define COMMAND_COMMIT_COMMON_H

#include <lancet/commit.h>
#include "command.h"

struct commit_plan {
	/* Makes the change on a version; *ret_change stays NULL when there is nothing to change.
	 * May be called again on a newer version, after what it was made from has changed. */
	int (*build)(void *context, lancet_version *read, lancet_change **ret_change,
		struct lancet_error *err);
	void *context;
	/* The change is a finished one: `read` is NULL, and it can't be made again. */
	bool staged;
};

/* Makes and commits the change, or only makes it when dry_run=true is among the words. With a token
 * that is known already nothing is made: *ret_found (may be NULL) says so. */
int commit_run(struct command_run *run, const struct commit_plan *plan, bool *ret_found,
	struct lancet_error *err);

#endif

/* Commands whose first word says what they do: create, move, delete. */
#ifndef COMMAND_VERBS_H
#define COMMAND_VERBS_H

#include "command.h"

struct verb {
	const char *name;
	const char *keys; /* that it knows, separated by blanks */
	int (*run)(struct command_run *run, struct lancet_error *err);
};

/* Runs the verb of the line. INVALID: there is no such verb, or it does not know one of the keys.
 */
int verb_run(
	struct command_run *run, const struct verb *verbs, size_t count, struct lancet_error *err);

#endif

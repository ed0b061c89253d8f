/* The result of a command, as one JSON object. SPEC section 5. */
#ifndef COMMAND_RESULT_H
#define COMMAND_RESULT_H

#include "command.h"

#define RESULT_MAX (64u << 20) /* bytes */

struct result {
	const char *command; /* NULL: not known */
	uint64_t job;        /* 0: none */
	const struct command_facts *facts;
	const struct buf *members;
	double seconds;
	int code;
	const struct lancet_error *err; /* of a failure */
};

void result_put(const struct result *result, struct buf *into);

#endif

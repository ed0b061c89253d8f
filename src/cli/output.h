/* Standard output of commands, without stdio. A reader that goes away ends the program by SIGPIPE,
 * as it does other tools: main() sees to it. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stddef.h>

#include <lancet/error.h>
#include "util/buf.h"

/* Writes all of it now. */
int output_put(const void *bytes, size_t size, struct lancet_error *err);

/* Small pieces gathered into large writes. */
struct output {
	struct buf pending;
	struct lancet_error *err; /* of the command; filled when a write fails */
};

/* A sink for struct lancet_output, whose context is a struct output. */
int output_write(void *output, const void *bytes, size_t size);
int output_flush(struct output *output);
void output_release(struct output *output);

#endif

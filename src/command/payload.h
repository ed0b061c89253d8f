/* The file that a command gets its data from: staged in a mount, any file for lancet. */
#ifndef COMMAND_PAYLOAD_H
#define COMMAND_PAYLOAD_H

#include "command.h"

#define PAYLOAD_TEXT_MAX (64u << 20) /* bytes of what is read as a whole */

/* What file= names, open for reading; the caller closes it. */
int payload_open(const struct command_run *run, const char **ret_name, int *ret_fd,
	struct lancet_error *err);
/* The whole of it. LIMIT: more than PAYLOAD_TEXT_MAX. */
int payload_read(const struct command_run *run, const char **ret_name, struct buf *into,
	struct lancet_error *err);
/* To be called when the command has succeeded. */
void payload_used(const struct command_run *run, const char *name);

#endif

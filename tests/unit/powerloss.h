/* What a loss of power may leave of a directory: every state that POSIX allows, as directories to
 * look into.
 *
 * It starts from a log of changes (core/store_record.h) and from the tree as it was before them,
 * all of which is taken to be durable. Then, for the first `prefix` changes of the log:
 *   - what was put into a file and not synced is there, or absent (the file ends where it was
 * synced), or zero, or ends at a multiple of 512 bytes, or has zeros in every other 512 bytes;
 *   - of the changes of names in a directory that was not synced since, any subset is there: one
 *     name is as one of its changes has left it. Renaming within a directory is one change, linking
 *     is two (the new name, and taking away the old one);
 *   - what was synced is there; a directory only if its own name is.
 *
 *     loss = powerloss_open(&log, prefix, "start", "state", 1024);
 *     while (powerloss_next(loss))
 *             … look into "state" …
 *     powerloss_free(loss);
 *
 * States that look alike are shown once. The first one is the one in which nothing is lost: what a
 * killed process leaves. When there are more than `states_max`, these come next: all lost, all but
 * one thing kept, all but one lost; then random ones, the same in every run.
 */
#ifndef TESTS_POWERLOSS_H
#define TESTS_POWERLOSS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/store_record.h"

#define POWERLOSS_STATES_MAX 1024

struct powerloss;

/* start: the tree before the log; its files are hard-linked into the states. into: a directory that
 * powerloss_next changes into the next state, or that does not exist. Failures end the test. */
struct powerloss *powerloss_open(const struct store_log *log, size_t prefix, const char *start,
	const char *into, size_t states_max);
/* Makes the next state; false when there are no more. */
bool powerloss_next(struct powerloss *loss);
void powerloss_free(struct powerloss *loss);

#endif

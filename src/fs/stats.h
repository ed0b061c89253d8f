/* Counters of a mount, for `ctl/stats`: requests of the kernel, and what became of commands.
 *
 * Counting takes no lock. */
#ifndef FS_STATS_H
#define FS_STATS_H

#include <stdatomic.h>

#include "util/buf.h"

enum stats_request {
	STATS_LOOKUP,
	STATS_GETATTR,
	STATS_SETATTR,
	STATS_READLINK,
	STATS_OPEN,
	STATS_READ,
	STATS_WRITE,
	STATS_RELEASE,
	STATS_OPENDIR,
	STATS_READDIR,
	STATS_RELEASEDIR,
	STATS_STATFS,
	STATS_POLL,
	STATS_CHANGE, /* create, unlink, rename, and all that is refused */
	STATS_INTERRUPT,
	STATS_REQUESTS,
};

struct stats {
	_Atomic uint64_t requests[STATS_REQUESTS];
	_Atomic uint64_t commands, failed_commands;
	_Atomic uint64_t commits;   /* versions made */
	_Atomic uint64_t conflicts; /* commits refused because of others */
	_Atomic uint64_t retries;   /* attempts after the first, of all commits */
};

static inline void
stats_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Notes the end of a command by its result, one JSON object. */
void stats_command(struct stats *stats, bool failed, bool commits, struct slice result);
/* In Prometheus' text format. */
void stats_print(const struct stats *stats, struct buf *out);

#endif

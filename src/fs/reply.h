/* Replies to the kernel: one place that turns errors into errnos and entries into timeouts. */
#ifndef FS_REPLY_H
#define FS_REPLY_H

#include "stats.h"
#include "tree.h"

struct fuse_req;
struct fuse_entry_param;

/* One more request of its kind. */
void reply_count(struct fuse_req *req, enum stats_request kind);
/* For fi->fh. The kernel alone holds an open handle, and forgets it without a word when a detached
 * mount ends: a leak checker has to know that it is no leak. */
uint64_t reply_handle(const void *object);
/* Logs the error's chain and notes it for ctl/errors (rate-limited per node), and replies its
 * errno. */
void reply_failure(
	struct fuse_req *req, struct tree *tree, uint64_t node, const struct lancet_error *err);
/* live_seconds: for how long the kernel may remember a directory with changing content (its name
 * and attributes, never its content). Other things that change are looked at afresh each time. */
void entry_to_param(
	const struct tree_entry *entry, double live_seconds, struct fuse_entry_param *ret_param);
void reply_attr(struct fuse_req *req, const struct tree_entry *entry, double live_seconds);

#endif

/* Replies to the kernel: one place that turns errors into errnos and entries into timeouts. */
#ifndef FS_REPLY_H
#define FS_REPLY_H

#include "tree.h"

struct fuse_req;
struct fuse_entry_param;

/* Logs the error's chain (rate-limited per node) and replies its errno. */
void reply_failure(
	struct fuse_req *req, struct tree *tree, uint64_t node, const struct lancet_error *err);
/* live_seconds: for how long the kernel may remember a directory with changing content (its name
 * and attributes, never its content). Other things that change are looked at afresh each time. */
void entry_to_param(
	const struct tree_entry *entry, double live_seconds, struct fuse_entry_param *ret_param);
void reply_attr(struct fuse_req *req, const struct tree_entry *entry, double live_seconds);

#endif

/* The low-level operations over a tree, and what they share. */
#ifndef FS_OPS_H
#define FS_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include <lancet/error.h>

struct fuse_lowlevel_ops;
struct tree;

/* User data of the session. */
struct mount_state {
	struct tree *tree;
	bool view_dataset;
};

extern const struct fuse_lowlevel_ops tree_ops;

#endif

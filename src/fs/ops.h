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
	/* Every path through versions/ would ask again for each directory on its way. With
	 * view=dataset the files of a version lie in such a directory: 0, so that all change
	 * together. */
	double live_seconds;
};

extern const struct fuse_lowlevel_ops tree_ops;

#endif

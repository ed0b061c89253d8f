/* The low-level operations over a tree. */
#ifndef FS_OPS_H
#define FS_OPS_H

struct fuse_lowlevel_ops;

extern const struct fuse_lowlevel_ops tree_ops;

#endif

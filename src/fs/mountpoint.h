/* The directory that is mounted on: resolved, checked against the dataset, and left again. */
#ifndef FS_MOUNTPOINT_H
#define FS_MOUNTPOINT_H

#include <stdbool.h>

#include <lancet/error.h>

/* The absolute path without symbolic links; works for a stale mount point too (the parent is
 * resolved). The caller frees *ret_path. *ret_stale: a dead daemon's mount is still there. */
int mountpoint_resolve(
	const char *path, char **ret_path, bool *ret_stale, struct lancet_error *err);
/* LANCET_INVALID when one directory lies in the other or they are the same, also by way of bind
 * mounts of either or of what is above or below. `mountpoint` and `directory` are absolute. */
int mountpoint_check_apart(const char *mountpoint, const char *directory, struct lancet_error *err);
/* Plain unmount, or lazy (detached at once, gone when the last user leaves). LANCET_BUSY: still in
 * use. Works unprivileged through fusermount3. */
int mountpoint_unmount(const char *mountpoint, bool lazy, struct lancet_error *err);

#endif

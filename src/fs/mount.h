/* One mount: what was asked for, and running it. */
#ifndef FS_MOUNT_H
#define FS_MOUNT_H

#include <lancet/dataset.h>

/* Exit status as mount(8). */
enum mount_status {
	MOUNT_OK = 0,
	MOUNT_USAGE = 1,  /* usage or permission */
	MOUNT_SYSTEM = 2, /* out of memory, fork, pipe, … */
	MOUNT_INTERNAL = 4,
	MOUNT_INTERRUPTED = 8,
	MOUNT_FAILED =
		32, /* no dataset, unsupported reader flag, stale or overlapping mount point */
};

struct mount_config {
	char *dataset;    /* absolute once resolved */
	char *mountpoint; /* absolute once resolved */
	char *version, *tag, *as_of, *branch, *view, *follow, *fsname, *cache;
	char *uid, *gid, *umask;
	unsigned jobs, max_threads, stop_timeout;
	int read_only, foreground, debug, single_threaded;
	int allow_other, allow_root, clean_stale, overmount;
	int show_help, show_version;
};

/* Opens the dataset, mounts, serves until unmounted. With a background mount the calling process
 * returns once the mount answers (MOUNT_OK) or has failed; one line on stderr says what and why. */
int mount_run(struct mount_config *config);

/* "READY=1" to the service manager when NOTIFY_SOCKET is set; failures are ignored, as its protocol
 * wants. */
void sd_notify_ready(void);

#endif

/* What was asked for on the command line, and how a mount ends. */
#ifndef FS_MOUNT_CONFIG_H
#define FS_MOUNT_CONFIG_H

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
	char *stage, *stage_max; /* stage: absolute once resolved */
	unsigned jobs, max_threads, stop_timeout;
	int read_only, foreground, debug, single_threaded;
	int allow_other, allow_root, clean_stale, overmount;
	int no_exec, no_atime, snapshot;
	int show_help, show_version;
};

#endif

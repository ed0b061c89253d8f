/* What the operations of a session share. */
#ifndef FS_MOUNT_STATE_H
#define FS_MOUNT_STATE_H

struct tree;

/* User data of the session. */
struct mount_state {
	struct tree *tree;
	/* Every path through versions/ would ask again for each directory on its way. With
	 * view=dataset the files of a version lie in such a directory: 0, so that all change
	 * together. */
	double live_seconds;
};

#endif

/* One mount: running what was asked for. */
#ifndef FS_MOUNT_H
#define FS_MOUNT_H

#include "mount_config.h"

/* Opens the dataset, mounts, serves until unmounted. With a background mount the calling process
 * returns once the mount answers (MOUNT_OK) or has failed; one line on stderr says what and why. */
int mount_run(struct mount_config *config);

#endif

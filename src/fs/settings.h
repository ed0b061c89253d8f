/* What the mount options mean: paths made absolute, numbers parsed, the tree opened. */
#ifndef FS_SETTINGS_H
#define FS_SETTINGS_H

#include "mount_config.h"
#include "tree.h"

/* Makes dataset and mount point absolute before anything changes directory; clears a stale mount
 * when asked to; refuses overlap. Returns a mount_status. */
int settings_resolve_paths(struct mount_config *config, struct lancet_error *err);
/* Opens the dataset, branch and version that the options choose, and the tree over them. */
int settings_open_tree(
	const struct mount_config *config, struct tree **ret_tree, struct lancet_error *err);

#endif

/* What the mount options mean: paths made absolute, numbers parsed, the tree opened. */
#ifndef FS_SETTINGS_H
#define FS_SETTINGS_H

#include "control.h"
#include "mount_config.h"

/* Makes dataset and mount point absolute before anything changes directory; clears a stale mount
 * when asked to; refuses overlap. Returns a mount_status. */
int settings_resolve_paths(struct mount_config *config, struct lancet_error *err);
/* Opens the dataset, branch and version that the options choose, and the tree over them. */
int settings_open_tree(
	const struct mount_config *config, struct tree **ret_tree, struct lancet_error *err);
/* ctl/ of the mount; *ret_control stays NULL with view=dataset. `context` is that of the hooks. */
int settings_open_control(const struct mount_config *config, struct tree *tree,
	const struct control_hooks *hooks, void *context, struct control **ret_control,
	struct lancet_error *err);

#endif

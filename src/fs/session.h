/* The session of libfuse that a mount is served by. */
#ifndef FS_SESSION_H
#define FS_SESSION_H

#include <lancet/error.h>
#include "mount_config.h"

struct fuse_session;
struct mount_state;

/* Makes the session and mounts it. *ret_session is set even on failure, when it was made: it is
 * destroyed by the caller. DENIED: it can't be mounted there. */
int session_start(const struct mount_config *config, struct mount_state *state,
	struct fuse_session **ret_session, struct lancet_error *err);

#endif

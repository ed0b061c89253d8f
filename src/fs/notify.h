/* The thread that tells the kernel what is not true any more.
 *
 * It answers no requests and holds no lock while it speaks, as notifications demand: the kernel may
 * wait for requests that are under way. */
#ifndef FS_NOTIFY_H
#define FS_NOTIFY_H

#include <stdint.h>

#include <lancet/error.h>

struct fuse_session;
struct notify;

/* What is told before notify_start waits for it. */
struct notify *notify_new(void);
int notify_start(struct notify *notify, struct fuse_session *session, struct lancet_error *err);
void notify_free(struct notify *notify); /* NULL is fine */

/* `context` is a struct notify: as a tree_notice, see tree.h. */
void notify_tell(void *context, uint64_t parent, const char *name);
/* Wakes a struct fuse_pollhandle, and gives it up. */
void notify_poll(struct notify *notify, void *poll);
/* Returns when all of it was told, or after a second. */
void notify_flush(struct notify *notify);

#endif

/* Requests that change something: commands are written, payloads staged, all else refused. And
 * those that wait: writes that are parked until their command has ended, and polls.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "changes.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "control.h"
#include "handle.h"
#include "mount_state.h"
#include "reply.h"

static struct tree *
request_tree(fuse_req_t req)
{
	return ((struct mount_state *)fuse_req_userdata(req))->tree;
}

/* Outside of ctl/ EROFS. */
static void
refuse(fuse_req_t req, fuse_ino_t node)
{
	reply_count(req, STATS_CHANGE);
	fuse_reply_err(req, tree_is_control(node) ? EPERM : EROFS);
}

static void
on_interrupt(fuse_req_t req, void *data)
{
	reply_count(req, STATS_INTERRUPT);
	caller_interrupted(data);
}

void
change_park(void *request, struct caller *caller)
{
	fuse_req_interrupt_func(request, on_interrupt, caller);
}

/* After the first line nobody calls on_interrupt any more, or is in the middle of it. */
void
change_reply(void *request, int os_errno, size_t taken)
{
	fuse_req_interrupt_func(request, NULL, NULL);
	if (os_errno != 0)
		fuse_reply_err(request, os_errno);
	else
		fuse_reply_write(request, taken);
}

/* Who writes to a staged file, which may have been opened by another. Pages that were mapped are
 * written by the kernel. */
static bool
may_write(fuse_req_t req, const struct fuse_file_info *fi)
{
	const struct control *control = tree_control(request_tree(req));
	uid_t uid = fuse_req_ctx(req)->uid;

	return fi->writepage || uid == 0 ||
	       (control != NULL && uid == control_options(control)->owner);
}

void
change_write(fuse_req_t req, fuse_ino_t node, const char *bytes, size_t size, off_t offset,
	struct fuse_file_info *fi)
{
	struct tree_file *file = (struct tree_file *)(uintptr_t)fi->fh;
	struct control_handle *control = tree_control_handle(file);
	const struct fuse_ctx *context = fuse_req_ctx(req);
	struct lancet_error err = { 0 };

	reply_count(req, STATS_WRITE);
	if (control != NULL) {
		const struct control_writer writer = { context->uid, context->pid, req };

		control_write(control, &writer, slice_of(bytes, size));
	} else if (!may_write(req, fi)) {
		fuse_reply_err(req, EACCES);
	} else if (tree_write(file, (uint64_t)offset, bytes, size, &err) != LANCET_OK) {
		reply_failure(req, request_tree(req), node, &err);
	} else {
		fuse_reply_write(req, size);
	}
}

void
change_forget_poll(void *poll)
{
	fuse_pollhandle_destroy(poll);
}

void
change_poll(
	fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi, struct fuse_pollhandle *poll)
{
	const struct tree_file *file = (struct tree_file *)(uintptr_t)fi->fh;
	const struct node_handle *handle = tree_file_handle(file);
	unsigned events = POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;

	(void)node;
	reply_count(req, STATS_POLL);
	if (handle != NULL && handle->ops->poll != NULL)
		events = handle->ops->poll(handle->state, poll);
	else if (poll != NULL)
		fuse_pollhandle_destroy(poll);
	fuse_reply_poll(req, events);
}

/* False: something is asked for that nothing here has. */
static bool
changes_of(fuse_req_t req, const struct stat *wanted, int to_set, unsigned *ret_changes)
{
	static const int known = FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_ATIME |
				 FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
				 FUSE_SET_ATTR_MTIME_NOW | FUSE_SET_ATTR_CTIME | FUSE_SET_ATTR_UID |
				 FUSE_SET_ATTR_GID;
	const struct fuse_ctx *context = fuse_req_ctx(req);

	*ret_changes = ((to_set & FUSE_SET_ATTR_SIZE) != 0 ? STAGE_SIZE : 0) |
		       ((to_set & FUSE_SET_ATTR_MODE) != 0 ? STAGE_MODE : 0) |
		       ((to_set & FUSE_SET_ATTR_ATIME) != 0 ? STAGE_ATIME : 0) |
		       ((to_set & FUSE_SET_ATTR_MTIME) != 0 ? STAGE_MTIME : 0);
	/* who owns it already may say so */
	if ((to_set & FUSE_SET_ATTR_UID) != 0 && wanted->st_uid != context->uid)
		return false;
	if ((to_set & FUSE_SET_ATTR_GID) != 0 && wanted->st_gid != context->gid)
		return false;
	return (to_set & ~known) == 0;
}

void
change_attributes(
	fuse_req_t req, fuse_ino_t node, struct stat *wanted, int to_set, struct fuse_file_info *fi)
{
	struct lancet_error err = { 0 };
	struct tree_entry entry;
	unsigned changes = 0;

	(void)fi;
	reply_count(req, STATS_SETATTR);
	if ((to_set & FUSE_SET_ATTR_ATIME_NOW) != 0)
		wanted->st_atim.tv_nsec = UTIME_NOW;
	if ((to_set & FUSE_SET_ATTR_MTIME_NOW) != 0)
		wanted->st_mtim.tv_nsec = UTIME_NOW;
	if (!changes_of(req, wanted, to_set, &changes))
		refuse(req, node);
	else if (tree_change(request_tree(req), node, changes, wanted, &err) != LANCET_OK ||
		 tree_getattr(request_tree(req), node, &entry, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		reply_attr(req, &entry, 0);
}

void
change_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct tree *tree = request_tree(req);
	struct lancet_error err = { 0 };
	struct fuse_entry_param param;
	struct tree_file *file = NULL;
	struct tree_entry entry;

	reply_count(req, STATS_CHANGE);
	if (tree_create(tree, parent, name, mode, &entry, &file, &err) != LANCET_OK) {
		reply_failure(req, tree, parent, &err);
		return;
	}
	fi->fh = reply_handle(file);
	fi->noflush = 1;
	entry_to_param(&entry, 0, &param);
	if (fuse_reply_create(req, &param, fi) != 0) { /* the request was interrupted */
		tree_close(file);
		tree_forget(tree, entry.node, 1);
	}
}

void
change_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	(void)name, (void)mode, (void)device;
	refuse(req, parent);
}

void
change_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)name, (void)mode;
	refuse(req, parent);
}

void
change_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct lancet_error err = { 0 };

	reply_count(req, STATS_CHANGE);
	if (tree_remove(request_tree(req), parent, name, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), parent, &err);
	else
		fuse_reply_err(req, 0);
}

void
change_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)name;
	refuse(req, parent);
}

void
change_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target, (void)name;
	refuse(req, parent);
}

void
change_rename(fuse_req_t req, fuse_ino_t from, const char *old_name, fuse_ino_t to,
	const char *new_name, unsigned flags)
{
	struct lancet_error err = { 0 };

	reply_count(req, STATS_CHANGE);
	if (tree_is_control(from) && (flags & ~(unsigned)RENAME_NOREPLACE) != 0)
		fuse_reply_err(req, EINVAL);
	else if (tree_rename(request_tree(req), from, old_name, to, new_name,
			 (flags & RENAME_NOREPLACE) != 0, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), from, &err);
	else
		fuse_reply_err(req, 0);
}

void
change_link(fuse_req_t req, fuse_ino_t node, fuse_ino_t parent, const char *name)
{
	(void)node, (void)name;
	refuse(req, parent);
}

/* Programs that copy attributes, too, take this for a file system that has none. */
void
change_setxattr(fuse_req_t req, fuse_ino_t node, const char *name, const char *value, size_t size,
	int flags)
{
	(void)name, (void)value, (void)size, (void)flags;
	reply_count(req, STATS_CHANGE);
	fuse_reply_err(req, tree_is_control(node) ? EOPNOTSUPP : EROFS);
}

void
change_removexattr(fuse_req_t req, fuse_ino_t node, const char *name)
{
	(void)name;
	reply_count(req, STATS_CHANGE);
	fuse_reply_err(req, tree_is_control(node) ? EOPNOTSUPP : EROFS);
}

/* The operations of libfuse that change something, or wait for a change. Outside of ctl/ all of
 * them are refused. */
#ifndef FS_CHANGES_H
#define FS_CHANGES_H

#include <stdint.h>
#include <sys/stat.h>

struct caller;
struct fuse_file_info;
struct fuse_pollhandle;
struct fuse_req;

void change_write(struct fuse_req *req, uint64_t node, const char *bytes, size_t size, off_t offset,
	struct fuse_file_info *fi);
void change_poll(struct fuse_req *req, uint64_t node, struct fuse_file_info *fi,
	struct fuse_pollhandle *poll);
void change_attributes(struct fuse_req *req, uint64_t node, struct stat *wanted, int to_set,
	struct fuse_file_info *fi);
void change_mknod(
	struct fuse_req *req, uint64_t parent, const char *name, mode_t mode, dev_t device);
void change_mkdir(struct fuse_req *req, uint64_t parent, const char *name, mode_t mode);
void change_unlink(struct fuse_req *req, uint64_t parent, const char *name);
void change_rmdir(struct fuse_req *req, uint64_t parent, const char *name);
void change_symlink(struct fuse_req *req, const char *target, uint64_t parent, const char *name);
void change_rename(struct fuse_req *req, uint64_t from, const char *old_name, uint64_t to,
	const char *new_name, unsigned flags);
void change_link(struct fuse_req *req, uint64_t node, uint64_t parent, const char *name);
void change_create(struct fuse_req *req, uint64_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi);
void change_setxattr(struct fuse_req *req, uint64_t node, const char *name, const char *value,
	size_t size, int flags);
void change_removexattr(struct fuse_req *req, uint64_t node, const char *name);

/* The hooks of control_new that speak to libfuse. Requests are struct fuse_req. */
void change_park(void *request, struct caller *caller);
void change_reply(void *request, int os_errno, size_t taken);
void change_forget_poll(void *poll);

#endif

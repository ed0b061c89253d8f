/* The low-level FUSE operations that look: each takes its request apart, asks the tree, and
 * replies. Those that change something are in changes.c.
 *
 * Nothing here knows a file by name. Looking never changes anything. Only open makes an object
 * (fi->fh): a counted snapshot that read touches without any lock. SPEC sections 1 and 6.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "ops.h"
#include "changes.h"
#include "mount_state.h"
#include "reply.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/macros.h"

/* Room for one entry of a listing page before the name is known to fit. */
#define LISTING_SIZE_MAX (1u << 20)

static struct tree *
request_tree(fuse_req_t req)
{
	return ((struct mount_state *)fuse_req_userdata(req))->tree;
}

static double
live_seconds(fuse_req_t req)
{
	return ((struct mount_state *)fuse_req_userdata(req))->live_seconds;
}

static void
ops_init(void *userdata, struct fuse_conn_info *conn)
{
	static const unsigned wanted = FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS |
				       FUSE_CAP_ASYNC_READ | FUSE_CAP_SPLICE_WRITE |
				       FUSE_CAP_SPLICE_MOVE;

	(void)userdata;
	conn->want |= conn->capable & wanted;
	/* Tools that copy a tree ask for the attributes of everything: always together with the
	 * names. */
	conn->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
	/* Truncating is a change of its own: it empties a staged file, and is nothing to others. */
	conn->want &= ~(unsigned)FUSE_CAP_ATOMIC_O_TRUNC;
	/* Sizes of immutable files never change; invalidating their pages on a guess would read
	 * them again. */
	conn->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA;
}

static void
ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct lancet_error err = { 0 };
	struct tree_entry entry;
	bool negative_for_ever = false;
	struct fuse_entry_param param = { .entry_timeout = DBL_MAX };
	struct tree *tree = request_tree(req);
	int rc = tree_lookup(tree, parent, name, &entry, &negative_for_ever, &err);

	reply_count(req, STATS_LOOKUP);
	if (rc == LANCET_OK) {
		entry_to_param(&entry, live_seconds(req), &param);
		if (fuse_reply_entry(req, &param) != 0)
			tree_forget(tree, entry.node,
				1); /* the request was interrupted: nobody has it */
	} else if (rc == LANCET_NOT_FOUND && negative_for_ever) {
		fuse_reply_entry(req, &param); /* node 0: the absence is cached */
	} else {
		reply_failure(req, tree, parent, &err);
	}
}

static void
ops_forget(fuse_req_t req, fuse_ino_t node, uint64_t lookups)
{
	tree_forget(request_tree(req), node, lookups);
	fuse_reply_none(req);
}

static void
ops_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		tree_forget(request_tree(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void
ops_getattr(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	struct lancet_error err = { 0 };
	struct tree_entry entry;

	reply_count(req, STATS_GETATTR);
	(void)fi;
	if (tree_getattr(request_tree(req), node, &entry, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		reply_attr(req, &entry, live_seconds(req));
}

static void
ops_readlink(fuse_req_t req, fuse_ino_t node)
{
	struct lancet_error err = { 0 };
	char target[4096];

	reply_count(req, STATS_READLINK);
	if (tree_readlink(request_tree(req), node, target, sizeof(target), &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		fuse_reply_readlink(req, target);
}

static void
ops_open(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	struct lancet_error err = { 0 };
	struct tree_file *file = NULL;
	bool to_write = (fi->flags & O_ACCMODE) != O_RDONLY;

	reply_count(req, STATS_OPEN);
	if ((to_write ? tree_open_to_write : tree_open)(request_tree(req), node, &file, &err) !=
		LANCET_OK) {
		reply_failure(req, request_tree(req), node, &err);
		return;
	}
	fi->fh = reply_handle(file);
	fi->direct_io = tree_file_is_computed(file);
	fi->keep_cache = tree_file_is_immutable(file) && !fi->direct_io;
	fi->noflush = 1;
	if (fuse_reply_open(req, fi) != 0)
		tree_close(file);
}

static void
read_backing(fuse_req_t req, int fd, size_t size, off_t offset)
{
	struct fuse_bufvec bytes = FUSE_BUFVEC_INIT(size);

	bytes.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	bytes.buf[0].fd = fd;
	bytes.buf[0].pos = offset;
	fuse_reply_data(req, &bytes, FUSE_BUF_SPLICE_MOVE);
}

static void
ops_read(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct tree_file *file = (struct tree_file *)(uintptr_t)fi->fh;
	struct lancet_error err = { 0 };
	size_t got = 0;

	reply_count(req, STATS_READ);
	if (tree_file_fd(file) >= 0) {
		read_backing(req, tree_file_fd(file), size, offset);
		return;
	}
	lancet_autofree uint8_t *bytes = malloc(size);
	if (bytes == NULL) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (tree_read(file, (uint64_t)offset, size, bytes, &got, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		fuse_reply_buf(req, (const char *)bytes, got);
}

static void
ops_lseek(fuse_req_t req, fuse_ino_t node, off_t offset, int whence, struct fuse_file_info *fi)
{
	struct tree_file *file = (struct tree_file *)(uintptr_t)fi->fh;
	off_t size = (off_t)tree_file_size(file);
	off_t found;

	(void)node;
	if (whence != SEEK_DATA && whence != SEEK_HOLE) {
		fuse_reply_err(req, EINVAL);
	} else if (tree_file_fd(file) >= 0) {
		found = lseek(tree_file_fd(file), offset, whence);
		if (found < 0)
			fuse_reply_err(req, errno);
		else
			fuse_reply_lseek(req, found);
	} else if (offset < 0 || offset >= size) {
		fuse_reply_err(req, ENXIO);
	} else { /* rendered files have no holes */
		fuse_reply_lseek(req, whence == SEEK_DATA ? offset : size);
	}
}

static void
ops_release(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	(void)node;
	reply_count(req, STATS_RELEASE);
	tree_close((struct tree_file *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static void
ops_opendir(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	struct lancet_error err = { 0 };
	struct tree_dir *dir = NULL;

	reply_count(req, STATS_OPENDIR);
	if (tree_opendir(request_tree(req), node, &dir, &err) != LANCET_OK) {
		reply_failure(req, request_tree(req), node, &err);
		return;
	}
	fi->fh = reply_handle(dir);
	fi->cache_readdir = tree_dir_is_immutable(dir);
	fi->keep_cache = tree_dir_is_immutable(dir);
	if (fuse_reply_open(req, fi) != 0)
		tree_dir_close(dir);
}

/* "." and "..": cookies 1 and 2. The kernel takes no reference to them, so node 0 does. */
static size_t
add_dots(fuse_req_t req, const struct tree_dir *dir, bool plus, char *page, size_t size,
	off_t *cookie)
{
	static const char *const dots[] = { ".", ".." };
	const uint64_t inodes[] = { tree_dir_inode(dir), tree_dir_parent_inode(dir) };
	size_t used = 0;

	while (*cookie < 2) {
		struct fuse_entry_param param = { .attr = { .st_mode = S_IFDIR,
							  .st_ino = inodes[*cookie] } };
		const char *name = dots[*cookie];
		size_t need = plus ? fuse_add_direntry_plus(req, page + used, size - used, name,
					     &param, *cookie + 1)
				   : fuse_add_direntry(req, page + used, size - used, name,
					     &param.attr, *cookie + 1);

		if (need > size - used)
			break;
		used += need;
		(*cookie)++;
	}
	return used;
}

/* With attributes, an entry is looked up for the kernel. One whose attributes fail is left to its
 * own look-up, which says why (node 0). So are those of a directory that changes: the kernel can't
 * keep what it is given there, and a listing of 10,000 versions would look at as many files. */
static size_t
add_plus(fuse_req_t req, struct tree_dir *dir, uint64_t index, struct tree_entry *entry, char *at,
	size_t left)
{
	struct fuse_entry_param param;
	const char *name;

	if (!tree_dir_is_immutable(dir) ||
		tree_dir_entry(dir, index, true, &name, entry, NULL) != LANCET_OK) {
		(void)tree_dir_entry(dir, index, false, &name, entry, NULL);
		entry->node = 0;
	}
	entry_to_param(entry, live_seconds(req), &param);
	return fuse_add_direntry_plus(req, at, left, name, &param, (off_t)index + 3);
}

/* A page of the listing from cookie on. */
static int
fill_page(fuse_req_t req, struct tree_dir *dir, bool plus, char *page, size_t size, off_t cookie,
	size_t *ret_used, struct lancet_error *err)
{
	size_t used = add_dots(req, dir, plus, page, size, &cookie);

	for (uint64_t i = (uint64_t)cookie - 2; cookie >= 2 && i < tree_dir_count(dir); i++) {
		struct tree_entry entry;
		const char *name;
		size_t need, left = size - used;

		/* Sizes first: an entry that does not fit must not be counted as looked up. */
		TRY(tree_dir_entry(dir, i, false, &name, &entry, err));
		need = plus ? fuse_add_direntry_plus(req, NULL, 0, name, NULL, 0)
			    : fuse_add_direntry(req, NULL, 0, name, NULL, 0);
		if (need > left)
			break;
		if (plus)
			used += add_plus(req, dir, i, &entry, page + used, left);
		else
			used += fuse_add_direntry(
				req, page + used, left, name, &entry.st, (off_t)i + 3);
	}
	*ret_used = used;
	return LANCET_OK;
}

static void
read_listing(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *fi,
	bool plus)
{
	struct tree_dir *dir = (struct tree_dir *)(uintptr_t)fi->fh;
	struct lancet_error err = { 0 };
	size_t used = 0;
	lancet_autofree char *page = malloc(size < LISTING_SIZE_MAX ? size : LISTING_SIZE_MAX);

	reply_count(req, STATS_READDIR);
	if (size > LISTING_SIZE_MAX)
		size = LISTING_SIZE_MAX;
	if (page == NULL || offset < 0)
		fuse_reply_err(req, page == NULL ? ENOMEM : EINVAL);
	else if (fill_page(req, dir, plus, page, size, offset, &used, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		fuse_reply_buf(req, page, used);
}

static void
ops_readdir(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *fi)
{
	read_listing(req, node, size, offset, fi, false);
}

static void
ops_readdirplus(
	fuse_req_t req, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *fi)
{
	read_listing(req, node, size, offset, fi, true);
}

static void
ops_releasedir(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	(void)node;
	reply_count(req, STATS_RELEASEDIR);
	tree_dir_close((struct tree_dir *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static void
ops_statfs(fuse_req_t req, fuse_ino_t node)
{
	struct lancet_error err = { 0 };
	struct statvfs st;

	reply_count(req, STATS_STATFS);
	if (tree_statvfs(request_tree(req), &st, &err) != LANCET_OK)
		reply_failure(req, request_tree(req), node, &err);
	else
		fuse_reply_statfs(req, &st);
}

const struct fuse_lowlevel_ops tree_ops = {
	.init = ops_init,
	.lookup = ops_lookup,
	.forget = ops_forget,
	.forget_multi = ops_forget_multi,
	.getattr = ops_getattr,
	.readlink = ops_readlink,
	.open = ops_open,
	.read = ops_read,
	.lseek = ops_lseek,
	.release = ops_release,
	.opendir = ops_opendir,
	.readdir = ops_readdir,
	.readdirplus = ops_readdirplus,
	.releasedir = ops_releasedir,
	.statfs = ops_statfs,
	.write = change_write,
	.poll = change_poll,
	.setattr = change_attributes,
	.mknod = change_mknod,
	.mkdir = change_mkdir,
	.unlink = change_unlink,
	.rmdir = change_rmdir,
	.symlink = change_symlink,
	.rename = change_rename,
	.link = change_link,
	.create = change_create,
	.setxattr = change_setxattr,
	.removexattr = change_removexattr,
};

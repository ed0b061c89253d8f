/* The writing half of the local directory store.
 *
 * The directory of a key is resolved like one to be read and held by a descriptor; everything is
 * then done to a plain name in it, so no name can lead out while the call runs.
 *
 * A final name is given by link(2), which POSIX wants to fail when the name is taken, or where
 * there are no links by renameat2(2) with RENAME_NOREPLACE. Network file systems repeat a request
 * whose reply was lost, and then report that it failed: the name is taken, or the file gone. So
 * after any failure the name is looked at: if it is our own inode, we have it.
 */
#include "store_local.h"

#include "util/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define CREATE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
#define PARTS_MAX    256 /* of one writev(2) */

/* A name in a directory that is held open. */
struct spot {
	int dir_fd;
	const char *name; /* borrowed from the key */
};

struct local_writer {
	struct store_writer base;
	int fd;
	char key[];
};

/* The error for a change that the kernel refused, from errno. */
static int
fail_change(const char *key, struct lancet_error *err)
{
	switch (errno) {
	case EEXIST:
		return lancet_fail(err, LANCET_EXISTS, "%s: is there already", key);
	case EROFS:
		return lancet_fail(err, LANCET_READ_ONLY, "%s: the file system is read-only", key);
	case EISDIR:
		return lancet_fail(err, LANCET_CORRUPT, "%s: is a directory", key);
	case ENOTEMPTY:
		return lancet_fail(err, LANCET_BUSY, "%s: the directory is not empty", key);
	default:
		return store_local_key_fail(key, err);
	}
}

static int
spot_find(struct store *store, const char *key, struct spot *ret_spot, struct lancet_error *err)
{
	size_t size = store_dir_size(key);
	char dir[STORE_KEY_MAX + 1];
	int fd;

	memcpy(dir, key, size);
	dir[size] = '\0';
	fd = store_local_key_open(
		(struct local_store *)store, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return store_local_key_fail(key, err);
	*ret_spot = (struct spot){ fd, size == 0 ? key : key + size + 1 };
	return LANCET_OK;
}

/* Keeps errno. */
static void
spot_release(struct spot *spot)
{
	util_close_fd(&spot->dir_fd);
}

/* Ends a call on a spot: the error from errno when it has failed. */
static int
spot_end(struct spot *spot, bool done, const char *key, struct lancet_error *err)
{
	spot_release(spot);
	return done ? LANCET_OK : fail_change(key, err);
}

/* The part that the next byte to be written lies in, and where. */
struct progress {
	const struct slice *parts;
	size_t count, part, done;
};

static int
fill(const struct progress *at, struct iovec into[PARTS_MAX])
{
	size_t skip = at->done;
	int count = 0;

	for (size_t i = at->part; i < at->count && count < PARTS_MAX; i++, skip = 0) {
		if (at->parts[i].size == 0)
			continue; /* it may have no data to point to */
		into[count++] = (struct iovec){
			.iov_base = (void *)(uintptr_t)(at->parts[i].data + skip),
			.iov_len = at->parts[i].size - skip,
		};
	}
	return count;
}

static void
advance(struct progress *at, size_t size)
{
	at->done += size;
	while (at->part < at->count && at->done >= at->parts[at->part].size)
		at->done -= at->parts[at->part++].size;
}

static int
writer_put(struct store_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	const struct local_writer *local = (const struct local_writer *)writer;
	struct progress at = { .parts = parts, .count = count };

	for (advance(&at, 0); at.part < count;) {
		struct iovec vectors[PARTS_MAX];
		ssize_t size = writev(local->fd, vectors, fill(&at, vectors));

		if (size < 0 && errno == EINTR)
			continue;
		if (size == 0)
			errno = EIO;
		if (size <= 0)
			return fail_change(local->key, err);
		advance(&at, (size_t)size);
	}
	return LANCET_OK;
}

static int
sync_fd(int fd)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc;
}

static int
writer_sync(struct store_writer *writer, struct lancet_error *err)
{
	const struct local_writer *local = (const struct local_writer *)writer;

	return sync_fd(local->fd) == 0 ? LANCET_OK : fail_change(local->key, err);
}

/* The descriptor is gone even when close(2) fails, but bytes may be lost. */
static int
writer_close(struct store_writer *writer, struct lancet_error *err)
{
	struct local_writer *local = (struct local_writer *)writer;
	int rc = close(local->fd) == 0 ? LANCET_OK : fail_change(local->key, err);

	free(local);
	return rc;
}

static const struct store_writer_ops writer_ops = { writer_put, writer_sync, writer_close };

static int
local_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	size_t size = strlen(key) + 1;
	lancet_autofree struct local_writer *local = malloc(sizeof(*local) + size);
	struct spot spot;

	if (local == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a file to write", key);
	TRY(spot_find(store, key, &spot, err));
	local->fd = openat(spot.dir_fd, spot.name, CREATE_FLAGS, 0666);
	TRY(spot_end(&spot, local->fd >= 0, key, err));
	local->base.ops = &writer_ops;
	memcpy(local->key, key, size);
	*ret_writer = &local->base;
	(void)lancet_steal(&local);
	return LANCET_OK;
}

/* Whether a spot's name is the file that `own` describes; keeps errno. */
static bool
spot_is(const struct spot *spot, const struct stat *own)
{
	int os_errno = errno;
	struct stat st;
	bool same = fstatat(spot->dir_fd, spot->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_dev == own->st_dev && st.st_ino == own->st_ino;

	errno = os_errno;
	return same;
}

/* What file systems without hard links say; for some it may also mean something else, which
 * renaming then tells. */
static bool
links_are_missing(void)
{
	return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
}

static bool
noreplace_is_missing(void)
{
	return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

/* Gives the name by renaming, after link(2) has refused. */
static int
rename_new(const struct spot *from, const struct spot *to, const struct stat *own,
	const char *to_key, struct lancet_error *err)
{
	if (renameat2(from->dir_fd, from->name, to->dir_fd, to->name, RENAME_NOREPLACE) == 0 ||
		spot_is(to, own))
		return LANCET_OK;
	if (noreplace_is_missing())
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"%s: the storage has neither link(2) nor RENAME_NOREPLACE of "
			"renameat2(2)",
			to_key);
	return fail_change(to_key, err);
}

static int
link_spots(const struct spot *from, const struct spot *to, const char *from_key, const char *to_key,
	struct lancet_error *err)
{
	struct stat own;

	if (fstatat(from->dir_fd, from->name, &own, AT_SYMLINK_NOFOLLOW) != 0)
		return fail_change(from_key, err);
	if (linkat(from->dir_fd, from->name, to->dir_fd, to->name, 0) != 0 && !spot_is(to, &own)) {
		if (links_are_missing())
			return rename_new(from, to, &own, to_key, err);
		return fail_change(to_key, err);
	}
	/* the name counts; what a failure leaves here is a leftover like those of a crash */
	(void)unlinkat(from->dir_fd, from->name, 0);
	return LANCET_OK;
}

static int
rename_spots(const struct spot *from, const struct spot *to, const char *from_key,
	const char *to_key, struct lancet_error *err)
{
	struct stat own;

	if (fstatat(from->dir_fd, from->name, &own, AT_SYMLINK_NOFOLLOW) != 0)
		return fail_change(from_key, err);
	if (renameat(from->dir_fd, from->name, to->dir_fd, to->name) == 0 || spot_is(to, &own))
		return LANCET_OK;
	return fail_change(to_key, err);
}

typedef int (*spots_call)(const struct spot *from, const struct spot *to, const char *from_key,
	const char *to_key, struct lancet_error *err);

static int
with_spots(struct store *store, const char *from_key, const char *to_key, spots_call call,
	struct lancet_error *err)
{
	struct spot from, to;
	int rc;

	TRY(spot_find(store, from_key, &from, err));
	rc = spot_find(store, to_key, &to, err);
	if (rc == LANCET_OK) {
		rc = call(&from, &to, from_key, to_key, err);
		spot_release(&to);
	}
	spot_release(&from);
	return rc;
}

static int
local_link(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	return with_spots(store, from, to, link_spots, err);
}

static int
local_rename(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	return with_spots(store, from, to, rename_spots, err);
}

static int
local_remove(struct store *store, const char *key, struct lancet_error *err)
{
	struct spot spot;

	TRY(spot_find(store, key, &spot, err));
	return spot_end(&spot, unlinkat(spot.dir_fd, spot.name, 0) == 0, key, err);
}

static int
local_make_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct spot spot;

	TRY(spot_find(store, key, &spot, err));
	return spot_end(&spot, mkdirat(spot.dir_fd, spot.name, 0777) == 0, key, err);
}

static int
local_remove_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct spot spot;

	TRY(spot_find(store, key, &spot, err));
	return spot_end(&spot, unlinkat(spot.dir_fd, spot.name, AT_REMOVEDIR) == 0, key, err);
}

/* EINVAL: the file system has no such call for directories, and so nothing to be done by it. */
static int
local_sync_dir(struct store *store, const char *key, struct lancet_error *err)
{
	lancet_autoclose int fd = store_local_key_open(
		(struct local_store *)store, key, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return store_local_key_fail(key, err);
	if (sync_fd(fd) != 0 && errno != EINVAL)
		return fail_change(key, err);
	return LANCET_OK;
}

const struct store_write_ops store_local_write_ops = {
	.create = local_create,
	.link = local_link,
	.rename = local_rename,
	.remove = local_remove,
	.make_dir = local_make_dir,
	.remove_dir = local_remove_dir,
	.sync_dir = local_sync_dir,
};

/* The store that is a local directory.
 *
 * The root is opened once; every key is resolved beneath that descriptor by openat2(2), so
 * neither ".." nor a symbolic link gets out, whatever happens to the tree meanwhile. Links that
 * would leave are left to store_follow. Reading does not touch access times where the kernel
 * lets us (O_NOATIME).
 */
#include "store_local.h"

#include "util/macros.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define OPEN_DIR_FLAGS  (O_RDONLY | O_CLOEXEC | O_DIRECTORY)
#define RACE_TRIES_MAX  16 /* openat2 gives EAGAIN while something is renamed under it */

static int
beneath(int root_fd, const char *key, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd, tries = 0;

	do
		fd = (int)syscall(SYS_openat2, root_fd, key, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < RACE_TRIES_MAX)));
	return fd;
}

static int
open_once(const struct local_store *local, const char *key, int flags)
{
	int fd;

	if (!local->has_openat2)
		return store_follow_open(&local->follow, local->root_fd, key, flags);
	fd = beneath(local->root_fd, key, flags);
	if (fd >= 0 || errno != EXDEV)
		return fd;
	fd = store_follow_open(&local->follow, local->root_fd, key, flags);
	/* whether something exists outside is nobody's business when nothing there may be read */
	if (fd < 0 && local->follow.count == 0 && (errno == ENOENT || errno == EACCES))
		errno = EXDEV;
	return fd;
}

int
store_local_key_open(const struct local_store *local, const char *key, int flags)
{
	int fd;

	if (key[0] == '\0')
		key = ".";
	if ((flags & O_PATH) != 0)
		return open_once(local, key, flags);
	fd = open_once(local, key, flags | O_NOATIME);
	return fd < 0 && errno == EPERM ? open_once(local, key, flags) : fd;
}

int
store_local_key_fail(const char *key, struct lancet_error *err)
{
	switch (errno) {
	case EXDEV:
		return lancet_fail(err, LANCET_CORRUPT, "%s: symbolic link leaves the dataset",
		                   key);
	case ELOOP:
		return lancet_fail(err, LANCET_CORRUPT, "%s: symbolic link loop", key);
	case ENXIO: /* a socket, or a device without a driver */
		return lancet_fail(err, LANCET_CORRUPT, "%s: not a regular file", key);
	case ENOTDIR:
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: a part is not a directory", key);
	default:
		return lancet_fail_errno(err, "%s", key);
	}
}

static int
local_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
              struct lancet_error *err)
{
	const struct local_store *local = (const struct local_store *)store;
	lancet_autoclose int fd = store_local_key_open(local, key, OPEN_FILE_FLAGS);
	struct stat st;

	if (fd < 0)
		return store_local_key_fail(key, err);
	if (fstat(fd, &st) != 0)
		return lancet_fail_errno(err, "%s", key);
	if (!S_ISREG(st.st_mode))
		return lancet_fail(err, LANCET_CORRUPT, "%s: not a regular file", key);
	*ret_fd = lancet_steal_fd(&fd);
	*ret_stat = st;
	return LANCET_OK;
}

static int
local_open_source(struct store *store, const char *key, struct source **ret_source,
                  struct stat *ret_stat, struct lancet_error *err)
{
	struct source *source;
	struct stat st;
	int fd = -1;

	TRY(local_open_fd(store, key, &fd, &st, err));
	source = source_fd_new(fd, (uint64_t)st.st_size);
	if (source == NULL) {
		(void)close(fd);
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a source to read from", key);
	}
	*ret_source = source;
	*ret_stat = st;
	return LANCET_OK;
}

static int
local_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	const struct local_store *local = (const struct local_store *)store;
	lancet_autoclose int fd = store_local_key_open(local, key, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return store_local_key_fail(key, err);
	if (fstat(fd, &st) != 0)
		return lancet_fail_errno(err, "%s", key);
	*ret_stat = st;
	return LANCET_OK;
}

static int
local_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	struct statvfs st;

	if (fstatvfs(((struct local_store *)store)->root_fd, &st) != 0)
		return lancet_fail_errno(err, "statvfs");
	*ret_stat = st;
	return LANCET_OK;
}

/* Links are resolved as opening them would: what can't be reached is no directory. */
static bool
entry_is_dir(struct store *store, const char *prefix, const struct dirent *entry)
{
	char key[PATH_MAX];
	struct stat st;
	int size;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	size = snprintf(key, sizeof(key), "%s%s%s", prefix, prefix[0] == '\0' ? "" : "/",
	                entry->d_name);
	return size > 0 && (size_t)size < sizeof(key) &&
	       local_stat(store, key, &st, NULL) == LANCET_OK && S_ISDIR(st.st_mode);
}

static int
list_entries(struct store *store, const char *prefix, DIR *dir, store_sink sink, void *context,
             struct lancet_error *err)
{
	for (;;) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL)
			return errno == 0 ? LANCET_OK : lancet_fail_errno(err, "%s", prefix);
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		TRY(sink(context, entry->d_name, entry_is_dir(store, prefix, entry)));
	}
}

static int
local_list(struct store *store, const char *prefix, store_sink sink, void *context,
           struct lancet_error *err)
{
	int fd = store_local_key_open((struct local_store *)store, prefix, OPEN_DIR_FLAGS);
	DIR *dir;
	int rc;

	if (fd < 0)
		return store_local_key_fail(prefix, err);
	dir = fdopendir(fd);
	if (dir == NULL) {
		rc = lancet_fail_errno(err, "%s", prefix);
		(void)close(fd);
		return rc;
	}
	rc = list_entries(store, prefix, dir, sink, context, err);
	(void)closedir(dir);
	return rc;
}

static void
local_release(struct store *store)
{
	struct local_store *local = (struct local_store *)store;

	store_follow_release(&local->follow);
	(void)close(local->root_fd);
	free(local);
}

static const struct store_ops local_ops = {
	.open_fd = local_open_fd,
	.open_source = local_open_source,
	.list = local_list,
	.stat = local_stat,
	.statvfs = local_statvfs,
	.release = local_release,
	.write = &store_local_write_ops,
};

/* Old kernels lack openat2, and some sandboxes deny what they do not know. */
static bool
probe_openat2(int root_fd)
{
	lancet_autoclose int fd = beneath(root_fd, ".", O_PATH | O_CLOEXEC);

	return fd >= 0;
}

int
store_local_open(const char *path, const char *const *follow, struct store **ret_store,
                 struct lancet_error *err)
{
	lancet_autoclose int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct local_store *local;
	int rc;

	if (fd < 0 && errno == ENOTDIR)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: not a directory", path);
	if (fd < 0)
		return lancet_fail_errno(err, "%s", path);
	local = malloc(sizeof(*local));
	if (local == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a store", path);
	rc = store_follow_init(&local->follow, follow, err);
	if (rc != LANCET_OK) {
		free(local);
		return rc;
	}
	store_init(&local->base, &local_ops);
	local->has_openat2 = probe_openat2(fd);
	local->root_fd = lancet_steal_fd(&fd);
	*ret_store = &local->base;
	return LANCET_OK;
}

/* Symbolic links that leave the root of a store.
 *
 * The kernel resolves the key to an O_PATH descriptor, which reads nothing and wakes no device;
 * then the path of that very object, as /proc tells it, must lie below the root or a followed
 * directory. So there is no window between the check and the use, and renaming the directories
 * while they are in use does no harm. The same serves kernels without openat2(2).
 */
#include "store_follow.h"

#include "util/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FD_LINK_MAX 32 /* "/proc/self/fd/N" */

int
store_follow_init(struct store_follow *follow, const char *const *paths, struct lancet_error *err)
{
	size_t count = 0;

	*follow = (struct store_follow){ 0 };
	while (paths != NULL && paths[count] != NULL)
		count++;
	if (count == 0)
		return LANCET_OK;
	follow->fds = calloc(count, sizeof(*follow->fds));
	if (follow->fds == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu directories to follow", count);
	for (size_t i = 0; i < count; i++) {
		int fd;

		if (paths[i][0] != '/') {
			store_follow_release(follow);
			return lancet_fail(err, LANCET_INVALID, "follow: %s: not an absolute path",
			                   paths[i]);
		}
		fd = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			int rc = lancet_fail_errno(err, "follow: %s", paths[i]);

			store_follow_release(follow);
			return rc;
		}
		follow->fds[follow->count++] = fd;
	}
	return LANCET_OK;
}

void
store_follow_release(struct store_follow *follow)
{
	for (int i = 0; i < follow->count; i++)
		(void)close(follow->fds[i]);
	free(follow->fds);
	*follow = (struct store_follow){ 0 };
}

/* The absolute path of what fd refers to; false with errno. */
static bool
fd_path(int fd, char into[PATH_MAX])
{
	char link[FD_LINK_MAX];
	ssize_t size;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, into, PATH_MAX - 1);
	if (size < 0) {
		/* no /proc: not the same as a file that does not exist */
		if (errno == ENOENT)
			errno = ENOSYS;
		return false;
	}
	into[size] = '\0';
	return true;
}

static bool
lies_below(const char *path, int dir_fd)
{
	char dir[PATH_MAX];
	size_t size;

	if (!fd_path(dir_fd, dir) || dir[0] != '/')
		return false;
	size = strlen(dir);
	if (size == 1) /* the root of the file system */
		return path[0] == '/';
	return strncmp(path, dir, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static bool
is_allowed(const struct store_follow *follow, int root_fd, int fd)
{
	char path[PATH_MAX];

	if (!fd_path(fd, path))
		return false;
	if (lies_below(path, root_fd))
		return true;
	for (int i = 0; i < follow->count; i++) {
		if (lies_below(path, follow->fds[i]))
			return true;
	}
	errno = EXDEV;
	return false;
}

int
store_follow_open(const struct store_follow *follow, int root_fd, const char *key, int flags)
{
	lancet_autoclose int fd = openat(root_fd, key, O_PATH | O_CLOEXEC);
	char link[FD_LINK_MAX];

	if (fd < 0 || !is_allowed(follow, root_fd, fd))
		return -1;
	if ((flags & O_PATH) != 0)
		return lancet_steal_fd(&fd);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, flags);
}

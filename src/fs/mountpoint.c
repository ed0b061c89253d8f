/* Mount point checks and unmounting.
 *
 * A mount over or inside its own dataset would send the daemon's reads back to itself, so overlap
 * is refused. Directories are compared by device and inode, walking up from both sides, and by
 * their place inside the file system: what is mounted on a bind mount can appear at the original,
 * too. SPEC sections 2 and 8.
 */
#include "mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/macros.h"

#define PARENTS_MAX 4096 /* a path can't have more parts */

extern char **environ;

/* realpath of the parent and the last part as it stands: for a directory that can't be looked into.
 */
static char *
resolve_through_parent(const char *path)
{
	lancet_autofree char *copy_for_dir = strdup(path);
	lancet_autofree char *copy_for_base = strdup(path);
	char *joined = NULL;

	if (copy_for_dir == NULL || copy_for_base == NULL)
		return NULL;
	lancet_autofree char *parent = realpath(dirname(copy_for_dir), NULL);
	const char *slash = parent != NULL && strcmp(parent, "/") == 0 ? "" : "/";
	if (parent == NULL ||
		asprintf(&joined, "%s%s%s", parent, slash, basename(copy_for_base)) < 0)
		return NULL;
	return joined;
}

int
mountpoint_resolve(const char *path, char **ret_path, bool *ret_stale, struct lancet_error *err)
{
	struct statx at = { 0 };
	char *resolved;
	/* Asks the daemon even if the kernel still knows the attributes, and sets off no automount.
	 */
	bool stale = statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE,
			     &at) != 0 &&
		     errno == ENOTCONN;

	resolved = stale ? resolve_through_parent(path) : realpath(path, NULL);
	if (resolved == NULL)
		return lancet_fail_errno(err, "mount point %s", path);
	if (!stale && !S_ISDIR(at.stx_mode)) {
		free(resolved);
		return lancet_fail(err, LANCET_INVALID, "mount point %s: not a directory", path);
	}
	*ret_path = resolved;
	*ret_stale = stale;
	return LANCET_OK;
}

/* True when `directory` or one of its parents is the directory `wanted`. */
static bool
lies_within(const char *directory, const struct stat *wanted)
{
	/* No O_DIRECTORY: that would set off the automount that this mount may be the answer to. */
	int fd = open(directory, O_PATH | O_CLOEXEC);
	struct stat here, before = { 0 };
	bool found = false;

	for (int i = 0; fd >= 0 && i < PARENTS_MAX; i++) {
		if (fstat(fd, &here) != 0)
			break;
		found = here.st_dev == wanted->st_dev && here.st_ino == wanted->st_ino;
		if (found ||
			(i > 0 && here.st_dev == before.st_dev && here.st_ino == before.st_ino))
			break; /* the root is its own parent */
		before = here;
		int parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Where a directory is inside its file system, whatever bind mounts lead to it. */
struct fs_place {
	unsigned major, minor;
	char path[PATH_MAX]; /* from the root of the file system */
};

/* mountinfo writes blanks and backslashes as \ooo. */
static void
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; to++) {
		unsigned byte;
		int digits;

		if (from[0] == '\\' && sscanf(from + 1, "%3o%n", &byte, &digits) == 1) {
			*to = (char)byte;
			from += 1 + digits;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The line of a mount: "id parent major:minor root mountpoint …". `directory` lies in it. */
static bool
place_from_line(char *line, const char *directory, struct fs_place *ret_place)
{
	lancet_autofree char *root = NULL;
	lancet_autofree char *point = NULL;
	size_t depth;

	if (sscanf(line, "%*d %*d %u:%u %ms %ms", &ret_place->major, &ret_place->minor, &root,
		    &point) != 4)
		return false;
	unescape(root);
	unescape(point);
	depth = strcmp(point, "/") == 0 ? 0 : strlen(point);
	if (strncmp(directory, point, depth) != 0)
		return false;
	int size = snprintf(ret_place->path, sizeof(ret_place->path), "%s%s",
		strcmp(root, "/") == 0 ? "" : root, directory + depth);
	return size >= 0 && (size_t)size < sizeof(ret_place->path);
}

/* False when the kernel does not tell; the comparison of inodes was made before. */
static bool
find_place(const char *directory, struct fs_place *ret_place)
{
	struct statx at;
	lancet_autofree char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (statx(AT_FDCWD, directory, AT_NO_AUTOMOUNT, STATX_MNT_ID, &at) != 0 ||
		(at.stx_mask & STATX_MNT_ID) == 0)
		return false;
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	if (mounts == NULL)
		return false;
	while (!found && getline(&line, &size, mounts) > 0)
		found = strtoull(line, NULL, 10) == at.stx_mnt_id &&
			place_from_line(line, directory, ret_place);
	fclose(mounts);
	return found;
}

static bool
is_below(const struct fs_place *inner, const struct fs_place *outer)
{
	size_t size = strlen(outer->path);

	while (size > 0 && outer->path[size - 1] == '/')
		size--;
	return strncmp(inner->path, outer->path, size) == 0 &&
	       (inner->path[size] == '/' || inner->path[size] == '\0');
}

/* The same stretch of one file system, reached by two ways. */
static bool
places_overlap(const char *one, const char *other)
{
	struct fs_place a, b;

	return find_place(one, &a) && find_place(other, &b) && a.major == b.major &&
	       a.minor == b.minor && (is_below(&a, &b) || is_below(&b, &a));
}

int
mountpoint_check_apart(const char *mountpoint, const char *directory, struct lancet_error *err)
{
	struct stat at_mountpoint, at_directory;

	if (stat(mountpoint, &at_mountpoint) != 0)
		return lancet_fail_errno(err, "mount point %s", mountpoint);
	if (stat(directory, &at_directory) != 0)
		return lancet_fail_errno(err, "%s", directory);
	if (lies_within(mountpoint, &at_directory) || lies_within(directory, &at_mountpoint) ||
		places_overlap(mountpoint, directory))
		return lancet_fail(err, LANCET_INVALID,
			"mount point %s and %s lie in each other: choose a directory outside, or "
			"give -o "
			"overmount",
			mountpoint, directory);
	return LANCET_OK;
}

/* fusermount3 is set-uid: it unmounts for the user who mounted. Its output is dropped, its status
 * counts. */
static int
run_fusermount(const char *mountpoint, bool lazy)
{
	const char *arguments[] = { "fusermount3", "-u", "-q", "--", mountpoint, NULL, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1;

	if (lazy) {
		arguments[3] = "-z";
		arguments[4] = "--";
		arguments[5] = mountpoint;
	}
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, arguments[0], &actions, NULL, (char **)arguments, environ) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

int
mountpoint_unmount(const char *mountpoint, bool lazy, struct lancet_error *err)
{
	if (umount2(mountpoint, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
		return LANCET_OK;
	if (errno == EPERM) {
		if (run_fusermount(mountpoint, lazy) == 0)
			return LANCET_OK;
		errno = EBUSY;
	}
	if (errno == EBUSY)
		return lancet_fail(err, LANCET_BUSY, "%s is busy", mountpoint);
	return lancet_fail_errno(err, "unmount %s", mountpoint);
}

/* The private directory of a stage: made when it is needed, gone at exit; see stage.h.
 *
 * A daemon that is killed leaves its directory behind. The lock on it is gone with the daemon, so
 * the next one can tell it from the directory of one that lives.
 */
#include "stage_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "util/macros.h"

#define PREFIX          "lancefs-stage-"
#define YOUNG_SECONDS   60 /* one that was just made may not be locked yet */
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

/* Everything in an open directory; only files are expected. */
static void
empty_directory(int fd)
{
	int copy = dup(fd);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (list == NULL) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(list);
	while ((entry = readdir(list)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(fd, entry->d_name, 0);
	}
	closedir(list);
}

static void
remove_left(int parent, const char *name)
{
	lancet_autoclose int fd = openat(parent, name, DIRECTORY_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
		(st.st_mode & 07777) != 0700 || st.st_mtime > time(NULL) - YOUNG_SECONDS ||
		flock(fd, LOCK_EX | LOCK_NB) != 0)
		return;
	empty_directory(fd);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* What daemons of ours left that were killed. */
static void
remove_leftovers(int parent)
{
	int fd = openat(parent, ".", DIRECTORY_FLAGS);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (list == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(list)) != NULL) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_left(parent, entry->d_name);
	}
	closedir(list);
}

int
stage_new(const char *directory, uint64_t bytes_max, struct stage **ret_stage,
	struct lancet_error *err)
{
	const char *asked = directory;
	struct stage *stage;

	if (directory == NULL)
		directory = getenv("TMPDIR");
	if (directory == NULL || directory[0] != '/')
		directory = asked != NULL ? asked : "/var/tmp";
	stage = calloc(1, sizeof(*stage));
	if (stage == NULL || pthread_mutex_init(&stage->lock, NULL) != 0) {
		free(stage);
		return lancet_fail(err, LANCET_NO_MEMORY, "stage: out of memory");
	}
	stage->bytes_max = bytes_max;
	stage->directory = -1;
	stage->parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (stage->parent < 0 && asked != NULL) {
		int rc = lancet_fail_errno(err, "stage=%s", directory);

		stage_free(stage);
		return rc;
	}
	if (stage->parent >= 0)
		remove_leftovers(stage->parent);
	*ret_stage = stage;
	return LANCET_OK;
}

int
stage_make_directory(struct stage *stage, struct lancet_error *err)
{
	uint64_t number;

	if (stage->directory >= 0)
		return LANCET_OK;
	if (stage->parent < 0)
		return lancet_fail(err, LANCET_NOT_FOUND,
			"there is no directory for staged files: mount with stage=DIR");
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return lancet_fail_errno(err, "stage: random bytes");
	snprintf(stage->name, sizeof(stage->name), PREFIX "%016" PRIx64, number);
	if (mkdirat(stage->parent, stage->name, 0700) != 0) {
		stage->name[0] = '\0';
		return lancet_fail_errno(err, "the directory of staged files");
	}
	stage->directory = openat(stage->parent, stage->name, DIRECTORY_FLAGS);
	if (stage->directory < 0 || flock(stage->directory, LOCK_EX | LOCK_NB) != 0)
		return lancet_fail_errno(err, "%s", stage->name);
	return LANCET_OK;
}

void
stage_free(struct stage *stage)
{
	if (stage == NULL)
		return;
	while (stage->files != NULL) {
		struct stage_file *file = stage->files;

		stage->files = file->next;
		free(file->name);
		free(file);
	}
	if (stage->directory >= 0) {
		empty_directory(stage->directory);
		close(stage->directory);
	}
	if (stage->name[0] != '\0')
		(void)unlinkat(stage->parent, stage->name, AT_REMOVEDIR);
	if (stage->parent >= 0)
		close(stage->parent);
	pthread_mutex_destroy(&stage->lock);
	free(stage);
}

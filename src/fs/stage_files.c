/* The files of a stage; see stage.h. */
#include "stage_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/macros.h"

#define FILE_NAME_SIZE 24
#define MODE_MASK      0700 /* as all of ctl/: for nobody else */

static void
disk_name(uint64_t number, char into[FILE_NAME_SIZE])
{
	snprintf(into, FILE_NAME_SIZE, "%" PRIu64, number);
}

static struct stage_file *
by_name(struct stage *stage, const void *owner, const char *name)
{
	struct stage_file *file = stage->files;

	while (file != NULL &&
		(file->removed || file->owner != owner || strcmp(file->name, name) != 0))
		file = file->next;
	return file;
}

static struct stage_file *
by_number(struct stage *stage, uint64_t number)
{
	struct stage_file *file = stage->files;

	while (file != NULL && file->number != number)
		file = file->next;
	return file;
}

static int
no_such(const char *name, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such staged file", name);
}

static int
gone(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CLEANED, "the staged file is gone");
}

static int
no_space(const struct stage *stage, struct lancet_error *err)
{
	int rc = lancet_fail(err, LANCET_IO,
		"staged files take more than stage_max=%" PRIu64 " bytes, or are more than %d",
		stage->bytes_max, STAGE_FILES_MAX);

	if (err != NULL)
		err->os_errno = ENOSPC;
	return rc;
}

/* Under the lock: a file that nobody can reach any more. */
static void
drop_unreachable(struct stage *stage, struct stage_file *file)
{
	struct stage_file **link = &stage->files;
	char name[FILE_NAME_SIZE];

	if (!file->removed || file->opens > 0)
		return;
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	stage->bytes -= file->size;
	stage->count--;
	disk_name(file->number, name);
	(void)unlinkat(stage->directory, name, 0);
	free(file->name);
	free(file);
}

static void
take_name(struct stage *stage, struct stage_file *file)
{
	file->removed = true;
	drop_unreachable(stage, file);
}

int
stage_find(struct stage *stage, const void *owner, const char *name, uint64_t *ret_number,
	struct lancet_error *err)
{
	const struct stage_file *file;
	int rc = LANCET_OK;

	pthread_mutex_lock(&stage->lock);
	file = by_name(stage, owner, name);
	if (file == NULL)
		rc = no_such(name, err);
	else
		*ret_number = file->number;
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

int
stage_stat(struct stage *stage, uint64_t number, struct stat *ret_stat, struct lancet_error *err)
{
	const struct stage_file *file;
	char name[FILE_NAME_SIZE];
	int rc = LANCET_OK;

	disk_name(number, name);
	pthread_mutex_lock(&stage->lock);
	file = by_number(stage, number);
	if (file == NULL)
		rc = gone(err);
	else if (fstatat(stage->directory, name, ret_stat, AT_SYMLINK_NOFOLLOW) != 0)
		rc = lancet_fail_errno(err, "staged file %s", name);
	else
		ret_stat->st_mode = S_IFREG | file->mode;
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

bool
stage_name(struct stage *stage, uint64_t number, char into[256])
{
	const struct stage_file *file;
	bool found;

	pthread_mutex_lock(&stage->lock);
	file = by_number(stage, number);
	found = file != NULL;
	if (found)
		snprintf(into, 256, "%s", file->name);
	pthread_mutex_unlock(&stage->lock);
	return found;
}

int
stage_list(struct stage *stage, const void *owner, stage_sink sink, void *context)
{
	int rc = LANCET_OK;

	pthread_mutex_lock(&stage->lock);
	for (const struct stage_file *file = stage->files; file != NULL && rc == LANCET_OK;
		file = file->next) {
		if (!file->removed && file->owner == owner)
			rc = sink(context, file->name, file->number);
	}
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

/* Under the lock: counts one more who has the file open. NULL: no memory. */
static struct staged *
count_open(struct stage *stage, struct stage_file *file)
{
	struct staged *staged = calloc(1, sizeof(*staged));

	if (staged != NULL) {
		*staged = (struct staged){ stage, file, -1 };
		file->opens++;
	}
	return staged;
}

/* Not under the lock: an open can take long. */
static int
open_file(struct staged *staged, int flags, struct lancet_error *err)
{
	char name[FILE_NAME_SIZE];

	disk_name(staged->file->number, name);
	staged->fd = openat(staged->stage->directory, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (staged->fd < 0)
		return lancet_fail_errno(err, "staged file %s", name);
	return LANCET_OK;
}

/* Under the lock: a new name, whose file is not made yet. */
static int
create_file(struct stage *stage, const void *owner, const char *name, mode_t mode,
	struct staged **ret_staged, struct lancet_error *err)
{
	struct stage_file *file;

	if (by_name(stage, owner, name) != NULL)
		return lancet_fail(err, LANCET_EXISTS, "%s: is there already", name);
	if (stage->count >= STAGE_FILES_MAX)
		return no_space(stage, err);
	TRY(stage_make_directory(stage, err));
	file = calloc(1, sizeof(*file));
	if (file != NULL)
		*ret_staged = count_open(stage, file);
	if (file == NULL || *ret_staged == NULL || (file->name = strdup(name)) == NULL) {
		free(file == NULL ? NULL : *ret_staged);
		free(file);
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", name);
	}
	file->number = ++stage->last_number;
	file->owner = owner;
	file->mode = mode & MODE_MASK;
	file->next = stage->files;
	stage->files = file;
	stage->count++;
	return LANCET_OK;
}

int
stage_create(struct stage *stage, const void *owner, const char *name, mode_t mode,
	struct staged **ret_staged, struct lancet_error *err)
{
	struct staged *staged = NULL;
	int rc;

	pthread_mutex_lock(&stage->lock);
	rc = create_file(stage, owner, name, mode, &staged, err);
	pthread_mutex_unlock(&stage->lock);
	if (rc != LANCET_OK)
		return rc;
	rc = open_file(staged, O_RDWR | O_CREAT | O_EXCL, err);
	if (rc != LANCET_OK) {
		(void)stage_unlink(stage, owner, name, staged->file->number, NULL);
		staged_close(staged);
		return rc;
	}
	*ret_staged = staged;
	return LANCET_OK;
}

int
stage_open(struct stage *stage, uint64_t number, bool to_write, struct staged **ret_staged,
	struct lancet_error *err)
{
	struct stage_file *file;
	struct staged *staged = NULL;
	int rc;

	pthread_mutex_lock(&stage->lock);
	file = by_number(stage, number);
	if (file != NULL)
		staged = count_open(stage, file);
	pthread_mutex_unlock(&stage->lock);
	if (file == NULL)
		return gone(err);
	if (staged == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "staged file: out of memory");
	rc = open_file(staged, to_write ? O_RDWR : O_RDONLY, err);
	if (rc != LANCET_OK) {
		staged_close(staged);
		return rc;
	}
	*ret_staged = staged;
	return LANCET_OK;
}

void
staged_close(struct staged *staged)
{
	struct stage *stage;

	if (staged == NULL)
		return;
	stage = staged->stage;
	if (staged->fd >= 0)
		close(staged->fd);
	pthread_mutex_lock(&stage->lock);
	staged->file->opens--;
	drop_unreachable(stage, staged->file);
	pthread_mutex_unlock(&stage->lock);
	free(staged);
}

int
staged_fd(const struct staged *staged)
{
	return staged->fd;
}

uint64_t
staged_number(const struct staged *staged)
{
	return staged->file->number;
}

/* Under the lock: counts the bytes of a file that will be `size` long. */
static int
count_bytes(struct stage *stage, struct stage_file *file, uint64_t size, struct lancet_error *err)
{
	if (size > file->size && (stage->bytes > stage->bytes_max ||
					 size - file->size > stage->bytes_max - stage->bytes))
		return no_space(stage, err);
	stage->bytes = stage->bytes - file->size + size;
	file->size = size;
	return LANCET_OK;
}

/* After a failure: as much as there is. */
static void
count_again(struct staged *staged)
{
	struct stage *stage = staged->stage;
	struct stat st;

	pthread_mutex_lock(&stage->lock);
	if (fstat(staged->fd, &st) == 0) {
		stage->bytes = stage->bytes - staged->file->size + (uint64_t)st.st_size;
		staged->file->size = (uint64_t)st.st_size;
	}
	pthread_mutex_unlock(&stage->lock);
}

int
staged_write(struct staged *staged, uint64_t offset, const void *bytes, size_t size,
	struct lancet_error *err)
{
	struct stage *stage = staged->stage;
	const char *at = bytes;
	int rc = LANCET_OK;

	pthread_mutex_lock(&stage->lock);
	if (offset > INT64_MAX - size)
		rc = no_space(stage, err);
	else if (offset + size > staged->file->size)
		rc = count_bytes(stage, staged->file, offset + size, err);
	pthread_mutex_unlock(&stage->lock);
	while (rc == LANCET_OK && size > 0) {
		ssize_t done = pwrite(staged->fd, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			rc = lancet_fail_errno(err, "staged file");
			count_again(staged);
			break;
		}
		at += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return rc;
}

static int
set_size(struct stage *stage, struct stage_file *file, uint64_t size, struct lancet_error *err)
{
	uint64_t before = file->size;
	char name[FILE_NAME_SIZE];
	int rc;

	disk_name(file->number, name);
	lancet_autoclose int fd = openat(stage->directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return lancet_fail_errno(err, "staged file %s", name);
	TRY(count_bytes(stage, file, size, err));
	if (ftruncate(fd, (off_t)size) == 0)
		return LANCET_OK;
	rc = lancet_fail_errno(err, "staged file %s", name);
	stage->bytes = stage->bytes - size + before;
	file->size = before;
	return rc;
}

static int
set_times(struct stage *stage, const struct stage_file *file, unsigned changes,
	const struct stat *wanted, struct lancet_error *err)
{
	const struct timespec omit = { .tv_nsec = UTIME_OMIT };
	const struct timespec times[2] = {
		(changes & STAGE_ATIME) != 0 ? wanted->st_atim : omit,
		(changes & STAGE_MTIME) != 0 ? wanted->st_mtim : omit,
	};
	char name[FILE_NAME_SIZE];

	disk_name(file->number, name);
	if (utimensat(stage->directory, name, times, AT_SYMLINK_NOFOLLOW) != 0)
		return lancet_fail_errno(err, "staged file %s", name);
	return LANCET_OK;
}

int
stage_change(struct stage *stage, uint64_t number, unsigned changes, const struct stat *wanted,
	struct lancet_error *err)
{
	struct stage_file *file;
	int rc;

	pthread_mutex_lock(&stage->lock);
	file = by_number(stage, number);
	rc = file == NULL ? gone(err) : LANCET_OK;
	if (rc == LANCET_OK && (changes & STAGE_SIZE) != 0)
		rc = set_size(stage, file, (uint64_t)wanted->st_size, err);
	if (rc == LANCET_OK && (changes & (STAGE_ATIME | STAGE_MTIME)) != 0)
		rc = set_times(stage, file, changes, wanted, err);
	if (rc == LANCET_OK && (changes & STAGE_MODE) != 0)
		file->mode = wanted->st_mode & MODE_MASK;
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

int
stage_unlink(struct stage *stage, const void *owner, const char *name, uint64_t number,
	struct lancet_error *err)
{
	struct stage_file *file;
	int rc = LANCET_OK;

	pthread_mutex_lock(&stage->lock);
	file = by_name(stage, owner, name);
	if (file == NULL || (number != 0 && file->number != number))
		rc = no_such(name, err);
	else
		take_name(stage, file);
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

/* Under the lock. */
static int
rename_file(struct stage *stage, const void *owner, const char *from, const char *to,
	bool exclusive, struct lancet_error *err)
{
	struct stage_file *file = by_name(stage, owner, from);
	struct stage_file *other = by_name(stage, owner, to);
	char *name;

	if (file == NULL)
		return no_such(from, err);
	if (other != NULL && exclusive)
		return lancet_fail(err, LANCET_EXISTS, "%s: is there already", to);
	if (other == file)
		return LANCET_OK;
	name = strdup(to);
	if (name == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", to);
	free(file->name);
	file->name = name;
	if (other != NULL)
		take_name(stage, other);
	return LANCET_OK;
}

int
stage_rename(struct stage *stage, const void *owner, const char *from, const char *to,
	bool exclusive, struct lancet_error *err)
{
	int rc;

	pthread_mutex_lock(&stage->lock);
	rc = rename_file(stage, owner, from, to, exclusive, err);
	pthread_mutex_unlock(&stage->lock);
	return rc;
}

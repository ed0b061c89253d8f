/* Making one state of the simulator as a directory, out of the one before: directories that are in
 * both stay, since removing them is slow.
 */
#include "powerloss_parts.h"

#include "core/store_write.h"
#include "temptree.h"

#include <errno.h>
#include <fts.h>

/* Whether a byte of a file was lost and reads as zero. */
static bool
is_zeroed(const struct file *file, const struct variant *variant, size_t at)
{
	if (at < file->synced || variant->kind == WHOLE || variant->kind == CUT)
		return false;
	return variant->kind == ZEROS || (at / SECTOR) % 2 == (variant->kind == ODD_ZEROS);
}

static void
make_file(const char *path, const struct file *file)
{
	const struct variant *variant = &file->variants[file->chosen];
	uint8_t *bytes = calloc(variant->size + 1, 1);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < variant->size; i++)
		bytes[i] = is_zeroed(file, variant, i) ? 0 : file->bytes[i];
	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(write(fd, bytes, variant->size), (ssize_t)variant->size);
	(void)close(fd);
	free(bytes);
}

static void
make_dir(const char *path)
{
	ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST, "%s", path);
}

/* A file or directory of the starting tree. */
static void
make_start(const struct powerloss *loss, const char *path, const char *start_key)
{
	char start[PATH_MAX];
	struct stat st;

	ck_assert_int_lt(snprintf(start, PATH_MAX, "%s/%s", loss->start, start_key), PATH_MAX);
	ck_assert_int_eq(lstat(start, &st), 0);
	if (S_ISDIR(st.st_mode))
		make_dir(path);
	else
		ck_assert_msg(link(start, path) == 0, "%s", path);
}

/* One name of the state; what lies in a directory that is lost is lost with it. */
static void
make_name(const struct powerloss *loss, const char *key, const struct value *value)
{
	char path[PATH_MAX], dir[PATH_MAX];
	struct stat st;

	ck_assert_int_lt(
		snprintf(dir, PATH_MAX, "%s/%.*s", loss->into, (int)store_dir_size(key), key),
		PATH_MAX);
	ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s", loss->into, key), PATH_MAX);
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return;
	if (value->kind == WRITTEN)
		make_file(path, &loss->files[value->file]);
	else if (value->kind == DIRECTORY)
		make_dir(path);
	else if (value->kind == START)
		make_start(loss, path, value->start_key);
}

static int
compare_names(const void *left, const void *right)
{
	return strcmp(((const struct name *)left)->key, ((const struct name *)right)->key);
}

/* Whether a directory and those it lies in are in the state. */
static bool
is_shown(const struct powerloss *loss, const char *key)
{
	for (size_t i = 0; i < loss->name_count; i++) {
		const struct name *name = &loss->names[i];
		size_t size = strlen(name->key);

		if (strncmp(name->key, key, size) == 0 && (key[size] == '/' || key[size] == '\0') &&
			name->shown.kind != DIRECTORY && name->shown.kind != START)
			return false;
	}
	return true;
}

/* Removes what the state before has left, but for directories. */
static void
clear(const struct powerloss *loss)
{
	char *paths[] = { strdup(loss->into), NULL };
	FTS *tree;
	const FTSENT *entry;

	make_dir(loss->into);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	ck_assert_ptr_nonnull(tree);
	while ((entry = fts_read(tree)) != NULL) {
		const char *key = entry->fts_path + strlen(loss->into) + 1;

		if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
			(entry->fts_info == FTS_DP && is_shown(loss, key)))
			continue;
		ck_assert_msg(remove(entry->fts_path) == 0, "%s", entry->fts_path);
	}
	(void)fts_close(tree);
	free(paths[0]);
}

/* Directories come before what lies in them, as their keys do. */
void
powerloss_make(const struct powerloss *loss)
{
	size_t count = loss->name_count;
	struct name *names = calloc(count + loss->start_count + 1, sizeof(*names));

	ck_assert_ptr_nonnull(names);
	clear(loss);
	if (count > 0)
		memcpy(names, loss->names, count * sizeof(*names));
	for (size_t i = 0; i < loss->start_count; i++) {
		const char *key = loss->start_keys[i];
		bool touched = false;

		for (size_t k = 0; k < loss->name_count; k++)
			touched |= strcmp(loss->names[k].key, key) == 0;
		if (!touched)
			names[count++] = (struct name){ .key = key,
				.shown = { .kind = START, .start_key = key } };
	}
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		make_name(loss, names[i].key, &names[i].shown);
	free(names);
}

/* Sources that come and go behind one that stays; see file_pool.h. */
#include "file_pool.h"

#include <errno.h>
#include <stdlib.h>

#include "deletion.h"
#include "util/macros.h"
#include "version.h"

struct pool_file {
	struct source base;
	struct file_pool *pool;
	const lancet_base *dir;
	char *path;
	struct source *inner; /* NULL while it is closed */
	struct pool_file *newer, *older;
};

static void
unlink_file(struct pool_file *file)
{
	struct file_pool *pool = file->pool;

	if (file->newer != NULL)
		file->newer->older = file->older;
	else
		pool->newest = file->older;
	if (file->older != NULL)
		file->older->newer = file->newer;
	else
		pool->oldest = file->newer;
	file->newer = file->older = NULL;
}

static void
link_newest(struct pool_file *file)
{
	struct file_pool *pool = file->pool;

	file->older = pool->newest;
	if (pool->newest != NULL)
		pool->newest->newer = file;
	else
		pool->oldest = file;
	pool->newest = file;
}

static void
close_file(struct pool_file *file)
{
	if (file->inner == NULL)
		return;
	unlink_file(file);
	source_unref(file->inner);
	file->inner = NULL;
	file->pool->open_count--;
}

static int
open_file(struct pool_file *file, struct source **ret_inner, struct lancet_error *err)
{
	struct file_pool *pool = file->pool;
	size_t open_max = pool->open_max != 0 ? pool->open_max : FILE_POOL_OPEN_MAX;

	while (pool->open_count >= open_max)
		close_file(pool->oldest);
	TRY(fragment_file_open(file->dir, file->path, ret_inner, err));
	file->inner = *ret_inner;
	pool->open_count++;
	link_newest(file);
	return LANCET_OK;
}

static int
pool_read_at(struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	struct pool_file *file = (struct pool_file *)src;
	struct source *inner = file->inner;

	if (inner == NULL) {
		TRY(open_file(file, &inner, err));
	} else if (file->newer != NULL) {
		unlink_file(file);
		link_newest(file);
	}
	if (inner->size != src->size) {
		(void)lancet_fail(err, LANCET_IO, "the file changed while it was read");
		if (err != NULL)
			err->os_errno = EIO;
		return LANCET_IO;
	}
	return source_read_at(inner, offset, size, into, err);
}

static void
pool_release(struct source *src)
{
	struct pool_file *file = (struct pool_file *)src;

	close_file(file);
	free(file->path);
	free(file);
}

static const struct source_ops pool_ops = { .read_at = pool_read_at, .release = pool_release };

int
file_pool_open(struct file_pool *pool, const lancet_base *base, const char *path,
	struct source **ret_source, struct lancet_error *err)
{
	struct pool_file *file = calloc(1, sizeof(*file));
	struct source *inner;
	int rc;

	if (file != NULL)
		file->path = strdup(path);
	if (file == NULL || file->path == NULL) {
		free(file);
		return lancet_fail(err, LANCET_NO_MEMORY, "open file");
	}
	file->pool = pool;
	file->dir = base;
	rc = open_file(file, &inner, err);
	if (rc != LANCET_OK) {
		free(file->path);
		free(file);
		return rc;
	}
	source_init(&file->base, &pool_ops, inner->size);
	*ret_source = &file->base;
	return LANCET_OK;
}

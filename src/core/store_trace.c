/* A store that counts what is asked of another one, calls of its sources and writers included.
 *
 * Sources it hands out have no descriptor and no memory of their own to show, so that no read goes
 * past the counters.
 */
#include "store_write.h"

#include <stdlib.h>

struct trace_store {
	struct store base;
	struct store *inner;
	struct store_counts *counts;
};

struct trace_source {
	struct source base;
	struct source *inner;
	struct store_counts *counts;
};

struct trace_writer {
	struct store_writer base;
	struct store_writer *inner;
	struct store_counts *counts;
};

static void
add(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

static int
source_read(struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	struct trace_source *traced = (struct trace_source *)src;

	add(&traced->counts->reads, 1);
	add(&traced->counts->read_bytes, size);
	return source_read_at(traced->inner, offset, size, into, err);
}

static void
source_release(struct source *src)
{
	source_unref(((struct trace_source *)src)->inner);
	free(src);
}

static const struct source_ops source_trace_ops = { source_read, source_release };

static int
trace_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
              struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->opens, 1);
	return store_open_fd(trace->inner, key, ret_fd, ret_stat, err);
}

static int
trace_open_source(struct store *store, const char *key, struct source **ret_source,
                  struct stat *ret_stat, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;
	struct trace_source *traced = malloc(sizeof(*traced));
	int rc;

	if (traced == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a source", key);
	add(&trace->counts->opens, 1);
	rc = store_open_source(trace->inner, key, &traced->inner, ret_stat, err);
	if (rc != LANCET_OK) {
		free(traced);
		return rc;
	}
	source_init(&traced->base, &source_trace_ops, traced->inner->size);
	traced->counts = trace->counts;
	*ret_source = &traced->base;
	return LANCET_OK;
}

static int
trace_list(struct store *store, const char *prefix, store_sink sink, void *context,
           struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->lists, 1);
	return store_list(trace->inner, prefix, sink, context, err);
}

static int
trace_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->stats, 1);
	return store_stat(trace->inner, key, ret_stat, err);
}

static int
trace_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->stats, 1);
	return store_statvfs(trace->inner, ret_stat, err);
}

static int
writer_put(struct store_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	struct trace_writer *traced = (struct trace_writer *)writer;

	add(&traced->counts->writes, 1);
	for (size_t i = 0; i < count; i++)
		add(&traced->counts->write_bytes, parts[i].size);
	return store_writer_put_parts(traced->inner, parts, count, err);
}

static int
writer_sync(struct store_writer *writer, struct lancet_error *err)
{
	struct trace_writer *traced = (struct trace_writer *)writer;

	add(&traced->counts->syncs, 1);
	return store_writer_sync(traced->inner, err);
}

static int
writer_close(struct store_writer *writer, struct lancet_error *err)
{
	int rc = store_writer_close(((struct trace_writer *)writer)->inner, err);

	free(writer);
	return rc;
}

static const struct store_writer_ops writer_trace_ops = { writer_put, writer_sync, writer_close };

static int
trace_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;
	struct trace_writer *traced = malloc(sizeof(*traced));
	int rc;

	if (traced == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a writer", key);
	add(&trace->counts->creates, 1);
	rc = store_create(trace->inner, key, &traced->inner, err);
	if (rc != LANCET_OK) {
		free(traced);
		return rc;
	}
	traced->base.ops = &writer_trace_ops;
	traced->counts = trace->counts;
	*ret_writer = &traced->base;
	return LANCET_OK;
}

static int
trace_link(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->links, 1);
	return store_link(trace->inner, from, to, err);
}

static int
trace_rename(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->renames, 1);
	return store_rename(trace->inner, from, to, err);
}

static int
trace_remove(struct store *store, const char *key, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->removes, 1);
	return store_remove(trace->inner, key, err);
}

static int
trace_make_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->dirs, 1);
	return store_make_one_dir(trace->inner, key, err);
}

static int
trace_remove_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->removes, 1);
	return store_remove_dir(trace->inner, key, err);
}

static int
trace_sync_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct trace_store *trace = (struct trace_store *)store;

	add(&trace->counts->dir_syncs, 1);
	return store_sync_dir(trace->inner, key, err);
}

static const struct store_write_ops trace_write_ops = {
	.create = trace_create,
	.link = trace_link,
	.rename = trace_rename,
	.remove = trace_remove,
	.make_dir = trace_make_dir,
	.remove_dir = trace_remove_dir,
	.sync_dir = trace_sync_dir,
};

static void
trace_release(struct store *store)
{
	store_unref(((struct trace_store *)store)->inner);
	free(store);
}

static const struct store_ops trace_ops = {
	.open_fd = trace_open_fd,
	.open_source = trace_open_source,
	.list = trace_list,
	.stat = trace_stat,
	.statvfs = trace_statvfs,
	.release = trace_release,
	.write = &trace_write_ops,
};

struct store *
store_trace_new(struct store *inner, struct store_counts *counts)
{
	struct trace_store *trace = malloc(sizeof(*trace));

	if (trace == NULL)
		return NULL;
	store_init(&trace->base, &trace_ops);
	trace->inner = store_ref(inner);
	trace->counts = counts;
	return &trace->base;
}

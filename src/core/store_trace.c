/* A store that counts what is asked of another one, reads of its sources included.
 *
 * Sources it hands out have no descriptor and no memory of their own to show, so that no read goes
 * past the counters.
 */
#include "store.h"

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

/* A store that fails one chosen call with a chosen errno and otherwise passes on to another one.
 *
 * Calls are counted over the store and all sources it hands out; sources keep the store alive, and
 * have no descriptor or memory to show, so that no read escapes.
 */
#include "store.h"

#include "util/macros.h"

#include <errno.h>
#include <stdlib.h>

struct fault_store {
	struct store base;
	struct store *inner;
	uint64_t nth;
	uint64_t calls; /* atomic */
	int os_errno;
};

struct fault_source {
	struct source base;
	struct source *inner;
	struct fault_store *store; /* counted */
};

/* LANCET_OK, or the failure when this call's turn has come. */
static int
count_call(struct fault_store *fault, const char *key, struct lancet_error *err)
{
	if (__atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED) != fault->nth)
		return LANCET_OK;
	errno = fault->os_errno;
	return lancet_fail_errno(err, "%s", key);
}

static int
source_read(struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	struct fault_source *faulty = (struct fault_source *)src;

	TRY(count_call(faulty->store, "read", err));
	return source_read_at(faulty->inner, offset, size, into, err);
}

static void
source_release(struct source *src)
{
	struct fault_source *faulty = (struct fault_source *)src;

	source_unref(faulty->inner);
	store_unref(&faulty->store->base);
	free(faulty);
}

static const struct source_ops source_fault_ops = { source_read, source_release };

static int
fault_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
              struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;

	TRY(count_call(fault, key, err));
	return store_open_fd(fault->inner, key, ret_fd, ret_stat, err);
}

static int
fault_open_source(struct store *store, const char *key, struct source **ret_source,
                  struct stat *ret_stat, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;
	lancet_autofree struct fault_source *faulty = NULL;

	TRY(count_call(fault, key, err));
	faulty = malloc(sizeof(*faulty));
	if (faulty == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a source", key);
	TRY(store_open_source(fault->inner, key, &faulty->inner, ret_stat, err));
	source_init(&faulty->base, &source_fault_ops, faulty->inner->size);
	store_ref(store);
	faulty->store = fault;
	*ret_source = &faulty->base;
	(void)lancet_steal(&faulty);
	return LANCET_OK;
}

static int
fault_list(struct store *store, const char *prefix, store_sink sink, void *context,
           struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;

	TRY(count_call(fault, prefix, err));
	return store_list(fault->inner, prefix, sink, context, err);
}

static int
fault_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;

	TRY(count_call(fault, key, err));
	return store_stat(fault->inner, key, ret_stat, err);
}

static int
fault_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;

	TRY(count_call(fault, "statvfs", err));
	return store_statvfs(fault->inner, ret_stat, err);
}

static void
fault_release(struct store *store)
{
	store_unref(((struct fault_store *)store)->inner);
	free(store);
}

static const struct store_ops fault_ops = {
	.open_fd = fault_open_fd,
	.open_source = fault_open_source,
	.list = fault_list,
	.stat = fault_stat,
	.statvfs = fault_statvfs,
	.release = fault_release,
};

struct store *
store_fault_new(struct store *inner, uint64_t nth, int os_errno)
{
	struct fault_store *fault = malloc(sizeof(*fault));

	if (fault == NULL)
		return NULL;
	store_init(&fault->base, &fault_ops);
	fault->inner = store_ref(inner);
	fault->nth = nth;
	fault->calls = 0;
	fault->os_errno = os_errno;
	return &fault->base;
}

/* A store that fails chosen calls with a chosen errno and otherwise passes on to another one.
 *
 * Calls are counted over the store and all sources and writers it hands out, which keep the store
 * alive; sources have no descriptor or memory to show, so that no read escapes.
 */
#include "store_write.h"

#include "util/macros.h"

#include <errno.h>
#include <stdlib.h>

struct fault_store {
	struct store base;
	struct store *inner;
	uint64_t nth;
	uint64_t calls; /* atomic */
	int os_errno;
	int flags;
};

struct fault_source {
	struct source base;
	struct source *inner;
	struct fault_store *store; /* counted */
};

struct fault_writer {
	struct store_writer base;
	struct store_writer *inner;
	struct fault_store *store; /* counted */
};

static bool
is_turn(struct fault_store *fault)
{
	uint64_t call = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);

	return call == fault->nth || ((fault->flags & STORE_FAULT_STAYS) != 0 && call > fault->nth);
}

static int
fail_call(const struct fault_store *fault, const char *key, struct lancet_error *err)
{
	errno = fault->os_errno;
	return lancet_fail_errno(err, "%s", key);
}

/* LANCET_OK, or the failure when this call's turn has come. */
static int
count_call(struct fault_store *fault, const char *key, struct lancet_error *err)
{
	return is_turn(fault) ? fail_call(fault, key, err) : LANCET_OK;
}

/* A call that changes something: whether it is done, and whether it fails in the end. */
struct turn {
	bool does, fails;
};

static struct turn
turn_begin(struct fault_store *fault)
{
	bool fails = is_turn(fault);

	return (struct turn){ !fails || (fault->flags & STORE_FAULT_LATE) != 0, fails };
}

static int
turn_end(const struct fault_store *fault, struct turn turn, int rc, const char *key,
	struct lancet_error *err)
{
	return turn.fails && rc == LANCET_OK ? fail_call(fault, key, err) : rc;
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

/* Puts half of the bytes and fails, as when the disk runs full on the way. */
static int
put_half(struct fault_writer *faulty, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		left += parts[i].size;
	left /= 2;
	for (size_t i = 0; left > 0; i++) {
		size_t size = parts[i].size < left ? parts[i].size : left;

		TRY(store_writer_put(faulty->inner, slice_of(parts[i].data, size), err));
		left -= size;
	}
	return fail_call(faulty->store, "write", err);
}

static int
writer_put(struct store_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	struct fault_writer *faulty = (struct fault_writer *)writer;
	struct turn turn = turn_begin(faulty->store);
	int rc;

	if (!turn.does)
		return put_half(faulty, parts, count, err);
	rc = store_writer_put_parts(faulty->inner, parts, count, err);
	return turn_end(faulty->store, turn, rc, "write", err);
}

static int
writer_sync(struct store_writer *writer, struct lancet_error *err)
{
	struct fault_writer *faulty = (struct fault_writer *)writer;
	struct turn turn = turn_begin(faulty->store);
	int rc = turn.does ? store_writer_sync(faulty->inner, err) : LANCET_OK;

	return turn_end(faulty->store, turn, rc, "sync", err);
}

static int
writer_close(struct store_writer *writer, struct lancet_error *err)
{
	struct fault_writer *faulty = (struct fault_writer *)writer;
	struct turn turn = turn_begin(faulty->store);
	int rc = store_writer_close(faulty->inner, err);

	rc = turn_end(faulty->store, turn, rc, "close", err);
	store_unref(&faulty->store->base);
	free(faulty);
	return rc;
}

static const struct store_writer_ops writer_fault_ops = { writer_put, writer_sync, writer_close };

static int
fault_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;
	struct turn turn = turn_begin(fault);
	lancet_autofree struct fault_writer *faulty = calloc(1, sizeof(*faulty));

	if (faulty == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a writer", key);
	if (turn.does)
		TRY(store_create(fault->inner, key, &faulty->inner, err));
	if (turn.fails) {
		(void)store_writer_close(faulty->inner, NULL);
		return fail_call(fault, key, err);
	}
	faulty->base.ops = &writer_fault_ops;
	store_ref(store);
	faulty->store = fault;
	*ret_writer = &faulty->base;
	(void)lancet_steal(&faulty);
	return LANCET_OK;
}

static int
fault_link(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;
	struct turn turn = turn_begin(fault);
	int rc = turn.does ? store_link(fault->inner, from, to, err) : LANCET_OK;

	return turn_end(fault, turn, rc, to, err);
}

static int
fault_rename(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;
	struct turn turn = turn_begin(fault);
	int rc = turn.does ? store_rename(fault->inner, from, to, err) : LANCET_OK;

	return turn_end(fault, turn, rc, to, err);
}

typedef int (*key_call)(struct store *store, const char *key, struct lancet_error *err);

static int
change(struct store *store, const char *key, key_call call, struct lancet_error *err)
{
	struct fault_store *fault = (struct fault_store *)store;
	struct turn turn = turn_begin(fault);
	int rc = turn.does ? call(fault->inner, key, err) : LANCET_OK;

	return turn_end(fault, turn, rc, key, err);
}

static int
fault_remove(struct store *store, const char *key, struct lancet_error *err)
{
	return change(store, key, store_remove, err);
}

static int
fault_make_dir(struct store *store, const char *key, struct lancet_error *err)
{
	return change(store, key, store_make_one_dir, err);
}

static int
fault_remove_dir(struct store *store, const char *key, struct lancet_error *err)
{
	return change(store, key, store_remove_dir, err);
}

static int
fault_sync_dir(struct store *store, const char *key, struct lancet_error *err)
{
	return change(store, key, store_sync_dir, err);
}

static const struct store_write_ops fault_write_ops = {
	.create = fault_create,
	.link = fault_link,
	.rename = fault_rename,
	.remove = fault_remove,
	.make_dir = fault_make_dir,
	.remove_dir = fault_remove_dir,
	.sync_dir = fault_sync_dir,
};

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
	.write = &fault_write_ops,
};

struct store *
store_fault_flags_new(struct store *inner, uint64_t nth, int os_errno, int flags)
{
	struct fault_store *fault = malloc(sizeof(*fault));

	if (fault == NULL)
		return NULL;
	store_init(&fault->base, &fault_ops);
	fault->inner = store_ref(inner);
	fault->nth = nth;
	fault->calls = 0;
	fault->os_errno = os_errno;
	fault->flags = flags;
	return &fault->base;
}

struct store *
store_fault_new(struct store *inner, uint64_t nth, int os_errno)
{
	return store_fault_flags_new(inner, nth, os_errno, 0);
}

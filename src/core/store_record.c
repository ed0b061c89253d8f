/* The decorator that logs changes. Every change holds the log's lock while it is made, so that the
 * log has the order of the storage.
 */
#include "store_record.h"

#include "store_write.h"
#include "util/macros.h"

struct record_store {
	struct store base;
	struct store *inner;
	struct store_log *log;
};

struct record_writer {
	struct store_writer base;
	struct store_writer *inner;
	struct store_log *log;
	size_t file;
};

void
store_log_init(struct store_log *log, uint64_t drop_sync)
{
	*log = (struct store_log){ .drop_sync = drop_sync, .lock = PTHREAD_MUTEX_INITIALIZER };
}

static void
logged_release(struct store_logged *call)
{
	free(call->key);
	free(call->to);
	free(call->bytes);
}

void
store_log_release(struct store_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		logged_release(&log->calls[i]);
	free(log->calls);
	(void)pthread_mutex_destroy(&log->lock);
	*log = (struct store_log){ 0 };
}

static bool
log_reserve(struct store_log *log)
{
	size_t capacity = log->capacity == 0 ? 64 : 2 * log->capacity;
	struct store_logged *calls;

	if (log->count < log->capacity)
		return true;
	calls = realloc(log->calls, capacity * sizeof(*calls));
	if (calls == NULL)
		return false;
	log->calls = calls;
	log->capacity = capacity;
	return true;
}

/* Takes what the call owns. Under the lock. */
static int
log_append(struct store_log *log, struct store_logged call, struct lancet_error *err)
{
	if (!log_reserve(log)) {
		logged_release(&call);
		return lancet_fail(err, LANCET_NO_MEMORY, "the log of a store");
	}
	log->calls[log->count++] = call;
	return LANCET_OK;
}

/* A change of names, made and to be logged when it has succeeded. Unlocks. */
static int
log_names(struct store_log *log, int rc, enum store_change change, const char *key, const char *to,
	struct lancet_error *err)
{
	struct store_logged call = { .change = change };

	if (rc == LANCET_OK) {
		call.key = strdup(key);
		call.to = to == NULL ? NULL : strdup(to);
		if (change == STORE_CREATE)
			call.file = log->files++;
		rc = log_append(log, call, err);
	}
	(void)pthread_mutex_unlock(&log->lock);
	return rc;
}

/* Under the lock: whether the sync that is asked for is to be left out. */
static bool
is_dropped(struct store_log *log)
{
	return ++log->syncs == log->drop_sync;
}

static int
log_put(struct record_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	struct store_logged call = { .change = STORE_PUT, .file = writer->file };
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		call.size += parts[i].size;
	call.bytes = malloc(call.size + 1);
	if (call.bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "the log of a store");
	for (size_t i = 0; i < count; i++) {
		if (parts[i].size > 0)
			memcpy(call.bytes + at, parts[i].data, parts[i].size);
		at += parts[i].size;
	}
	return log_append(writer->log, call, err);
}

static int
writer_put(struct store_writer *base, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	struct record_writer *writer = (struct record_writer *)base;
	int rc;

	(void)pthread_mutex_lock(&writer->log->lock);
	rc = store_writer_put_parts(writer->inner, parts, count, err);
	if (rc == LANCET_OK)
		rc = log_put(writer, parts, count, err);
	(void)pthread_mutex_unlock(&writer->log->lock);
	return rc;
}

static int
writer_sync(struct store_writer *base, struct lancet_error *err)
{
	struct record_writer *writer = (struct record_writer *)base;
	struct store_logged call = { .change = STORE_SYNC, .file = writer->file };
	int rc = LANCET_OK;

	(void)pthread_mutex_lock(&writer->log->lock);
	if (!is_dropped(writer->log)) {
		rc = store_writer_sync(writer->inner, err);
		if (rc == LANCET_OK)
			rc = log_append(writer->log, call, err);
	}
	(void)pthread_mutex_unlock(&writer->log->lock);
	return rc;
}

static int
writer_close(struct store_writer *base, struct lancet_error *err)
{
	int rc = store_writer_close(((struct record_writer *)base)->inner, err);

	free(base);
	return rc;
}

static const struct store_writer_ops writer_record_ops = { writer_put, writer_sync, writer_close };

static int
record_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;
	lancet_autofree struct record_writer *writer = malloc(sizeof(*writer));
	int rc;

	if (writer == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: a writer", key);
	*writer = (struct record_writer){ .base = { &writer_record_ops }, .log = record->log };
	(void)pthread_mutex_lock(&record->log->lock);
	writer->file = record->log->files;
	rc = store_create(record->inner, key, &writer->inner, err);
	TRY(log_names(record->log, rc, STORE_CREATE, key, NULL, err));
	*ret_writer = &writer->base;
	(void)lancet_steal(&writer);
	return LANCET_OK;
}

static int
record_link(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	return log_names(
		record->log, store_link(record->inner, from, to, err), STORE_LINK, from, to, err);
}

static int
record_rename(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	return log_names(record->log, store_rename(record->inner, from, to, err), STORE_RENAME,
		from, to, err);
}

static int
record_remove(struct store *store, const char *key, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	return log_names(
		record->log, store_remove(record->inner, key, err), STORE_REMOVE, key, NULL, err);
}

static int
record_make_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	return log_names(record->log, store_make_one_dir(record->inner, key, err), STORE_MAKE_DIR,
		key, NULL, err);
}

static int
record_remove_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	return log_names(record->log, store_remove_dir(record->inner, key, err), STORE_REMOVE_DIR,
		key, NULL, err);
}

static int
record_sync_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct record_store *record = (struct record_store *)store;

	(void)pthread_mutex_lock(&record->log->lock);
	if (is_dropped(record->log)) {
		(void)pthread_mutex_unlock(&record->log->lock);
		return LANCET_OK;
	}
	return log_names(record->log, store_sync_dir(record->inner, key, err), STORE_SYNC_DIR, key,
		NULL, err);
}

static const struct store_write_ops record_write_ops = {
	.create = record_create,
	.link = record_link,
	.rename = record_rename,
	.remove = record_remove,
	.make_dir = record_make_dir,
	.remove_dir = record_remove_dir,
	.sync_dir = record_sync_dir,
};

static int
record_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
	struct lancet_error *err)
{
	return store_open_fd(((struct record_store *)store)->inner, key, ret_fd, ret_stat, err);
}

static int
record_open_source(struct store *store, const char *key, struct source **ret_source,
	struct stat *ret_stat, struct lancet_error *err)
{
	struct store *inner = ((struct record_store *)store)->inner;

	return store_open_source(inner, key, ret_source, ret_stat, err);
}

static int
record_list(struct store *store, const char *prefix, store_sink sink, void *context,
	struct lancet_error *err)
{
	return store_list(((struct record_store *)store)->inner, prefix, sink, context, err);
}

static int
record_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	return store_stat(((struct record_store *)store)->inner, key, ret_stat, err);
}

static int
record_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	return store_statvfs(((struct record_store *)store)->inner, ret_stat, err);
}

static void
record_release(struct store *store)
{
	store_unref(((struct record_store *)store)->inner);
	free(store);
}

static const struct store_ops record_ops = {
	.open_fd = record_open_fd,
	.open_source = record_open_source,
	.list = record_list,
	.stat = record_stat,
	.statvfs = record_statvfs,
	.release = record_release,
	.write = &record_write_ops,
};

struct store *
store_record_new(struct store *inner, struct store_log *log)
{
	struct record_store *record = malloc(sizeof(*record));

	if (record == NULL)
		return NULL;
	store_init(&record->base, &record_ops);
	record->inner = store_ref(inner);
	record->log = log;
	return &record->base;
}

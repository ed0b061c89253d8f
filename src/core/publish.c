/* The order of writing, syncing and naming that publish.h promises.
 *
 * Files stay open until they are synced, all in one go, so that the storage may write them together
 * and its errors reach the descriptor that wrote. Only so many are kept open; when more are added,
 * those are settled first.
 */
#include "publish.h"

#include "util/macros.h"

#include <assert.h>

#define OPEN_MAX 64

struct publish_item {
	char *key;
	char *temporary;             /* NULL once it is named or removed */
	struct store_writer *writer; /* NULL once it is settled */
	enum publish_mode mode;
};

void
publish_init(struct publish *publish, struct store *store, bool durable)
{
	*publish = (struct publish){ .store = store_ref(store), .durable = durable };
}

/* Index files and row maps lie in directories of their own, "_indices/UUID", which nobody else
 * knows before there is a version: these go with their last file, not empty ones stay by
 * themselves. */
static void
drop_own_dir(const struct publish *publish, const char *key)
{
	const char *slash = strrchr(key, '/');
	char dir[64];

	if ((strncmp(key, "_indices/", 9) != 0 && strncmp(key, "_fri/", 5) != 0) ||
		strchr(key, '/') == slash || (size_t)(slash - key) >= sizeof(dir))
		return;
	memcpy(dir, key, (size_t)(slash - key));
	dir[slash - key] = '\0';
	(void)store_remove_dir(publish->store, dir, NULL);
}

/* Takes away what stands under the temporary name, as far as that is possible. */
static void
item_release(const struct publish *publish, struct publish_item *item)
{
	(void)store_writer_close(item->writer, NULL);
	if (item->temporary != NULL) {
		(void)store_remove(publish->store, item->temporary, NULL);
		if (item->key != NULL)
			drop_own_dir(publish, item->key);
	}
	free(item->temporary);
	free(item->key);
}

void
publish_release(struct publish *publish)
{
	for (size_t i = 0; i < publish->count; i++)
		item_release(publish, &publish->items[i]);
	free(publish->items);
	store_unref(publish->store);
	*publish = (struct publish){ 0 };
}

static int
reserve(struct publish *publish, size_t more, struct lancet_error *err)
{
	size_t capacity = publish->capacity == 0 ? 8 : publish->capacity;
	struct publish_item *items;

	if (more <= publish->capacity - publish->count)
		return LANCET_OK;
	while (capacity - publish->count < more)
		capacity *= 2;
	items = realloc(publish->items, capacity * sizeof(*items));
	if (items == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu files to publish", capacity);
	publish->items = items;
	publish->capacity = capacity;
	return LANCET_OK;
}

/* Creates a temporary file, and the directory when that is missing. */
static int
create(const struct publish *publish, const char *temporary, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	char dir[STORE_KEY_MAX + 1];
	size_t size = store_dir_size(temporary);
	int rc = store_create(publish->store, temporary, ret_writer, err);

	if (rc != LANCET_NOT_FOUND)
		return rc;
	memcpy(dir, temporary, size);
	dir[size] = '\0';
	TRY(store_make_dir(publish->store, dir, publish->durable, err));
	return store_create(publish->store, temporary, ret_writer, err);
}

int
publish_open(struct publish *publish, const char *key, enum publish_mode mode,
	struct store_writer **ret_writer, struct lancet_error *err)
{
	char temporary[STORE_KEY_MAX + 1];
	struct publish_item *item;
	int rc;

	TRY(store_key_check(slice_text(key), err));
	TRY(store_temporary_key(key, store_dir_size(key), temporary, err));
	if (publish->count - publish->settled >= OPEN_MAX)
		TRY(publish_sync_all(publish, err));
	TRY(reserve(publish, 1, err));
	item = &publish->items[publish->count];
	*item = (struct publish_item){ strdup(key), strdup(temporary), NULL, mode };
	if (item->key == NULL || item->temporary == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "a file to publish");
	else
		rc = create(publish, temporary, &item->writer, err);
	if (rc != LANCET_OK) {
		item_release(publish, item);
		return lancet_wrap(err, rc, "%s", key);
	}
	publish->count++;
	*ret_writer = item->writer;
	return LANCET_OK;
}

/* A failure to write, which leaves nothing to go on with. */
static int
fail_file(struct publish *publish, const char *key, int rc, struct lancet_error *err)
{
	publish->failed = true;
	return lancet_wrap(err, rc, "%s", key);
}

int
publish_add(struct publish *publish, const char *key, const struct slice *parts, size_t count,
	enum publish_mode mode, struct lancet_error *err)
{
	struct store_writer *writer;
	int rc;

	TRY(publish_open(publish, key, mode, &writer, err));
	rc = store_writer_put_parts(writer, parts, count, err);
	return rc == LANCET_OK ? LANCET_OK : fail_file(publish, key, rc, err);
}

static int
settle(const struct publish *publish, struct publish_item *item, struct lancet_error *err)
{
	struct store_writer *writer = item->writer;

	if (writer == NULL)
		return LANCET_OK; /* settled before it was taken over */
	if (publish->durable)
		TRY(store_writer_sync(writer, err));
	item->writer = NULL;
	return store_writer_close(writer, err);
}

int
publish_take(struct publish *publish, struct publish *from, struct lancet_error *err)
{
	assert(publish->store == from->store && from->named == 0 && !from->failed);
	TRY(reserve(publish, from->count, err));
	if (from->count > 0)
		memcpy(publish->items + publish->count, from->items,
			from->count * sizeof(*from->items));
	publish->count += from->count;
	from->count = from->settled = 0;
	return LANCET_OK;
}

int
publish_sync_all(struct publish *publish, struct lancet_error *err)
{
	assert(!publish->failed);
	for (; publish->settled < publish->count; publish->settled++) {
		struct publish_item *item = &publish->items[publish->settled];
		int rc = settle(publish, item, err);

		if (rc != LANCET_OK)
			return fail_file(publish, item->key, rc, err);
	}
	return LANCET_OK;
}

static int
name_one(const struct publish *publish, struct publish_item *item, struct lancet_error *err)
{
	if (item->mode == PUBLISH_NEW)
		TRY(store_link(publish->store, item->temporary, item->key, err));
	else
		TRY(store_rename(publish->store, item->temporary, item->key, err));
	free(item->temporary);
	item->temporary = NULL;
	return LANCET_OK;
}

/* Files in the order of their directories. */
static int
compare_dirs(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;

	return slice_compare(slice_of(a, store_dir_size(a)), slice_of(b, store_dir_size(b)));
}

/* Syncs the directories of files, each once; reorders the keys. */
static int
sync_dirs(const struct publish *publish, const char **keys, size_t count, struct lancet_error *err)
{
	qsort(keys, count, sizeof(*keys), compare_dirs);
	for (size_t i = 0; i < count; i++) {
		size_t size = store_dir_size(keys[i]);
		char dir[STORE_KEY_MAX + 1];
		int rc;

		if (i > 0 && compare_dirs(&keys[i - 1], &keys[i]) == 0)
			continue;
		memcpy(dir, keys[i], size);
		dir[size] = '\0';
		rc = store_sync_dir(publish->store, dir, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "%s: is there, but not durably", keys[i]);
	}
	return LANCET_OK;
}

int
publish_name_all(struct publish *publish, struct lancet_error *err)
{
	size_t first = publish->named, count = publish->count - first;
	lancet_autofree const char **keys = calloc(count + 1, sizeof(*keys));

	if (keys == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu files to publish", count);
	for (size_t i = 0; i < count; i++)
		keys[i] = publish->items[first + i].key;
	TRY(publish_sync_all(publish, err));
	for (; publish->named < publish->count; publish->named++)
		TRY(name_one(publish, &publish->items[publish->named], err));
	return publish->durable ? sync_dirs(publish, keys, count, err) : LANCET_OK;
}

void
publish_undo(struct publish *publish)
{
	size_t named = publish->named;

	for (size_t i = 0; i < named; i++) {
		if (publish->items[i].mode == PUBLISH_NEW) {
			(void)store_remove(publish->store, publish->items[i].key, NULL);
			drop_own_dir(publish, publish->items[i].key);
		}
		item_release(publish, &publish->items[i]);
	}
	publish->count -= named;
	publish->settled -= named;
	publish->named = 0;
	if (named > 0)
		memmove(publish->items, publish->items + named,
			publish->count * sizeof(*publish->items));
}

int
publish_file(struct store *store, const char *key, const struct slice *parts, size_t count,
	enum publish_mode mode, bool durable, struct lancet_error *err)
{
	struct publish publish;
	int rc;

	publish_init(&publish, store, durable);
	rc = publish_add(&publish, key, parts, count, mode, err);
	if (rc == LANCET_OK)
		rc = publish_name_all(&publish, err);
	publish_release(&publish);
	return rc;
}

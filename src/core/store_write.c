/* Checks and dispatch of writing, and what is the same for every store: directories with their
 * parents, and finding out whether a name can be given without taking it from somebody.
 *
 * A store that is a directory of another one has no writing of its own: the key is prefixed and
 * the other store asked, so that all branches of a dataset share what was found out.
 */
#include "store_write.h"

#include "names.h"
#include "util/macros.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <uuid/uuid.h>

#define TEMPORARY_PREFIX ".tmp-"
#define UUID_TEXT_SIZE   36

enum publishing { PUBLISHING_UNKNOWN, PUBLISHING_SAFE, PUBLISHING_MISSING, PUBLISHING_REPLACES };

/* Where a key really is. */
struct place {
	struct store *store;
	char key[STORE_KEY_MAX + 1];
};

/* `key` may be "". */
static int
place_find(struct place *place, struct store *store, const char *key, struct lancet_error *err)
{
	size_t size = strlen(key);

	if (size > 0)
		TRY(store_key_check(slice_of(key, size), err));
	memcpy(place->key, key, size + 1);
	while (store->ops->resolve != NULL) {
		char full[STORE_KEY_MAX + 1];

		TRY(store->ops->resolve(store, place->key, full, &store, err));
		memcpy(place->key, full, strlen(full) + 1);
	}
	if (store->ops->write == NULL)
		return lancet_fail(err, LANCET_READ_ONLY, "%s: the store is read-only", key);
	place->store = store;
	return LANCET_OK;
}

/* The same for calls where "" makes no sense. */
static int
file_find(struct place *place, struct store *store, const char *key, struct lancet_error *err)
{
	TRY(store_key_check(slice_text(key), err));
	return place_find(place, store, key, err);
}

int
store_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err)
{
	struct place place;

	TRY(file_find(&place, store, key, err));
	return place.store->ops->write->create(place.store, place.key, ret_writer, err);
}

int
store_writer_put_parts(struct store_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err)
{
	return writer->ops->put(writer, parts, count, err);
}

int
store_writer_put(struct store_writer *writer, struct slice bytes, struct lancet_error *err)
{
	return store_writer_put_parts(writer, &bytes, 1, err);
}

int
store_writer_sync(struct store_writer *writer, struct lancet_error *err)
{
	return writer->ops->sync(writer, err);
}

int
store_writer_close(struct store_writer *writer, struct lancet_error *err)
{
	return writer == NULL ? LANCET_OK : writer->ops->close(writer, err);
}

int
store_link(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct place old, new;

	TRY(file_find(&old, store, from, err));
	TRY(file_find(&new, store, to, err));
	if (strcmp(old.key, new.key) == 0)
		return lancet_fail(err, LANCET_INVALID, "%s: has this name", from);
	return new.store->ops->write->link(new.store, old.key, new.key, err);
}

int
store_rename(struct store *store, const char *from, const char *to, struct lancet_error *err)
{
	struct place old, new;

	TRY(file_find(&old, store, from, err));
	TRY(file_find(&new, store, to, err));
	return new.store->ops->write->rename(new.store, old.key, new.key, err);
}

int
store_remove(struct store *store, const char *key, struct lancet_error *err)
{
	struct place place;

	TRY(file_find(&place, store, key, err));
	return place.store->ops->write->remove(place.store, place.key, err);
}

int
store_make_one_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct place place;

	TRY(file_find(&place, store, key, err));
	return place.store->ops->write->make_dir(place.store, place.key, err);
}

int
store_remove_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct place place;

	TRY(file_find(&place, store, key, err));
	return place.store->ops->write->remove_dir(place.store, place.key, err);
}

int
store_sync_dir(struct store *store, const char *key, struct lancet_error *err)
{
	struct place place;

	TRY(place_find(&place, store, key, err));
	return place.store->ops->write->sync_dir(place.store, place.key, err);
}

/* Makes the directory whose name is the first `size` bytes of the place's key. */
static int
make_one(const struct place *place, size_t size, bool durable, struct lancet_error *err)
{
	char key[STORE_KEY_MAX + 1];
	struct stat st;
	int rc;

	memcpy(key, place->key, size);
	key[size] = '\0';
	rc = store_make_one_dir(place->store, key, err);
	if (rc != LANCET_OK && rc != LANCET_EXISTS)
		return rc;
	if (rc == LANCET_EXISTS) {
		TRY(store_stat(place->store, key, &st, err));
		if (!S_ISDIR(st.st_mode))
			return lancet_fail(err, LANCET_CORRUPT, "%s: not a directory", key);
	}
	key[store_dir_size(key)] = '\0';
	return durable ? store_sync_dir(place->store, key, err) : LANCET_OK;
}

int
store_make_dir(struct store *store, const char *key, bool durable, struct lancet_error *err)
{
	struct place place;
	size_t size;
	int rc;

	TRY(place_find(&place, store, key, err));
	size = strlen(place.key);
	if (size == 0)
		return LANCET_OK;
	rc = make_one(&place, size, durable, err);
	if (rc != LANCET_NOT_FOUND)
		return rc;
	for (size_t i = 1; i < size; i++) {
		if (place.key[i] == '/')
			TRY(make_one(&place, i, durable, err));
	}
	return make_one(&place, size, durable, err);
}

int
store_temporary_key(
	const char *dir, size_t dir_size, char into[STORE_KEY_MAX + 1], struct lancet_error *err)
{
	uint8_t uuid[16];
	char text[UUID_TEXT_SIZE + 1];
	int size;

	uuid_generate_random(uuid);
	uuid_format(uuid, text);
	size = snprintf(into, STORE_KEY_MAX + 1, "%.*s%s%s%s", (int)dir_size, dir,
		dir_size == 0 ? "" : "/", TEMPORARY_PREFIX, text);
	if (size < 0 || size > STORE_KEY_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%.*s: no room for a temporary name",
			(int)dir_size, dir);
	return LANCET_OK;
}

static int
make_empty(struct store *store, const char *key, struct lancet_error *err)
{
	struct store_writer *writer = NULL;

	TRY(store_create(store, key, &writer, err));
	return store_writer_close(writer, err);
}

enum { PROBE_FIRST, PROBE_SECOND, PROBE_NAME, PROBE_FILES };

/* Two files are given one name: the first must get it, the second must not. */
static int
probe_names(struct store *store, char (*keys)[STORE_KEY_MAX + 1], int *ret_publishing,
	struct lancet_error *err)
{
	int rc;

	TRY(make_empty(store, keys[PROBE_FIRST], err));
	TRY(make_empty(store, keys[PROBE_SECOND], err));
	rc = store_link(store, keys[PROBE_FIRST], keys[PROBE_NAME], err);
	if (rc == LANCET_UNSUPPORTED) {
		*ret_publishing = PUBLISHING_MISSING;
		return LANCET_OK;
	}
	TRY(rc);
	rc = store_link(store, keys[PROBE_SECOND], keys[PROBE_NAME], err);
	if (rc != LANCET_OK && rc != LANCET_EXISTS)
		return rc;
	*ret_publishing = rc == LANCET_OK ? PUBLISHING_REPLACES : PUBLISHING_SAFE;
	return LANCET_OK;
}

static int
probe(struct store *store, const char *dir, int *ret_publishing, struct lancet_error *err)
{
	char(*keys)[STORE_KEY_MAX + 1] = malloc(PROBE_FILES * sizeof(*keys));
	int rc = LANCET_OK;

	if (keys == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: names to try out", dir);
	for (int i = 0; i < PROBE_FILES && rc == LANCET_OK; i++)
		rc = store_temporary_key(dir, strlen(dir), keys[i], err);
	if (rc == LANCET_OK) {
		rc = probe_names(store, keys, ret_publishing, err);
		for (int i = 0; i < PROBE_FILES; i++)
			(void)store_remove(store, keys[i], NULL);
	}
	free(keys);
	return rc;
}

int
store_can_publish(struct store *store, const char *dir, struct lancet_error *err)
{
	struct place place;
	int known;

	TRY(place_find(&place, store, dir, err));
	known = __atomic_load_n(&place.store->publishing, __ATOMIC_RELAXED);
	if (known == PUBLISHING_UNKNOWN) {
		TRY(probe(place.store, place.key, &known, err));
		__atomic_store_n(&place.store->publishing, known, __ATOMIC_RELAXED);
	}
	if (known == PUBLISHING_MISSING)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"%s: the storage has neither link(2) nor RENAME_NOREPLACE of "
			"renameat2(2), so nothing can be committed safely",
			dir);
	if (known == PUBLISHING_REPLACES)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"%s: the storage lets link(2) replace a file that is there, so "
			"nothing can be committed safely",
			dir);
	return LANCET_OK;
}

/* A file system that knows no syncing has nothing to lose. */
static int
sync_open_file(int fd, const char *key, struct lancet_error *err)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	if (rc == 0 || errno == EINVAL || errno == EROFS)
		return LANCET_OK;
	return lancet_fail_errno(err, "%s: sync", key);
}

int
store_keep(struct store *store, const char *key, struct lancet_error *err)
{
	char dir[STORE_KEY_MAX + 1];
	lancet_autoclose int fd = -1;
	struct stat st;

	TRY(store_open_fd(store, key, &fd, &st, err));
	TRY(sync_open_file(fd, key, err));
	(void)snprintf(dir, sizeof(dir), "%s", key);
	do {
		dir[store_dir_size(dir)] = '\0';
		TRY(store_sync_dir(store, dir, err));
	} while (dir[0] != '\0');
	return LANCET_OK;
}

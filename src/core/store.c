/* Checks and dispatch of stores.
 *
 * Keys come from manifests and directory listings, so they are hostile: every entry point checks
 * its key before the backend sees it.
 */
#include "store.h"

#include <assert.h>

#define KEY_PART_MAX 255

void
store_init(struct store *store, const struct store_ops *ops)
{
	*store = (struct store){ .ops = ops, .refs = 1 };
}

struct store *
store_ref(struct store *store)
{
	int before = __atomic_fetch_add(&store->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	(void)before;
	return store;
}

void
store_unref(struct store *store)
{
	if (store != NULL && __atomic_fetch_sub(&store->refs, 1, __ATOMIC_ACQ_REL) == 1)
		store->ops->release(store);
}

static int
key_part_check(struct slice part, struct lancet_error *err)
{
	if (part.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "path has an empty part");
	if (part.size > KEY_PART_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "path part of %zu bytes, at most %d",
		                   part.size, KEY_PART_MAX);
	if (slice_equal(part, slice_text(".")) || slice_equal(part, slice_text("..")))
		return lancet_fail(err, LANCET_CORRUPT, "path has a part \"%.*s\"", (int)part.size,
		                   (const char *)part.data);
	return LANCET_OK;
}

int
store_key_check(struct slice key, struct lancet_error *err)
{
	size_t start = 0;

	if (key.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "path is empty");
	if (key.size > STORE_KEY_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "path of %zu bytes, at most %d", key.size,
		                   STORE_KEY_MAX);
	if (memchr(key.data, '\0', key.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "path holds a NUL byte");
	if (key.data[0] == '/')
		return lancet_fail(err, LANCET_CORRUPT, "path is absolute");
	for (size_t i = 0; i <= key.size; i++) {
		int rc;

		if (i < key.size && key.data[i] != '/')
			continue;
		rc = key_part_check(slice_of(key.data + start, i - start), err);
		if (rc != LANCET_OK)
			return rc;
		start = i + 1;
	}
	return LANCET_OK;
}

int
store_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
              struct lancet_error *err)
{
	int rc = store_key_check(slice_text(key), err);

	return rc == LANCET_OK ? store->ops->open_fd(store, key, ret_fd, ret_stat, err) : rc;
}

int
store_open_source(struct store *store, const char *key, struct source **ret_source,
                  struct stat *ret_stat, struct lancet_error *err)
{
	int rc = store_key_check(slice_text(key), err);

	if (rc != LANCET_OK)
		return rc;
	return store->ops->open_source(store, key, ret_source, ret_stat, err);
}

/* As store_key_check, for calls where "" names the root. */
static int
root_or_key_check(const char *key, struct lancet_error *err)
{
	return key[0] == '\0' ? LANCET_OK : store_key_check(slice_text(key), err);
}

int
store_list(struct store *store, const char *prefix, store_sink sink, void *context,
           struct lancet_error *err)
{
	int rc = root_or_key_check(prefix, err);

	return rc == LANCET_OK ? store->ops->list(store, prefix, sink, context, err) : rc;
}

int
store_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	int rc = root_or_key_check(key, err);

	return rc == LANCET_OK ? store->ops->stat(store, key, ret_stat, err) : rc;
}

int
store_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	return store->ops->statvfs(store, ret_stat, err);
}

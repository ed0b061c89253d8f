/* Checks and dispatch of stores, and the store that is a directory of another one.
 *
 * Keys come from manifests and directory listings, so they are hostile: every entry point checks
 * its key before the backend sees it. The sub-directory store holds no descriptor: it prefixes
 * keys, so that a branch that was deleted and made again is found where it is now.
 */
#include "store.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_PART_MAX 255
#define KEY_MAX      4095

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
	if (key.size > KEY_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "path of %zu bytes, at most %d", key.size,
		                   KEY_MAX);
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

struct sub_store {
	struct store base;
	struct store *parent;
	char prefix[];
};

/* prefix + "/" + key, or the prefix alone for "". */
static int
sub_key(struct store *store, const char *key, char into[KEY_MAX + 1], struct lancet_error *err)
{
	const struct sub_store *sub = (const struct sub_store *)store;
	const char *slash = key[0] == '\0' ? "" : "/";
	int size = snprintf(into, KEY_MAX + 1, "%s%s%s", sub->prefix, slash, key);

	if (size < 0 || size > KEY_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "path of %d bytes, at most %d", size,
		                   KEY_MAX);
	return LANCET_OK;
}

static int
sub_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
            struct lancet_error *err)
{
	char full[KEY_MAX + 1];
	int rc = sub_key(store, key, full, err);

	if (rc != LANCET_OK)
		return rc;
	return store_open_fd(((struct sub_store *)store)->parent, full, ret_fd, ret_stat, err);
}

static int
sub_open_source(struct store *store, const char *key, struct source **ret_source,
                struct stat *ret_stat, struct lancet_error *err)
{
	struct store *parent = ((struct sub_store *)store)->parent;
	char full[KEY_MAX + 1];
	int rc = sub_key(store, key, full, err);

	return rc == LANCET_OK ? store_open_source(parent, full, ret_source, ret_stat, err) : rc;
}

static int
sub_list(struct store *store, const char *prefix, store_sink sink, void *context,
         struct lancet_error *err)
{
	char full[KEY_MAX + 1];
	int rc = sub_key(store, prefix, full, err);

	if (rc != LANCET_OK)
		return rc;
	return store_list(((struct sub_store *)store)->parent, full, sink, context, err);
}

static int
sub_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	char full[KEY_MAX + 1];
	int rc = sub_key(store, key, full, err);

	if (rc != LANCET_OK)
		return rc;
	return store_stat(((struct sub_store *)store)->parent, full, ret_stat, err);
}

static int
sub_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err)
{
	return store_statvfs(((struct sub_store *)store)->parent, ret_stat, err);
}

static void
sub_release(struct store *store)
{
	struct sub_store *sub = (struct sub_store *)store;

	store_unref(sub->parent);
	free(sub);
}

static const struct store_ops sub_ops = {
	.open_fd = sub_open_fd,
	.open_source = sub_open_source,
	.list = sub_list,
	.stat = sub_stat,
	.statvfs = sub_statvfs,
	.release = sub_release,
};

int
store_sub_open(struct store *parent, const char *prefix, struct store **ret_store,
               struct lancet_error *err)
{
	size_t size = strlen(prefix) + 1;
	struct sub_store *sub;
	int rc = store_key_check(slice_text(prefix), err);

	if (rc != LANCET_OK)
		return rc;
	sub = malloc(sizeof(*sub) + size);
	if (sub == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a store for %s", prefix);
	store_init(&sub->base, &sub_ops);
	sub->parent = store_ref(parent);
	memcpy(sub->prefix, prefix, size);
	*ret_store = &sub->base;
	return LANCET_OK;
}

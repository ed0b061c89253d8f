/* The store that is a directory of another one.
 *
 * It holds no descriptor: it prefixes keys, so that a branch that was deleted and made again is
 * found where it is now.
 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

struct sub_store {
	struct store base;
	struct store *parent;
	char prefix[];
};

/* prefix + "/" + key, or the prefix alone for "". */
static int
sub_key(struct store *store, const char *key, char into[STORE_KEY_MAX + 1],
        struct lancet_error *err)
{
	const struct sub_store *sub = (const struct sub_store *)store;
	const char *slash = key[0] == '\0' ? "" : "/";
	int size = snprintf(into, STORE_KEY_MAX + 1, "%s%s%s", sub->prefix, slash, key);

	if (size < 0 || size > STORE_KEY_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "path of %d bytes, at most %d", size,
		                   STORE_KEY_MAX);
	return LANCET_OK;
}

static int
sub_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
            struct lancet_error *err)
{
	char full[STORE_KEY_MAX + 1];
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
	char full[STORE_KEY_MAX + 1];
	int rc = sub_key(store, key, full, err);

	return rc == LANCET_OK ? store_open_source(parent, full, ret_source, ret_stat, err) : rc;
}

static int
sub_list(struct store *store, const char *prefix, store_sink sink, void *context,
         struct lancet_error *err)
{
	char full[STORE_KEY_MAX + 1];
	int rc = sub_key(store, prefix, full, err);

	if (rc != LANCET_OK)
		return rc;
	return store_list(((struct sub_store *)store)->parent, full, sink, context, err);
}

static int
sub_stat(struct store *store, const char *key, struct stat *ret_stat, struct lancet_error *err)
{
	char full[STORE_KEY_MAX + 1];
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

static int
sub_resolve(struct store *store, const char *key, char into[STORE_KEY_MAX + 1],
	struct store **ret_parent, struct lancet_error *err)
{
	int rc = sub_key(store, key, into, err);

	if (rc == LANCET_OK)
		*ret_parent = ((struct sub_store *)store)->parent;
	return rc;
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
	.resolve = sub_resolve,
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

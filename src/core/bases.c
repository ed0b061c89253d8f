/* Root directories that files are read from, interned so that equal directories are equal pointers.
 *
 * A base inside the dataset is known by its path below the root, whatever spelling led to it:
 * that does not change when the dataset is moved. Any other base is known by device and inode
 * while its store holds it open, and named by its resolved absolute path. Spellings that were
 * resolved are remembered, so that asking again costs no system call.
 */
#include "dataset.h"

#include "util/macros.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BASES_MAX     1024 /* outside the dataset: each holds a descriptor */
#define SPELLINGS_MAX 1024 /* more than these are resolved anew each time */

struct base_node {
	struct lancet_base base; /* first: nodes are freed through it */
	bool is_inside;
	dev_t dev; /* of those outside */
	ino_t ino;
	struct base_node *next;
};

struct base_spelling {
	const struct lancet_base *base;
	struct base_spelling *next;
	char path[];
};

static struct base_node *
node_new(struct store *store, const char *identity)
{
	struct base_node *node = calloc(1, sizeof(*node));

	if (node == NULL)
		return NULL;
	node->base.identity = strdup(identity);
	if (node->base.identity == NULL) {
		free(node);
		return NULL;
	}
	node->base.store = store_ref(store);
	return node;
}

static void
node_free(struct base_node *node)
{
	store_unref(node->base.store);
	free(node->base.identity);
	free(node);
}

static void
node_insert(struct base_table *table, struct base_node *node)
{
	node->next = table->nodes;
	table->nodes = node;
	table->node_count++;
}

int
base_table_init(struct base_table *table, struct store *root, const char *const *follow,
                struct lancet_error *err)
{
	struct base_node *node;
	struct stat st;

	TRY(store_stat(root, "", &st, err));
	node = node_new(root, "");
	if (node == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a base");
	*table = (struct base_table){
		.root = root,
		.follow = follow,
		.root_dev = st.st_dev,
		.root_ino = st.st_ino,
	};
	(void)pthread_mutex_init(&table->lock, NULL);
	node->is_inside = true;
	node_insert(table, node);
	return LANCET_OK;
}

void
base_table_release(struct base_table *table)
{
	while (table->spellings != NULL) {
		struct base_spelling *spelling = table->spellings;

		table->spellings = spelling->next;
		free(spelling);
	}
	while (table->nodes != NULL) {
		struct base_node *node = table->nodes;

		table->nodes = node->next;
		node_free(node);
	}
	(void)pthread_mutex_destroy(&table->lock);
}

static struct base_node *
find_inside(const struct base_table *table, const char *relative)
{
	struct base_node *node = table->nodes;

	while (node != NULL && !(node->is_inside && strcmp(node->base.identity, relative) == 0))
		node = node->next;
	return node;
}

int
base_table_sub(struct base_table *table, const char *relative, const struct lancet_base **ret_base,
               struct lancet_error *err)
{
	struct base_node *node, *fresh;
	struct store *store;

	(void)pthread_mutex_lock(&table->lock);
	node = find_inside(table, relative);
	(void)pthread_mutex_unlock(&table->lock);
	if (node != NULL) {
		*ret_base = &node->base;
		return LANCET_OK;
	}
	TRY(store_sub_open(table->root, relative, &store, err));
	fresh = node_new(store, relative);
	store_unref(store);
	if (fresh == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "base %s", relative);
	fresh->is_inside = true;
	(void)pthread_mutex_lock(&table->lock);
	node = find_inside(table, relative); /* another thread may have been faster */
	if (node == NULL)
		node_insert(table, fresh);
	(void)pthread_mutex_unlock(&table->lock);
	*ret_base = node != NULL ? &node->base : &fresh->base;
	if (node != NULL)
		node_free(fresh);
	return LANCET_OK;
}

/* The path of `real` below the directory that is the table's root by device and inode (so that
 * another mount of it counts too), or NULL when it lies elsewhere. Cuts `real` in passing. */
static const char *
path_below_root(const struct base_table *table, char *real)
{
	size_t size = strlen(real);

	for (size_t cut = size; cut > 0; cut--) {
		char saved = real[cut];
		bool is_root;
		struct stat st;

		if (saved != '/' && saved != '\0')
			continue;
		real[cut] = '\0';
		is_root = stat(real, &st) == 0 && st.st_dev == table->root_dev &&
		          st.st_ino == table->root_ino;
		real[cut] = saved;
		if (is_root)
			return cut == size ? real + cut : real + cut + 1;
	}
	return NULL;
}

/* A directory of the dataset that is reached over a symbolic link has no such path: it is
 * compared with those that are interned. */
static const struct lancet_base *
find_linked_inside(struct base_table *table, const struct stat *st)
{
	struct base_node *node;

	(void)pthread_mutex_lock(&table->lock);
	node = table->nodes;
	(void)pthread_mutex_unlock(&table->lock);
	for (; node != NULL; node = node->next) { /* nodes stay, and their links do not change */
		struct stat inside;

		if (node->is_inside &&
		    store_stat(node->base.store, "", &inside, NULL) == LANCET_OK &&
		    inside.st_dev == st->st_dev && inside.st_ino == st->st_ino)
			return &node->base;
	}
	return NULL;
}

/* Interns the directory behind `store`, which lies outside. */
static int
intern_outside(struct base_table *table, struct store *store, const struct stat *st,
               const char *real, const struct lancet_base **ret_base, struct lancet_error *err)
{
	struct base_node *fresh = node_new(store, real);
	struct base_node *node;
	bool is_full = false;

	if (fresh == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a base");
	fresh->dev = st->st_dev;
	fresh->ino = st->st_ino;
	(void)pthread_mutex_lock(&table->lock);
	node = table->nodes;
	while (node != NULL &&
	       (node->is_inside || node->dev != st->st_dev || node->ino != st->st_ino))
		node = node->next;
	if (node == NULL && table->node_count >= BASES_MAX)
		is_full = true;
	else if (node == NULL)
		node_insert(table, fresh);
	(void)pthread_mutex_unlock(&table->lock);
	if (node != NULL || is_full)
		node_free(fresh);
	if (is_full)
		return lancet_fail(err, LANCET_LIMIT, "more than %d base directories", BASES_MAX);
	*ret_base = node != NULL ? &node->base : &fresh->base;
	return LANCET_OK;
}

static int
resolve(struct base_table *table, const char *path, const struct lancet_base **ret_base,
        struct lancet_error *err)
{
	lancet_autofree char *real = NULL;
	const struct lancet_base *linked;
	struct store *store = NULL;
	const char *relative;
	struct stat st;
	int rc = store_local_open(path, table->follow, &store, err);

	if (rc != LANCET_OK)
		return base_fail_lost(rc, err);
	rc = store_stat(store, "", &st, err);
	if (rc != LANCET_OK)
		goto out;
	real = realpath(path, NULL);
	if (real == NULL) {
		rc = base_fail_lost(lancet_fail_errno(err, "%s", path), err);
		goto out;
	}
	relative = path_below_root(table, real);
	linked = relative == NULL ? find_linked_inside(table, &st) : NULL;
	if (relative != NULL)
		rc = base_table_sub(table, relative, ret_base, err);
	else if (linked != NULL)
		*ret_base = linked;
	else
		rc = intern_outside(table, store, &st, real, ret_base, err);
out:
	store_unref(store);
	return rc;
}

static const struct lancet_base *
find_spelling(struct base_table *table, const char *path)
{
	const struct base_spelling *spelling;

	(void)pthread_mutex_lock(&table->lock);
	spelling = table->spellings;
	while (spelling != NULL && strcmp(spelling->path, path) != 0)
		spelling = spelling->next;
	(void)pthread_mutex_unlock(&table->lock);
	return spelling != NULL ? spelling->base : NULL;
}

/* Only a shortcut: without memory, or beyond the limit, nothing is remembered. */
static void
remember_spelling(struct base_table *table, const char *path, const struct lancet_base *base)
{
	size_t size = strlen(path) + 1;
	struct base_spelling *spelling = malloc(sizeof(*spelling) + size);
	bool is_full;

	if (spelling == NULL)
		return;
	spelling->base = base;
	memcpy(spelling->path, path, size);
	(void)pthread_mutex_lock(&table->lock);
	is_full = table->spelling_count >= SPELLINGS_MAX;
	if (!is_full) {
		table->spelling_count++;
		spelling->next = table->spellings;
		table->spellings = spelling;
	}
	(void)pthread_mutex_unlock(&table->lock);
	if (is_full)
		free(spelling);
}

int
dataset_base_intern(struct lancet_dataset *dataset, struct lancet_bytes path,
                    const struct lancet_base **ret_base, struct lancet_error *err)
{
	struct base_table *table = &dataset->shared->bases;
	const struct lancet_base *base;
	char local[PATH_MAX];

	TRY(base_path_parse(slice_of(path.data, path.size), local, err));
	base = find_spelling(table, local);
	if (base == NULL) {
		int rc = resolve(table, local, &base, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "base path");
		remember_spelling(table, local, base);
	}
	*ret_base = base;
	return LANCET_OK;
}

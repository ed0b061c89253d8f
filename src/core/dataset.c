/* Opening a dataset, and the life of its handles. Format facts: directory layout.
 *
 * See dataset.h for the two counts. Branch handles are made on first use and live as long as the
 * root.
 */
#include "dataset.h"

#include "util/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_BYTES_DEFAULT (UINT64_C(256) << 20)
#define BRANCH_DIR          "tree/"

static void
handle_free(struct lancet_dataset *dataset)
{
	if (dataset == NULL)
		return;
	(void)pthread_mutex_destroy(&dataset->latest_lock);
	free(dataset->branch);
	free(dataset);
}

/* `branch` need not end in a NUL, but holds none. */
static struct lancet_dataset *
handle_new(struct dataset_shared *shared, const struct lancet_base *base, struct slice branch)
{
	struct lancet_dataset *dataset = calloc(1, sizeof(*dataset));

	if (dataset == NULL)
		return NULL;
	dataset->branch = calloc(1, branch.size + 1);
	if (dataset->branch == NULL) {
		free(dataset);
		return NULL;
	}
	if (branch.size > 0)
		memcpy(dataset->branch, branch.data, branch.size);
	dataset->shared = shared;
	dataset->base = base;
	(void)pthread_mutex_init(&dataset->latest_lock, NULL);
	return dataset;
}

static void
follow_free(char **follow)
{
	for (size_t i = 0; follow != NULL && follow[i] != NULL; i++)
		free(follow[i]);
	free(follow);
}

/* NULL when there is no memory. */
static char **
follow_copy(const char *const *follow)
{
	size_t count = 0;
	char **copy;

	while (follow != NULL && follow[count] != NULL)
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy != NULL && i < count; i++) {
		copy[i] = strdup(follow[i]);
		if (copy[i] == NULL) {
			follow_free(copy);
			return NULL;
		}
	}
	return copy;
}

static void
shared_free(struct dataset_shared *shared)
{
	while (shared->branches != NULL) {
		struct lancet_dataset *branch = shared->branches;

		shared->branches = branch->next;
		handle_free(branch);
	}
	handle_free(shared->root);
	version_cache_release(&shared->cache);
	id_index_slot_release(&shared->ids);
	base_table_release(&shared->bases);
	(void)pthread_mutex_destroy(&shared->branches_lock);
	store_unref(shared->store);
	follow_free(shared->follow);
	free(shared->location);
	free(shared);
}

/* An absolute path; links in it stay what they are, since others may know the dataset by it. NULL
 * without memory. */
static char *
absolute_path(const char *name)
{
	lancet_autofree char *whole = NULL;
	lancet_autofree char *here = name[0] != '/' ? getcwd(NULL, 0) : strdup("");
	char plain[PATH_MAX];

	if (here == NULL || asprintf(&whole, "%s/%s", here, name) < 0) {
		whole = NULL;
		return NULL;
	}
	if (base_path_parse(slice_text(whole), plain, NULL) != LANCET_OK)
		return lancet_steal(&whole);
	return strdup(plain);
}

int
dataset_location(struct lancet_dataset *dataset, char **ret_location, struct lancet_error *err)
{
	const char *root = dataset->shared->location;
	int size = dataset->branch[0] == '\0'
			   ? asprintf(ret_location, "%s", root)
			   : asprintf(ret_location, "%s/" BRANCH_DIR "%s", root, dataset->branch);

	if (size >= 0)
		return LANCET_OK;
	*ret_location = NULL;
	return lancet_fail(err, LANCET_NO_MEMORY, "the path of a dataset");
}

/* One handle and its reference are taken. */
static int
shared_new(struct store *store, const struct lancet_dataset_options *options,
           struct dataset_shared **ret_shared, struct lancet_error *err)
{
	struct dataset_shared *shared = calloc(1, sizeof(*shared));
	uint64_t bytes = options != NULL ? options->cache_bytes : 0;
	int rc;

	if (shared == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a dataset");
	shared->follow = follow_copy(options != NULL ? options->follow : NULL);
	if (shared->follow == NULL) {
		free(shared);
		return lancet_fail(err, LANCET_NO_MEMORY, "a dataset");
	}
	rc = base_table_init(&shared->bases, store, (const char *const *)shared->follow, err);
	if (rc != LANCET_OK) {
		follow_free(shared->follow);
		free(shared);
		return rc;
	}
	shared->store = store_ref(store);
	(void)pthread_mutex_init(&shared->branches_lock, NULL);
	version_cache_init(&shared->cache, (bytes != 0 ? bytes : CACHE_BYTES_DEFAULT) / 2);
	id_index_slot_init(&shared->ids);
	atomic_init(&shared->handles, 1);
	atomic_init(&shared->refs, 1);
	*ret_shared = shared;
	return LANCET_OK;
}

int
dataset_open_store(struct store *store, const char *name,
                   const struct lancet_dataset_options *options,
                   struct lancet_dataset **ret_dataset, struct lancet_error *err)
{
	const struct lancet_base *base;
	struct dataset_shared *shared = NULL;
	int rc = dataset_require_manifest(store, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_wrap(err, rc, "not a Lance dataset: %s", name);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s", name);
	rc = shared_new(store, options, &shared, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s", name);
	rc = base_table_sub(&shared->bases, "", &base, err); /* is there since shared_new */
	if (rc == LANCET_OK) {
		shared->location = absolute_path(name);
		shared->root = handle_new(shared, base, slice_of(NULL, 0));
	}
	if (rc == LANCET_OK && (shared->root == NULL || shared->location == NULL))
		rc = lancet_fail(err, LANCET_NO_MEMORY, "%s: a dataset", name);
	if (rc != LANCET_OK) {
		shared_free(shared);
		return rc;
	}
	*ret_dataset = shared->root;
	return LANCET_OK;
}

int
lancet_dataset_open(const char *path, const struct lancet_dataset_options *options,
                    lancet_dataset **ret_dataset, struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	struct store *store;
	int rc = store_local_open(path, options != NULL ? options->follow : NULL, &store, &why);

	if (rc == LANCET_NOT_FOUND && why.os_errno == 0) /* there, but no directory */
		rc = lancet_wrap(&why, rc, "not a Lance dataset");
	if (rc != LANCET_OK) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	rc = dataset_open_store(store, path, options, ret_dataset, err);
	store_unref(store);
	return rc;
}

static struct lancet_dataset *
find_branch(const struct dataset_shared *shared, struct slice name)
{
	struct lancet_dataset *branch = shared->branches;

	while (branch != NULL && !slice_equal(slice_text(branch->branch), name))
		branch = branch->next;
	return branch;
}

/* The one handle of a branch that is known to be sound. */
static int
intern_branch(struct dataset_shared *shared, struct slice name, struct lancet_dataset **ret_branch,
              struct lancet_error *err)
{
	struct buf path = { 0 };
	const struct lancet_base *base;
	struct lancet_dataset *fresh, *branch;
	int rc;

	buf_put_text(&path, BRANCH_DIR);
	buf_put_slice(&path, name);
	buf_put_byte(&path, '\0');
	rc = buf_check(&path, "branch", err);
	if (rc == LANCET_OK)
		rc = base_table_sub(&shared->bases, (const char *)path.data, &base, err);
	buf_release(&path);
	if (rc != LANCET_OK)
		return rc;
	fresh = handle_new(shared, base, name);
	if (fresh == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a branch");
	(void)pthread_mutex_lock(&shared->branches_lock);
	branch = find_branch(shared, name); /* another thread may have been faster */
	if (branch == NULL) {
		fresh->next = shared->branches;
		shared->branches = fresh;
	}
	(void)pthread_mutex_unlock(&shared->branches_lock);
	if (branch != NULL)
		handle_free(fresh);
	*ret_branch = branch != NULL ? branch : fresh;
	return LANCET_OK;
}

int
lancet_dataset_branch(lancet_dataset *root, struct lancet_bytes name, lancet_dataset **ret_branch,
                      struct lancet_error *err)
{
	struct dataset_shared *shared = root->shared;
	struct slice text = slice_of(name.data, name.size);
	struct lancet_dataset *branch;

	if (name.size == 0) {
		*ret_branch = lancet_dataset_ref(shared->root);
		return LANCET_OK;
	}
	TRY(branch_check(shared->root, text, err));
	(void)pthread_mutex_lock(&shared->branches_lock);
	branch = find_branch(shared, text);
	(void)pthread_mutex_unlock(&shared->branches_lock);
	if (branch == NULL)
		TRY(intern_branch(shared, text, &branch, err));
	*ret_branch = lancet_dataset_ref(branch);
	return LANCET_OK;
}

lancet_dataset *
lancet_dataset_ref(lancet_dataset *dataset)
{
	atomic_fetch_add(&dataset->shared->handles, 1);
	return dataset_pin(dataset);
}

void
lancet_dataset_unref(lancet_dataset *dataset)
{
	if (dataset == NULL)
		return;
	if (atomic_fetch_sub(&dataset->shared->handles, 1) == 1)
		version_cache_empty(&dataset->shared->cache);
	dataset_unpin(dataset);
}

struct lancet_dataset *
dataset_pin(struct lancet_dataset *dataset)
{
	atomic_fetch_add(&dataset->shared->refs, 1);
	return dataset;
}

void
dataset_unpin(struct lancet_dataset *dataset)
{
	if (atomic_fetch_sub(&dataset->shared->refs, 1) == 1)
		shared_free(dataset->shared);
}

struct lancet_dataset *
dataset_root(struct lancet_dataset *dataset)
{
	return dataset->shared->root;
}

const struct lancet_base *
dataset_base(struct lancet_dataset *dataset)
{
	return dataset->base;
}

struct lancet_bytes
lancet_dataset_branch_name(const lancet_dataset *dataset)
{
	return (struct lancet_bytes){ (const uint8_t *)dataset->branch, strlen(dataset->branch) };
}

int
lancet_dataset_stat(lancet_dataset *dataset, struct stat *ret_stat, struct lancet_error *err)
{
	return store_stat(dataset->base->store, "", ret_stat, err);
}

int
lancet_dataset_versions_stat(lancet_dataset *dataset, struct stat *ret_stat,
                             struct lancet_error *err)
{
	return store_stat(dataset->base->store, VERSIONS_DIR, ret_stat, err);
}

int
lancet_dataset_statvfs(lancet_dataset *dataset, struct statvfs *ret_stat, struct lancet_error *err)
{
	return store_statvfs(dataset->base->store, ret_stat, err);
}

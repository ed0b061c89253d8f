/* The cache behind lancet_version_open.
 *
 * Each snapshot holds a descriptor, so their number is limited beside their bytes. A hit is
 * checked against the file's attributes: numbers come back when a branch is deleted and made
 * again, or when a torn head is set aside, and a version that was removed must not be found.
 */
#include "dataset.h"

#include "util/macros.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define VERSION_CACHE_MAX 256

struct version_slot {
	const struct lancet_dataset *dataset; /* with number: the key */
	uint64_t number;
	struct lancet_version *version;  /* counted; NULL until loaded */
	size_t bytes;
	int refs;                        /* of the table, the loader and those who wait */
	bool in_table, loading;
	int rc;                          /* of the load, with its error */
	struct lancet_error error;
	struct version_slot *chain;      /* of a bucket */
	struct version_slot *newer, *older;
	struct version_slot *next_dropped;
};

/* A quarter of the descriptors that the process may have; the rest is for its own files. */
static size_t
count_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 > VERSION_CACHE_MAX)
		return VERSION_CACHE_MAX;
	return limit.rlim_cur / 4;
}

void
version_cache_init(struct version_cache *cache, uint64_t budget)
{
	*cache = (struct version_cache){
		.budget = budget > SIZE_MAX ? SIZE_MAX : (size_t)budget,
		.count_max = count_limit(),
	};
	(void)pthread_mutex_init(&cache->lock, NULL);
	(void)pthread_cond_init(&cache->loaded, NULL);
}

void
version_cache_release(struct version_cache *cache)
{
	assert(cache->count == 0);
	(void)pthread_cond_destroy(&cache->loaded);
	(void)pthread_mutex_destroy(&cache->lock);
}

static struct version_slot **
bucket_of(struct version_cache *cache, const struct lancet_dataset *dataset, uint64_t number)
{
	return &cache->buckets[((uintptr_t)dataset / sizeof(*dataset) + number) %
	                       VERSION_CACHE_BUCKETS];
}

static struct version_slot *
find(struct version_cache *cache, const struct lancet_dataset *dataset, uint64_t number)
{
	struct version_slot *slot = *bucket_of(cache, dataset, number);

	while (slot != NULL && (slot->dataset != dataset || slot->number != number))
		slot = slot->chain;
	return slot;
}

static void
used_unlink(struct version_cache *cache, struct version_slot *slot)
{
	*(slot->newer != NULL ? &slot->newer->older : &cache->newest) = slot->older;
	*(slot->older != NULL ? &slot->older->newer : &cache->oldest) = slot->newer;
	slot->newer = slot->older = NULL;
}

static void
used_push(struct version_cache *cache, struct version_slot *slot)
{
	slot->older = cache->newest;
	slot->newer = NULL;
	*(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = slot;
	cache->newest = slot;
}

/* Gives up one reference under the lock; the last one puts the slot on `dropped`. */
static void
slot_put(struct version_slot *slot, struct version_slot **dropped)
{
	assert(slot->refs > 0);
	if (--slot->refs > 0)
		return;
	slot->next_dropped = *dropped;
	*dropped = slot;
}

/* Without the lock: freeing a version closes its file. */
static void
free_dropped(struct version_slot *dropped)
{
	while (dropped != NULL) {
		struct version_slot *slot = dropped;

		dropped = slot->next_dropped;
		lancet_version_unref(slot->version);
		free(slot);
	}
}

static void
table_remove(struct version_cache *cache, struct version_slot *slot, struct version_slot **dropped)
{
	struct version_slot **link = bucket_of(cache, slot->dataset, slot->number);

	while (*link != slot)
		link = &(*link)->chain;
	*link = slot->chain;
	slot->in_table = false;
	if (!slot->loading) {
		used_unlink(cache, slot);
		cache->bytes -= slot->bytes;
		cache->count--;
	}
	slot_put(slot, dropped);
}

void
version_cache_empty(struct version_cache *cache)
{
	struct version_slot *dropped = NULL;

	(void)pthread_mutex_lock(&cache->lock);
	while (cache->oldest != NULL)
		table_remove(cache, cache->oldest, &dropped);
	(void)pthread_mutex_unlock(&cache->lock);
	free_dropped(dropped);
}

/* Whether the file is still the one that the snapshot was made from. */
static int
check_unchanged(struct lancet_dataset *dataset, const struct lancet_version *version,
                bool *ret_unchanged, struct lancet_error *err)
{
	const struct stat *then = &lancet_version_info(version)->manifest_stat;
	char path[MANIFEST_PATH_MAX];
	struct stat now;
	int rc;

	(void)snprintf(path, sizeof(path), VERSIONS_DIR "/%s",
	               lancet_version_manifest_name(version));
	rc = store_stat(dataset->base->store, path, &now, err);
	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND)
		return rc;
	*ret_unchanged = rc == LANCET_OK && now.st_dev == then->st_dev &&
	                 now.st_ino == then->st_ino && now.st_size == then->st_size &&
	                 now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	                 now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
	return LANCET_OK;
}

static void
forget(struct version_cache *cache, const struct lancet_dataset *dataset,
       const struct lancet_version *version)
{
	struct version_slot *dropped = NULL;
	struct version_slot *slot;

	(void)pthread_mutex_lock(&cache->lock);
	slot = find(cache, dataset, lancet_version_info(version)->number);
	if (slot != NULL && slot->version == version)
		table_remove(cache, slot, &dropped);
	(void)pthread_mutex_unlock(&cache->lock);
	free_dropped(dropped);
}

static int
load(struct lancet_dataset *dataset, uint64_t number, struct lancet_version **ret_version,
     struct lancet_error *err)
{
	char name[MANIFEST_NAME_MAX];
	struct source *file;
	struct stat st;
	int rc;

	TRY(dataset_open_manifest(dataset, number, &file, &st, name, err));
	rc = version_load(dataset, number, file, &st, name, ret_version, err);
	source_unref(file);
	return lancet_wrap(err, rc, VERSIONS_DIR "/%s", name);
}

/* Publishes the end of a load to the table and to those who wait; called with the lock. */
static void
finish(struct dataset_shared *shared, struct version_slot *slot, struct version_slot **dropped)
{
	struct version_cache *cache = &shared->cache;
	bool keep = slot->rc == LANCET_OK && atomic_load(&shared->handles) > 0;

	if (!keep)
		table_remove(cache, slot, dropped); /* while it counts as loading */
	slot->loading = false;
	(void)pthread_cond_broadcast(&cache->loaded);
	if (!keep)
		return;
	slot->bytes = sizeof(*slot) + slot->version->footprint;
	used_push(cache, slot);
	cache->bytes += slot->bytes;
	cache->count++;
	/* The newest stays whatever it takes: a walk of a version above the budget would load it
	 * anew for each of its fragments. */
	while (cache->oldest != cache->newest &&
	       (cache->bytes > cache->budget || cache->count > cache->count_max))
		table_remove(cache, cache->oldest, dropped);
}

/* Called with the lock, and a reference on the slot that it gives up. Takes the result of a
 * load. */
static int
take_result(struct version_slot *slot, struct lancet_version **ret_version,
            struct lancet_error *err, struct version_slot **dropped)
{
	int rc = slot->rc;

	if (rc == LANCET_OK)
		*ret_version = lancet_version_ref(slot->version);
	else if (err != NULL)
		*err = slot->error;
	slot_put(slot, dropped);
	return rc;
}

/* Called with the lock; comes back with it. A new slot for a key that the table lacks is loaded. */
static int
load_slot(struct lancet_dataset *dataset, uint64_t number, struct lancet_version **ret_version,
          struct lancet_error *err, struct version_slot **dropped)
{
	struct version_cache *cache = &dataset->shared->cache;
	struct version_slot **bucket = bucket_of(cache, dataset, number);
	struct version_slot *slot = calloc(1, sizeof(*slot));

	if (slot == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "version %" PRIu64, number);
	slot->dataset = dataset;
	slot->number = number;
	slot->refs = 2; /* the table's and ours */
	slot->in_table = slot->loading = true;
	slot->chain = *bucket;
	*bucket = slot;
	(void)pthread_mutex_unlock(&cache->lock);
	slot->rc = load(dataset, number, &slot->version, &slot->error);
	(void)pthread_mutex_lock(&cache->lock);
	finish(dataset->shared, slot, dropped);
	return take_result(slot, ret_version, err, dropped);
}

/* *ret_cached says whether the version was there already, and so may be out of date. */
static int
lookup_or_load(struct lancet_dataset *dataset, uint64_t number, struct lancet_version **ret_version,
               bool *ret_cached, struct lancet_error *err)
{
	struct version_cache *cache = &dataset->shared->cache;
	struct version_slot *dropped = NULL;
	struct version_slot *slot;
	int rc;

	(void)pthread_mutex_lock(&cache->lock);
	slot = find(cache, dataset, number);
	*ret_cached = slot != NULL && !slot->loading;
	if (slot == NULL) {
		rc = load_slot(dataset, number, ret_version, err, &dropped);
	} else {
		slot->refs++;
		while (slot->loading)
			(void)pthread_cond_wait(&cache->loaded, &cache->lock);
		if (slot->in_table) {
			used_unlink(cache, slot);
			used_push(cache, slot);
		}
		rc = take_result(slot, ret_version, err, &dropped);
	}
	(void)pthread_mutex_unlock(&cache->lock);
	free_dropped(dropped);
	return rc;
}

int
lancet_version_open(lancet_dataset *dataset, uint64_t number, lancet_version **ret_version,
                    struct lancet_error *err)
{
	for (;;) {
		struct lancet_version *version = NULL;
		bool cached, unchanged = true;
		int rc = lookup_or_load(dataset, number, &version, &cached, err);

		if (rc == LANCET_OK && cached)
			rc = check_unchanged(dataset, version, &unchanged, err);
		else if (rc != LANCET_OK)
			return rc;
		if (rc == LANCET_OK && unchanged) {
			*ret_version = version;
			return LANCET_OK;
		}
		if (rc == LANCET_OK)
			forget(&dataset->shared->cache, dataset, version);
		lancet_version_unref(version);
		if (rc != LANCET_OK)
			return rc;
	}
}

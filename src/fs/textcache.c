/* The cache of textcache.h: uthash keeps insertion order, so taking an entry out and putting it
 * back makes it the newest. Sizes are a direct-mapped table: bounded, and an entry that is
 * displaced is only rendered again.
 */
#include "textcache.h"

#include <pthread.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "util/text.h"

#define SIZES_BITS     16
#define ENTRY_OVERHEAD 256 /* bytes of malloc and hashing an entry costs beside its text */

struct entry {
	struct text_key key;
	struct text *text;
	UT_hash_handle hh;
};

struct size_entry {
	struct text_key key; /* node 0 = unused */
	uint64_t size;
};

struct textcache {
	pthread_mutex_t lock;
	struct entry *entries;
	uint64_t budget, used; /* bytes */
	struct size_entry *sizes;
};

struct text *
text_new(struct buf *bytes)
{
	struct text *text = malloc(sizeof(*text));

	if (text == NULL)
		return NULL;
	*text = (struct text){ .refs = 1, .size = bytes->size, .data = bytes->data };
	*bytes = (struct buf){ .limit = bytes->limit };
	return text;
}

struct text *
text_ref(struct text *text)
{
	__atomic_fetch_add(&text->refs, 1, __ATOMIC_RELAXED);
	return text;
}

void
text_unref(struct text *text)
{
	if (text == NULL || __atomic_sub_fetch(&text->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	free(text->data);
	free(text);
}

struct textcache *
textcache_new(uint64_t budget)
{
	struct textcache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return NULL;
	cache->budget = budget;
	cache->sizes = calloc(1u << SIZES_BITS, sizeof(*cache->sizes));
	if (cache->sizes == NULL || pthread_mutex_init(&cache->lock, NULL) != 0) {
		free(cache->sizes);
		free(cache);
		return NULL;
	}
	return cache;
}

static uint64_t
entry_cost(const struct entry *entry)
{
	return entry->text->size + ENTRY_OVERHEAD;
}

static void
remove_entry(struct textcache *cache, struct entry *entry)
{
	HASH_DEL(cache->entries, entry);
	cache->used -= entry_cost(entry);
	text_unref(entry->text);
	free(entry);
}

void
textcache_free(struct textcache *cache)
{
	if (cache == NULL)
		return;
	while (cache->entries != NULL)
		remove_entry(cache, cache->entries);
	pthread_mutex_destroy(&cache->lock);
	free(cache->sizes);
	free(cache);
}

/* Makes entry the newest. False when there is no memory for the hash; then it is not in the table.
 */
static bool
add_entry(struct textcache *cache, struct entry *entry)
{
	unsigned before = HASH_COUNT(cache->entries);

	HASH_ADD(hh, cache->entries, key, sizeof(entry->key), entry);
	return HASH_COUNT(cache->entries) > before;
}

struct text *
textcache_get(struct textcache *cache, struct text_key key)
{
	struct text *text = NULL;
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	HASH_FIND(hh, cache->entries, &key, sizeof(key), entry);
	if (entry != NULL) {
		text = text_ref(entry->text);
		HASH_DEL(cache->entries, entry);
		if (!add_entry(cache, entry)) {
			cache->used -= entry_cost(entry);
			text_unref(entry->text);
			free(entry);
		}
	}
	pthread_mutex_unlock(&cache->lock);
	return text;
}

void
textcache_put(struct textcache *cache, struct text_key key, struct text *text)
{
	struct entry *entry, *old;

	if (text->size > cache->budget || (entry = malloc(sizeof(*entry))) == NULL)
		return;
	*entry = (struct entry){ .key = key, .text = text };
	pthread_mutex_lock(&cache->lock);
	HASH_FIND(hh, cache->entries, &key, sizeof(key), old);
	if (old != NULL)
		remove_entry(cache, old);
	if (add_entry(cache, entry)) {
		text_ref(text);
		cache->used += entry_cost(entry);
	} else {
		free(entry);
	}
	while (cache->used > cache->budget && cache->entries != NULL)
		remove_entry(cache, cache->entries);
	pthread_mutex_unlock(&cache->lock);
}

static struct size_entry *
size_entry_of(struct textcache *cache, struct text_key key)
{
	uint64_t hash = text_hash(TEXT_HASH_SEED, slice_of(&key, sizeof(key)));

	return &cache->sizes[hash & ((1u << SIZES_BITS) - 1)];
}

bool
textcache_size(struct textcache *cache, struct text_key key, uint64_t *ret_size)
{
	struct size_entry *entry = size_entry_of(cache, key);
	bool found;

	pthread_mutex_lock(&cache->lock);
	found = entry->key.node == key.node && entry->key.generation == key.generation;
	if (found)
		*ret_size = entry->size;
	pthread_mutex_unlock(&cache->lock);
	return found;
}

void
textcache_remember(struct textcache *cache, struct text_key key, uint64_t size)
{
	struct size_entry *entry = size_entry_of(cache, key);

	pthread_mutex_lock(&cache->lock);
	*entry = (struct size_entry){ .key = key, .size = size };
	pthread_mutex_unlock(&cache->lock);
}

uint64_t
textcache_used(struct textcache *cache)
{
	uint64_t used;

	pthread_mutex_lock(&cache->lock);
	used = cache->used;
	pthread_mutex_unlock(&cache->lock);
	return used;
}

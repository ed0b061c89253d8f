/* The slot table of slots.h: chunks that never move, chained by hash; free slots in a queue, so
 * that the one freed last is reused last.
 */
#include "slots.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "addr.h"
#include "util/text.h"

#define CHUNK_BITS  10
#define CHUNK_SLOTS (1u << CHUNK_BITS)
#define CHUNKS_MAX  (1u << (ADDR_SLOT_BITS - CHUNK_BITS))
#define BUCKETS_MIN 64u
#define NO_SLOT     UINT32_MAX

struct slot {
	struct slot_key key; /* key.dataset NULL = free */
	_Atomic uint64_t lookups;
	uint32_t generation;
	uint32_t next; /* in its bucket, or in the queue of free slots */
};

struct slots {
	pthread_rwlock_t lock;
	struct slot *chunks[CHUNKS_MAX];
	uint32_t made; /* slots ever used */
	uint32_t used;
	uint32_t free_first, free_last;
	uint32_t *buckets;
	uint32_t bucket_count; /* a power of two */
};

static struct slot *
slot_at(const struct slots *slots, uint32_t index)
{
	return &slots->chunks[index >> CHUNK_BITS][index & (CHUNK_SLOTS - 1)];
}

static uint64_t
key_hash(const struct slot_key *key)
{
	uint64_t parts[3] = { (uintptr_t)key->dataset, key->number, (uint64_t)key->flavour };
	uint64_t hash = text_hash(TEXT_HASH_SEED, slice_of(parts, sizeof(parts)));

	return key->name == NULL ? hash : text_hash(hash, slice_text(key->name));
}

static bool
key_equal(const struct slot_key *a, const struct slot_key *b)
{
	return a->dataset == b->dataset && a->number == b->number && a->flavour == b->flavour &&
	       (a->name == NULL) == (b->name == NULL) &&
	       (a->name == NULL || strcmp(a->name, b->name) == 0);
}

static uint32_t *
bucket_of(struct slots *slots, const struct slot_key *key)
{
	return &slots->buckets[key_hash(key) & (slots->bucket_count - 1)];
}

static uint32_t
find(struct slots *slots, const struct slot_key *key)
{
	uint32_t index = *bucket_of(slots, key);

	while (index != NO_SLOT && !key_equal(&slot_at(slots, index)->key, key))
		index = slot_at(slots, index)->next;
	return index;
}

/* Doubles the buckets; a failure costs only time. */
static void
grow_buckets(struct slots *slots)
{
	uint32_t old_count = slots->bucket_count;
	uint32_t *old = slots->buckets;
	uint32_t *buckets = malloc((size_t)old_count * 2 * sizeof(*buckets));

	if (buckets == NULL)
		return;
	memset(buckets, 0xff, (size_t)old_count * 2 * sizeof(*buckets));
	slots->buckets = buckets;
	slots->bucket_count = old_count * 2;
	for (uint32_t i = 0; i < old_count; i++) {
		uint32_t index = old[i];

		while (index != NO_SLOT) {
			struct slot *slot = slot_at(slots, index);
			uint32_t next = slot->next;
			uint32_t *bucket = bucket_of(slots, &slot->key);

			slot->next = *bucket;
			*bucket = index;
			index = next;
		}
	}
	free(old);
}

/* A slot to fill: a new one as long as there are any, so that old numbers come back late. NO_SLOT:
 * none. */
static uint32_t
take_free(struct slots *slots)
{
	uint32_t index = slots->free_first;

	if (slots->made < CHUNKS_MAX * CHUNK_SLOTS &&
		(index == NO_SLOT || slots->made % CHUNK_SLOTS)) {
		struct slot **chunk = &slots->chunks[slots->made >> CHUNK_BITS];

		if (*chunk == NULL)
			*chunk = calloc(CHUNK_SLOTS, sizeof(**chunk));
		if (*chunk != NULL)
			return slots->made++;
	}
	if (index != NO_SLOT) {
		slots->free_first = slot_at(slots, index)->next;
		if (slots->free_first == NO_SLOT)
			slots->free_last = NO_SLOT;
	}
	return index;
}

static void
put_free(struct slots *slots, uint32_t index)
{
	slot_at(slots, index)->next = NO_SLOT;
	if (slots->free_last == NO_SLOT)
		slots->free_first = index;
	else
		slot_at(slots, slots->free_last)->next = index;
	slots->free_last = index;
}

/* Under the write lock. */
static int
insert(struct slots *slots, const struct slot_key *key, uint32_t *ret_slot,
	struct lancet_error *err)
{
	char *name = NULL;
	uint32_t index, *bucket;
	struct slot *slot;

	if (key->name != NULL && (name = strdup(key->name)) == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", key->name);
	index = take_free(slots);
	if (index == NO_SLOT) {
		free(name);
		return lancet_fail(err, LANCET_LIMIT,
			"%" PRIu32 " versions and tags are in use, no more can be", slots->used);
	}
	if (slots->used >= slots->bucket_count)
		grow_buckets(slots);
	slot = slot_at(slots, index);
	slot->key = *key;
	slot->key.name = name;
	lancet_dataset_ref(key->dataset);
	slot->generation++;
	atomic_store(&slot->lookups, 1);
	bucket = bucket_of(slots, &slot->key);
	slot->next = *bucket;
	*bucket = index;
	slots->used++;
	*ret_slot = index;
	return LANCET_OK;
}

/* Under the write lock. Returns what to release once it is unlocked. */
static struct slot_key
take_out(struct slots *slots, uint32_t index)
{
	struct slot *slot = slot_at(slots, index);
	struct slot_key key = slot->key;
	uint32_t *link = bucket_of(slots, &key);

	while (*link != index)
		link = &slot_at(slots, *link)->next;
	*link = slot->next;
	slot->key = (struct slot_key){ 0 };
	put_free(slots, index);
	slots->used--;
	return key;
}

static void
key_release(struct slot_key *key)
{
	free((char *)(uintptr_t)key->name);
	lancet_dataset_unref(key->dataset);
}

struct slots *
slots_new(const struct slot_key *root)
{
	struct slots *slots = calloc(1, sizeof(*slots));
	uint32_t first = 0;

	if (slots == NULL)
		return NULL;
	slots->free_first = slots->free_last = NO_SLOT;
	slots->bucket_count = BUCKETS_MIN;
	slots->buckets = malloc(BUCKETS_MIN * sizeof(*slots->buckets));
	if (slots->buckets == NULL || pthread_rwlock_init(&slots->lock, NULL) != 0) {
		free(slots->buckets);
		free(slots);
		return NULL;
	}
	memset(slots->buckets, 0xff, BUCKETS_MIN * sizeof(*slots->buckets));
	if (slots_acquire(slots, root, &first, NULL) != LANCET_OK) {
		slots_free(slots);
		return NULL;
	}
	assert(first == 0);
	return slots;
}

void
slots_free(struct slots *slots)
{
	if (slots == NULL)
		return;
	for (uint32_t i = 0; i < slots->made; i++) {
		if (slot_at(slots, i)->key.dataset != NULL)
			key_release(&slot_at(slots, i)->key);
	}
	for (uint32_t i = 0; i < CHUNKS_MAX; i++)
		free(slots->chunks[i]);
	free(slots->buckets);
	pthread_rwlock_destroy(&slots->lock);
	free(slots);
}

int
slots_acquire(struct slots *slots, const struct slot_key *key, uint32_t *ret_slot,
	struct lancet_error *err)
{
	uint32_t index;
	int rc = LANCET_OK;

	pthread_rwlock_rdlock(&slots->lock);
	index = find(slots, key);
	if (index != NO_SLOT)
		atomic_fetch_add(&slot_at(slots, index)->lookups, 1);
	pthread_rwlock_unlock(&slots->lock);
	if (index == NO_SLOT) {
		pthread_rwlock_wrlock(&slots->lock);
		index = find(slots, key);
		if (index != NO_SLOT)
			atomic_fetch_add(&slot_at(slots, index)->lookups, 1);
		else
			rc = insert(slots, key, &index, err);
		pthread_rwlock_unlock(&slots->lock);
	}
	if (rc == LANCET_OK)
		*ret_slot = index;
	return rc;
}

void
slots_add(struct slots *slots, uint32_t slot, uint64_t lookups)
{
	if (slot == 0)
		return;
	pthread_rwlock_rdlock(&slots->lock);
	if (slot < slots->made && slot_at(slots, slot)->key.dataset != NULL)
		atomic_fetch_add(&slot_at(slots, slot)->lookups, lookups);
	pthread_rwlock_unlock(&slots->lock);
}

/* Lowers the count by at most what it is; true when it reached 0. */
static bool
lower(struct slot *slot, uint64_t lookups)
{
	uint64_t have = atomic_load(&slot->lookups);
	uint64_t left;

	do {
		left = have > lookups ? have - lookups : 0;
	} while (!atomic_compare_exchange_weak(&slot->lookups, &have, left));
	return left == 0;
}

void
slots_release(struct slots *slots, uint32_t slot, uint64_t lookups)
{
	struct slot_key key = { 0 };
	bool last;

	if (slot == 0 || lookups == 0)
		return;
	pthread_rwlock_rdlock(&slots->lock);
	last = slot < slots->made && slot_at(slots, slot)->key.dataset != NULL &&
	       lower(slot_at(slots, slot), lookups);
	pthread_rwlock_unlock(&slots->lock);
	if (!last)
		return;
	/* Between the locks somebody may have found it again, or ended it already. */
	pthread_rwlock_wrlock(&slots->lock);
	if (slot_at(slots, slot)->key.dataset != NULL &&
		atomic_load(&slot_at(slots, slot)->lookups) == 0)
		key = take_out(slots, slot);
	pthread_rwlock_unlock(&slots->lock);
	key_release(&key);
}

bool
slots_get(struct slots *slots, uint32_t slot, struct slot_key *ret_key, uint32_t *ret_generation)
{
	bool found;

	pthread_rwlock_rdlock(&slots->lock);
	found = slot < slots->made && slot_at(slots, slot)->key.dataset != NULL;
	if (found) {
		*ret_key = slot_at(slots, slot)->key;
		*ret_generation = slot_at(slots, slot)->generation;
		lancet_dataset_ref(ret_key->dataset);
	}
	pthread_rwlock_unlock(&slots->lock);
	return found;
}

bool
slots_find(struct slots *slots, const struct slot_key *key, uint32_t *ret_slot)
{
	uint32_t index;

	pthread_rwlock_rdlock(&slots->lock);
	index = find(slots, key);
	pthread_rwlock_unlock(&slots->lock);
	if (index != NO_SLOT)
		*ret_slot = index;
	return index != NO_SLOT;
}

uint32_t
slots_made(struct slots *slots)
{
	uint32_t made;

	pthread_rwlock_rdlock(&slots->lock);
	made = slots->made;
	pthread_rwlock_unlock(&slots->lock);
	return made;
}

size_t
slots_used(struct slots *slots)
{
	size_t used;

	pthread_rwlock_rdlock(&slots->lock);
	used = slots->used;
	pthread_rwlock_unlock(&slots->lock);
	return used;
}

uint64_t
slots_lookups(struct slots *slots, uint32_t slot)
{
	uint64_t lookups = 0;

	pthread_rwlock_rdlock(&slots->lock);
	if (slot < slots->made)
		lookups = atomic_load(&slot_at(slots, slot)->lookups);
	pthread_rwlock_unlock(&slots->lock);
	return lookups;
}

int
slot_version(const struct slot_key *key, lancet_version **ret_version, struct lancet_error *err)
{
	int rc = lancet_version_open(key->dataset, key->number, ret_version, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(
			err, LANCET_CLEANED, "version %" PRIu64 " was removed", key->number);
	return rc;
}

/* Inside of a dataset: what its root and its branches share, and who keeps it alive.
 *
 * A root and its branch handles are one family: `struct dataset_shared`. Two counts rule it.
 * `handles` are the references of users (lancet_dataset_ref), over all handles of the family;
 * when the last goes the version cache is emptied, and nothing is cached until there is one
 * again. `refs` are handles plus the pins of versions; when the last goes the memory is freed.
 * So cached versions, which pin their dataset, never keep it alive by themselves, and a version
 * that is in use keeps working without any handle.
 */
#ifndef CORE_DATASET_H
#define CORE_DATASET_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include <lancet/version.h>
#include "id_index.h"
#include "names.h"
#include "store.h"
#include "version.h"

#define VERSIONS_DIR      "_versions"
#define MANIFEST_PATH_MAX (sizeof(VERSIONS_DIR) + MANIFEST_NAME_MAX)

#define VERSION_CACHE_BUCKETS 64

struct base_node;
struct base_spelling;
struct version_slot;

/* Interned bases (bases.c): nodes and spellings are only ever added. */
struct base_table {
	pthread_mutex_t lock;
	struct store *root;        /* borrowed from dataset_shared */
	const char *const *follow; /* borrowed from dataset_shared */
	dev_t root_dev;
	ino_t root_ino;
	struct base_node *nodes;
	struct base_spelling *spellings;
	size_t node_count, spelling_count;
};

/* Snapshots of versions that are kept for the next open (version_cache.c): LRU, by bytes and by
 * number. One mutex guards the table and is never held over I/O. A key is loaded by one thread
 * at a time; others that want it wait for that result, failures included. What is evicted lives
 * on while somebody holds a reference. */
struct version_cache {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	struct version_slot *buckets[VERSION_CACHE_BUCKETS];
	struct version_slot *newest, *oldest; /* by last use; loading ones are not in it */
	size_t bytes, budget;
	size_t count;
	size_t count_max;
};

/* The last answer of lancet_dataset_latest and what must be unchanged for it to stand. */
struct latest_memo {
	bool valid;
	uint64_t number;
	char path[MANIFEST_PATH_MAX];
	struct stat directory, file;
};

struct lancet_dataset {
	struct dataset_shared *shared;
	const struct lancet_base *base;
	char *branch;                /* "" for main */
	struct lancet_dataset *next; /* of the branches of shared */
	pthread_mutex_t latest_lock;
	struct latest_memo latest;
};

struct dataset_shared {
	struct store *store;
	char *location; /* where the root lies: absolute, as it was opened */
	char **follow; /* NULL-ended copies */
	atomic_int handles, refs;
	struct lancet_dataset *root;
	pthread_mutex_t branches_lock;
	struct lancet_dataset *branches;
	struct base_table bases;
	struct version_cache cache;
	struct id_index_slot ids;
};

/* As lancet_dataset_open, over a store, which gets a reference; `name` is its path, for error texts
 * and for branches that are made from it. */
int dataset_open_store(struct store *store, const char *name,
                       const struct lancet_dataset_options *options,
                       struct lancet_dataset **ret_dataset, struct lancet_error *err);

/* The text that a manifest elsewhere has for the dataset as a base path: where it was opened, made
 * absolute, with "/tree/NAME" behind it for a branch. NO_MEMORY; allocated. */
int dataset_location(
	struct lancet_dataset *dataset, char **ret_location, struct lancet_error *err);

void version_cache_init(struct version_cache *cache, uint64_t budget);
/* Forgets everything that is loaded. */
void version_cache_empty(struct version_cache *cache);
/* Nothing may be cached or loading any more. */
void version_cache_release(struct version_cache *cache);

int base_table_init(struct base_table *table, struct store *root, const char *const *follow,
                    struct lancet_error *err);
void base_table_release(struct base_table *table);
/* The base of a directory below the root, whether it exists or not; "" is the root. */
int base_table_sub(struct base_table *table, const char *relative,
                   const struct lancet_base **ret_base, struct lancet_error *err);

/* The text of a base path as an absolute local path without "//" and "/./"; ".." stays. CORRUPT:
 * empty, relative, too long, with a NUL; UNSUPPORTED: a URI of another scheme than file or of
 * another host. */
int base_path_parse(struct slice stored, char into[PATH_MAX], struct lancet_error *err);
/* Turns NOT_FOUND into IO with EIO: what a manifest names must be there. Other codes pass. */
int base_fail_lost(int rc, struct lancet_error *err);

/* Where the manifest of `number` lies: its path below the base ("_versions/…") and attributes. With
 * both names there it is the V2 one, and *ret_clash (may be NULL) is set. NOT_FOUND. */
int dataset_find_manifest(struct lancet_dataset *dataset, uint64_t number,
                          char ret_path[MANIFEST_PATH_MAX], struct stat *ret_stat, bool *ret_clash,
                          struct lancet_error *err);
/* NOT_FOUND unless `_versions/` holds at least one manifest name. */
int dataset_require_manifest(struct store *store, struct lancet_error *err);

/* LANCET_OK when branch `name` exists and is sound; as lancet_dataset_branch else
 * (refs_branch.c). */
int branch_check(struct lancet_dataset *root, struct slice name, struct lancet_error *err);

#endif

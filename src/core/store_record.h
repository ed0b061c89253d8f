/* A store that keeps a log of every change made through it, for tests of what a crash leaves.
 *
 * Only what succeeded is logged, in the order in which it happened. The log is read when nobody
 * writes any more.
 */
#ifndef CORE_STORE_RECORD_H
#define CORE_STORE_RECORD_H

#include <pthread.h>

#include "store.h"

enum store_change {
	STORE_CREATE,
	STORE_PUT,
	STORE_SYNC,
	STORE_LINK,
	STORE_RENAME,
	STORE_REMOVE,
	STORE_MAKE_DIR,
	STORE_REMOVE_DIR,
	STORE_SYNC_DIR,
};

struct store_logged {
	enum store_change change;
	size_t file; /* create, put, sync: which file, numbered as they were created */
	char *key;   /* NULL for put and sync */
	char *to;    /* link, rename */
	uint8_t *bytes;
	size_t size; /* bytes put */
};

struct store_log {
	struct store_logged *calls;
	size_t count, capacity;
	size_t files;       /* created */
	uint64_t syncs;     /* asked for, of files and directories */
	uint64_t drop_sync; /* 1-based: this one is reported as done, but neither done nor logged */
	pthread_mutex_t lock;
};

/* drop_sync 0: none. */
void store_log_init(struct store_log *log, uint64_t drop_sync);
void store_log_release(struct store_log *log);

/* Takes a reference of inner; the log must outlive the store and its writers. NULL when there is
 * no memory. Changes are made one at a time. */
struct store *store_record_new(struct store *inner, struct store_log *log);

#endif

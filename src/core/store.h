/* Storage behind a small vtable: keys are relative paths below one root.
 *
 * An object store comes later; decorators (store_fault, store_trace) wrap any store for tests.
 * Nothing is ever opened outside the root: absolute keys, "..", empty parts and NUL are refused
 * before the backend sees them (store_key_check), and the local backend resolves beneath one
 * directory descriptor. Symbolic links that leave the root are followed only into the
 * directories given as `follow`. Stores are immutable once made, counted, and safe to use from
 * many threads.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <lancet/error.h>
#include "util/source.h"

#define STORE_KEY_MAX 4095 /* bytes of a key, at most */

struct store;
struct store_write_ops;

/* One name of a directory; is_dir is exact, a link counts as what it leads to. Return LANCET_OK
 * to go on; any other code ends the listing, and is what store_list returns then (without
 * filling err). */
typedef int (*store_sink)(void *context, const char *name, bool is_dir);

struct store_ops {
	int (*open_fd)(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
	               struct lancet_error *err);
	int (*open_source)(struct store *store, const char *key, struct source **ret_source,
	                   struct stat *ret_stat, struct lancet_error *err);
	int (*list)(struct store *store, const char *prefix, store_sink sink, void *context,
	            struct lancet_error *err);
	int (*stat)(struct store *store, const char *key, struct stat *ret_stat,
	            struct lancet_error *err);
	int (*statvfs)(struct store *store, struct statvfs *ret_stat, struct lancet_error *err);
	void (*release)(struct store *store);
	/* NULL: a store that can't be written (store_write.h). */
	const struct store_write_ops *write;
	/* NULL, or: the store is a directory of *ret_parent (borrowed), where key is `into`; what
	 * writes goes there. */
	int (*resolve)(struct store *store, const char *key, char into[STORE_KEY_MAX + 1],
		struct store **ret_parent, struct lancet_error *err);
};

struct store {
	const struct store_ops *ops;
	int refs;       /* atomic */
	int publishing; /* atomic; what store_can_publish found out */
};

void store_init(struct store *store, const struct store_ops *ops);
struct store *store_ref(struct store *store);
void store_unref(struct store *store);

/* CORRUPT unless key is a relative path of plain parts, each <= 255 bytes, 4095 in all, no NUL. */
int store_key_check(struct slice key, struct lancet_error *err);

/* Checked dispatch. NOT_FOUND: the key does not exist (a part of it that is no directory included).
 * CORRUPT: a symbolic link that leaves the root or loops, not a regular file. open_*: read-only,
 * O_NOATIME where permitted, never blocking on a FIFO. key "" names the root for stat and list.
 * list: any order, no . and .. */
int store_open_fd(struct store *store, const char *key, int *ret_fd, struct stat *ret_stat,
                  struct lancet_error *err);
int store_open_source(struct store *store, const char *key, struct source **ret_source,
                      struct stat *ret_stat, struct lancet_error *err);
int store_list(struct store *store, const char *prefix, store_sink sink, void *context,
               struct lancet_error *err);
int store_stat(struct store *store, const char *key, struct stat *ret_stat,
               struct lancet_error *err);
int store_statvfs(struct store *store, struct statvfs *ret_stat, struct lancet_error *err);

/* Local directory. `follow` is NULL or NULL-ended absolute paths, copied. */
int store_local_open(const char *path, const char *const *follow, struct store **ret_store,
                     struct lancet_error *err);
/* A sub-directory of a store as a store of its own ("tree/b" of a branch): every key gets the
 * prefix. The directory need not exist yet, and may be removed and made again. */
int store_sub_open(struct store *parent, const char *prefix, struct store **ret_store,
                   struct lancet_error *err);

/* Decorators for tests; they take a reference of inner and return NULL when there is no memory. */
struct store_counts { /* atomic adds */
	uint64_t opens, stats, lists, reads, read_bytes; /* statvfs is a stat */
	uint64_t creates, writes, write_bytes, syncs, dir_syncs;
	uint64_t links, renames, removes, dirs; /* removes of files and directories; dirs made */
};
struct store *store_trace_new(struct store *inner, struct store_counts *counts);
/* Fails the nth call (1-based, calls of all kinds together, those of sources and writers too) with
 * os_errno. A write that fails has put half of its bytes into the file; a close has closed it. */
struct store *store_fault_new(struct store *inner, uint64_t nth, int os_errno);
enum store_fault_flags {
	STORE_FAULT_LATE = 1,  /* a call that changes something is done, then reported as failed */
	STORE_FAULT_STAYS = 2, /* all later calls fail, too */
};
struct store *store_fault_flags_new(struct store *inner, uint64_t nth, int os_errno, int flags);

#endif

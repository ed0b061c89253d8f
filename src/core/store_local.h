/* The local directory store, between its reading and its writing half. */
#ifndef CORE_STORE_LOCAL_H
#define CORE_STORE_LOCAL_H

#include "store.h"
#include "store_follow.h"
#include "store_write.h"

struct local_store {
	struct store base;
	int root_fd; /* O_PATH */
	bool has_openat2;
	struct store_follow follow;
};

extern const struct store_write_ops store_local_write_ops;

/* Opens key ("" is the root) without touching its access time when we may; -1 with errno. */
int store_local_key_open(const struct local_store *local, const char *key, int flags);
/* The error for a key that could not be opened, from errno. */
int store_local_key_fail(const char *key, struct lancet_error *err);

#endif

/* Random access to immutable bytes: memory, a file descriptor, or a part of another source.
 *
 * Reads are exact: all bytes or an error; a read past the end is LANCET_CORRUPT because whoever
 * asks took the range from disk. Sources are counted and safe to read from many threads. Decorators
 * (counting, failing) wrap one source in another.
 */
#ifndef UTIL_SOURCE_H
#define UTIL_SOURCE_H

#include "slice.h"
#include <lancet/error.h>

struct source;

struct source_ops {
	/* Reads exactly `size` bytes at `offset`; bounds were checked by source_read_at. */
	int (*read_at)(struct source *src, uint64_t offset, size_t size, void *into,
	               struct lancet_error *err);
	void (*release)(struct source *src);
};

struct source {
	const struct source_ops *ops;
	uint64_t size;       /* bytes */
	int refs;            /* atomic */
	const uint8_t *data; /* the bytes themselves when they are in memory, else NULL */
	int fd;              /* a descriptor with the same bytes at the same offsets, or -1 */
};

/* For implementers: fills the common part with one reference. */
void source_init(struct source *src, const struct source_ops *ops, uint64_t size);

/* All three return NULL when there is no memory, and then have taken nothing. */
/* Memory; `owned` is freed with the source when it is not NULL. */
struct source *source_memory_new(struct slice bytes, void *owned);
/* Takes the descriptor on success. Size as given by the caller (from fstat). */
struct source *source_fd_new(int fd, uint64_t size);
/* A window of parent, which gets a reference. offset + size <= parent->size is the caller's
 * duty. */
struct source *source_slice_new(struct source *parent, uint64_t offset, uint64_t size);
struct source *source_ref(struct source *src);
void source_unref(struct source *src); /* NULL is fine */

LANCET_MUST_CHECK int source_read_at(struct source *src, uint64_t offset, size_t size, void *into,
                                     struct lancet_error *err);
/* Allocates; the caller frees *ret_data. */
LANCET_MUST_CHECK int source_load(struct source *src, uint64_t offset, size_t size,
                                  uint8_t **ret_data, struct lancet_error *err);

#endif

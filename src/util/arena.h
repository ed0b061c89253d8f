/* Memory that dies together, with a limit: what one decoded protobuf message costs.
 *
 * Real messages cost 3-5x their bytes when decoded; a run of empty sub-messages would cost 89x.
 * The limit is therefore part of every parser. Allocation beyond it returns NULL and sets `full`.
 */
#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used;  /* bytes handed out and overhead */
	size_t limit; /* bytes; 0 = no limit */
	bool full;    /* the limit was reached or malloc failed */
};

void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, not zeroed; NULL when full */
void *arena_zalloc(struct arena *a, size_t count, size_t size); /* zeroed, overflow checked */
void *arena_copy(struct arena *a, const void *data, size_t size);
size_t arena_footprint(const struct arena *a); /* bytes of malloc held */
void arena_release(struct arena *a);

#endif

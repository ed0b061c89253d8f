/* A source that is not in memory, as far as its user can tell, and counts what is read of it. */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

#include "marks.h"
#include <stdlib.h>

#include "util/source.h"

struct counted_source {
	struct source base;
	struct source *inner;
	uint64_t reads, bytes;
};

static inline int
counted_read_at(struct source *src, uint64_t offset, size_t size, void *into,
                struct lancet_error *err)
{
	struct counted_source *counted = (struct counted_source *)src;

	counted->reads++;
	counted->bytes += size;
	return source_read_at(counted->inner, offset, size, into, err);
}

static inline void
counted_release(struct source *src)
{
	struct counted_source *counted = (struct counted_source *)src;

	source_unref(counted->inner);
	free(counted);
}

static inline struct counted_source *
counted_new(struct slice bytes)
{
	static const struct source_ops ops = { counted_read_at, counted_release };
	struct counted_source *counted = calloc(1, sizeof(*counted));

	ck_assert_ptr_nonnull(counted);
	source_init(&counted->base, &ops, bytes.size);
	counted->inner = source_memory_new(bytes, NULL);
	ck_assert_ptr_nonnull(counted->inner);
	return counted;
}

#endif

/* Builds flatbuffers from front to back: a table first, then what it refers to.
 *
 * References point forward, so a table is written with empty ones that are filled in once their
 * target has a place. The buffer holds one flatbuffer from its first byte on, failures stick to it,
 * and places are offsets in it. flatview.h reads what this writes.
 */
#ifndef UTIL_FLATBUILD_H
#define UTIL_FLATBUILD_H

#include "buf.h"

/* A field of a table: its slot, 1, 2, 4 or 8 bytes of value, and where it was put. A reference has
 * 4 bytes and is filled in later; one that stays empty must not be listed. */
struct flatfield {
	unsigned slot;
	unsigned size;
	uint64_t value;
	size_t at;
};

#define FLAT_REFERENCE(slot)                                                                       \
	{                                                                                          \
		(slot), 4, 0, 0                                                                    \
	}

/* Room for the reference to the root, which is place 0. */
void flatbuild_begin(struct buf *out);
/* Returns the place of the table; each field learns its own. */
size_t flatbuild_table(struct buf *out, struct flatfield *fields, size_t count);
/* Lets the reference at `at` point to `target`, which lies behind it. */
void flatbuild_refer(struct buf *out, size_t at, size_t target);
size_t flatbuild_string(struct buf *out, struct slice text);
/* `count` elements of `size` bytes, aligned for numbers as wide as `alignment`; NULL: references,
 * to be filled in at flatbuild_element. */
size_t flatbuild_vector(
	struct buf *out, const void *elements, size_t count, size_t size, size_t alignment);

static inline size_t
flatbuild_element(size_t vector, size_t index)
{
	return vector + 4 + 4 * index;
}

#endif

/* Values that are put, gathered until they make a page, in the shape that pages can have.
 *
 * A null has nothing behind it: no bytes, no items, and null structs have children that are null
 * or nothing. Dictionaries have no null values. Blobs are put aside at once; what is gathered of
 * them is where they are.
 */
#ifndef FILE_GATHER_H
#define FILE_GATHER_H

#include "array.h"

/* Puts the bytes of a blob into the file. */
struct blob_sink {
	int (*put)(void *context, struct slice bytes, uint64_t *ret_position,
		struct lancet_error *err);
	void *context;
};

/* Appends values [first, first + count); `into` is of a tree with blobs as descriptions. */
int gather_append(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	const struct blob_sink *blobs, struct lancet_error *err);
/* Bytes that the values take when they are gathered for `field`, about; never 0 for a value. */
uint64_t gather_size(
	const struct field *field, const struct array *from, uint64_t first, uint64_t count);
/* False when keys might have no room for the values of both dictionaries. What both have is one:
 * a page ends only where it must, since pylance (14.0.2) counts the values of a batch's pages. */
int gather_has_keys(
	struct array *into, const struct array *from, bool *ret_has, struct lancet_error *err);

#endif

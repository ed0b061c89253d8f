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
/* False when keys might have no room for the values of both dictionaries. */
bool gather_has_keys(const struct array *into, const struct array *from);

#endif

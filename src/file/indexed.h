/* Values told by their number among others: what dictionaries of pages and of files stand for. */
#ifndef FILE_INDEXED_H
#define FILE_INDEXED_H

#include "array.h"
#include "scratch.h"

/* Appends items[indices[i]] to out: of the same field as the items, or a DICTIONARY of them, which
 * gets keys of its own. Indices are FIXED, of 8 to 64 bits, and not looked at where bit i of
 * `validity` is 0 (NULL: all are): what stands there in out is any value, for the caller to make
 * null. Values of null items are null. CORRUPT: an index beyond the items. */
int indexed_gather(const struct array *items, const struct array *indices, const uint8_t *validity,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
/* The same by the indices' own nulls, which are null in out, too. */
int indexed_append(const struct array *items, const struct array *indices, struct scratch *scratch,
	struct array *out, struct lancet_error *err);

#endif

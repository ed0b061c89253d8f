/* Values told by their number among others: what dictionaries of pages and of files stand for. */
#ifndef FILE_INDEXED_H
#define FILE_INDEXED_H

#include "array.h"
#include "scratch.h"

/* Appends items[indices[i]] to out: of the same field as the items, or a DICTIONARY of them, which
 * gets keys of its own. Indices are FIXED, of 8 to 64 bits, and not looked at where they are null:
 * those values are null in out, as are those of null items. CORRUPT: an index beyond the items. */
int indexed_append(const struct array *items, const struct array *indices, struct scratch *scratch,
	struct array *out, struct lancet_error *err);

#endif

/* Deletion files of ours: the whole set of a fragment's deleted rows as a portable Roaring bitmap.
 * Format facts: deletion files.
 */
#ifndef CORE_DELETION_WRITE_H
#define CORE_DELETION_WRITE_H

#include <roaring/roaring.h>

#include "publish.h"

struct Lance__Table__DeletionFile;

/* Adds `_deletions/FRAGMENT-READ_VERSION-ID.bin` to the round, with a random id, and makes
 * *ret_file name it. The set has a member. */
int deletion_write(struct publish *publish, uint64_t fragment, uint64_t read_version,
	const roaring_bitmap_t *deleted, struct Lance__Table__DeletionFile *ret_file,
	struct lancet_error *err);

#endif

/* Deletion files of ours: the whole set of a fragment's deleted rows as a portable Roaring bitmap.
 * Format facts: deletion files.
 */
#ifndef CORE_DELETION_WRITE_H
#define CORE_DELETION_WRITE_H

#include <roaring/roaring.h>

#include "publish.h"

struct Lance__Table__DeletionFile;

/* Makes *ret_file name a file that is to hold the set, which has a member: its id is random. */
int deletion_name(uint64_t read_version, const roaring_bitmap_t *deleted,
	struct Lance__Table__DeletionFile *ret_file, struct lancet_error *err);
/* Adds `_deletions/FRAGMENT-READ_VERSION-ID.bin`, as it is named, to the round. */
int deletion_write(struct publish *publish, uint64_t fragment,
	const struct Lance__Table__DeletionFile *file, const roaring_bitmap_t *deleted,
	struct lancet_error *err);

#endif

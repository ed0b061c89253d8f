/* Text maps of protobuf messages as sorted lists. */
#ifndef CORE_ENTRIES_H
#define CORE_ENTRIES_H

#include <lancet/bytes.h>
#include <lancet/error.h>
#include "util/arena.h"

struct Lance__File__StringEntry;

/* Sorts by key bytes; of equal keys the last stored one counts. The list lies in the arena and
 * borrows the bytes of the messages. */
int entries_sort(struct arena *arena, struct Lance__File__StringEntry *const *stored, size_t count,
                 const struct lancet_entry **ret_entries, size_t *ret_count,
                 struct lancet_error *err);

#endif

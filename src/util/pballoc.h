/* protobuf-c decoding into an arena: the message dies with the arena, and the arena's limit is its
 * price.
 *
 * When unpack returns NULL, `full` of the arena tells a message that costs too much from a
 * malformed one.
 */
#ifndef UTIL_PBALLOC_H
#define UTIL_PBALLOC_H

#include "arena.h"
#include <protobuf-c/protobuf-c.h>

/* The allocator borrows the arena. free_unpacked with it does nothing. */
ProtobufCAllocator pb_allocator(struct arena *a);

#endif

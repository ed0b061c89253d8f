/* One protobuf message from bytes in memory, decoded into an arena with a limit. */
#ifndef UTIL_PBUNPACK_H
#define UTIL_PBUNPACK_H

#include <protobuf-c/protobuf-c.h>

#include <lancet/error.h>
#include "arena.h"
#include "slice.h"

/* *ret_message is a pointer to the message's C type; it lives as long as the arena, which has no
 * limit afterwards. CORRUPT: not decodable; LIMIT: decoding would cost too much. */
int pb_unpack(const ProtobufCMessageDescriptor *type, struct slice bytes, struct arena *arena,
              void *ret_message, struct lancet_error *err);

/* Bytes of memory that a message of so many bytes may cost. */
size_t pb_cost_limit(size_t size);

#endif

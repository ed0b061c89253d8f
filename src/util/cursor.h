/* The only way to read structured bytes: a position in a slice with sticky failure.
 *
 * Once a read would pass the end, `bad` is set, nothing moves any more and every read gives zero or
 * an empty slice; the caller checks `bad` once, after a group of reads. All integers are
 * little-endian, as everywhere in the Lance format.
 */
#ifndef UTIL_CURSOR_H
#define UTIL_CURSOR_H

#include "slice.h"

struct cursor {
	struct slice in;
	size_t at; /* <= in.size */
	bool bad;
};

struct slice cursor_take(struct cursor *c, uint64_t size); /* borrowed from in */
void cursor_skip(struct cursor *c, uint64_t size);
size_t cursor_left(const struct cursor *c);
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* A protobuf varint: at most 10 bytes, overlong or past 64 bits is bad. */
uint64_t cursor_varint(struct cursor *c);

/* Unaligned little-endian loads; the caller knows that the bytes are there. */
uint16_t load_u16(const uint8_t *at);
uint32_t load_u32(const uint8_t *at);
uint64_t load_u64(const uint8_t *at);

#endif

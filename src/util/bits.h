/* Bitmaps as Arrow and the file format lay them out: bit i is bit i & 7 of byte i >> 3. */
#ifndef UTIL_BITS_H
#define UTIL_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool
bits_get(const uint8_t *bitmap, uint64_t index)
{
	return bitmap[index >> 3] >> (index & 7) & 1;
}

/* Bytes of a bitmap of `count` bits. */
static inline uint64_t
bits_size(uint64_t count)
{
	return count / 8 + (count % 8 != 0);
}

/* Copies bits [from_bit, from_bit + count) to to_bit; other bits of `to` stay. No byte beyond those
 * that hold the bits is read or written. The bitmaps do not overlap. */
void bits_copy(
	uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t count);
void bits_fill(uint8_t *to, uint64_t first, uint64_t count, bool value);
/* Ones among bits [first, first + count). */
uint64_t bits_count(const uint8_t *bitmap, uint64_t first, uint64_t count);

#endif

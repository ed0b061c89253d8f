/* The FastLanes layout: 1024 unsigned values of T bits packed to W bits each, T = 8, 16, 32, 64.
 *
 * Values are interleaved so that unpacking does the same to neighbouring words at every step. A
 * packed unit has 1024 x W bits, which are T/8 x W words of T bits in each of 1024/T lanes. Format
 * facts: FastLanes bit layout.
 */
#ifndef FILE_FASTLANES_H
#define FILE_FASTLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FASTLANES_UNIT 1024u /* values */

bool fastlanes_knows(uint64_t bits); /* T is 8, 16, 32 or 64 */

/* Bytes of a packed unit. */
static inline size_t
fastlanes_size(unsigned width)
{
	return (size_t)FASTLANES_UNIT / 8 * width;
}

/* All 1024 values to `values`, T/8 bytes each; width <= bits. Nothing need be aligned. */
void fastlanes_unpack(
	unsigned bits, unsigned width, const uint8_t *packed, uint8_t *restrict values);
/* The other way round: 1024 values of less than 2^width each. */
void fastlanes_pack(
	unsigned bits, unsigned width, const uint8_t *values, uint8_t *restrict packed);
/* The least width that `count` values fit. */
unsigned fastlanes_width(unsigned bits, const uint8_t *values, size_t count);

#endif

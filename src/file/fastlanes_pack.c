/* Packing of 1024 values at a time: the mirror image of unpacking in fastlanes.c, with the same
 * rows of 16 words whatever T is. */
#include "fastlanes.h"

#include <string.h>

#define ROW_WORDS 16u
#define ROW_BYTES (ROW_WORDS * 8)

typedef uint64_t any_u64 __attribute__((aligned(1), may_alias));

static const uint8_t order[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

static uint64_t
low_bits(unsigned count)
{
	return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The same T bits in every lane of a word. */
static uint64_t
each_lane(uint64_t lane, unsigned bits)
{
	return bits == 64 ? lane : lane * (UINT64_MAX / low_bits(bits));
}

static inline __attribute__((always_inline)) void
pack_row(const any_u64 *from, uint64_t keep, unsigned shift, any_u64 *restrict to)
{
	for (unsigned i = 0; i < ROW_WORDS; i++)
		to[i] |= (from[i] & keep) << shift;
}

/* What did not fit a row's word goes to the start of the next. */
static inline __attribute__((always_inline)) void
pack_rest(const any_u64 *from, uint64_t keep, unsigned shift, any_u64 *restrict to)
{
	for (unsigned i = 0; i < ROW_WORDS; i++)
		to[i] |= (from[i] & keep) >> shift;
}

__attribute__((optimize("O3"))) void
fastlanes_pack(unsigned bits, unsigned width, const uint8_t *values, uint8_t *restrict packed)
{
	uint64_t all = low_bits(width);

	memset(packed, 0, fastlanes_size(width));
	for (unsigned row = 0; width > 0 && row < bits; row++) {
		unsigned at = row * width, shift = at % bits, have = bits - shift;
		any_u64 *to = (any_u64 *)(packed + (size_t)(at / bits) * ROW_BYTES);
		unsigned first = order[row / 8] * 16u + row % 8 * 128;
		const any_u64 *from = (const any_u64 *)(values + (size_t)first * bits / 8);

		pack_row(from, each_lane(all & low_bits(have), bits), shift, to);
		if (have < width)
			pack_rest(
				from, each_lane(all & ~low_bits(have), bits), have, to + ROW_WORDS);
	}
}

unsigned
fastlanes_width(unsigned bits, const uint8_t *values, size_t count)
{
	size_t size = count * (bits / 8), at = 0;
	uint64_t folded = 0, word;

	for (; size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, values + at, sizeof(word));
		folded |= word;
	}
	word = 0;
	memcpy(&word, values + at, size - at);
	folded |= word;
	for (unsigned half = 32; half >= bits; half /= 2)
		folded |= folded >> half;
	folded &= low_bits(bits);
	return folded == 0 ? 0 : 64 - (unsigned)__builtin_clzll(folded);
}

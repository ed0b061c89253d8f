/* Unpacking and packing of 1024 values at a time.
 *
 * A row is what all lanes have at the same bit position: 1024 bits whatever T is. It is handled as
 * 16 words of 64 bits, with masks that keep each lane's bits apart, so that one loop serves every T
 * and compiles to plain vector code. Format facts: FastLanes bit layout.
 */
#include "fastlanes.h"

#include <string.h>

#define ROW_WORDS 16u
#define ROW_BYTES (ROW_WORDS * 8)

/* Wider vectors are used where the machine has them, chosen when the library is loaded. Sanitizers
 * and that choice don't go together. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FAST __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FAST
#endif

typedef uint64_t any_u64 __attribute__((aligned(1), may_alias));

static const uint8_t order[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

bool
fastlanes_knows(uint64_t bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

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
unpack_row(const any_u64 *from, unsigned shift, uint64_t keep, any_u64 *restrict to)
{
	for (unsigned i = 0; i < ROW_WORDS; i++)
		to[i] = from[i] >> shift & keep;
}

/* A row whose values begin in one word of their lane and end in the next. */
static inline __attribute__((always_inline)) void
unpack_split_row(const any_u64 *from, unsigned shift, uint64_t keep, unsigned shift_next,
	uint64_t keep_next, any_u64 *restrict to)
{
	for (unsigned i = 0; i < ROW_WORDS; i++)
		to[i] = (from[i] >> shift & keep) | (from[i + ROW_WORDS] << shift_next & keep_next);
}

FAST void
fastlanes_unpack(unsigned bits, unsigned width, const uint8_t *packed, uint8_t *restrict values)
{
	uint64_t all = low_bits(width);

	if (width == 0) {
		memset(values, 0, FASTLANES_UNIT / 8 * (size_t)bits);
		return;
	}
	for (unsigned row = 0; row < bits; row++) {
		unsigned at = row * width, shift = at % bits, have = bits - shift;
		const any_u64 *from = (const any_u64 *)(packed + (size_t)(at / bits) * ROW_BYTES);
		unsigned first = order[row / 8] * 16u + row % 8 * 128;
		any_u64 *to = (any_u64 *)(values + (size_t)first * bits / 8);
		uint64_t keep = each_lane(all & low_bits(have), bits);

		if (have >= width)
			unpack_row(from, shift, keep, to);
		else
			unpack_split_row(from, shift, keep, have,
				each_lane(all & ~low_bits(have), bits), to);
	}
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

FAST void
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

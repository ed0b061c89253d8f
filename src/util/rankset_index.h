/* The index of a rank set, which is made in rankset.c and read in rankset_ranks.c and
 * rankset_select.c. Format: "Roaring serialisations".
 */
#ifndef UTIL_RANKSET_INDEX_H
#define UTIL_RANKSET_INDEX_H

#include "roaringx.h"

#include <endian.h>

#define RANKSET_KEY_VALUES  65536u
#define RANKSET_BLOCK_WORDS 8u /* of a bitset: 512 bits share a count */
#define RANKSET_BLOCKS      128u
#define RANKSET_VALUE_SIZE  2u
#define RANKSET_RUN_SIZE    4u

struct rankset_container {
	const uint8_t *contents;
	uint64_t before;     /* members in the containers before it */
	size_t first_sum;    /* of its sums: none for an array */
	uint32_t item_count; /* values of an array, runs */
	uint16_t key;
	uint8_t kind;
};

struct rankset {
	uint64_t count;
	size_t container_count;
	size_t footprint;
	struct rankset_container containers[]; /* and behind them the sums, u16 each */
};

static inline const uint16_t *
rankset_sums(const struct rankset *set, const struct rankset_container *container)
{
	const void *sums = set->containers + set->container_count;

	return (const uint16_t *)sums + container->first_sum;
}

static inline uint32_t
half_at(const uint8_t *at)
{
	uint16_t half;

	memcpy(&half, at, sizeof(half));
	return le16toh(half);
}

static inline uint64_t
word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Inline, where the compiler's own is a call on machines of unknown age. */
static inline uint32_t
ones(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

#endif

/* Members by number: a binary search for the first, then container by container. */
#include "rankset.h"

#include "macros.h"
#include "rankset_index.h"

#include <assert.h>

/* The last of the sums that is at most `rank`; the member of that rank is counted from there. */
static size_t
find_sum(const uint16_t *sums, size_t count, uint32_t rank)
{
	size_t from = 0;

	while (count - from > 1) {
		size_t middle = from + (count - from) / 2;

		if (sums[middle] <= rank)
			from = middle;
		else
			count = middle;
	}
	return from;
}

/* These write the members from number `rank` of the container on, `count` of them at most, and
 * return how many there were. */

static lancet_hot size_t
select_array(
	const struct rankset_container *container, uint32_t rank, size_t count, uint32_t *values)
{
	uint32_t high = (uint32_t)container->key << 16;
	const uint8_t *from = container->contents + (size_t)rank * RANKSET_VALUE_SIZE;

	if (count > container->item_count - rank)
		count = container->item_count - rank;
	for (size_t i = 0; i < count; i++)
		values[i] = high | half_at(from + i * RANKSET_VALUE_SIZE);
	return count;
}

static lancet_hot size_t
select_runs(const struct rankset_container *container, const uint16_t *sums, uint32_t rank,
	size_t count, uint32_t *values)
{
	uint32_t high = (uint32_t)container->key << 16;
	size_t run = find_sum(sums, container->item_count, rank);
	uint32_t skip = rank - sums[run];
	size_t done = 0;

	for (; run < container->item_count && done < count; run++, skip = 0) {
		const uint8_t *at = container->contents + run * RANKSET_RUN_SIZE;
		uint32_t first = (high | half_at(at)) + skip;
		size_t length = half_at(at + 2) + 1 - skip;

		if (length > count - done)
			length = count - done;
		for (size_t i = 0; i < length; i++)
			values[done + i] = first + (uint32_t)i;
		done += length;
	}
	return done;
}

static lancet_hot size_t
select_bitset(const struct rankset_container *container, const uint16_t *sums, uint32_t rank,
	size_t count, uint32_t *values)
{
	size_t block = find_sum(sums, RANKSET_BLOCKS, rank);
	uint32_t skip = rank - sums[block];
	size_t done = 0;

	for (size_t i = block * RANKSET_BLOCK_WORDS;
		i < RANKSET_BLOCKS * RANKSET_BLOCK_WORDS && done < count; i++) {
		uint32_t first = (uint32_t)container->key << 16 | (uint32_t)i * 64;
		uint64_t word = word_at(container->contents + i * 8);
		uint32_t here = skip == 0 ? 0 : ones(word);

		if (skip > 0 && here <= skip) {
			skip -= here;
			continue;
		}
		for (; skip > 0; skip--)
			word &= word - 1;
		for (; word != 0 && done < count; word &= word - 1)
			values[done++] = first | (uint32_t)__builtin_ctzll(word);
	}
	return done;
}

void
rankset_select(const struct rankset *set, uint64_t first, size_t count, uint32_t *values)
{
	size_t from = 0;
	size_t to = set->container_count;

	assert(first <= set->count && count <= set->count - first);
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (set->containers[middle].before <= first)
			from = middle;
		else
			to = middle;
	}
	for (size_t done = 0; done < count; from++) {
		const struct rankset_container *container = &set->containers[from];
		const uint16_t *sums = rankset_sums(set, container);
		uint32_t rank = (uint32_t)(first + done - container->before);
		size_t left = count - done;

		if (container->kind == ROARINGX_RUNS)
			done += select_runs(container, sums, rank, left, values + done);
		else if (container->kind == ROARINGX_BITSET)
			done += select_bitset(container, sums, rank, left, values + done);
		else
			done += select_array(container, rank, left, values + done);
	}
}

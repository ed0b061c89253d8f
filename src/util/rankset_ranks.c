/* Ranks of values: how many members are below.
 *
 * Inside a container, ascending values are followed by stretches: some members that follow each
 * other, and the gap behind them. A run is a stretch, and so is each value of an array; the next
 * one is galloped to. A bitset is followed by words. Branches on random bits are slow, so absence
 * is computed: RANKSET_ABSENT has all bits set.
 */
#include "rankset.h"

#include "macros.h"
#include "rankset_index.h"

/* How many of the items start at or below `low`, looked for around `guess`. */
static size_t
items_up_to(const uint8_t *items, size_t item_size, size_t count, size_t guess, uint32_t low)
{
	size_t from = guess;
	size_t step = 1;
	size_t to;

	if (from > 0 && half_at(items + (from - 1) * item_size) > low)
		from = 0;
	while (step <= count - from && half_at(items + (from + step - 1) * item_size) <= low) {
		from += step;
		step *= 2;
	}
	to = step <= count - from ? from + step - 1 : count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (half_at(items + middle * item_size) <= low)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct stretch {
	size_t item; /* it is number item - 1; 0: the gap before the first */
	uint32_t start;
	uint32_t length; /* members from `start` on */
	uint32_t span;   /* these, and the gap behind them */
	uint64_t before; /* members of the set before `start` */
};

static void
find_stretch(const struct rankset *set, const struct rankset_container *container, uint32_t low,
	struct stretch *stretch)
{
	bool runs = container->kind == ROARINGX_RUNS;
	size_t item_size = runs ? RANKSET_RUN_SIZE : RANKSET_VALUE_SIZE;
	size_t count = container->item_count;
	size_t item = items_up_to(container->contents, item_size, count, stretch->item, low);
	uint32_t end = RANKSET_KEY_VALUES;

	if (item < count)
		end = half_at(container->contents + item * item_size);
	*stretch = (struct stretch){ .item = item, .before = container->before };
	if (item > 0) {
		const uint8_t *at = container->contents + (item - 1) * item_size;

		stretch->start = half_at(at);
		stretch->length = runs ? half_at(at + 2) + 1 : 1;
		stretch->before += runs ? rankset_sums(set, container)[item - 1] : item - 1;
	}
	stretch->span = end - stretch->start;
}

/* These two give ranks for the first values, as far as they share a key; they return how many. */

static lancet_hot size_t
ranks_of_stretches(const struct rankset *set, const struct rankset_container *container,
	const uint32_t *values, size_t count, uint64_t *ranks)
{
	struct stretch stretch = { 0 };
	size_t i;

	for (i = 0; i < count && values[i] >> 16 == container->key; i++) {
		uint32_t low = values[i] & 0xffff;
		uint32_t place;

		if (low - stretch.start >= stretch.span)
			find_stretch(set, container, low, &stretch);
		place = low - stretch.start;
		ranks[i] = (stretch.before + place) | (0 - (uint64_t)(place >= stretch.length));
	}
	return i;
}

static lancet_hot size_t
ranks_of_bitset(const struct rankset *set, const struct rankset_container *container,
	const uint32_t *values, size_t count, uint64_t *ranks)
{
	const uint16_t *sums = rankset_sums(set, container);
	uint32_t at = 0; /* word */
	uint64_t word = word_at(container->contents);
	uint64_t before = container->before; /* members of the set before the word */
	size_t i;

	for (i = 0; i < count && values[i] >> 16 == container->key; i++) {
		uint32_t index = (values[i] & 0xffff) / 64;
		uint32_t bit = values[i] % 64;

		if (index != at) {
			if (index < at || index / RANKSET_BLOCK_WORDS != at / RANKSET_BLOCK_WORDS) {
				at = index - index % RANKSET_BLOCK_WORDS;
				before = container->before + sums[at / RANKSET_BLOCK_WORDS];
				word = word_at(container->contents + at * 8);
			}
			while (at < index) {
				before += ones(word);
				word = word_at(container->contents + (size_t)++at * 8);
			}
		}
		ranks[i] = (before + ones(word & ((UINT64_C(1) << bit) - 1))) |
			   ((word >> bit & 1) - 1);
	}
	return i;
}

/* The container of a key; *place is where the last one was found. */
static const struct rankset_container *
find_container(const struct rankset *set, uint32_t key, size_t *place)
{
	size_t from = 0;
	size_t to = set->container_count;

	for (size_t i = *place; i < set->container_count && i < *place + 2; i++) {
		if (set->containers[i].key == key) {
			*place = i;
			return &set->containers[i];
		}
	}
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (set->containers[middle].key < key)
			from = middle + 1;
		else
			to = middle;
	}
	*place = from;
	if (from == set->container_count || set->containers[from].key != key)
		return NULL;
	return &set->containers[from];
}

static size_t
ranks_of_nothing(const uint32_t *values, size_t count, uint64_t *ranks)
{
	size_t i;

	for (i = 0; i < count && values[i] >> 16 == values[0] >> 16; i++)
		ranks[i] = RANKSET_ABSENT;
	return i;
}

void
rankset_ranks(const struct rankset *set, const uint32_t *values, size_t count, uint64_t *ranks)
{
	size_t place = 0;

	for (size_t i = 0; i < count;) {
		const struct rankset_container *container =
			find_container(set, values[i] >> 16, &place);

		if (container == NULL)
			i += ranks_of_nothing(values + i, count - i, ranks + i);
		else if (container->kind == ROARINGX_BITSET)
			i += ranks_of_bitset(set, container, values + i, count - i, ranks + i);
		else
			i += ranks_of_stretches(set, container, values + i, count - i, ranks + i);
	}
}

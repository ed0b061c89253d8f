/* Makes the index of a rank set in one walk over the stored containers.
 *
 * What the sums may need at most is known from the size of the bytes, so there is one allocation,
 * which is cut to fit in the end.
 */
#include "rankset.h"

#include "macros.h"
#include "rankset_index.h"

/* Members before each run. Every run has one, so the sums are below RANKSET_KEY_VALUES. */
static size_t
sum_runs(const struct roaringx_container *container, uint16_t *sums)
{
	uint32_t sum = 0;
	size_t count = container->contents.size / RANKSET_RUN_SIZE;

	for (size_t i = 0; i < count; i++) {
		sums[i] = (uint16_t)sum;
		sum += half_at(container->contents.data + i * RANKSET_RUN_SIZE + 2) + 1;
	}
	return count;
}

/* Members before each block. */
static size_t
sum_bitset(const struct roaringx_container *container, uint16_t *sums)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < RANKSET_BLOCKS * RANKSET_BLOCK_WORDS; i++) {
		if (i % RANKSET_BLOCK_WORDS == 0)
			sums[i / RANKSET_BLOCK_WORDS] = (uint16_t)sum;
		sum += ones(word_at(container->contents.data + i * 8));
	}
	return RANKSET_BLOCKS;
}

/* The index of one container; returns the sums it took. */
static size_t
add_container(struct rankset *set, uint32_t place, size_t first_sum,
	const struct roaringx_container *from)
{
	struct rankset_container *container = &set->containers[place];
	void *sums = set->containers + set->container_count;

	*container = (struct rankset_container){
		.contents = from->contents.data,
		.before = set->count,
		.first_sum = first_sum,
		.key = (uint16_t)from->key,
		.kind = (uint8_t)from->kind,
	};
	set->count += from->cardinality;
	switch (from->kind) {
	case ROARINGX_RUNS:
		container->item_count = (uint32_t)(from->contents.size / RANKSET_RUN_SIZE);
		return sum_runs(from, (uint16_t *)sums + first_sum);
	case ROARINGX_BITSET:
		return sum_bitset(from, (uint16_t *)sums + first_sum);
	default:
		container->item_count = from->cardinality;
		return 0;
	}
}

int
rankset_open(struct slice bytes, uint64_t value_limit, struct rankset **ret_set,
	struct lancet_error *err)
{
	lancet_autofree struct rankset *set = NULL;
	struct roaringx_container container;
	struct roaringx_walk w;
	struct rankset *fitted;
	size_t sum_count = 0;
	size_t size;

	TRY(roaringx_walk(&w, bytes, err));
	/* a run has four bytes and one sum; a bitset has fewer for its size */
	size = sizeof(*set) + w.count * sizeof(set->containers[0]) +
	       bytes.size / RANKSET_RUN_SIZE * sizeof(uint16_t);
	set = malloc(size);
	if (set == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu bytes for a bitmap's ranks", size);
	*set = (struct rankset){ .container_count = w.count };
	for (uint32_t i = 0; i < w.count; i++) {
		TRY(roaringx_walk_next(&w, &container, err));
		sum_count += add_container(set, i, sum_count, &container);
	}
	TRY(roaringx_walk_end(&w, value_limit, err));
	size -= (bytes.size / RANKSET_RUN_SIZE - sum_count) * sizeof(uint16_t);
	fitted = realloc(set, size);
	if (fitted != NULL)
		set = fitted;
	set->footprint = size;
	*ret_set = lancet_steal(&set);
	return LANCET_OK;
}

void
rankset_free(struct rankset *set)
{
	free(set);
}

uint64_t
rankset_count(const struct rankset *set)
{
	return set->count;
}

size_t
rankset_footprint(const struct rankset *set)
{
	return set->footprint;
}

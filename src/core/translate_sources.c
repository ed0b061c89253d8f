/* The sources of a transition by fragment id, for addresses that come to it. */
#include "translate.h"

#include <stdlib.h>

struct source_place {
	uint32_t fragment;
	uint32_t place; /* in the transition's list */
};

static int
compare_places(const void *a, const void *b)
{
	const struct source_place *left = a, *right = b;

	return (left->fragment > right->fragment) - (left->fragment < right->fragment);
}

/* Ids of a sound transition fit 32 bits and differ. */
int
translate_sources_init(struct translate_sources *sources,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	size_t count = transition->source_count;
	bool ascend = true;
	uint64_t rows = 0;

	*sources = (struct translate_sources){ .transition = transition };
	sources->firsts = calloc(count + 1, sizeof(*sources->firsts));
	if (sources->firsts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu source fragments", count);
	for (size_t i = 0; i < count; i++) {
		sources->firsts[i] = rows;
		rows += transition->sources[i].physical_rows;
		ascend &= i == 0 || transition->sources[i - 1].id < transition->sources[i].id;
	}
	if (ascend)
		return LANCET_OK;
	sources->by_id = calloc(count, sizeof(*sources->by_id));
	if (sources->by_id == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu source fragments", count);
	for (size_t i = 0; i < count; i++)
		sources->by_id[i] =
			(struct source_place){ (uint32_t)transition->sources[i].id, (uint32_t)i };
	qsort(sources->by_id, count, sizeof(*sources->by_id), compare_places);
	return LANCET_OK;
}

void
translate_sources_release(struct translate_sources *sources)
{
	free(sources->firsts);
	free(sources->by_id);
}

bool
translate_sources_find(const struct translate_sources *sources, uint64_t fragment,
	uint64_t *ret_first, uint64_t *ret_rows)
{
	const struct lancet_fragment_digest *digests = sources->transition->sources;
	size_t low = 0, high = sources->transition->source_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t place = sources->by_id != NULL ? sources->by_id[middle].place : middle;

		if (digests[place].id == fragment) {
			*ret_first = sources->firsts[place];
			*ret_rows = digests[place].physical_rows;
			return true;
		}
		if (digests[place].id < fragment)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

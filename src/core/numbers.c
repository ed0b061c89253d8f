/* The sorted lists of numbers.h. */
#include "numbers.h"

#include <stdlib.h>

bool
numbers_reserve(struct numbers *list, size_t capacity, struct arena *arena)
{
	list->count = 0;
	list->values = arena_zalloc(arena, capacity + 1, sizeof(*list->values));
	return list->values != NULL;
}

bool
texts_reserve(struct texts *list, size_t capacity, struct arena *arena)
{
	list->count = 0;
	list->values = arena_zalloc(arena, capacity + 1, sizeof(*list->values));
	return list->values != NULL;
}

static int
compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int
compare_texts(const void *left, const void *right)
{
	return slice_compare(*(const struct slice *)left, *(const struct slice *)right);
}

void
numbers_sort(struct numbers *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->values, list->count, sizeof(*list->values), compare_numbers);
	for (size_t i = 0; i < list->count; i++)
		if (i == 0 || list->values[i] != list->values[kept - 1])
			list->values[kept++] = list->values[i];
	list->count = kept;
}

void
texts_sort(struct texts *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->values, list->count, sizeof(*list->values), compare_texts);
	for (size_t i = 0; i < list->count; i++)
		if (i == 0 || !slice_equal(list->values[i], list->values[kept - 1]))
			list->values[kept++] = list->values[i];
	list->count = kept;
}

size_t
numbers_find(const struct numbers *list, uint64_t value)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->values[low] == value ? low : SIZE_MAX;
}

bool
texts_have(const struct texts *list, struct slice value)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slice_compare(list->values[middle], value) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && slice_equal(list->values[low], value);
}

bool
numbers_common(const struct numbers *a, const struct numbers *b, size_t *at, size_t *ret_place)
{
	bool by_a = a->count <= b->count;
	const struct numbers *shorter = by_a ? a : b, *longer = by_a ? b : a;

	while (*at < shorter->count) {
		size_t place = (*at)++;
		size_t other = numbers_find(longer, shorter->values[place]);

		if (other == SIZE_MAX)
			continue;
		*ret_place = by_a ? place : other;
		return true;
	}
	return false;
}

bool
numbers_meet(const struct numbers *a, const struct numbers *b, uint64_t *ret_common)
{
	size_t at = 0, place;

	if (!numbers_common(a, b, &at, &place))
		return false;
	if (ret_common != NULL)
		*ret_common = a->values[place];
	return true;
}

bool
texts_meet(const struct texts *a, const struct texts *b, struct slice *ret_common)
{
	const struct texts *shorter = a->count <= b->count ? a : b;
	const struct texts *longer = shorter == a ? b : a;

	for (size_t i = 0; i < shorter->count; i++)
		if (texts_have(longer, shorter->values[i])) {
			if (ret_common != NULL)
				*ret_common = shorter->values[i];
			return true;
		}
	return false;
}

/* Sorted lists of what a transaction names: numbers (fragment and field ids) and texts (names,
 * keys).
 *
 * Two lists are compared by searching for the members of the shorter one in the other, so that a
 * small commit against one of 100,000 fragments costs little.
 */
#ifndef CORE_NUMBERS_H
#define CORE_NUMBERS_H

#include "util/arena.h"
#include "util/slice.h"

struct numbers {
	uint64_t *values; /* ascending, distinct once sorted */
	size_t count;
};

struct texts {
	struct slice *values; /* in byte order, distinct once sorted; borrowed bytes */
	size_t count;
};

/* Room for so many; false when there is none. */
bool numbers_reserve(struct numbers *list, size_t capacity, struct arena *arena);
bool texts_reserve(struct texts *list, size_t capacity, struct arena *arena);
static inline void
numbers_put(struct numbers *list, uint64_t value)
{
	list->values[list->count++] = value;
}
static inline void
texts_put(struct texts *list, const uint8_t *data, size_t size)
{
	list->values[list->count++] = slice_of(data, size);
}
void numbers_sort(struct numbers *list);
void texts_sort(struct texts *list);

/* The place of the value, or SIZE_MAX. */
size_t numbers_find(const struct numbers *list, uint64_t value);
bool texts_have(const struct texts *list, struct slice value);
/* Whether they have a member in common; the least one then. ret_common may be NULL. */
bool numbers_meet(const struct numbers *a, const struct numbers *b, uint64_t *ret_common);
bool texts_meet(const struct texts *a, const struct texts *b, struct slice *ret_common);

/* Loops over the places in `a` of what both have: starts with *at = 0, false at the end. */
bool numbers_common(
	const struct numbers *a, const struct numbers *b, size_t *at, size_t *ret_place);

#endif

/* Fields sorted by id, and each one's parent looked up in them; see field_parents.h.
 *
 * Nothing here recurses: nesting costs nothing.
 */
#include "field_parents.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/file.pb-c.h"
#include "util/macros.h"

#define TOP_LEVEL (-1)

struct place {
	int32_t id;
	size_t index;
};

static int
compare(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The first field with the id, or count. */
static size_t
find_first(const struct place *places, size_t count, int32_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && places[low].id == id ? places[low].index : count;
}

int
field_parents(struct Lance__File__Field *const *stored, size_t count, size_t **ret_parents,
	struct lancet_error *err)
{
	lancet_autofree struct place *places = calloc(count + 1, sizeof(*places));
	lancet_autofree size_t *parents = calloc(count + 1, sizeof(*parents));

	if (places == NULL || parents == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fields", count);
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ stored[i]->id, i };
	qsort(places, count, sizeof(*places), compare);
	for (size_t i = 0; i < count; i++) {
		const Lance__File__Field *field = stored[i];

		parents[i] = count;
		if (field->parent_id == TOP_LEVEL)
			continue;
		parents[i] = find_first(places, count, field->parent_id);
		if (parents[i] >= i)
			return lancet_fail(err, LANCET_CORRUPT,
				"field %" PRId32 ": its parent %" PRId32 " is not an earlier field",
				field->id, field->parent_id);
	}
	*ret_parents = lancet_steal(&parents);
	return LANCET_OK;
}

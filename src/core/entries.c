/* A map on the wire is a list of entries in any order, keys repeated or not; here it becomes a
 * sorted list of distinct keys, so that what is shown doesn't depend on the writer's hash order.
 */
#include "entries.h"

#include "lance/file.pb-c.h"
#include "util/slice.h"

#include <stdlib.h>

struct ranked {
	struct lancet_entry entry;
	size_t order; /* as stored */
};

static struct lancet_bytes
bytes_of(ProtobufCBinaryData data)
{
	return (struct lancet_bytes){ data.data, data.len };
}

static int
compare(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;
	int order = slice_compare(slice_of(a->entry.key.data, a->entry.key.size),
	                          slice_of(b->entry.key.data, b->entry.key.size));

	return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static bool
same_key(const struct ranked *a, const struct ranked *b)
{
	return slice_equal(slice_of(a->entry.key.data, a->entry.key.size),
	                   slice_of(b->entry.key.data, b->entry.key.size));
}

int
entries_sort(struct arena *arena, struct Lance__File__StringEntry *const *stored, size_t count,
             const struct lancet_entry **ret_entries, size_t *ret_count, struct lancet_error *err)
{
	struct ranked *ranked;
	struct lancet_entry *entries;
	size_t kept = 0;

	if (count == 0) {
		*ret_entries = NULL;
		*ret_count = 0;
		return LANCET_OK;
	}
	ranked = calloc(count, sizeof(*ranked));
	entries = arena_zalloc(arena, count, sizeof(*entries));
	if (ranked == NULL || entries == NULL) {
		free(ranked);
		return lancet_fail(err, LANCET_NO_MEMORY, "map: %zu entries", count);
	}
	for (size_t i = 0; i < count; i++) {
		ranked[i].entry.key = bytes_of(stored[i]->key);
		ranked[i].entry.value = bytes_of(stored[i]->value);
		ranked[i].order = i;
	}
	qsort(ranked, count, sizeof(*ranked), compare);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || !same_key(&ranked[i], &ranked[i + 1]))
			entries[kept++] = ranked[i].entry;
	free(ranked);
	*ret_entries = entries;
	*ret_count = kept;
	return LANCET_OK;
}

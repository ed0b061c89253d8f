#include "draft_prune.h"

#include <inttypes.h>
#include <stdlib.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "file/field_parents.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/roaringx.h"

typedef Lance__Table__IndexMetadata Entry;

/* Field ids of the new version. */
static int
list_fields(const struct draft *draft, struct arena *arena, struct numbers *ret_fields,
	struct lancet_error *err)
{
	if (!numbers_reserve(ret_fields, draft->head->n_fields, arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < draft->head->n_fields; i++)
		if (draft->head->fields[i]->id >= 0)
			numbers_put(ret_fields, (uint64_t)draft->head->fields[i]->id);
	numbers_sort(ret_fields);
	return LANCET_OK;
}

static bool
has_all(const struct numbers *fields, const Entry *entry)
{
	for (size_t i = 0; i < entry->n_fields; i++)
		if (entry->fields[i] < 0 ||
			numbers_find(fields, (uint64_t)entry->fields[i]) == SIZE_MAX)
			return false;
	return true;
}

static int
drop_without_field(struct draft *draft, struct lancet_error *err)
{
	struct arena scratch = { 0 };
	struct numbers fields = { 0 };
	int rc = list_fields(draft, &scratch, &fields, err);

	for (size_t i = 0; i < draft->index_count && rc == LANCET_OK; i++)
		if (!draft->indices[i].removed &&
			!index_entry_is_system(draft->indices[i].message) &&
			!has_all(&fields, draft->indices[i].message))
			draft_index_remove(draft, i);
	arena_release(&scratch);
	return rc;
}

/* Entries by name, those of one name in stored order. */
struct ordered {
	const Entry *entry;
	size_t place;
	bool empty; /* covers no live fragment; one of unknown coverage does not */
};

static int
compare_names(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	int order = slice_compare(slice_of(a->entry->name.data, a->entry->name.len),
		slice_of(b->entry->name.data, b->entry->name.len));

	return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Of two, the one to be kept: made first; without a time last; of the lower dataset version. */
static bool
is_earlier(const Entry *a, const Entry *b)
{
	uint64_t time_a = a->created_at_presence_case != 0 ? a->created_at : UINT64_MAX;
	uint64_t time_b = b->created_at_presence_case != 0 ? b->created_at : UINT64_MAX;

	return time_a != time_b ? time_a < time_b : a->dataset_version < b->dataset_version;
}

/* The segments of one index. */
static void
drop_emptied(struct draft *draft, const struct ordered *segments, size_t count)
{
	size_t empty = 0, kept = SIZE_MAX;

	for (size_t i = 0; i < count; i++)
		empty += segments[i].empty;
	if (count < 2 || empty == 0)
		return;
	if (empty == count)
		for (size_t i = 0; i < count; i++)
			if (kept == SIZE_MAX || is_earlier(segments[i].entry, segments[kept].entry))
				kept = i;
	for (size_t i = 0; i < count; i++)
		if (segments[i].empty && i != kept)
			draft_index_remove(draft, segments[i].place);
}

static int
find_empty(const struct draft *draft, const roaring_bitmap_t *live, size_t place, bool *ret_empty,
	struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;

	TRY(draft_index_fragments(draft, place, &covered, err));
	*ret_empty = covered != NULL && !roaring_bitmap_intersect(covered, live);
	if (covered != NULL)
		roaring_bitmap_free(covered);
	return LANCET_OK;
}

static int
order_entries(struct draft *draft, const roaring_bitmap_t *live, struct ordered *ordered,
	size_t *ret_count, struct lancet_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->index_count; i++) {
		const Entry *entry = draft->indices[i].message;

		if (draft->indices[i].removed || index_entry_is_system(entry))
			continue;
		ordered[count] = (struct ordered){ entry, i, false };
		TRY(find_empty(draft, live, i, &ordered[count].empty, err));
		count++;
	}
	qsort(ordered, count, sizeof(*ordered), compare_names);
	*ret_count = count;
	return LANCET_OK;
}

/* Of each index of several segments, those that are left without a fragment. */
static int
drop_empty(struct draft *draft, struct lancet_error *err)
{
	lancet_autofree struct ordered *ordered = calloc(draft->index_count + 1, sizeof(*ordered));
	roaring_bitmap_t *live;
	size_t count = 0;
	int rc;

	if (ordered == NULL)
		return draft_no_memory(err);
	TRY(draft_live(draft, &live, err));
	rc = order_entries(draft, live, ordered, &count, err);
	roaring_bitmap_free(live);
	for (size_t first = 0, end; first < count && rc == LANCET_OK; first = end) {
		const Entry *entry = ordered[first].entry;

		for (end = first + 1;
			end < count && slice_equal(slice_of(entry->name.data, entry->name.len),
					       slice_of(ordered[end].entry->name.data,
						       ordered[end].entry->name.len));
			end++)
			;
		drop_emptied(draft, ordered + first, end - first);
	}
	return rc;
}

int
draft_prune(struct draft *draft, struct lancet_error *err)
{
	TRY(draft_indices(draft, err));
	if (draft->index_count == 0)
		return LANCET_OK;
	TRY(drop_without_field(draft, err));
	if (draft_has_tagged_entry(draft))
		return LANCET_OK;
	TRY(draft_index_follow(draft, err));
	return drop_empty(draft, err);
}

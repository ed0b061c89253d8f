/* Taking fragments out of what indices answer for. */
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

/* What is known of a table for one call. */
struct uncover {
	struct draft *draft;
	struct arena arena;
	struct numbers fields; /* changed, and all below or above one of them */
	roaring_bitmap_t *changed;
	/* Tagged history: what the changed ones were made of, with them; and all it is about. */
	roaring_bitmap_t *stale, *mentioned, *live;
};

static void
uncover_release(struct uncover *uncover)
{
	roaring_bitmap_t *sets[] = { uncover->changed, uncover->stale, uncover->mentioned,
		uncover->live };

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (sets[i] != NULL)
			roaring_bitmap_free(sets[i]);
	arena_release(&uncover->arena);
}

/* The parents of listed fields, and the children of listed ones. `fields` has room. */
static int
add_relatives(struct uncover *uncover, Lance__File__Field *const *list, size_t count,
	const struct numbers *fields, struct lancet_error *err)
{
	lancet_autofree size_t *parents = NULL;
	lancet_autofree bool *below = calloc(count + 1, sizeof(*below));
	lancet_autofree bool *above = calloc(count + 1, sizeof(*above));

	if (below == NULL || above == NULL)
		return draft_no_memory(err);
	TRY(field_parents(list, count, &parents, err));
	for (size_t i = 0; i < count; i++) {
		int32_t id = list[i]->id;

		above[i] = id >= 0 && numbers_find(fields, (uint64_t)id) != SIZE_MAX;
		below[i] = above[i] || (parents[i] < i && below[parents[i]]);
	}
	for (size_t i = count; i > 0; i--)
		if (above[i - 1] && parents[i - 1] < count)
			above[parents[i - 1]] = true;
	for (size_t i = 0; i < count; i++)
		if ((below[i] || above[i]) && list[i]->id >= 0)
			numbers_put(&uncover->fields, (uint64_t)list[i]->id);
	return LANCET_OK;
}

/* By the schema there was, and by the new one if it is another. */
static int
fill_fields(struct uncover *uncover, const struct numbers *fields, struct lancet_error *err)
{
	const Lance__Table__Manifest *old = uncover->draft->origin->message;
	const Lance__Table__Manifest *new = uncover->draft->head;

	if (!numbers_reserve(&uncover->fields, fields->count + old->n_fields + new->n_fields,
		    &uncover->arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < fields->count; i++)
		numbers_put(&uncover->fields, fields->values[i]);
	TRY(add_relatives(uncover, old->fields, old->n_fields, fields, err));
	if (new->fields != old->fields)
		TRY(add_relatives(uncover, new->fields, new->n_fields, fields, err));
	numbers_sort(&uncover->fields);
	return LANCET_OK;
}

static int
fill_changed(struct uncover *uncover, const struct numbers *fragments, struct lancet_error *err)
{
	uncover->changed = roaring_bitmap_create();
	if (uncover->changed == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < fragments->count; i++)
		if (fragments->values[i] < UINT32_MAX)
			roaring_bitmap_add(uncover->changed, (uint32_t)fragments->values[i]);
	return LANCET_OK;
}

/* The history of a tagged table: an index that names a source of a changed fragment answers for
 * that fragment. */
static int
fill_history(struct uncover *uncover, struct lancet_error *err)
{
	lancet_reuse *reuse;

	TRY(draft_reuse(uncover->draft, &reuse, err));
	if (reuse == NULL)
		return LANCET_OK;
	if (!reuse->info.interpretable)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"values of an indexed column would change, and the fragment reuse "
			"history is not understood: drop the index first");
	uncover->stale = roaring_bitmap_copy(uncover->changed);
	uncover->mentioned = roaring_bitmap_create();
	if (uncover->stale == NULL || uncover->mentioned == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *transition = &reuse->transitions[i].info;

		if (transition->fault != LANCET_OK)
			return lancet_fail(err, transition->fault, "%s", transition->fault_text);
		for (size_t k = 0; k < transition->source_count; k++)
			roaring_bitmap_add(uncover->mentioned, (uint32_t)transition->sources[k].id);
		for (size_t k = 0; k < transition->destination_count; k++)
			roaring_bitmap_add(
				uncover->mentioned, (uint32_t)transition->destinations[k].id);
	}
	history_add_sources(reuse, uncover->stale);
	return draft_live(uncover->draft, &uncover->live, err);
}

static bool
is_on_fields(const struct uncover *uncover, const Entry *entry)
{
	for (size_t i = 0; i < entry->n_fields; i++)
		if (entry->fields[i] >= 0 &&
			numbers_find(&uncover->fields, (uint64_t)entry->fields[i]) != SIZE_MAX)
			return true;
	return false;
}

/* Retired fragments were what told that the index has old addresses: without one of the history
 * left, what remains would be loaded as if it had new ones. */
static void
empty_untold(
	const struct uncover *uncover, const roaring_bitmap_t *before, roaring_bitmap_t *covered)
{
	bool lost_retired = !roaring_bitmap_is_subset(before, uncover->live);

	if (lost_retired && roaring_bitmap_is_subset(covered, uncover->live) &&
		!roaring_bitmap_intersect(covered, uncover->mentioned))
		roaring_bitmap_clear(covered);
}

/* *ret_emptied: nothing is left of what it covered. */
static int
uncover_known(struct uncover *uncover, size_t place, roaring_bitmap_t *covered, bool *ret_emptied,
	struct lancet_error *err)
{
	const roaring_bitmap_t *stale = uncover->stale == NULL ? uncover->changed : uncover->stale;
	roaring_bitmap_t *before;

	if (!roaring_bitmap_intersect(covered, stale))
		return LANCET_OK;
	before = roaring_bitmap_copy(covered);
	if (before == NULL)
		return draft_no_memory(err);
	roaring_bitmap_andnot_inplace(covered, stale);
	if (uncover->stale != NULL)
		empty_untold(uncover, before, covered);
	roaring_bitmap_free(before);
	*ret_emptied = roaring_bitmap_is_empty(covered);
	return draft_index_store(uncover->draft, place, covered, err);
}

static int
uncover_entry(struct uncover *uncover, size_t place, bool *ret_emptied, struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;
	int rc;

	TRY(draft_index_fragments(uncover->draft, place, &covered, err));
	/* It may cover what was changed, and there is no telling: then it covers nothing. */
	if (covered == NULL)
		covered = roaring_bitmap_copy(uncover->changed);
	if (covered == NULL)
		return draft_no_memory(err);
	rc = uncover_known(uncover, place, covered, ret_emptied, err);
	roaring_bitmap_free(covered);
	return rc;
}

static bool
has_sibling(const struct draft *draft, size_t place)
{
	const Entry *entry = draft->indices[place].message;
	struct slice name = slice_of(entry->name.data, entry->name.len);

	for (size_t i = 0; i < draft->index_count; i++) {
		const Entry *other = draft->indices[i].message;

		if (i != place && !draft->indices[i].removed &&
			slice_equal(name, slice_of(other->name.data, other->name.len)))
			return true;
	}
	return false;
}

static int
uncover_entries(struct uncover *uncover, struct lancet_error *err)
{
	struct draft *draft = uncover->draft;

	for (size_t i = 0; i < draft->index_count; i++) {
		bool emptied = false;

		if (draft->indices[i].removed || !is_on_fields(uncover, draft->indices[i].message))
			continue;
		TRY(uncover_entry(uncover, i, &emptied, err));
		if (emptied && uncover->stale != NULL && has_sibling(draft, i))
			draft_index_remove(draft, i);
	}
	return LANCET_OK;
}

static bool
is_any_on_fields(const struct uncover *uncover)
{
	const struct draft *draft = uncover->draft;

	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed && is_on_fields(uncover, draft->indices[i].message))
			return true;
	return false;
}

static int
run(struct uncover *uncover, const struct numbers *fields, const struct numbers *fragments,
	struct lancet_error *err)
{
	TRY(fill_fields(uncover, fields, err));
	if (!is_any_on_fields(uncover))
		return LANCET_OK;
	TRY(fill_changed(uncover, fragments, err));
	if (draft_has_tagged_entry(uncover->draft))
		TRY(fill_history(uncover, err));
	else
		TRY(draft_index_follow(uncover->draft, err));
	return uncover_entries(uncover, err);
}

int
draft_uncover(struct draft *draft, const struct numbers *fields, const struct numbers *fragments,
	struct lancet_error *err)
{
	struct uncover uncover = { .draft = draft };
	int rc;

	TRY(draft_indices(draft, err));
	if (draft->index_count == 0 || fragments->count == 0)
		return LANCET_OK;
	rc = run(&uncover, fields, fragments, err);
	uncover_release(&uncover);
	return rc;
}

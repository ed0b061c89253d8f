/* Index coverage of rows that moved and kept their ids. */
#include "op_update.h"

#include "conflict_rules.h"
#include "draft_index.h"
#include "flags.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "version.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__IndexMetadata Entry;

static size_t
count_overlaid(const Fragment *fragment)
{
	size_t count = 0;

	for (size_t i = 0; i < fragment->n_overlays; i++)
		if (fragment->overlays[i]->data_file != NULL)
			count += fragment->overlays[i]->data_file->n_fields;
	return count;
}

static int
note_fragment(struct draft *draft, const Fragment *fragment, struct update_lists *lists,
	struct lancet_error *err)
{
	size_t count = lists->overlaid_count + count_overlaid(fragment);
	struct overlaid_field *grown;

	if (count == lists->overlaid_count)
		return LANCET_OK;
	grown = draft_alloc(draft, count * sizeof(*grown));
	if (grown == NULL)
		return draft_no_memory(err);
	if (lists->overlaid_count > 0)
		memcpy(grown, lists->overlaid, lists->overlaid_count * sizeof(*grown));
	lists->overlaid = grown;
	for (size_t i = 0; i < fragment->n_overlays; i++) {
		const Lance__Table__DataFile *file = fragment->overlays[i]->data_file;

		for (size_t k = 0; file != NULL && k < file->n_fields; k++)
			if (file->fields[k] >= 0)
				grown[lists->overlaid_count++] =
					(struct overlaid_field){ (uint64_t)file->fields[k],
						fragment->overlays[i]->committed_version };
	}
	return LANCET_OK;
}

static bool
covers_nothing_new(const struct draft *draft, const struct update_lists *lists)
{
	const Update *message = draft->message->update;

	/* Whoever does not say which fields have changed says nothing of the others. */
	return !draft->stable_row_ids || lists->in_place || lists->sources.count == 0 ||
	       message->n_new_fragments == 0 || message->n_fields_for_preserving_frag_bitmap == 0;
}

int
update_note_overlays(struct draft *draft, struct update_lists *lists, struct lancet_error *err)
{
	if (covers_nothing_new(draft, lists) ||
		(draft->newest->info.reader_flags & FLAG_DATA_OVERLAYS) == 0)
		return LANCET_OK;
	for (size_t i = 0; i < lists->sources.count; i++) {
		struct arena arena = { 0 };
		const Fragment *fragment = NULL;
		size_t place = draft_find(draft, lists->sources.values[i]);
		int rc = draft_look(draft, place, &arena, &fragment, err);

		if (rc == LANCET_OK)
			rc = note_fragment(draft, fragment, lists, err);
		arena_release(&arena);
		if (rc != LANCET_OK)
			return rc;
	}
	return LANCET_OK;
}

/* Newer values than the index knows were in the rows that moved. */
static bool
is_stale(const Entry *entry, const struct numbers *fields, const struct update_lists *lists)
{
	for (size_t i = 0; i < lists->overlaid_count; i++)
		if (lists->overlaid[i].version > entry->dataset_version &&
			numbers_find(fields, lists->overlaid[i].field) != SIZE_MAX)
			return true;
	return false;
}

static bool
contains_all(const roaring_bitmap_t *covered, const struct numbers *fragments)
{
	for (size_t i = 0; i < fragments->count; i++)
		if (fragments->values[i] > UINT32_MAX ||
			!roaring_bitmap_contains(covered, (uint32_t)fragments->values[i]))
			return false;
	return true;
}

static int
extend(struct draft *draft, size_t place, const struct update_lists *lists,
	struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;
	int rc;

	TRY(draft_index_fragments(draft, place, &covered, err));
	if (covered == NULL)
		return LANCET_OK;
	rc = LANCET_OK;
	if (contains_all(covered, &lists->sources)) {
		for (size_t i = 0; i < lists->whole.count; i++)
			roaring_bitmap_add(covered, (uint32_t)lists->whole.values[i]);
		rc = draft_index_store(draft, place, covered, err);
	}
	roaring_bitmap_free(covered);
	return rc;
}

/* The fields whose values have changed, and all below them. */
static int
changed_fields(struct draft *draft, struct numbers *ret_fields, struct lancet_error *err)
{
	const Update *message = draft->message->update;
	size_t count = message->n_fields_for_preserving_frag_bitmap;
	Entry entry = LANCE__TABLE__INDEX_METADATA__INIT;

	entry.fields = draft_alloc(draft, count * sizeof(*entry.fields));
	if (entry.fields == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++)
		entry.fields[i] = (int32_t)message->fields_for_preserving_frag_bitmap[i];
	entry.n_fields = count;
	return entry_fields(&entry, draft->newest, &draft->arena, ret_fields, err);
}

int
update_cover(struct draft *draft, const struct update_lists *lists, struct lancet_error *err)
{
	struct numbers changed = { 0 }, fields = { 0 };

	if (covers_nothing_new(draft, lists) || lists->whole.count == 0)
		return LANCET_OK;
	TRY(draft_indices(draft, err));
	TRY(changed_fields(draft, &changed, err));
	for (size_t i = 0; i < draft->index_count; i++) {
		const Entry *entry = draft->indices[i].message;

		if (draft->indices[i].removed || index_entry_is_system(entry) ||
			index_entry_holds_addresses(entry))
			continue;
		TRY(entry_fields(entry, draft->newest, &draft->arena, &fields, err));
		if (!numbers_meet(&changed, &fields, NULL) && !is_stale(entry, &fields, lists))
			TRY(extend(draft, i, lists, err));
	}
	return LANCET_OK;
}

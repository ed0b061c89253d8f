/* CreateIndex: index entries come and go.
 *
 * Two entries are the table's own, of which there is one each: the fragment reuse history, which
 * this operation may only cut, and the MemWAL's progress. What the conflict check has withdrawn
 * from new entries is taken out of their bitmaps. Format facts: CreateIndex, IndexMetadata, trim.
 */
#include "operation.h"

#include <inttypes.h>

#include "create_index.h"
#include "draft_index.h"
#include "draft_mem_wal.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__IndexMetadata Entry;
typedef Lance__Table__Transaction__CreateIndex Message;

int
op_create_index_check(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->create_index;

	TRY(draft_indices(draft, err));
	if (message->n_new_indices + message->n_removed_indices > CREATE_INDEX_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%zu index entries at once, limit %u",
			message->n_new_indices + message->n_removed_indices, CREATE_INDEX_MAX);
	for (size_t i = 0; i < message->n_new_indices; i++) {
		int rc = create_index_check(draft, i, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "new entry %zu (%.*s)", i,
				(int)(message->new_indices[i]->name.len < 80
						? message->new_indices[i]->name.len
						: 80),
				(const char *)message->new_indices[i]->name.data);
	}
	return create_index_check_history(draft, err);
}

static void
remove_entry(struct draft *draft, const Entry *entry)
{
	size_t place = draft_index_find(draft, entry->uuid);

	if (place != SIZE_MAX)
		draft_index_remove(draft, place);
}

/* Those that are removed, those that new ones replace, and those that ours stands for. */
static void
remove_old(struct draft *draft)
{
	const Message *message = draft->message->create_index;
	const struct rebase *rebase = draft->rebase;

	for (size_t i = 0; i < message->n_removed_indices; i++)
		remove_entry(draft, message->removed_indices[i]);
	for (size_t i = 0; i < message->n_new_indices; i++)
		remove_entry(draft, message->new_indices[i]);
	for (size_t i = 0; rebase != NULL && i < rebase->superseded_count; i++)
		for (size_t k = 0; k < draft->index_count; k++)
			if (draft->indices[k].segment == rebase->superseded[i])
				draft_index_remove(draft, k);
}

/* What was rewritten or changed since the index was built is not in its bitmap any more. Without a
 * bitmap it may cover that: then it covers nothing. */
static int
withdraw(struct draft *draft, size_t at, Entry *entry, struct lancet_error *err)
{
	const struct rebase *rebase = draft->rebase;
	const struct rebase_index *index =
		rebase != NULL && at < rebase->index_count ? &rebase->indices[at] : NULL;
	roaring_bitmap_t *left;
	int rc;

	if (index == NULL || index->withdrawn == NULL)
		return LANCET_OK;
	if (index->covered != NULL && !roaring_bitmap_intersect(index->covered, index->withdrawn))
		return LANCET_OK;
	left = index->covered == NULL ? roaring_bitmap_create()
				      : roaring_bitmap_andnot(index->covered, index->withdrawn);
	if (left == NULL)
		return draft_no_memory(err);
	rc = draft_set_bytes(draft, left, &entry->fragment_bitmap, err);
	roaring_bitmap_free(left);
	return rc;
}

static int
add_entry(struct draft *draft, size_t at, struct lancet_error *err)
{
	const struct rebase *rebase = draft->rebase;
	const Entry *message = draft->message->create_index->new_indices[at];
	Entry *entry = draft_copy(draft, message, sizeof(*message));

	if (entry == NULL)
		return draft_no_memory(err);
	if (entry_is_mem_wal(entry) && rebase != NULL)
		TRY(mem_wal_merge(draft, entry, &rebase->progress, err));
	else
		TRY(withdraw(draft, at, entry, err));
	return draft_index_add(draft, entry, err);
}

static int
add_entries(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->create_index;

	for (size_t i = 0; i < message->n_new_indices; i++)
		TRY(add_entry(draft, i, err));
	return LANCET_OK;
}

static bool
is_there(const struct draft *draft, struct slice name)
{
	for (size_t i = 0; i < draft->index_count; i++) {
		const Entry *entry = draft->indices[i].message;

		if (!draft->indices[i].removed &&
			slice_equal(slice_of(entry->name.data, entry->name.len), name))
			return true;
	}
	return false;
}

/* Tells the MemWAL's entry which indices got segments, and which are gone. */
static int
note_names(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->create_index;
	struct texts made, gone;

	if (!texts_reserve(&made, message->n_new_indices, &draft->arena) ||
		!texts_reserve(&gone, message->n_removed_indices, &draft->arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_new_indices; i++)
		if (!index_entry_is_system(message->new_indices[i]))
			texts_put(&made, message->new_indices[i]->name.data,
				message->new_indices[i]->name.len);
	for (size_t i = 0; i < message->n_removed_indices; i++) {
		const Entry *entry = message->removed_indices[i];

		if (!index_entry_is_system(entry) &&
			!is_there(draft, slice_of(entry->name.data, entry->name.len)))
			texts_put(&gone, entry->name.data, entry->name.len);
	}
	texts_sort(&made);
	texts_sort(&gone);
	return mem_wal_note_indices(draft, &made, &gone, err);
}

int
op_create_index_apply(struct draft *draft, struct lancet_error *err)
{
	if (draft->rebase != NULL && draft->rebase->trims)
		return create_index_trim(draft, err);
	TRY(draft_index_follow(draft, err));
	remove_old(draft);
	TRY(add_entries(draft, err));
	TRY(create_index_check_segments(draft, err));
	return note_names(draft, err);
}

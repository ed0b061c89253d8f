/* The deletion vectors of an attempt: where the message says what they are.
 *
 * A fragment whose rows others have deleted meanwhile gets both sets in one file; a fragment that
 * has lost all its rows is removed instead. The rest has the vectors that the change came with.
 * Format facts: rebase work.
 */
#include "commit_parts.h"

#include <assert.h>
#include <inttypes.h>

#include "deletion_write.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

/* The two lists of a Delete or an Update. */
struct lists {
	Lance__Table__DataFragment **updated;
	size_t *updated_count;
	uint64_t **removed;
	size_t *removed_count;
};

static bool
find_lists(Lance__Table__Transaction *message, struct lists *ret_lists)
{
	if (message->operation_case == LANCE__TABLE__TRANSACTION__OPERATION_DELETE) {
		Lance__Table__Transaction__Delete *delete = message->delete_;

		*ret_lists =
			(struct lists){ delete->updated_fragments, &delete->n_updated_fragments,
				&delete->deleted_fragment_ids, &delete->n_deleted_fragment_ids };
		return true;
	}
	if (message->operation_case == LANCE__TABLE__TRANSACTION__OPERATION_UPDATE) {
		Lance__Table__Transaction__Update *update = message->update;

		*ret_lists =
			(struct lists){ update->updated_fragments, &update->n_updated_fragments,
				&update->removed_fragment_ids, &update->n_removed_fragment_ids };
		return true;
	}
	return false;
}

static size_t
find_updated(const struct lists *lists, uint64_t fragment)
{
	for (size_t i = 0; i < *lists->updated_count; i++)
		if (lists->updated[i]->id == fragment)
			return i;
	return SIZE_MAX;
}

static int
remove_fragment(
	struct draft *draft, const struct lists *lists, size_t place, struct lancet_error *err)
{
	size_t count = *lists->removed_count;
	uint64_t *removed = draft_alloc(draft, (count + 1) * sizeof(*removed));

	if (removed == NULL)
		return draft_no_memory(err);
	if (count > 0)
		memcpy(removed, *lists->removed, count * sizeof(*removed));
	removed[count] = lists->updated[place]->id;
	*lists->removed = removed;
	*lists->removed_count = count + 1;
	*lists->updated_count -= 1;
	memmove(lists->updated + place, lists->updated + place + 1,
		(*lists->updated_count - place) * sizeof(Lance__Table__DataFragment *));
	return LANCET_OK;
}

static int
set_vector(struct draft *draft, Lance__Table__DataFragment *image, const roaring_bitmap_t *deleted,
	struct commit_deletions *deletions, struct lancet_error *err)
{
	Lance__Table__DeletionFile *file = draft_alloc(draft, sizeof(*file));

	if (file == NULL)
		return draft_no_memory(err);
	if (image->physical_rows != 0 && roaring_bitmap_maximum(deleted) >= image->physical_rows)
		return lancet_fail(err, LANCET_INVALID,
			"row %" PRIu32 " of fragment %" PRIu64 " of %" PRIu64 " rows",
			roaring_bitmap_maximum(deleted), image->id, image->physical_rows);
	TRY(deletion_name(draft->message->read_version, deleted, file, err));
	image->deletion_file = file;
	deletions->list[deletions->count++] = (struct commit_deletion){ image->id, deleted, file };
	return LANCET_OK;
}

static bool
was_merged(const struct rebase *rebase, uint64_t fragment)
{
	for (size_t i = 0; i < rebase->deletion_count; i++)
		if (rebase->deletions[i].fragment == fragment)
			return true;
	return false;
}

static int
place_one(struct draft *draft, const struct lists *lists, uint64_t fragment,
	const roaring_bitmap_t *deleted, bool whole, struct commit_deletions *deletions,
	struct lancet_error *err)
{
	size_t place = find_updated(lists, fragment);

	if (place == SIZE_MAX)
		return lancet_fail(err, LANCET_INVALID,
			"rows of fragment %" PRIu64 " are deleted, which is not updated", fragment);
	if (whole)
		return remove_fragment(draft, lists, place, err);
	return set_vector(draft, lists->updated[place], deleted, deletions, err);
}

int
commit_deletions_place(const struct commit *commit, struct draft *draft,
	struct commit_deletions *ret_deletions, struct lancet_error *err)
{
	const struct lancet_change *change = commit->change;
	const struct rebase *rebase = &commit->rebase;
	size_t most = change->deletion_count + rebase->deletion_count;
	struct lists lists;

	*ret_deletions = (struct commit_deletions){ 0 };
	if (most == 0)
		return LANCET_OK;
	if (!find_lists(draft->message, &lists))
		return lancet_fail(
			err, LANCET_INVALID, "rows are deleted, but not by a Delete or an Update");
	ret_deletions->list = draft_alloc(draft, most * sizeof(*ret_deletions->list));
	if (ret_deletions->list == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < rebase->deletion_count; i++)
		TRY(place_one(draft, &lists, rebase->deletions[i].fragment,
			rebase->deletions[i].deleted, rebase->deletions[i].whole, ret_deletions,
			err));
	for (size_t i = 0; i < change->deletion_count; i++)
		if (!was_merged(rebase, change->deletions[i].fragment))
			TRY(place_one(draft, &lists, change->deletions[i].fragment,
				change->deletions[i].deleted, false, ret_deletions, err));
	return LANCET_OK;
}

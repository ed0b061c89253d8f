/* Rows out of their fragments: change_rows.h. */
#include "change_rows.h"

#include <stdlib.h>

#include "deletion_write.h"
#include "fragment_stored.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

/* The fragment as it was read, with a deletion file that is to be written; takes pick->deleted. */
static int
add_updated(lancet_change *change, struct taken_rows *taken, struct row_pick *pick,
	struct lancet_error *err)
{
	uint64_t read = change->message->read_version;
	Lance__Table__DeletionFile *file = change_alloc(change, 1, sizeof(*file), err);
	Lance__Table__DataFragment *image;

	if (file == NULL)
		return LANCET_NO_MEMORY;
	TRY(fragment_stored(change->read, pick->ordinal, &change->arena, &image, err));
	TRY(deletion_name(read, pick->deleted, file, err));
	image->physical_rows = pick->physical_rows;
	image->deletion_file = file;
	taken->updated[taken->updated_count++] = image;
	change->deletions[change->deletion_count++] =
		(struct change_deletion){ pick->fragment, pick->deleted };
	pick->deleted = NULL;
	return LANCET_OK;
}

int
change_take_rows(lancet_change *change, struct row_picks *picks, struct taken_rows *ret_taken,
	struct lancet_error *err)
{
	struct taken_rows taken = { 0 };

	taken.updated = change_alloc(change, picks->count, sizeof(*taken.updated), err);
	taken.removed = change_alloc(change, picks->count, sizeof(*taken.removed), err);
	change->deletions = calloc(picks->count + 1, sizeof(*change->deletions));
	if (taken.updated == NULL || taken.removed == NULL || change->deletions == NULL)
		return change_no_memory(err);
	TRY(affected_rows_empty(picks->count, &change->affected, err));
	for (size_t i = 0; i < picks->count; i++) {
		struct row_pick *pick = &picks->list[i];

		if (roaring_bitmap_get_cardinality(pick->deleted) == pick->physical_rows)
			taken.removed[taken.removed_count++] = pick->fragment;
		else
			TRY(add_updated(change, &taken, pick, err));
		affected_rows_put(change->affected, (uint32_t)pick->fragment, pick->rows);
		pick->rows = NULL;
	}
	*ret_taken = taken;
	return LANCET_OK;
}

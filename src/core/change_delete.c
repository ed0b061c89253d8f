/* Delete of single rows, by id or address.
 *
 * A fragment that keeps rows gets a new deletion vector, written when the change is committed; one
 * that keeps none is removed. The rows are the change's affected rows, so that deletes of other
 * rows at the same time are no conflict. The predicate is one that the rows fulfil, over _rowid or
 * _rowaddr, cut when it is long.
 */
#include "change_build.h"

#include <stdlib.h>

#include "deletion_write.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "row_picks.h"
#include "util/macros.h"
#include "version.h"

#define PREDICATE_MAX 1000u /* bytes, about */

typedef Lance__Table__Transaction__Delete delete_message;

static int
set_predicate(lancet_change *change, delete_message *delete, const struct row_ranges *ranges,
	const char *column, struct lancet_error *err)
{
	struct buf text = { 0 };

	row_ranges_predicate(ranges, column, PREDICATE_MAX, &text);
	return change_predicate(change, &text, &delete->predicate, err);
}

/* The fragment as it was read, with a deletion file that is to be written; takes pick->deleted. */
static int
add_updated(lancet_change *change, delete_message *delete, struct row_pick *pick,
	struct lancet_error *err)
{
	uint64_t read = change->message->read_version;
	Lance__Table__DeletionFile *file = change_alloc(change, 1, sizeof(*file), err);
	Lance__Table__DataFragment *image;

	if (file == NULL)
		return LANCET_NO_MEMORY;
	TRY(change_fragment(change, pick->ordinal, &image, err));
	TRY(deletion_name(read, pick->deleted, file, err));
	image->physical_rows = pick->physical_rows;
	image->deletion_file = file;
	delete->updated_fragments[delete->n_updated_fragments++] = image;
	change->deletions[change->deletion_count++] =
		(struct change_deletion){ pick->fragment, pick->deleted };
	pick->deleted = NULL;
	return LANCET_OK;
}

static int
add_picks(lancet_change *change, delete_message *delete, struct row_picks *picks,
	struct lancet_error *err)
{
	delete->updated_fragments = change_alloc(change, picks->count, sizeof(void *), err);
	delete->deleted_fragment_ids = change_alloc(change, picks->count, sizeof(uint64_t), err);
	change->deletions = calloc(picks->count + 1, sizeof(*change->deletions));
	if (delete->updated_fragments == NULL || delete->deleted_fragment_ids == NULL ||
		change->deletions == NULL)
		return change_no_memory(err);
	TRY(affected_rows_empty(picks->count, &change->affected, err));
	for (size_t i = 0; i < picks->count; i++) {
		struct row_pick *pick = &picks->list[i];

		if (roaring_bitmap_get_cardinality(pick->deleted) == pick->physical_rows)
			delete->deleted_fragment_ids[delete->n_deleted_fragment_ids++] =
				pick->fragment;
		else
			TRY(add_updated(change, delete, pick, err));
		affected_rows_put(change->affected, (uint32_t)pick->fragment, pick->rows);
		pick->rows = NULL;
	}
	return LANCET_OK;
}

static int
build(lancet_change *change, struct row_picks *picks, const struct row_ranges *ranges,
	const char *column, struct lancet_error *err)
{
	delete_message *delete = change_alloc(change, 1, sizeof(*delete), err);

	if (delete == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__delete__init(delete);
	TRY(set_predicate(change, delete, ranges, column, err));
	TRY(add_picks(change, delete, picks, err));
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_DELETE;
	change->message->delete_ = delete;
	return LANCET_OK;
}

static int
delete_picks(lancet_version *read, struct row_picks *picks, const struct row_ranges *ranges,
	const char *column, lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;

	*ret_change = NULL;
	if (picks->count == 0)
		return LANCET_OK;
	TRY(change_new(read, &change, err));
	return change_built(change, build(change, picks, ranges, column, err), ret_change);
}

typedef int (*pick_fn)(lancet_version *version, const struct row_ranges *ranges,
	struct row_picks *ret_picks, struct lancet_error *err);

/* Releases the ranges. */
static int
delete_ranges(lancet_version *read, struct row_ranges *ranges, pick_fn pick, const char *column,
	lancet_change **ret_change, uint64_t *ret_rows, struct lancet_error *err)
{
	struct row_picks picks = { 0 };
	int rc = pick(read, ranges, &picks, err);

	if (rc == LANCET_OK) {
		uint64_t rows = picks.rows;

		rc = delete_picks(read, &picks, ranges, column, ret_change, err);
		if (rc == LANCET_OK)
			*ret_rows = rows;
	}
	row_picks_release(&picks);
	row_ranges_release(ranges);
	return rc;
}

int
lancet_change_delete_ids(lancet_version *read, const char *row_ids, lancet_change **ret_change,
	uint64_t *ret_rows, struct lancet_error *err)
{
	struct row_ranges ranges;

	TRY(row_ranges_ids(row_ids, &ranges, err));
	return delete_ranges(read, &ranges, row_picks_by_id, "_rowid", ret_change, ret_rows, err);
}

int
lancet_change_delete_addrs(lancet_version *read, const char *row_addrs, lancet_change **ret_change,
	uint64_t *ret_rows, struct lancet_error *err)
{
	struct row_ranges ranges;

	TRY(row_ranges_addrs(row_addrs, &ranges, err));
	return delete_ranges(
		read, &ranges, row_picks_by_addr, "_rowaddr", ret_change, ret_rows, err);
}

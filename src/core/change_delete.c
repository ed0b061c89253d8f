/* Delete of rows, by id, address or condition.
 *
 * The predicate of the transaction is the condition as it was written, as the reference has it; or
 * one that the rows fulfil, over _rowid or _rowaddr, cut when it is long.
 */
#include "change_build.h"

#include <stdlib.h>

#include "change_rows.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "version.h"

#define PREDICATE_MAX 1000u /* bytes, about */

typedef Lance__Table__Transaction__Delete delete_message;

/* Takes the text. */
static int
build(lancet_change *change, struct row_picks *picks, struct buf *predicate,
	struct lancet_error *err)
{
	delete_message *delete = change_alloc(change, 1, sizeof(*delete), err);
	struct taken_rows taken;

	if (delete == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__delete__init(delete);
	TRY(change_predicate(change, predicate, &delete->predicate, err));
	TRY(change_take_rows(change, picks, &taken, err));
	delete->updated_fragments = taken.updated;
	delete->n_updated_fragments = taken.updated_count;
	delete->deleted_fragment_ids = taken.removed;
	delete->n_deleted_fragment_ids = taken.removed_count;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_DELETE;
	change->message->delete_ = delete;
	return LANCET_OK;
}

/* Takes the text. */
static int
delete_picks(lancet_version *read, struct row_picks *picks, struct buf *predicate,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change = NULL;
	int rc = picks->count == 0 ? LANCET_OK : change_new(read, &change, err);

	if (rc == LANCET_OK && change != NULL)
		rc = build(change, picks, predicate, err);
	buf_release(predicate);
	return change_built(change, rc, ret_change);
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
		struct buf predicate = { 0 };

		row_ranges_predicate(ranges, column, PREDICATE_MAX, &predicate);
		rc = delete_picks(read, &picks, &predicate, ret_change, err);
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

int
lancet_change_delete_where(lancet_version *read, const char *where,
	const struct lancet_change_run *run, lancet_change **ret_change, uint64_t *ret_rows,
	struct lancet_error *err)
{
	struct row_picks picks = { 0 };
	struct buf predicate = { 0 };
	uint64_t rows;
	int rc;

	TRY(row_picks_by_where(read, where, run, &picks, err));
	rows = picks.rows;
	buf_put_text(&predicate, where);
	rc = delete_picks(read, &picks, &predicate, ret_change, err);
	row_picks_release(&picks);
	if (rc == LANCET_OK)
		*ret_rows = rows;
	return rc;
}

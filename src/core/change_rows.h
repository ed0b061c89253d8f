/* Rows that a change takes out of their fragments: what Delete and Update have in common.
 *
 * A fragment that keeps rows gets a new deletion vector, written when the change is committed; one
 * that keeps none is removed. The rows are the change's affected rows, so that others who take out
 * other rows at the same time are no conflict.
 */
#ifndef CORE_CHANGE_ROWS_H
#define CORE_CHANGE_ROWS_H

#include "change_build.h"
#include "row_picks.h"

/* In the change's arena: images of fragments that keep rows, ids of those that don't. */
struct taken_rows {
	struct Lance__Table__DataFragment **updated;
	size_t updated_count;
	uint64_t *removed;
	size_t removed_count;
};

/* Once for a change. The sets of rows of `picks` are the change's afterwards. */
int change_take_rows(lancet_change *change, struct row_picks *picks, struct taken_rows *ret_taken,
	struct lancet_error *err);

#endif

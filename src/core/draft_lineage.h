/* Row ids and row versions that a commit assigns.
 *
 * Values that are carried over stay as they are stored, and where: only what the commit decides is
 * encoded anew, inline. Nothing is ever made up for values that are damaged or lost: CORRUPT.
 * Format facts: assignment, updates, spilled sequences.
 */
#ifndef CORE_DRAFT_LINEAGE_H
#define CORE_DRAFT_LINEAGE_H

#include "draft.h"

struct sequence;

/* A fragment of rows that are all new: row ids from draft->next_row_id on, both versions are that
 * of the draft. Without stable row ids it gets none. INVALID: it brings row ids along. LIMIT: no
 * ids are left. */
int lineage_fresh(
	struct draft *draft, struct Lance__Table__DataFragment *fragment, struct lancet_error *err);
/* A fragment of updated rows, which bring their ids along, and of new ones behind them, which get
 * ids; without any it is as above. created-at is that of the rows in draft->newest, which are
 * looked for in the fragments `sources` first; last-updated-at is the version of the draft.
 * *ret_whole says that every row brought its id. CORRUPT: more ids than rows, an id twice, a
 * spilled sequence without its created-at, or damage of what has to be read. INVALID: an id that
 * was never given. */
int lineage_moved(struct draft *draft, struct Lance__Table__DataFragment *fragment,
	const struct numbers *sources, bool *ret_whole, struct lancet_error *err);
/* The ids that the message itself holds: there may be fewer than rows. The caller frees. CORRUPT:
 * more than rows, or damage. */
int lineage_open_ids(const struct Lance__Table__DataFragment *fragment,
	struct sequence **ret_sequence, uint64_t *ret_count, struct lancet_error *err);
/* All rows of the fragment were changed by this commit; without stable row ids nothing is done. */
int lineage_stamp(
	struct draft *draft, struct Lance__Table__DataFragment *fragment, struct lancet_error *err);
/* The rows at these offsets were; others keep what they have in draft->origin. A fragment without
 * last-updated-at versions stays without, unless `always`: then its rows had version 1. CORRUPT:
 * damage. */
int lineage_stamp_offsets(struct draft *draft, size_t place, const roaring_bitmap_t *offsets,
	bool always, struct lancet_error *err);
/* created_at of rows by id, for draft_lineage.c: the versions that rows with these ids (ascending,
 * each once) have in draft->newest; 0 for those that it does not have (draft_created.c). */
int created_find(struct draft *draft, const struct numbers *sources, const uint64_t *ids,
	size_t count, uint64_t *versions, struct lancet_error *err);

#endif

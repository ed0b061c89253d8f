/* The entry of the MemWAL index: how far shards were merged, and what indices have of them.
 *
 * All of it that we don't understand stays as it is. Format facts: UpdateMemWalState; the entry as
 * the reference maintains it.
 */
#ifndef CORE_DRAFT_MEM_WAL_H
#define CORE_DRAFT_MEM_WAL_H

#include "draft.h"
#include "touched.h"

/* Whether an entry can be one: CORRUPT when its details are missing or damaged, with which the
 * reference commits nothing any more. */
int mem_wal_check(struct draft *draft, const struct Lance__Table__IndexMetadata *entry,
	struct lancet_error *err);
/* Notes the progress of our transaction, if it has any. INVALID: a generation that is not above the
 * recorded one, or no MemWAL index. */
int mem_wal_advance(struct draft *draft, struct lancet_error *err);
/* Progress that others made meanwhile, for an entry that is being added: what it has already is no
 * change. */
int mem_wal_merge(struct draft *draft, struct Lance__Table__IndexMetadata *entry,
	const struct shards *progress, struct lancet_error *err);
/* Indices that got segments have all that is merged by now; those that are gone have nothing. Names
 * of the system's own indices are none. */
int mem_wal_note_indices(struct draft *draft, const struct texts *made, const struct texts *removed,
	struct lancet_error *err);

#endif

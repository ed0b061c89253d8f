/* Inside of CreateIndex: what must hold of the entries, and the cut of the reuse history. */
#ifndef CORE_CREATE_INDEX_H
#define CORE_CREATE_INDEX_H

#include "draft.h"

#define CREATE_INDEX_MAX 4096u /* entries of one message, each compared with all others */

struct Lance__Table__IndexMetadata;

bool entry_is_mem_wal(const struct Lance__Table__IndexMetadata *entry);

/* The new entry at a place of the message, for itself. INVALID: a name, field, fragment or base
 * that there is not, or damage. */
int create_index_check(struct draft *draft, size_t at, struct lancet_error *err);
/* Entries of one name as they are after the operation: none answers for a fragment of another one,
 * and the files of all hold the same kind of row numbers. */
int create_index_check_segments(struct draft *draft, struct lancet_error *err);

/* What the message does to a legacy reuse history: nothing is dropped that an index needs. INVALID
 * then, and for records that are made up. (create_index_history.c) */
int create_index_check_history(struct draft *draft, struct lancet_error *err);
/* Cuts a tagged history: what no index needs goes. The message says what was done. */
int create_index_trim(struct draft *draft, struct lancet_error *err);

#endif

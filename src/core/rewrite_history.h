/* The fragment reuse entry that a commit publishes: assembled anew for each attempt, from the
 * entry of the version that it is built on and what the commit adds to it, or leaves of it.
 *
 * A legacy history gets one record for all groups of a rewrite, a tagged one a transition for each;
 * what is there is kept byte for byte. Details of more than HISTORY_INLINE_MAX bytes are a file of
 * their own. Format facts: fragment reuse index; v0 and tagged writer contract, trim.
 */
#ifndef CORE_REWRITE_HISTORY_H
#define CORE_REWRITE_HISTORY_H

#include "draft.h"
#include "reuse.h"
#include "touched.h"
#include "util/buf.h"

#define HISTORY_INLINE_MAX 204800u /* bytes of encoded history */

/* Fields of an encoded history. */
enum { CONTENT_LEGACY = 1, CONTENT_TRANSITION = 2 };

/* A history that is being put together. */
struct history {
	struct draft *draft;
	struct arena arena;
	size_t place;                 /* of the current entry; SIZE_MAX: none */
	struct reuse_details current; /* empty without an entry */
	bool tagged;
	/* The entry is the same, elsewhere: of its version and over its fragments. May be NULL. */
	const struct Lance__Table__IndexMetadata *like;
	struct buf content;
	size_t added;               /* transitions or groups that the commit adds */
	struct lancet_reuse *reuse; /* of content, once it is checked */
};

/* Loads the entry of the draft, followed by nothing yet. UNSUPPORTED: one that is not understood.
 */
int history_open(struct history *history, struct draft *draft, struct lancet_error *err);
void history_release(struct history *history);

/* Appends what the rewrite carries: the record of a legacy entry, or the transitions of a tagged
 * one that lead from fragments of these groups. In a table that is tagged, or becomes so, a record
 * turns into transitions. INVALID: nothing to append. */
int history_append(struct history *history, const struct rewrite_group *groups, size_t count,
	struct lancet_error *err);
/* Keeps the records with a transition in `kept` (by lineage order), and drops the others. */
int history_keep(struct history *history, const bool *kept, struct lancet_error *err);
/* Checks the content: CORRUPT, when a transition contradicts itself or another one. */
int history_check(struct history *history, struct lancet_error *err);
/* Puts an entry of the content in the place of the current one, or of none when there is no record
 * left in it. */
int history_put(struct history *history, struct lancet_error *err);

/* A field of bytes. */
void history_put_bytes(struct buf *into, uint32_t number, struct slice bytes);

#endif

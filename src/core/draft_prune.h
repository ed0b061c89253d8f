/* What becomes of index entries when rows are taken out, columns rewritten, or fields dropped.
 *
 * An index answers for the fragments of its bitmap with values it took once: whoever changes the
 * values of a fragment takes it out of there, since nobody checks what an index found. Format
 * facts: index pruning, in-place rewrites on a tagged table.
 */
#ifndef CORE_DRAFT_PRUNE_H
#define CORE_DRAFT_PRUNE_H

#include "draft.h"
#include "numbers.h"

/* Drops the entries that lost a field, and the segments that no live fragment is left to, unless
 * their index would be gone. To be called when fragments and schema are those of the new version.
 * CORRUPT: a damaged bitmap, or a reuse history that contradicts itself. */
int draft_prune(struct draft *draft, struct lancet_error *err);

/* Takes the fragments out of the bitmaps of all indices on the fields, or on what is below or above
 * them: their values were changed in place. In a tagged history what they were made of goes, too.
 * Fails as above; UNSUPPORTED: a tagged history that is not fully understood. */
int draft_uncover(struct draft *draft, const struct numbers *fields,
	const struct numbers *fragments, struct lancet_error *err);

#endif

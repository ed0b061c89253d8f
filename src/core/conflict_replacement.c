/* Rules of DataReplacement, which puts a file in the place of columns of a fragment: f1, f2, f4. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>

#include "util/macros.h"

/* f1 */
int
rule_replacement_delete(struct clash *clash)
{
	uint64_t id;

	if (!numbers_meet(&clash->ours->updated, &clash->theirs->removed, &id))
		return LANCET_OK;
	return clash_refuse(clash, "removed_fragment", "fragment %" PRIu64 " was removed", id);
}

/* f2: rows that moved out have their old values in the new fragment; columns that were changed in
 * place matter when they are ours. */
int
rule_replacement_update(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	uint64_t id, field;

	TRY(rule_replacement_delete(clash));
	if (clash_decided(clash) || !numbers_meet(&ours->updated, &theirs->updated, &id))
		return LANCET_OK;
	if (theirs->moves_rows)
		return clash_retry(
			clash, "same_fragment", "rows moved out of fragment %" PRIu64, id);
	if (!numbers_meet(&ours->fields, &theirs->fields, &field))
		return LANCET_OK;
	return clash_retry(clash, "same_field",
		"field %" PRIu64 " of fragment %" PRIu64 " is changed by both", field, id);
}

/* f4: all files of one message have the same fields. */
int
rule_replacements(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	uint64_t id, field;

	if (!numbers_meet(&ours->updated, &theirs->updated, &id) ||
		!numbers_meet(&ours->fields, &theirs->fields, &field))
		return LANCET_OK;
	return clash_retry(clash, "same_field",
		"field %" PRIu64 " of fragment %" PRIu64 " is replaced by both", field, id);
}

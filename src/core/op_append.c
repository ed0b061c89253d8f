/* Append: new fragments of new rows. */
#include "operation.h"

#include "fragment_checks.h"
#include "draft_lineage.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

int
op_append_check(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Append *message = draft->message->append;
	struct numbers field_ids;

	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < message->n_fragments; i++)
		TRY(checks_new(draft, message->fragments[i], &field_ids, err));
	return LANCET_OK;
}

int
op_append_apply(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Append *message = draft->message->append;
	Lance__Table__DataFragment *added;

	for (size_t i = 0; i < message->n_fragments; i++) {
		TRY(draft_add(draft, message->fragments[i], &added, err));
		TRY(lineage_fresh(draft, added, err));
	}
	return LANCET_OK;
}

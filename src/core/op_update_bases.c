/* UpdateBases: more places that files of the dataset are kept at. Format facts: base_paths. */
#include "operation.h"

#include "draft_base.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define NEW_MAX   1024u /* each is compared with all others */
#define BASES_MAX 8192u

int
op_update_bases_check(struct draft *draft, struct lancet_error *err)
{
	size_t count = draft->message->update_bases->n_new_bases;

	if (count > NEW_MAX || draft->head->n_base_paths > BASES_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%zu bases and %zu new ones, limit %u and %u",
			draft->head->n_base_paths, count, BASES_MAX, NEW_MAX);
	return LANCET_OK;
}

int
op_update_bases_apply(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__UpdateBases *message = draft->message->update_bases;

	for (size_t i = 0; i < message->n_new_bases; i++)
		TRY(draft_base_add(draft, message->new_bases[i], err));
	return LANCET_OK;
}

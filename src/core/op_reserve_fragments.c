/* ReserveFragments: fragment ids for a commit that is still to come. Format facts: max_fragment_id.
 */
#include "operation.h"

#include "fragment.h"
#include "lance/transaction.pb-c.h"

int
op_reserve_fragments_check(struct draft *draft, struct lancet_error *err)
{
	uint32_t mark = draft->has_max_fragment_id ? draft->max_fragment_id : 0;

	if (draft->message->reserve_fragments->num_fragments <= FRAGMENT_ID_MAX - mark)
		return LANCET_OK;
	return lancet_fail(err, LANCET_LIMIT, "%u fragment ids above %u are not left",
		(unsigned)draft->message->reserve_fragments->num_fragments, (unsigned)mark);
}

/* Without a mark the ids start at 1. */
int
op_reserve_fragments_apply(struct draft *draft, struct lancet_error *err)
{
	(void)err;
	if (!draft->has_max_fragment_id)
		draft->max_fragment_id = 0;
	draft->has_max_fragment_id = true;
	draft->max_fragment_id += draft->message->reserve_fragments->num_fragments;
	return LANCET_OK;
}

/* UpdateMemWalState: shards of the MemWAL that are part of the dataset now. */
#include "operation.h"

#include "draft_mem_wal.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

int
op_mem_wal_check(struct draft *draft, struct lancet_error *err)
{
	if (draft->message->update_mem_wal_state->n_compacted_sstables == 0)
		return lancet_fail(err, LANCET_INVALID, "no shard was merged");
	return LANCET_OK;
}

int
op_mem_wal_apply(struct draft *draft, struct lancet_error *err)
{
	return mem_wal_advance(draft, err);
}

/* The table of operations.h. */
#include "operations.h"

#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define ROW(case_name, name) { LANCE__TABLE__TRANSACTION__OPERATION_##case_name, name }

const struct operation operations[] = {
	ROW(APPEND, "Append"),
	ROW(DELETE, "Delete"),
	ROW(OVERWRITE, "Overwrite"),
	ROW(CREATE_INDEX, "CreateIndex"),
	ROW(REWRITE, "Rewrite"),
	ROW(MERGE, "Merge"),
	ROW(RESTORE, "Restore"),
	ROW(RESERVE_FRAGMENTS, "ReserveFragments"),
	ROW(UPDATE, "Update"),
	ROW(PROJECT, "Project"),
	ROW(UPDATE_CONFIG, "UpdateConfig"),
	ROW(DATA_REPLACEMENT, "DataReplacement"),
	ROW(UPDATE_MEM_WAL_STATE, "UpdateMemWalState"),
	ROW(CLONE, "Clone"),
	ROW(UPDATE_BASES, "UpdateBases"),
	ROW(DATA_OVERLAY, "DataOverlay"),
};
const size_t operation_count = ARRAY_SIZE(operations);

const struct operation *
operation_find(uint32_t number)
{
	for (size_t i = 0; i < operation_count; i++)
		if (operations[i].number == number)
			return &operations[i];
	return NULL;
}

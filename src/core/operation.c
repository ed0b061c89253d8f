/* The operations that can be committed, and the two steps of applying one. */
#include "operation.h"

#include "lance/transaction.pb-c.h"
#include "pbutf8.h"
#include "transaction.h"
#include "util/macros.h"

const struct operation_effect operation_effects[OPERATION_KINDS] = {
	[OPERATION_APPEND] = { OPERATION_APPEND, op_append_check, op_append_apply },
	[OPERATION_DELETE] = { OPERATION_DELETE, op_delete_check, op_delete_apply },
	[OPERATION_OVERWRITE] = { OPERATION_OVERWRITE, op_overwrite_check, op_overwrite_apply },
	[OPERATION_CREATE_INDEX] = { OPERATION_CREATE_INDEX, op_create_index_check,
		op_create_index_apply },
	[OPERATION_REWRITE] = { OPERATION_REWRITE, op_rewrite_check, op_rewrite_apply },
	[OPERATION_MERGE] = { OPERATION_MERGE, op_merge_check, op_merge_apply },
	[OPERATION_RESTORE] = { OPERATION_RESTORE, op_restore_check, op_restore_apply },
	[OPERATION_RESERVE_FRAGMENTS] = { OPERATION_RESERVE_FRAGMENTS,
		op_reserve_fragments_check, op_reserve_fragments_apply },
	[OPERATION_UPDATE] = { OPERATION_UPDATE, op_update_check, op_update_apply },
	[OPERATION_PROJECT] = { OPERATION_PROJECT, op_project_check, op_project_apply },
	[OPERATION_UPDATE_CONFIG] = { OPERATION_UPDATE_CONFIG, op_update_config_check,
		op_update_config_apply },
	[OPERATION_DATA_REPLACEMENT] = { OPERATION_DATA_REPLACEMENT, op_data_replacement_check,
		op_data_replacement_apply },
	[OPERATION_DATA_OVERLAY] = { OPERATION_DATA_OVERLAY, op_data_overlay_check,
		op_data_overlay_apply },
	[OPERATION_UPDATE_MEM_WAL_STATE] = { OPERATION_UPDATE_MEM_WAL_STATE, op_mem_wal_check,
		op_mem_wal_apply },
	[OPERATION_CLONE] = { OPERATION_CLONE, op_clone_check, op_clone_apply },
	[OPERATION_UPDATE_BASES] = { OPERATION_UPDATE_BASES, op_update_bases_check,
		op_update_bases_apply },
};

int
operation_apply(struct draft *draft, struct lancet_error *err)
{
	enum operation_kind kind = operation_kind_of(draft->message);
	const struct operation_effect *effect =
		kind == OPERATION_UNKNOWN ? NULL : &operation_effects[kind];
	int rc = LANCET_OK;

	if (effect == NULL || effect->apply == NULL)
		return lancet_fail(err, LANCET_UNSUPPORTED, "operation %s can't be committed",
			operation_kind_name(kind));
	rc = pb_check_decodable(&draft->message->base, err);
	if (rc == LANCET_OK && effect->check != NULL)
		rc = effect->check(draft, err);
	if (rc == LANCET_OK)
		rc = effect->apply(draft, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", operation_kind_name(kind));
}

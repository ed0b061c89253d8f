/* What each operation does to the next manifest: a file op_NAME.c and a row of a table for each.
 *
 * The conflict check has been passed when these are called: conflict_matrix.c has the verdicts, and
 * rebase.h what it left to do. The message is draft->message. Format facts: effect per operation.
 */
#ifndef CORE_OPERATION_H
#define CORE_OPERATION_H

#include "draft.h"

struct operation_effect {
	enum operation_kind kind;
	/* Holds the message against itself and against draft->newest, before anything is changed.
	 * INVALID: it asks for something impossible. UNSUPPORTED: for something this build can't
	 * maintain. CORRUPT: it contradicts itself. NULL: nothing to check. */
	int (*check)(struct draft *draft, struct lancet_error *err);
	int (*apply)(struct draft *draft, struct lancet_error *err);
};

extern const struct operation_effect operation_effects[OPERATION_KINDS];

/* check, then apply. UNSUPPORTED: an operation that is not known. */
int operation_apply(struct draft *draft, struct lancet_error *err);

/* One row each, in op_NAME.c. */
int op_append_check(struct draft *draft, struct lancet_error *err);
int op_append_apply(struct draft *draft, struct lancet_error *err);
int op_delete_check(struct draft *draft, struct lancet_error *err);
int op_delete_apply(struct draft *draft, struct lancet_error *err);
int op_overwrite_check(struct draft *draft, struct lancet_error *err);
int op_overwrite_apply(struct draft *draft, struct lancet_error *err);
int op_create_index_check(struct draft *draft, struct lancet_error *err);
int op_create_index_apply(struct draft *draft, struct lancet_error *err);
int op_rewrite_check(struct draft *draft, struct lancet_error *err);
int op_rewrite_apply(struct draft *draft, struct lancet_error *err);
int op_merge_check(struct draft *draft, struct lancet_error *err);
int op_merge_apply(struct draft *draft, struct lancet_error *err);
int op_restore_check(struct draft *draft, struct lancet_error *err);
int op_restore_apply(struct draft *draft, struct lancet_error *err);
int op_reserve_fragments_check(struct draft *draft, struct lancet_error *err);
int op_reserve_fragments_apply(struct draft *draft, struct lancet_error *err);
int op_update_check(struct draft *draft, struct lancet_error *err);
int op_update_apply(struct draft *draft, struct lancet_error *err);
int op_project_check(struct draft *draft, struct lancet_error *err);
int op_project_apply(struct draft *draft, struct lancet_error *err);
int op_update_config_check(struct draft *draft, struct lancet_error *err);
int op_update_config_apply(struct draft *draft, struct lancet_error *err);
int op_data_replacement_check(struct draft *draft, struct lancet_error *err);
int op_data_replacement_apply(struct draft *draft, struct lancet_error *err);
int op_data_overlay_check(struct draft *draft, struct lancet_error *err);
int op_data_overlay_apply(struct draft *draft, struct lancet_error *err);
int op_mem_wal_check(struct draft *draft, struct lancet_error *err);
int op_mem_wal_apply(struct draft *draft, struct lancet_error *err);
int op_clone_check(struct draft *draft, struct lancet_error *err);
int op_clone_apply(struct draft *draft, struct lancet_error *err);
int op_update_bases_check(struct draft *draft, struct lancet_error *err);
int op_update_bases_apply(struct draft *draft, struct lancet_error *err);

#endif

/* The conflict matrix: a row for our operation, a column for the committed one.
 *
 * It is written as the format facts have it, so that the two can be laid side by side. C, R and I
 * decide by the operations alone; anything else is a rule that looks at what both touch. A
 * committed operation that is not known is I for everybody but those that touch no rows and no
 * schema (Clone, UpdateBases).
 */
#include "conflict_rules.h"

int
rule_compatible(struct clash *clash)
{
	(void)clash;
	return LANCET_OK;
}

int
rule_retry(struct clash *clash)
{
	return clash_retry(clash, "operation", "%s is computed anew after %s",
		operation_kind_name(clash->ours->kind), operation_kind_name(clash->theirs->kind));
}

int
rule_refuse(struct clash *clash)
{
	return clash_refuse(clash, "operation", "%s can't follow %s",
		operation_kind_name(clash->ours->kind), operation_kind_name(clash->theirs->kind));
}

#define C   rule_compatible
#define R   rule_retry
#define I   rule_refuse
#define O_  rule_fragments
#define D1  rule_deletions
#define V1  rule_overwrites
#define V2  rule_overwrite_config
#define V3  rule_config_overwrite
#define I1  rule_indices
#define I2  rule_index_rewrite
#define I3  rule_index_merge
#define I3M rule_merge_index
#define IP  rule_index_project
#define I4  rule_index_update
#define I5  rule_index_replacement
#define I5D rule_replacement_index
#define I6  rule_index_shards
#define W1  rule_rewrite_index
#define W2  rule_rewrites
#define U1  rule_inserted_keys
#define U2  rule_updates
#define U3  rule_update_project
#define U4  rule_update_overlay
#define M1  rule_shards
#define K1  rule_configs
#define F1  rule_replacement_delete
#define F2  rule_replacement_update
#define F3  rule_replacement_project
#define F4  rule_replacements
#define F5  rule_overlay_delete
#define F6  rule_overlay_update
#define B1  rule_bases

/* clang-format off */
static conflict_rule *const matrix[OPERATION_KINDS][OPERATION_KINDS] = {
/*                        Ap  De  Ov  CI   Rw  Me   Re RF Up  Pr   UC  DR   DO  MW   Cl UB */
[OPERATION_APPEND]    = { C,  C,  I,  C,   C,  C,   I, C, C,  C,   C,  C,   C,  I,   C, C },
[OPERATION_DELETE]    = { C,  D1, I,  C,   O_, R,   I, C, D1, C,   C,  O_,  C,  I,   C, C },
[OPERATION_OVERWRITE] = { C,  C,  V1, C,   C,  C,   C, C, C,  C,   V2, C,   C,  I,   C, C },
[OPERATION_CREATE_INDEX] =
                        { C,  C,  I,  I1,  I2, I3,  I, C, I4, IP,  C,  I5,  C,  I6,  C, C },
[OPERATION_REWRITE]   = { C,  O_, I,  W1,  W2, R,   I, C, O_, C,   C,  O_,  O_, C,   C, C },
[OPERATION_MERGE]     = { R,  R,  I,  I3M, R,  R,   I, C, R,  I,   C,  R,   R,  I,   C, C },
[OPERATION_RESTORE]   = { C,  C,  C,  C,   C,  C,   C, C, C,  C,   C,  C,   C,  I,   C, C },
[OPERATION_RESERVE_FRAGMENTS] =
                        { C,  C,  I,  C,   C,  C,   I, C, C,  C,   C,  C,   C,  C,   C, C },
[OPERATION_UPDATE]    = { U1, D1, I,  C,   O_, R,   I, C, U2, U3,  C,  O_,  U4, M1,  C, C },
[OPERATION_PROJECT]   = { C,  C,  I,  C,   C,  R,   I, C, C,  R,   C,  C,   C,  I,   C, C },
[OPERATION_UPDATE_CONFIG] =
                        { C,  C,  V3, C,   C,  C,   C, C, C,  C,   K1, C,   C,  C,   C, C },
[OPERATION_DATA_REPLACEMENT] =
                        { C,  F1, I,  I5D, O_, R,   I, C, F2, F3,  C,  F4,  C,  I,   C, C },
[OPERATION_DATA_OVERLAY] =
                        { C,  F5, I,  C,   O_, R,   I, C, F6, C,   C,  C,   C,  I,   C, C },
[OPERATION_UPDATE_MEM_WAL_STATE] =
                        { I,  I,  I,  M1,  C,  I,   I, C, M1, I,   C,  I,   I,  M1,  I, C },
[OPERATION_CLONE]     = { C,  C,  C,  C,   C,  C,   C, C, C,  C,   C,  C,   C,  C,   C, C },
[OPERATION_UPDATE_BASES] =
                        { C,  C,  C,  C,   C,  C,   C, C, C,  C,   C,  C,   C,  C,   C, B1 },
};
/* clang-format on */

static int
rule_unknown(struct clash *clash)
{
	return clash_refuse(clash, "unknown_operation",
		"its operation is not known: anything may have changed");
}

conflict_rule *
conflict_rule_of(enum operation_kind ours, enum operation_kind theirs)
{
	if (theirs != OPERATION_UNKNOWN)
		return matrix[ours][theirs];
	if (ours == OPERATION_CLONE || ours == OPERATION_UPDATE_BASES)
		return rule_compatible;
	return rule_unknown;
}

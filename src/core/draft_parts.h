/* The steps of draft_finish, one file each. */
#ifndef CORE_DRAFT_PARTS_H
#define CORE_DRAFT_PARTS_H

#include "draft.h"

/* Fragments of manifests whose writers did not count, or counted wrongly, are counted; those
 * without rows go. Index coverage that such a writer recorded is withdrawn (draft_migrate.c). */
int draft_migrate(struct draft *draft, struct lancet_error *err);

/* One fragment that was changed or made: data files without a field go, the rest must be in order
 * (draft_check.c). */
int draft_check_fragment(const struct draft *draft, struct Lance__Table__DataFragment *message,
	struct arena *arena, struct lancet_error *err);

/* Feature flags and the storage version, from what the version is made of (draft_flags.c). */
int draft_set_flags(struct draft *draft, struct lancet_error *err);
/* The sequence is a column of a data file. */
bool draft_is_spilled(const struct Lance__Table__DataFragment *message, enum lancet_lineage which);

#endif

/* Files of one transition of the reuse history, which ref->item is: its fragments. SPEC section 4.
 */
#ifndef FS_REUSEFILE_H
#define FS_REUSEFILE_H

#include <lancet/transition.h>
#include "node.h"

/* Belongs to ref->version. NOT_FOUND: no transition of that number. */
int transition_of(const struct node_ref *ref, const struct lancet_transition **ret_transition,
	struct lancet_error *err);

/* sources.tsv or destinations.tsv, as ref->kind says. */
int records_digests(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int measure_digests(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err);

#endif

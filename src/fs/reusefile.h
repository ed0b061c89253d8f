/* Files of one transition of the reuse history: its fragments, and where each of their rows went.
 * SPEC section 4.
 *
 * ref->item is the transition. Reading follows the rows asked for and no others, a block at a time.
 * Sizes are arithmetic over what the history records, so that a stat opens no row map.
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

/* Those below fail with the transition's fault. */
int records_mapping(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int records_surviving_rows(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int records_labels(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
/* Size of mapping.tsv, surviving_rows or labels.u16, as ref->kind says. LIMIT: more bytes than a
 * file can have. */
int measure_mapping(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err);
/* Its lines are as long as the destinations are many. */
int records_counts(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);

#endif

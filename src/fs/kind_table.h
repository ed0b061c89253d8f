/* The table of what each kind of node is, put together from the rows_*.c. */
#ifndef FS_KIND_TABLE_H
#define FS_KIND_TABLE_H

#include "node.h"

/* NULL for a number that is no kind. */
const struct node_kind *node_kind_of(uint64_t id);
/* Builds the table, and asserts that each kind has the callbacks of its shape and each directory
 * distinct rows. Comes before the first node_kind_of; any number of times, from any thread. */
void kinds_check(void);

/* Each ended by a kind with id NODE_NONE. */
extern const struct node_kind rows_root[], rows_ref[], rows_version[], rows_fragment[];
extern const struct node_kind rows_overlay[], rows_map[], rows_index[], rows_live[];
extern const struct node_kind rows_livetag[], rows_reuse[], rows_ctl[], rows_job[];

#endif

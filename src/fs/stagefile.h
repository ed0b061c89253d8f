/* Staged files that are open, as handles of the tree. */
#ifndef FS_STAGEFILE_H
#define FS_STAGEFILE_H

#include "handle.h"
#include "stage.h"

extern const struct node_handle_ops stagefile_ops; /* of handles whose state is a struct staged */

int stagefile_create(struct stage *stage, const void *owner, const char *name, mode_t mode,
	struct node_handle *ret_handle, uint64_t *ret_number, struct lancet_error *err);
int stagefile_open(struct stage *stage, uint64_t number, bool to_write,
	struct node_handle *ret_handle, struct lancet_error *err);

#endif

/* What the rows of ctl/ share. */
#ifndef FS_ROWS_CTL_H
#define FS_ROWS_CTL_H

#include "place.h"

static inline struct control *
ctl_of(const struct node_ref *ref)
{
	return ref->tree->control;
}

/* Modes and owner of all that is there. */
int ctl_attributes(const struct node_ref *ref, struct stat *st, struct lancet_error *err);

#endif

/* Bases that a draft gets: other places that files of the dataset are kept at. */
#ifndef CORE_DRAFT_BASE_H
#define CORE_DRAFT_BASE_H

#include "draft.h"

struct Lance__Table__BasePath;

/* Adds a copy of the base. Without an id (0) it gets the smallest one that no base has, from 1 on.
 * INVALID: an id, name or path that another one has, where having no name counts as one; or a path
 * that can't be one. */
int draft_base_add(
	struct draft *draft, const struct Lance__Table__BasePath *base, struct lancet_error *err);
/* The same for what a clone is made of, whatever bases there are; its id may be 0. */
int draft_base_of_clone(struct draft *draft, const struct Lance__Table__BasePath *base,
	uint32_t *ret_id, struct lancet_error *err);

#endif

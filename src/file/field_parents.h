/* The tree that parent ids tell: a parent comes before its children. */
#ifndef FILE_FIELD_PARENTS_H
#define FILE_FIELD_PARENTS_H

#include <stddef.h>

#include <lancet/error.h>

struct Lance__File__Field;

/* (*ret_parents)[i] = index of the parent of field i, `count` at the top level; the caller frees
 * it. Of repeated ids, as old files have them, the first one is meant. CORRUPT: a parent that is
 * not an earlier field. */
int field_parents(struct Lance__File__Field *const *stored, size_t count, size_t **ret_parents,
	struct lancet_error *err);

#endif

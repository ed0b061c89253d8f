/* Which stored field is whose child, told by parent ids; what is no field of the tree is left
 * out. */
#ifndef FILE_FIELD_LINKS_H
#define FILE_FIELD_LINKS_H

#include "field.h"

struct field_link {
	size_t first_child, last_child, child_count;
	size_t next; /* the next child of the same parent */
};

struct field_links {
	struct field_link *nodes; /* by stored index */
	size_t first_root, last_root, root_count;
};

/* CORRUPT: a parent that is no earlier field. */
int field_links_init(struct field_links *links, struct Lance__File__Field *const *stored,
	size_t count, struct lancet_error *err);
void field_links_release(struct field_links *links);

#endif

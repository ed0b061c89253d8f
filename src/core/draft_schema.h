/* The schema that a draft gets: fields that a transaction brings, and what their metadata means.
 *
 * Some keys of a field's metadata are numbers of the field itself, too, and only those make it a
 * key for other readers. Format facts: Field; field metadata with reserved keys.
 */
#ifndef CORE_DRAFT_SCHEMA_H
#define CORE_DRAFT_SCHEMA_H

#include "draft.h"

struct Lance__File__Field;
struct Lance__File__StringEntry;

#define PRIMARY_KEY             "lance-schema:unenforced-primary-key"
#define PRIMARY_KEY_POSITION    "lance-schema:unenforced-primary-key:position"
#define CLUSTERING_KEY_POSITION "lance-schema:unenforced-clustering-key:position"

/* Fields of a message as a schema. INVALID: an id that is negative or there twice, a name that two
 * siblings have, a key that the field can't be; CORRUPT: a parent that is no earlier field;
 * UNSUPPORTED: a field that is not in the draft's schema and has an unknown type. */
int draft_schema_check(const struct draft *draft, struct Lance__File__Field *const *fields,
	size_t count, struct lancet_error *err);
/* Makes them the schema of the draft. */
int draft_schema_set(struct draft *draft, struct Lance__File__Field *const *fields, size_t count,
	struct lancet_error *err);
/* The field of the draft's schema with this id, to be modified; a copy of it is put there first.
 * NULL: there is none. Its old extension name is among its metadata then. */
int draft_schema_edit(struct draft *draft, int32_t id, struct Lance__File__Field **ret_field,
	struct lancet_error *err);
/* Numbers of the field that follow from its metadata; those of keys without an entry are 0. */
void draft_schema_mirror(struct Lance__File__Field *field);
/* A primary key is of leaves, and neither they nor what they are in can be null. */
int draft_schema_check_key(
	struct Lance__File__Field *const *fields, size_t count, struct lancet_error *err);
bool field_is_primary_key(const struct Lance__File__Field *field);
bool field_is_clustering_key(const struct Lance__File__Field *field);

#endif

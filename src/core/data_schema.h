/* The columns of a version that are read: the tree of their fields, and where in it an id is. */
#ifndef CORE_DATA_SCHEMA_H
#define CORE_DATA_SCHEMA_H

#include <lancet/version.h>
#include "file/field.h"

struct data_schema_id {
	int32_t id;
	uint32_t ordinal;
};

struct data_schema {
	struct field_tree tree;
	const struct field **fields; /* by ordinal */
	struct data_schema_id *ids;  /* of stored fields, ascending; the first one of equal ids */
	size_t id_count;
};

/* Top-level fields of the version by name, in stored order and each once; `names` NULL: all of
 * them. INVALID: a name that no top-level field has. UNSUPPORTED: a type that is not known, but
 * only when it is asked for. */
int data_schema_init(struct data_schema *schema, lancet_version *version,
	const struct lancet_bytes *names, size_t name_count, enum field_blobs blobs,
	struct lancet_error *err);
void data_schema_release(struct data_schema *schema);

/* The place of the field with the id, or false. */
bool data_schema_find(const struct data_schema *schema, int32_t id, uint32_t *ret_ordinal);
/* Behind the last ordinal of a field and all below it. */
uint32_t data_schema_end(const struct field *field);

#endif

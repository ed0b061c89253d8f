/* Field ids to names, for the documents that show both. */
#ifndef CORE_FIELDNAMES_H
#define CORE_FIELDNAMES_H

#include <lancet/version.h>
#include "util/jsonw.h"

struct field_name {
	int32_t id;
	size_t order; /* in the schema */
	struct slice name;
};

struct field_names {
	struct field_name *rows; /* by id; the first in the schema of those with one id */
	size_t count;
};

/* Borrows the version's message. Works for schemas that are nested too deep to be listed. */
int field_names_load(const lancet_version *version, struct field_names *ret_names,
                     struct lancet_error *err);
void field_names_release(struct field_names *names);
/* NULL when the schema has no such field. */
const struct field_name *field_names_find(const struct field_names *names, int32_t id);
/* "name": text; of a lineage column its reserved name; null for tombstones and what is unknown. */
void field_names_put(const struct field_names *names, struct jsonw *w, int32_t id);

/* Ids that stand for lineage columns: -3 - enum lancet_lineage. */
#define FIELD_ROW_ID          (-3)
#define FIELD_CREATED_AT      (-4)
#define FIELD_LAST_UPDATED_AT (-5)

#endif

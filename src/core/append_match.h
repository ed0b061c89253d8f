/* The columns of a data file held against the schema that its rows are to join. */
#ifndef CORE_APPEND_MATCH_H
#define CORE_APPEND_MATCH_H

#include "file/datafile.h"

/* ids[ordinal] = the id that the field of the file's tree has in the schema, FIELD_NO_ID for one
 * that is implied; room for file->count. INVALID names the first column that does not fit: one the
 * schema does not have, another type, null where the schema allows none, or one that the file
 * lacks, unless it is a nullable top-level column. UNSUPPORTED: a blob with files of its own, or a
 * lineage column. */
int append_match(const struct field_tree *file, const struct field_tree *schema, int32_t *ids,
	struct lancet_error *err);

#endif

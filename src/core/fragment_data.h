/* The columns of one fragment: their values by row, overlays applied.
 *
 * Of a cell the newest overlay that covers it counts. Readers are made when a field is first read,
 * and kept. Belongs to one thread at a time. Format facts: data files, overlays.
 */
#ifndef CORE_FRAGMENT_DATA_H
#define CORE_FRAGMENT_DATA_H

#include "data_files.h"

struct fragment_data;

/* Takes a reference of the fragment; schema and pool outlive it. */
int fragment_data_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct fragment_data **ret_data, struct lancet_error *err);
void fragment_data_free(struct fragment_data *data);
/* Appends rows of top-level field `root` (its index in schema->tree.roots) to out: physical rows,
 * ascending. LIMIT: more than the budget of out allows; out may then only be reset or released, but
 * fewer rows may be asked for. */
int fragment_data_read(struct fragment_data *data, size_t root, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err);
/* Where the base columns of the root are, by ordinal of the schema; overlays are not looked at. */
int fragment_data_places(struct fragment_data *data, size_t root, struct column_place *places,
	struct lancet_error *err);

#endif

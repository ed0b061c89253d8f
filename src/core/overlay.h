/* Overlays of one top-level field: replaced cells, merged into what the base files say.
 *
 * What an overlay replaces is an atomic field: anything that is no plain struct. Each part of a
 * struct is replaced alone, and the struct is null where the newest overlay that covers any part of
 * it says so. Format facts: overlays.
 */
#ifndef CORE_OVERLAY_H
#define CORE_OVERLAY_H

#include "fragment_data.h"

struct overlay_set;

/* *ret_set is NULL when no overlay concerns the field. Opens no file. */
int overlay_set_open(struct fragment_data *data, const struct field *root,
	struct overlay_set **ret_set, struct lancet_error *err);
void overlay_set_free(struct overlay_set *set);
/* As field_reader_read, with the values of the overlays in place of those of `base`. */
int overlay_set_read(struct overlay_set *set, struct field_reader *base,
	const struct row_range *ranges, size_t count, struct array *out, struct lancet_error *err);

#endif

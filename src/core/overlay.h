/* Overlays of one top-level field: replaced cells, merged into what the base files say.
 *
 * What an overlay replaces is an atomic field: anything that is no plain struct. Each part of a
 * struct is replaced alone; whether the struct itself is null the base files say, as they do for
 * the reference. Format facts: overlays.
 */
#ifndef CORE_OVERLAY_H
#define CORE_OVERLAY_H

#include "overlay_set.h"

/* As field_reader_read, with the values of the overlays in place of those of `base`. */
int overlay_set_read(struct overlay_set *set, struct field_reader *base,
	const struct row_range *ranges, size_t count, struct array *out, struct lancet_error *err);

#endif

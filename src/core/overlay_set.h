/* What the two halves of overlay.h share: which overlays there are, and which rows they replace. */
#ifndef CORE_OVERLAY_SET_H
#define CORE_OVERLAY_SET_H

#include "overlay.h"

#define ROUTE_BASE 0u

/* Values that one overlay has for one atomic field. */
struct overlay_source {
	size_t overlay; /* its number: of two the higher one is newer */
	lancet_deletion *coverage;
	struct field_reader *reader; /* NULL until it is needed */
	/* Of the read at hand: the rows of the overlay that it needs, and their values. */
	struct row_range *rows;
	size_t row_count, row_capacity;
	struct array values; /* of the root; no field while there is nothing */
};

struct overlay_atom {
	const struct field *field;
	struct overlay_source *sources; /* newest first */
	size_t source_count;
	uint32_t *route; /* for each row of the read ROUTE_BASE, or 1 + the number of a source */
	bool is_routed;  /* the read has rows that are replaced */
};

struct overlay_set {
	struct fragment_data *data; /* borrowed */
	const struct field *root;
	struct overlay_atom *atoms;
	size_t atom_count;
};

/* Decides for every row of the read who has its value; *ret_any: not always the base. */
int overlay_set_route(struct overlay_set *set, const struct row_range *ranges, size_t count,
	uint64_t rows, bool *ret_any, struct lancet_error *err);
/* Forgets the read at hand. */
void overlay_set_reset(struct overlay_set *set);

#endif

/* The overlays that concern a top-level field, and which of its rows they replace. Only bitmaps are
 * looked at here: overlay.h reads the values, and no more of them than a read needs. */
#ifndef CORE_OVERLAY_SET_H
#define CORE_OVERLAY_SET_H

#include "data_files.h"

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
	struct data_files *files; /* borrowed */
	const struct field *root;
	struct overlay_atom *atoms;
	size_t atom_count;
};

/* *ret_set is NULL when no overlay concerns the field. Opens no file. */
int overlay_set_open(struct data_files *files, const struct field *root,
	struct overlay_set **ret_set, struct lancet_error *err);
void overlay_set_free(struct overlay_set *set);
/* Decides for every row of the read who has its value; *ret_any: not always the base. */
int overlay_set_route(struct overlay_set *set, const struct row_range *ranges, size_t count,
	uint64_t rows, bool *ret_any, struct lancet_error *err);
/* Forgets the read at hand. */
void overlay_set_reset(struct overlay_set *set);

#endif

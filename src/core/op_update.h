/* Inside of Update: what is shared by its parts. */
#ifndef CORE_OP_UPDATE_H
#define CORE_OP_UPDATE_H

#include "draft.h"
#include "lance/transaction.pb-c.h"
#include "numbers.h"

#define FIELD_TOMBSTONE (-2)

typedef Lance__Table__Transaction__Update Update;

/* An overlay's value of a field in a fragment that rows were taken from. */
struct overlaid_field {
	uint64_t field, version;
};

struct update_lists {
	bool in_place;           /* columns were written anew, no row moved */
	struct numbers sources;  /* fragments that are updated or removed */
	struct numbers updated;  /* those that stay */
	struct numbers modified; /* fields */
	struct numbers whole;    /* new fragments of which every row was in the sources */
	struct overlaid_field *overlaid;
	size_t overlaid_count;
};

/* Rows whose columns were written anew, by fragment (update_offsets.c). CORRUPT: damaged sets, or
 * rows beyond the end; INVALID: of a fragment that is not updated. */
int update_check_offsets(
	struct draft *draft, const struct update_lists *lists, struct lancet_error *err);
int update_stamp_offsets(
	struct draft *draft, const struct update_lists *lists, struct lancet_error *err);

/* Where rows keep their ids, an index that holds ids and knew the rows knows them still, unless
 * what it is on has changed: the new fragments join its coverage (update_cover.c). The overlays are
 * noted while all sources are there. */
int update_note_overlays(struct draft *draft, struct update_lists *lists, struct lancet_error *err);
int update_cover(struct draft *draft, const struct update_lists *lists, struct lancet_error *err);

#endif

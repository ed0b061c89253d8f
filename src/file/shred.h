/* Levels for a leaf: how the nesting above it is written beside its values. This is the inverse of
 * unravelling (levels.h).
 *
 * The walk goes from the top inwards. Each entry begins as a row; a list makes as many entries of
 * one as it has items, and one that is null or empty, or lies in something null, stays a single
 * entry without a slot of the leaf. What lies under nulls is stepped over. Format facts: repetition
 * and definition levels.
 */
#ifndef FILE_SHRED_H
#define FILE_SHRED_H

#include "levels.h"

struct shred_run {
	uint64_t first, count;
};

struct shred {
	struct layers layers;
	uint64_t rows;       /* stored ones: times the dimensions of fixed-size lists of structs */
	uint64_t entries;    /* rep and def have as many levels */
	const uint16_t *rep; /* NULL without lists */
	const uint16_t *def; /* NULL when nothing is null or empty */
	/* The visible slots, in order: [first, first + visible) of an array of the leaf's field. */
	const struct array *values;
	uint64_t first, visible;
	uint64_t valid; /* visible ones that are not null */
	/* What the pointers point into. */
	struct buf levels[4];
	struct buf runs[2]; /* struct shred_run */
	struct buf validity;
	struct array gathered;
	struct array_budget budget;
};

/* Rows [first, first + count) of `root`, an array of the top-level field above `leaf`; the shred
 * borrows from it. May be called again: memory is kept. CORRUPT: keys of a dictionary without
 * values; UNSUPPORTED: lists together with fixed-size lists of structs. */
int shred_make(struct shred *shred, const struct array *root, const struct field *leaf,
	uint64_t first, uint64_t count, struct lancet_error *err);
void shred_release(struct shred *shred);

/* How many of the rows, one at least, make no more than about `entries` entries. */
uint64_t shred_rows_within(const struct array *root, const struct field *leaf, uint64_t first,
	uint64_t count, uint64_t entries);

/* What shred.c and shred_walk.c share. The nesting of one leaf, by layer (0 is the leaf). */
struct shred_path {
	const struct field *leaf;
	const struct array *arrays[LEVELS_LAYERS_MAX];
	unsigned count;
	/* Of the leaf: its own bits, or those that count the nulls of a dictionary's values, too.
	 * Bit 0 is slot validity_first. NULL: all slots are valid. */
	const uint8_t *validity;
	uint64_t validity_first;
};

/* INVALID arguments are the caller's mistakes: the leaf is below root's field. */
int shred_path_init(struct shred_path *path, const struct array *root, const struct field *leaf,
	struct lancet_error *err);
/* Writes the levels and runs of shred, whose layers are set. */
int shred_walk(struct shred *shred, const struct shred_path *path, uint64_t first, uint64_t count,
	struct lancet_error *err);

#endif

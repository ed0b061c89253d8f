/* Repetition and definition levels: how the nesting above a leaf is stored beside its values.
 *
 * A leaf of a nested field carries the validity and the list lengths of everything above it. Each
 * page says which layers it has, from the leaf outwards; unravelling turns the entries of whole
 * rows into validity and offsets of every layer. Format facts: repetition and definition levels.
 */
#ifndef FILE_LEVELS_H
#define FILE_LEVELS_H

#include "array.h"

#define LEVELS_LAYERS_MAX 128u

struct layers {
	uint8_t kinds[LEVELS_LAYERS_MAX]; /* enum RepDefLayer, 1 to 6, from the leaf outwards */
	unsigned count;
	unsigned list_count;     /* R: the repetition level of the first entry of a row */
	unsigned definition_max; /* of all layers */
	unsigned visible_max; /* a slot of the leaf exists where the definition level is <= this */
};

/* The nesting of one leaf, and where its decoded parts are gathered. nests[i] is an array of the
 * i-th ancestor (from the leaf outwards: struct, list, map, entries, fixed-size list of structs)
 * whose children are left empty. */
struct leaf_out {
	struct array leaf; /* of the leaf's field: one slot for each visible entry */
	struct array *nests;
	size_t nest_count;
	struct buf work[3]; /* of unravelling */
};

/* What a page layout hands over for whole rows. rep is NULL without lists, def is NULL when all is
 * valid; then `count` entries are visible slots. */
struct level_run {
	const uint16_t *rep, *def;
	uint64_t count;
};

int leaf_out_init(struct leaf_out *out, const struct field *leaf, struct array_budget *budget,
	struct lancet_error *err);
void leaf_out_release(struct leaf_out *out);
void leaf_out_reset(struct leaf_out *out);

/* CORRUPT when the kinds are unknown or do not fit the ancestors of the leaf (a list layer where
 * the field has a struct, too few, too many). */
int layers_init(struct layers *layers, const int *kinds, size_t count, const struct field *leaf,
	struct lancet_error *err);
/* Entries with levels up to `limit`. */
uint64_t levels_count_up_to(const uint16_t *levels, uint64_t count, uint16_t limit);
/* Bit i of the bitmap is levels[i] <= limit; its bytes are written whole. */
void levels_bitmap(const uint16_t *levels, uint64_t count, uint16_t limit, uint8_t *bitmap);
/* Slots of the leaf among the entries; CORRUPT when a level is above what the layers allow, or the
 * first entry starts no row. */
int levels_count_visible(const struct layers *layers, const struct level_run *run,
	uint64_t *ret_visible, struct lancet_error *err);
/* Appends to the nests, and sets the validity of the last visible slots of out->leaf, which the
 * caller has appended before. */
int levels_unravel(const struct layers *layers, const struct level_run *run, struct leaf_out *out,
	struct lancet_error *err);

#endif

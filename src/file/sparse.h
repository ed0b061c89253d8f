/* The parts of a sparse page; see layout_sparse.c. */
#ifndef FILE_SPARSE_H
#define FILE_SPARSE_H

#include "layout.h"

struct fullzip;
struct miniblock;
struct Lance__Encodings23__Structure__Sparse;
struct Lance__Encodings23__Values;

#define SPARSE_SLOTS_MAX (UINT64_C(1) << 31) /* children of lists */

/* Positions or counts of one layer. Those in equal steps are computed, others kept. */
struct sparse_numbers {
	const struct number_run *run;
	uint64_t count;
	bool has_buffer;
	size_t buffer; /* of the page */
	bool progression;
	uint64_t start, step;
	struct array values; /* u64, once loaded */
};

enum sparse_kind { SPARSE_VALIDITY, SPARSE_LIST, SPARSE_FIXED_LIST };

struct sparse_layer {
	enum sparse_kind kind;
	uint64_t slots;     /* of this layer */
	uint64_t children;  /* slots of the next layer: lists; else the same or times dimension */
	uint64_t dimension; /* FIXED_LIST */
	bool lists_valid;   /* `marked` are the valid slots, not the null ones */
	struct sparse_numbers marked;
	struct sparse_numbers filled; /* LIST: slots that have items, and how many they have; */
	struct sparse_numbers counts; /* once loaded, the sums of the counts up to each */
};

struct sparse_layers {
	struct sparse_layer *layers; /* from the outside to the leaf; in the reader's arena */
	size_t count;
	uint64_t slots; /* of the leaf */
	bool loaded;
	struct array_budget budget; /* of all that is kept */
};

/* CORRUPT when the layers do not fit the ancestors of the leaf, or each other. Nothing is read. */
int sparse_layers_open(struct page_reader *reader,
	const struct Lance__Encodings23__Structure__Sparse *message, struct sparse_layers *layers,
	struct lancet_error *err);
void sparse_layers_release(struct sparse_layers *layers);
/* Gives the page's buffers from `first` on to what has one. Returns the next one. */
size_t sparse_layers_number(struct sparse_layers *layers, size_t first);
/* Reads and checks all positions, once. */
int sparse_layers_load(
	struct page_reader *reader, struct sparse_layers *layers, struct lancet_error *err);
bool sparse_layer_has_nulls(const struct sparse_layer *layer);

/* Runs may have any number of elements. They are read into memory unless in equal steps. */
int sparse_numbers_open(struct sparse_numbers *numbers, struct slice message, unsigned bits,
	uint64_t count, struct arena *arena, struct lancet_error *err);
int sparse_numbers_load(struct page_reader *reader, struct sparse_numbers *numbers,
	struct array_budget *budget, struct lancet_error *err);
/* Elements below `limit`; they ascend. */
uint64_t sparse_numbers_below(const struct sparse_numbers *numbers, uint64_t limit);

static inline uint64_t
sparse_number(const struct sparse_numbers *numbers, uint64_t index)
{
	uint64_t value;

	if (numbers->progression)
		return numbers->start + index * numbers->step;
	memcpy(&value, numbers->values.data.data + index * sizeof(value), sizeof(value));
	return value;
}

/* Slots on their way from rows to the leaf: ranges of the layer that is next, and whether they are
 * valid in all layers before. */
struct sparse_walk {
	struct scratch *scratch;
	struct buf *ranges, *next_ranges;   /* struct row_range */
	struct buf *present, *next_present; /* bitmaps over all ranges; full of ones unless… */
	struct buf *own;                    /* bitmap of the layer at hand alone */
	struct buf *bounds;                 /* of the lists of the layer at hand, u32 */
	bool absent;                        /* …some slot may not be valid */
	uint64_t slots;
};

/* What is walked has to be ended, on failure, too: of a walk that could not begin nothing is left.
 * `ranges` are stored rows. */
int sparse_walk_begin(struct sparse_walk *walk, struct page_reader *reader,
	const struct row_range *ranges, size_t count, struct lancet_error *err);
void sparse_walk_end(struct sparse_walk *walk);
/* To the slots of the leaf. Appends to the nests of `out`; NULL: nothing but the walk. */
int sparse_walk_layers(struct sparse_walk *walk, const struct sparse_layers *layers,
	struct leaf_out *out, struct lancet_error *err);
static inline const struct row_range *
sparse_walk_ranges(const struct sparse_walk *walk)
{
	return (const struct row_range *)(const void *)walk->ranges->data;
}
static inline size_t
sparse_walk_count(const struct sparse_walk *walk)
{
	return walk->ranges->size / sizeof(struct row_range);
}

/* The values behind the slots of the leaf. */
struct sparse_values {
	const struct sparse_values_kind *kind;
	struct miniblock *miniblock;
	struct fullzip *fullzip;
	uint64_t items; /* zipped and indexed: in the buffer */
	struct array_budget budget;
	struct array scalar;           /* constant: one value */
	struct sparse_numbers indices; /* indexed: for each slot of the leaf */
	uint8_t *present; /* zipped: bitmap of the slots with a value; NULL when it follows */
	uint64_t *ranks;  /* ones of `present` before each 4096 bits */
};

struct sparse_values_kind {
	int pb_case;
	const char *name;
	/* Says how many of the page's buffers, from 0 on, are of the values. */
	int (*open)(struct page_reader *reader, const struct sparse_layers *layers,
		const struct Lance__Encodings23__Values *message, struct sparse_values *values,
		size_t *ret_buffers, struct lancet_error *err);
	/* Before the first read; layers are loaded. NULL: nothing to do. */
	int (*load)(struct page_reader *reader, const struct sparse_layers *layers,
		struct sparse_values *values, struct lancet_error *err);
	/* Appends the slots where the walk has ended, of which there are some. Nulls are as the
	 * values have them: validity is set behind it. */
	int (*read)(struct page_reader *reader, struct sparse_values *values,
		const struct sparse_layers *layers, const struct sparse_walk *walk,
		struct array *leaf, struct lancet_error *err);
};

extern const struct sparse_values_kind sparse_chunked, sparse_zipped, sparse_constant, sparse_none,
	sparse_indexed;

/* CORRUPT: values of an unknown kind, or that don't fit. */
int sparse_values_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err);
void sparse_values_release(struct sparse_values *values);
int sparse_values_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err);

#endif

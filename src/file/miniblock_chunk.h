/* Inside of miniblock: the opened page, and one chunk of it. */
#ifndef FILE_MINIBLOCK_CHUNK_H
#define FILE_MINIBLOCK_CHUNK_H

#include "miniblock.h"
#include "page_dictionary.h"

#define CHUNK_BUFFERS_MAX 32u
#define CHUNK_VALUES_MAX  32768u

/* A decoded chunk. Values of codecs that have parts are not in it. */
struct chunk_parts {
	struct array values, rep, def;
};

/* The chunk of which some rows were read last: it is not decoded again for those that follow. */
struct kept_chunk {
	struct chunk_parts parts;
	struct array_budget budget; /* limit 0: nothing was made yet */
	bool filled, too_large;
	uint64_t index, slots, entries;
};

struct miniblock {
	const struct codec *rep, *def, *values; /* rep, def: NULL without */
	unsigned buffers;
	bool large, has_dictionary;
	uint64_t chunk_count;
	/* chunk_count + 1 of each, prefix sums */
	uint64_t *offsets;  /* bytes */
	uint64_t *slots;    /* of the leaf */
	uint64_t *rows;     /* rows that begin; without lists the same as slots */
	uint8_t *continues; /* 1: the chunk begins inside of a row; NULL without lists */
	struct page_dictionary dictionary;
	struct kept_chunk kept;
};

static inline bool
chunk_continues(const struct miniblock *miniblock, uint64_t chunk)
{
	return miniblock->continues != NULL && miniblock->continues[chunk] != 0;
}

struct chunk {
	uint64_t index;
	uint64_t slots, entries;
	struct slice rep, def;
	struct slice values[CHUNK_BUFFERS_MAX];
};

/* Splits the bytes of chunk `index`. */
int chunk_parse(const struct miniblock *miniblock, uint64_t index, struct slice bytes,
	struct scratch *scratch, struct chunk *ret_chunk, struct lancet_error *err);
int chunk_decode_values(const struct miniblock *miniblock, const struct chunk *chunk,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
/* Values [first, first + part) of the chunk; only if codec_has_parts. */
int chunk_decode_part(const struct miniblock *miniblock, const struct chunk *chunk, uint64_t first,
	uint64_t part, struct scratch *scratch, struct array *out, struct lancet_error *err);
int chunk_parts_init(struct chunk_parts *parts, const struct field *field,
	struct array_budget *budget, struct lancet_error *err);
void chunk_parts_release(struct chunk_parts *parts);
/* Decodes the chunk into parts, which were made before. */
int chunk_parts_fill(struct chunk_parts *parts, const struct miniblock *miniblock,
	const struct layers *layers, const struct chunk *chunk, struct scratch *scratch,
	struct lancet_error *err);
/* Decodes the chunk, as the one that is kept if that makes sense: then *ret_kept is true, else
 * nothing was done. `field` is that of the values. */
int chunk_keep(struct miniblock *miniblock, const struct field *field, const struct layers *layers,
	const struct chunk *chunk, struct scratch *scratch, bool *ret_kept,
	struct lancet_error *err);
/* Appends the levels to rep and def, which are NULL or arrays of field_unsigned(16), and checks
 * that they are the chunk's: as many slots and rows as the page says. */
int chunk_decode_levels(const struct miniblock *miniblock, const struct layers *layers,
	const struct chunk *chunk, struct scratch *scratch, struct array *rep, struct array *def,
	struct lancet_error *err);

#endif

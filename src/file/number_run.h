/* What the parts of the grammar of number runs share; see number_run in codec.h.
 *
 * The grammar has simple and composite encodings; composites are made of simple ones only, so
 * nothing nests deeper than twice.
 */
#ifndef FILE_NUMBER_RUN_H
#define FILE_NUMBER_RUN_H

#include "codec.h"

struct number_run {
	const struct number_kind *kind;
	unsigned bits;             /* of an element as it is stored: 32 or 64 */
	bool has_buffer;           /* it has bytes, be it a page buffer or a part of one */
	bool empty;                /* a constant without a value: what a run of no elements is */
	uint64_t start, step;      /* of a constant, of a range; start is a delta's base, too */
	uint64_t items;            /* of a dictionary */
	const struct codec *codec; /* what is packed as blocks are */
	const struct number_run *inner, *second;
};

/* One encoding. */
struct number_kind {
	int pb_case;
	bool composite;
	int (*open)(const struct Lance__Encodings21__CompressiveEncoding *message,
		struct slice bytes, struct arena *arena, struct number_run *run,
		struct lancet_error *err);
	/* count >= 1. Appends exactly so many; `in` is empty without a buffer. */
	int (*decode)(const struct number_run *run, uint64_t count, struct slice in,
		struct scratch *scratch, struct array *out, struct lancet_error *err);
};

extern const struct number_kind number_range, number_delta, number_rle, number_dictionary;

/* A part of a composite: a run of its own. */
int number_part_open(struct slice message, unsigned bits, struct arena *arena,
	const struct number_run **ret_run, struct lancet_error *err);
/* CORRUPT when the elements are told to have other bits than `run` has. */
int number_check_bits(
	const struct number_run *run, const char *name, uint64_t bits, struct lancet_error *err);
/* When the run is flat: its elements among `size` bytes. */
bool number_flat_count(const struct number_run *run, size_t size, uint64_t *ret_count);
/* `count` more elements of out, to be filled at *ret_place. */
int number_extend(
	struct array *out, uint64_t count, uint64_t **ret_place, struct lancet_error *err);

#endif

/* Run-length encoding, for those beyond the codec who expand runs or count them. */
#ifndef FILE_RLE_H
#define FILE_RLE_H

#include "codec.h"

struct rle_runs {
	const uint8_t *values;
	unsigned value_width; /* bytes: 1, 2, 4 or 8 */
	const uint8_t *lengths;
	unsigned length_width; /* bytes: 1, 2, 4 or 8 */
	uint64_t count;
};

/* Writes exactly `count` values to place. CORRUPT: a run of length 0, or too few values; more than
 * `count` of them are cut off, as old writers overstated the last run. */
int rle_expand(
	const struct rle_runs *runs, uint64_t count, uint8_t *place, struct lancet_error *err);

/* How many values the runs of a block stand for: the number of levels where the 16 bits that should
 * tell it have wrapped. `codec` is an opened rle codec for blocks. */
int rle_block_length(const struct codec *codec, struct slice block, struct scratch *scratch,
	uint64_t *ret_length, struct lancet_error *err);

#endif

/* What encodings of values of variable size share. */
#ifndef FILE_ENCODE_VARIABLE_H
#define FILE_ENCODE_VARIABLE_H

#include "encode_mini.h"

/* Slots of a chunk when all of the page's make `bytes`. */
unsigned variable_chunk_log2(const struct encode_column *column, uint64_t bytes);
/* What stands behind the bytes of a chunk. */
void variable_finish(struct buf *into, unsigned width);
/* Offsets from the start of `into`, which is empty, and the bytes. LIMIT: more than offsets can
 * tell. */
int variable_put(const struct encode_column *column, uint64_t first, uint64_t count,
	struct buf *into, struct lancet_error *err);

#endif

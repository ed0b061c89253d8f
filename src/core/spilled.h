/* A lineage column that was spilled to a data file: read by row, never as a whole.
 *
 * Safe to read from many threads, each of which takes a reader of its own from a pool. A read
 * decodes the pages and chunks that hold its rows. Format facts: spilled sequences.
 */
#ifndef CORE_SPILLED_H
#define CORE_SPILLED_H

#include "file/reader.h"

/* Rows to read at a time where there are many: the most values of a mini-block chunk. */
#define SPILLED_BLOCK_ROWS 32768u

struct spilled;

/* Column `column` of the file as `rows` u64 values; takes a reference of the file. CORRUPT: no such
 * column, another length or, as far as the file says, another type. `unique`: a value that comes
 * twice among the rows that are looked at together is CORRUPT: no two rows have one id. */
int spilled_open(struct datafile *file, uint32_t column, uint64_t rows, bool unique,
	struct spilled **ret_spilled, struct lancet_error *err);
void spilled_free(struct spilled *spilled);
/* values[i] = that of the i-th row of the ranges, which are ascending and inside the rows.
 * *ret_ascend may be NULL, and is true when the values are known to ascend: those of a unique
 * column, read in blocks of SPILLED_BLOCK_ROWS at most, are looked at anyway. CORRUPT: damage, or a
 * null. */
int spilled_read(struct spilled *spilled, const struct row_range *ranges, size_t count,
	uint64_t *values, bool *ret_ascend, struct lancet_error *err);
/* Values decoded by all reads so far. */
uint64_t spilled_decoded(const struct spilled *spilled);

#endif

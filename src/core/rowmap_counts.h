/* The counts of a row map: for each block of rows, how many rows of each destination there are up
 * to its end.
 *
 * They are checked as a whole when they are opened, in one pass. A small matrix is kept in memory,
 * of a larger one the rows that are needed are read. Format facts: row map file.
 */
#ifndef CORE_ROWMAP_COUNTS_H
#define CORE_ROWMAP_COUNTS_H

#include <lancet/transition.h>
#include "file/datafile.h"

struct rowmap_counts {
	struct source *source; /* borrowed */
	uint64_t offset;       /* of the first cell in it */
	uint32_t destinations; /* cells of a row; 1 to 65535 */
	uint32_t block_rows;
	uint64_t rows, blocks;
	uint32_t *cells; /* a row of zeros, and all rows; NULL when they are too many */
};

/* From the global buffer that the file's schema names; the file outlives them. CORRUPT: no such
 * buffer, another shape than the transition's, counts that fall, pass the rows of a block, or end
 * elsewhere than the destinations do. UNSUPPORTED: another version or representation. LIMIT: more
 * than 4 GiB. */
int rowmap_counts_init(struct rowmap_counts *counts, struct datafile *file,
	const struct lancet_transition *transition, struct lancet_error *err);
void rowmap_counts_release(struct rowmap_counts *counts);
/* Rows of the matrix as stored; first + count <= blocks. */
int rowmap_counts_read(const struct rowmap_counts *counts, uint64_t first, size_t count,
	uint32_t *into, struct lancet_error *err);

/* A look at the rows, one after the other, by one thread. */
struct counts_view {
	const struct rowmap_counts *counts;
	uint32_t *cells; /* rows [first, first + count), each before the block of its number */
	uint64_t first, count;
};

void counts_view_release(struct counts_view *view);
/* How many rows of each destination there are before the block <= blocks; lives until the next
 * call. */
int counts_view_before(struct counts_view *view, uint64_t block, const uint32_t **ret_row,
	struct lancet_error *err);

#endif

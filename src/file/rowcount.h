/* The number of rows of a data file, from its own metadata.
 *
 * V2 files (2.0 to 2.3) say it in the descriptor, their first global buffer; legacy ones in the
 * offsets of their batches. A few small reads, whatever the size of the file. Format facts: file
 * layout, legacy files.
 */
#ifndef FILE_ROWCOUNT_H
#define FILE_ROWCOUNT_H

#include "util/source.h"

/* LANCET_CORRUPT: no Lance data file, or damaged; UNSUPPORTED: of a version that is not known. */
LANCET_MUST_CHECK int rowcount_read(
	struct source *file, uint64_t *ret_rows, struct lancet_error *err);

#endif

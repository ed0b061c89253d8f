/* Per-row values of a fragment by row offset: lineage columns and deletion vectors.
 *
 * A sequence is never materialised: a read finds the segment, or the page and chunk, of its first
 * row and decodes only what was asked for. Handles are immutable after opening and safe to read
 * from many threads.
 */
#ifndef LANCET_COLUMN_H
#define LANCET_COLUMN_H

#include "fragment.h"

typedef struct lancet_column lancet_column;

/* Opens a lineage column of the fragment, wherever it is: inline, spilled to a data file, default
 * (1), or the row address. Values: one for each physical row. CORRUPT: a sequence that can't be
 * read, has another length than physical_rows, or contradicts its constraints; a spilled one whose
 * carrier is missing, not the only one or broken; UNSUPPORTED: a retired external_* arm, by name;
 * NOT_FOUND: the dataset has no such column (created-at without stable row ids). */
LANCET_API int lancet_column_open(lancet_fragment *fragment, enum lancet_lineage which,
	lancet_column **ret_column, struct lancet_error *err);
LANCET_API void lancet_column_free(lancet_column *column);
LANCET_API uint64_t lancet_column_rows(const lancet_column *column);
/* values[i] = the value of row first + i; first + count <= rows or INVALID. CORRUPT: what only
 * decoding shows, such as a null or, among rows read together, a row id that comes twice. */
LANCET_API int lancet_column_read(const lancet_column *column, uint64_t first, size_t count,
	uint64_t *values, struct lancet_error *err);

typedef struct lancet_deletion lancet_deletion; /* the set of deleted row offsets; counted */

/* Loads and checks the deletion file; an empty set when there is none. A missing file is LANCET_IO
 * (EIO); CORRUPT: wrong format, nulls, offsets past physical_rows, another count than recorded. */
LANCET_API int lancet_deletion_open(
	lancet_fragment *fragment, lancet_deletion **ret_deletion, struct lancet_error *err);
LANCET_API void lancet_deletion_unref(lancet_deletion *deletion);
LANCET_API uint64_t lancet_deletion_count(const lancet_deletion *deletion);
/* offsets[i] = the (first + i)-th deleted offset, ascending. */
LANCET_API int lancet_deletion_select(const lancet_deletion *deletion, uint64_t first, size_t count,
	uint32_t *offsets, struct lancet_error *err);
/* marks[i] = 1 when row first + i is deleted, else 0. */
LANCET_API void lancet_deletion_marks(
	const lancet_deletion *deletion, uint64_t first, size_t count, uint8_t *marks);

/* Overlay coverage: offsets that bitmap `index` of the overlay covers, as a set like a deletion
 * vector. */
LANCET_API int lancet_coverage_open(lancet_fragment *fragment, size_t overlay, size_t index,
	lancet_deletion **ret_offsets, struct lancet_error *err);

#endif

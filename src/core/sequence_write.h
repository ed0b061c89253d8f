/* Encoding of row lineage: RowIdSequence from a list of ids, RowDatasetVersionSequence from runs.
 *
 * Format facts: RowIdSequence, version sequences.
 */
#ifndef CORE_SEQUENCE_WRITE_H
#define CORE_SEQUENCE_WRITE_H

#include <stdbool.h>

#include "segment.h"
#include "util/buf.h"

/* Whether each is above the one before. */
bool sequence_ascends(const uint64_t *ids, size_t count);

/* The ids start … start + count - 1 as one segment, behind what is in the buffer. start + count
 * must not pass 64 bits. */
void rowids_put_range(struct buf *into, uint64_t start, uint64_t count);
/* The ids in this order, as one segment of the smallest form that can hold them. */
void rowids_put(struct buf *into, const uint64_t *ids, size_t count);
/* The same in a form that is known to hold them; at least one id. */
void rowids_put_as(struct buf *into, enum segment_kind kind, const uint64_t *ids, size_t count);

/* Versions of rows, one after the other: equal neighbours become one run. Only the length of a
 * run's span means something; it is where the rows are as long as that is short. Zeroed storage is
 * ready for use; sticky failure is that of `bytes`. */
struct version_runs {
	struct buf bytes;
	uint64_t rows;    /* encoded so far */
	uint64_t pending; /* rows of `version` that are not encoded yet */
	uint64_t version;
};

void version_runs_put(struct version_runs *runs, uint64_t count, uint64_t version);
/* Encodes what is pending; `bytes` is then the sequence. Without rows it is empty. */
void version_runs_end(struct version_runs *runs);
void version_runs_release(struct version_runs *runs);

#endif

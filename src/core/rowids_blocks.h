/* Row ids as they come, as a RowIdSequence of few bytes.
 *
 * Blocks of ids are cut into the segments that are smallest together; ranges that go on in the next
 * block are joined. What a block takes is never more than its smallest single segment. Format
 * facts: RowIdSequence.
 */
#ifndef CORE_ROWIDS_BLOCKS_H
#define CORE_ROWIDS_BLOCKS_H

#include "util/buf.h"

#define ROWIDS_BLOCK (UINT32_C(1) << 20) /* ids of a block, at most */

/* Zeroed storage with `into` set is ready for use; failures of memory are those of `into`. */
struct rowids_blocks {
	struct buf *into;
	uint64_t start, count; /* a range that may go on; count 0: none */
};

void rowids_blocks_put(struct rowids_blocks *blocks, const uint64_t *ids, size_t count);
void rowids_blocks_end(struct rowids_blocks *blocks);

#endif

/* Values of rows, one for each, kept in few bits until it is known where they go.
 *
 * Blocks of 1024 values each have the form that is smallest: steps from one value on (none, or one
 * for each row), differences of ascending values, or distances from the smallest value, in as many
 * bits as the largest one takes. Shuffled ids of 8 million rows take 23 bits each, ranges and equal
 * versions nearly nothing. Any range is read back by decoding its blocks.
 */
#ifndef CORE_LINEAGE_PACK_H
#define CORE_LINEAGE_PACK_H

#include "util/buf.h"

#define PACK_BLOCK 1024u /* values */

struct pack_block;

/* Zeroed storage is ready for use. */
struct lineage_pack {
	uint64_t count;
	struct pack_block *blocks;
	size_t block_count, block_capacity;
	struct buf bits;
	uint64_t *pending; /* values of the last block, which is not full yet */
	size_t pending_count, pending_capacity;
	uint64_t column_bytes; /* what a column of the values would take, about; of full blocks */
};

void lineage_pack_release(struct lineage_pack *pack);
int lineage_pack_put(struct lineage_pack *pack, const uint64_t *values, uint64_t count,
	struct lancet_error *err);
/* Values [first, first + count), which are there. Safe from many threads after the last put. */
void lineage_pack_read(
	const struct lineage_pack *pack, uint64_t first, size_t count, uint64_t *values);
/* Bytes held. */
size_t lineage_pack_footprint(const struct lineage_pack *pack);
/* What a column of all values would take, about: bit-packed or as run lengths by the block. */
uint64_t lineage_pack_column_bytes(const struct lineage_pack *pack);

#endif

/* The row map of a stable partition: a data file with one label for each row of the sources, and a
 * matrix of counts that says how many rows of each destination lie before a block.
 *
 * Opening reads the file's tail and its counts, and no label. A row is located by the counts before
 * its block and the labels from the block's start. Before a row of a block is answered for the
 * first time, the whole block is decoded and checked against its counts; later reads begin close to
 * their rows. Memory: the counts up to 4 MiB, as much for what was learned of blocks, and the
 * destinations. Safe from many threads. Format facts: row map file.
 */
#ifndef CORE_ROWMAP_H
#define CORE_ROWMAP_H

#include <lancet/transition.h>
#include "util/source.h"

struct rowmap;

/* Takes a reference of the file; the transition, a sound one, is only looked at. CORRUPT: another
 * size than map_bytes, no data file, another column than one nullable uint16 `label`, or counts of
 * another shape, that fall, or that contradict the transition. UNSUPPORTED: data files or counts of
 * a later version. LIMIT: counts of more than 4 GiB. */
int rowmap_open(struct source *file, const struct lancet_transition *transition,
	struct rowmap **ret_map, struct lancet_error *err);
void rowmap_free(struct rowmap *map);
/* row_addrs[i] = where row rows[i] went, or LANCET_NO_ROW. Rows ascend (repeats are fine) and are
 * below source_rows. Only blocks with asked rows are read, and short ones between these. CORRUPT: a
 * label beyond the destinations, or labels that contradict the counts of their block; nothing in
 * row_addrs counts then. */
int rowmap_locate(struct rowmap *map, const uint64_t *rows, size_t count, uint64_t *row_addrs,
	struct lancet_error *err);
/* Labels of rows [first, first + count), which exist; LANCET_NO_LABEL for deleted ones. Decodes
 * these and no others. CORRUPT: a label beyond the destinations. */
int rowmap_labels(struct rowmap *map, uint64_t first, size_t count, uint16_t *labels,
	struct lancet_error *err);
uint32_t rowmap_block_rows(const struct rowmap *map);
uint64_t rowmap_block_count(const struct rowmap *map);
/* block_count x destination_count cumulative counts as stored, of existing blocks. */
int rowmap_counts(struct rowmap *map, uint64_t first_block, size_t block_count, uint32_t *counts,
	struct lancet_error *err);
uint64_t rowmap_decoded(const struct rowmap *map); /* labels decoded so far, for counted tests */

#endif

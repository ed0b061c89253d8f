/* Per-row files: lines of fixed width over lineage columns, deletion vectors and lists of ids. SPEC
 * section 4.
 *
 * Row k begins at byte k x width. Reading decodes the rows asked for and no others, a block at a
 * time.
 */
#ifndef FS_COLUMNFILE_H
#define FS_COLUMNFILE_H

#include "node.h"

#define LINE_64 21 /* bytes of a line that holds a 64-bit number */
#define LINE_32 11

/* Lineage of fragment ref->ordinal: text lines, raw little-endian numbers, or all of it with
 * header. */
int records_lineage(const struct node_ref *ref, enum lancet_lineage which, bool raw,
	struct records *ret_records, struct lancet_error *err);
int records_lineage_all(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
/* The bytes of lineage/all.tsv for so many rows. */
uint64_t lineage_all_size(uint64_t rows);
/* Deleted offsets of fragment ref->ordinal. */
int records_deleted_rows(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
/* Offsets that bitmap `index` of overlay `overlay` covers. */
int records_coverage(const struct node_ref *ref, size_t overlay, size_t index,
	struct records *ret_records, struct lancet_error *err);
/* Ids in ascending order; takes the allocated list. */
struct records records_of_ids(uint32_t *ids, size_t count);

#endif

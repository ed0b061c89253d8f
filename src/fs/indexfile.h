/* Lists of fragment ids below indices/: as stored, and as the reuse history makes them.
 *
 * ref->item names the index and the segment (render.h), ref->kind what is listed.
 */
#ifndef FS_INDEXFILE_H
#define FS_INDEXFILE_H

#include "node.h"

/* The bitmaps of all segments together, each id once; of one segment. */
int records_index_bitmap(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int records_segment_bitmap(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
/* What lancet_index_coverage says of the index; of the segment. */
int records_index_coverage(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int records_segment_coverage(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);

#endif

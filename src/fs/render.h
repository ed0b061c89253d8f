/* The texts of the tree: one function a file, in render_*.c; rows_*.c put them into the tables.
 *
 * Each is pure: the same version gives the same bytes on every mount, machine and run. What they
 * render is bounded by the limit of `out`; passing it is a LANCET_LIMIT that names the file.
 */
#ifndef FS_RENDER_H
#define FS_RENDER_H

#include "node.h"

/* Texts. ref->version is loaded, except for render_readme and render_error. */
int render_readme(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_summary(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_schema(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
/* Why ref->number of ref->dataset can't be read, and what to do. */
int render_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err);

/* JSON documents, as the library writes them. */
int render_manifest_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_schema_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_transaction_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
/* Fragment ref->ordinal. */
int render_fragment_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
/* The first rows of the fragment, and its stored columns. */
int render_head(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_columns_tsv(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
/* Index item_index(ref->item), segment item_segment(ref->item) of it. */
int render_index_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_segment_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err);

/* fri/, and transition ref->item. */
int render_reuse_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_reuse_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_reuse_graph(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_transition_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_transition_kind(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
int render_transition_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err);

/* One value of a map, exactly its bytes: ref->kind->map tells which, ref->item is the entry. */
int render_map_value(const struct node_ref *ref, struct buf *out, struct lancet_error *err);

/* Tables, a block of lines at a time. */
int records_fragments_tsv(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int records_files_tsv(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
int measure_fragments_tsv(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err);

/* Below an index, item holds two numbers. */
#define ITEM_SEGMENT_BITS 20

static inline uint64_t
item_index(uint64_t item)
{
	return item >> ITEM_SEGMENT_BITS;
}

static inline uint64_t
item_segment(uint64_t item)
{
	return item & ((UINT64_C(1) << ITEM_SEGMENT_BITS) - 1);
}

/* The index, and the segment of it, that ref->item names (rows_index.c). NOT_FOUND. */
int index_of(const struct node_ref *ref, const struct lancet_index **ret_index,
	struct lancet_error *err);
int segment_of(const struct node_ref *ref, const struct lancet_index_segment **ret_segment,
	struct lancet_error *err);

#endif

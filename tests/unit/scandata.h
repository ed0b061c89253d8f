/* Datasets to scan, made by hand: fragments of one or two columns of u64. Field 0 is "a", field 1
 * is "b", both column 0 of files of their own.
 */
#ifndef TESTS_SCANDATA_H
#define TESTS_SCANDATA_H

#include "scanparts.h"

struct dataset_spec {
	bool stable;
	size_t count;
	struct fragment_spec fragments[4];
};

static inline void
scandata_ids(const struct tree *tree, struct buf *fragment, const struct fragment_spec *spec)
{
	struct buf segment = { 0 }, list = { 0 };

	if (spec->spilled) {
		scandata_column(tree, fragment, spec, -3, spec->first_id);
		put_head(fragment, 12, 0);
		return;
	}
	if (spec->id_count > 0)
		put_values(&segment, 5, 8, 0, spec->ids, spec->id_count);
	else
		put_range(&segment, spec->first_id, spec->first_id + spec->rows);
	put_message(&list, 1, &segment);
	put_message(fragment, 5, &list);
}

static inline struct buf
scandata_fragment(const struct tree *tree, const struct fragment_spec *spec, bool stable)
{
	struct buf fragment = { 0 };

	put_number(&fragment, 1, spec->id);
	scandata_column(tree, &fragment, spec, 0, spec->base_a);
	if (spec->base_b != 0)
		scandata_column(tree, &fragment, spec, 1, spec->base_b);
	put_number(&fragment, 4, spec->rows);
	if (spec->deleted.count > 0)
		scandata_deletion(tree, &fragment, spec);
	for (size_t i = 0; i < spec->overlay_count; i++)
		scandata_overlay(tree, &fragment, spec, i);
	if (stable)
		scandata_ids(tree, &fragment, spec);
	return fragment;
}

/* Field { name #2, id #3, parent_id #4, logical_type #5, nullable #6 } */
static inline void
scandata_field(struct buf *manifest, const char *name, int32_t id)
{
	struct buf field = { 0 };

	put_head(&field, 2, 1);
	buf_put_text(&field, name);
	put_number(&field, 3, (uint64_t)id);
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, 6);
	buf_put_text(&field, "uint64");
	put_number(&field, 6, 1);
	put_message(manifest, 1, &field);
}

static inline void
scandata_manifest(const struct tree *tree, const struct buf *message)
{
	struct buf file = { 0 };

	put_le(&file, message->size, 4);
	buf_put(&file, message->data, message->size);
	put_le(&file, 0, 8);
	buf_put(&file, "\0\0\2\0LANC", 8);
	tree_put(tree, V1, file.data, file.size);
	buf_release(&file);
}

/* "ds" with one version. */
static inline struct tree
scandata_new(const struct dataset_spec *spec)
{
	struct tree tree = tree_new();
	struct buf manifest = { 0 };

	scandata_field(&manifest, "a", 0);
	scandata_field(&manifest, "b", 1);
	for (size_t i = 0; i < spec->count; i++) {
		struct buf fragment = scandata_fragment(&tree, &spec->fragments[i], spec->stable);

		put_message(&manifest, 2, &fragment);
	}
	put_number(&manifest, 3, 1);
	put_number(&manifest, 9, spec->stable ? 2 : 0);
	buf_put(&manifest, "\x6a\x07\x0a\x05lance", 9); /* writer_version #13 */
	scandata_manifest(&tree, &manifest);
	buf_release(&manifest);
	return tree;
}

#endif

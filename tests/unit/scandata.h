/* Datasets to scan, made by hand: fragments of one or two columns of u64, with deletions, row ids
 * and overlays.
 *
 * The value of row r of a file is the file's base + r. Field 0 is "a", field 1 is "b", both column
 * 0 of files of their own.
 */
#ifndef TESTS_SCANDATA_H
#define TESTS_SCANDATA_H

#include <roaring/roaring.h>

#include "lineagefile.h"
#include "treedata.h"

#define SCAN_LIST_MAX 16u

struct offsets {
	size_t count;
	uint32_t values[SCAN_LIST_MAX];
};

struct overlay_data {
	int32_t field;
	uint64_t base, version;
	bool null_first; /* the first value it has is null */
	struct offsets covers;
};

struct fragment_spec {
	uint64_t id, rows, base_a, base_b; /* base_b 0: no file has field 1 */
	unsigned minor;                    /* of the data files */
	struct offsets deleted;
	size_t overlay_count;
	struct overlay_data overlays[3];
	size_t id_count; /* row ids; 0 with stable ids: rows from first_id on */
	uint64_t ids[SCAN_LIST_MAX], first_id;
	bool spilled; /* the row ids, to a file of their own: base first_id */
};

struct dataset_spec {
	bool stable;
	size_t count;
	struct fragment_spec fragments[4];
};

static uint64_t scandata_base;

static inline uint64_t
scandata_value(uint64_t row)
{
	return scandata_base + row;
}

static inline void
scandata_file(const struct tree *tree, const char *name, unsigned minor, uint64_t rows,
	uint64_t base, bool null_first)
{
	const struct lineage_spec spec = { .minor = minor,
		.page_rows = rows,
		.pages = 1,
		.value = scandata_value,
		.nulls = null_first };
	struct buf file;
	char path[128];

	scandata_base = base;
	file = lineage_file(&spec);
	snprintf(path, sizeof(path), "ds/data/%s", name);
	tree_put(tree, path, file.data, file.size);
	buf_release(&file);
}

/* DataFile { path #1, fields #2, column_indices #3, major #4, minor #5 } */
static inline struct buf
scandata_file_message(const char *name, int32_t field, unsigned minor)
{
	struct buf message = { 0 }, list = { 0 };

	put_head(&message, 1, strlen(name));
	buf_put_text(&message, name);
	put_varint(&list, (uint64_t)(int64_t)field);
	put_message(&message, 2, &list);
	put_varint(&list, 0);
	put_message(&message, 3, &list);
	put_number(&message, 4, 2);
	put_number(&message, 5, minor);
	return message;
}

static inline struct buf
scandata_bitmap(const struct offsets *offsets)
{
	roaring_bitmap_t *set = roaring_bitmap_of_ptr(offsets->count, offsets->values);
	struct buf bytes = { 0 };

	ck_assert(buf_reserve(&bytes, roaring_bitmap_portable_size_in_bytes(set)));
	bytes.size = roaring_bitmap_portable_serialize(set, (char *)bytes.data);
	roaring_bitmap_free(set);
	return bytes;
}

static inline void
scandata_column(const struct tree *tree, struct buf *fragment, const struct fragment_spec *spec,
	int32_t field, uint64_t base)
{
	char name[32];
	struct buf file;

	snprintf(name, sizeof(name), "f%d-%d.lance", (int)spec->id, (int)field);
	scandata_file(tree, name, spec->minor, spec->rows, base, false);
	file = scandata_file_message(name, field, spec->minor);
	put_message(fragment, 2, &file);
}

static inline void
scandata_deletion(const struct tree *tree, struct buf *fragment, const struct fragment_spec *spec)
{
	struct buf bitmap = scandata_bitmap(&spec->deleted), message = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "ds/_deletions/%d-1-7.bin", (int)spec->id);
	tree_put(tree, path, bitmap.data, bitmap.size);
	put_number(&message, 1, 1);
	put_number(&message, 2, 1);
	put_number(&message, 3, 7);
	put_number(&message, 4, spec->deleted.count);
	put_message(fragment, 3, &message);
	buf_release(&bitmap);
}

/* DataOverlayFile { data_file #1, shared_offset_bitmap #2, committed_version #3 } */
static inline void
scandata_overlay(const struct tree *tree, struct buf *fragment, const struct fragment_spec *spec,
	size_t number)
{
	const struct overlay_data *overlay = &spec->overlays[number];
	unsigned minor = overlay->null_first ? 0 : spec->minor;
	struct buf message = { 0 }, file, bitmap = scandata_bitmap(&overlay->covers);
	char name[32];

	snprintf(name, sizeof(name), "o%d-%d.lance", (int)spec->id, (int)number);
	scandata_file(tree, name, minor, overlay->covers.count, overlay->base, overlay->null_first);
	file = scandata_file_message(name, overlay->field, minor);
	put_message(&message, 1, &file);
	put_message(&message, 2, &bitmap);
	put_number(&message, 3, overlay->version);
	put_message(fragment, 11, &message);
}

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

/* The parts of a fragment to scan, made by hand: data files, deletions, overlays.
 *
 * The value of row r of a file is the file's base + r.
 */
#ifndef TESTS_SCANPARTS_H
#define TESTS_SCANPARTS_H

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

#endif

/* The messages of a version that every part of can be changed. */
#ifndef TESTS_WORLDPARTS_H
#define TESTS_WORLDPARTS_H

#include "maker.h"

#include <roaring/roaring.h>
#include <string.h>

struct world {
	Lance__Table__Manifest manifest;
	Lance__Table__Manifest__WriterVersion writer;
	Lance__File__Field fields[5], *field_list[5];
	Lance__Table__DataFragment fragments[2], *fragment_list[2];
	Lance__Table__DataFile files[4], *file_list[4];
	int32_t ids[4][4], columns[4][4];
	Lance__Table__DeletionFile deletion;
	Lance__Table__DataOverlayFile overlays[2], *overlay_list[2];
	Lance__Table__DataFile overlay_files[2];
	int32_t overlay_ids[2][2], overlay_columns[2][2];
	uint8_t bitmaps[2][64];
	Lance__Table__BasePath base, *base_list[1];
	struct buf file;
	lancet_version *version;
};

static inline ProtobufCBinaryData
world_bitmap(uint8_t into[64], const char *list)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	size_t size;

	for (const char *at = list; *at != '\0'; at++)
		if (*at >= '0' && *at <= '9')
			roaring_bitmap_add(set, (uint32_t)(*at - '0'));
	ck_assert_uint_le(roaring_bitmap_portable_size_in_bytes(set), 64);
	size = roaring_bitmap_portable_serialize(set, (char *)into);
	roaring_bitmap_free(set);
	return (ProtobufCBinaryData){ size, into };
}

static inline void
world_field(
	struct world *w, size_t at, int32_t id, int32_t parent, const char *name, const char *type)
{
	lance__file__field__init(&w->fields[at]);
	w->fields[at].id = id;
	w->fields[at].parent_id = parent;
	w->fields[at].name = maker_text(name);
	w->fields[at].logical_type = maker_text(type);
	w->fields[at].nullable = 1;
	w->field_list[at] = &w->fields[at];
}

static inline void
world_file(struct world *w, size_t at, const char *path, int32_t first, size_t count)
{
	Lance__Table__DataFile *file = &w->files[at];

	lance__table__data_file__init(file);
	file->path = maker_text(path);
	file->file_major_version = 2;
	file->file_minor_version = 1;
	file->n_fields = file->n_column_indices = count;
	file->fields = w->ids[at];
	file->column_indices = w->columns[at];
	for (size_t i = 0; i < count; i++) {
		w->ids[at][i] = first + (int32_t)i;
		w->columns[at][i] = (int32_t)i;
	}
	w->file_list[at] = file;
}

static inline void
world_overlay(struct world *w, size_t at, int32_t field, const char *rows, uint64_t committed)
{
	Lance__Table__DataOverlayFile *overlay = &w->overlays[at];
	Lance__Table__DataFile *file = &w->overlay_files[at];

	lance__table__data_file__init(file);
	file->path = maker_text(at == 0 ? "o0.lance" : "o1.lance");
	file->file_major_version = 2;
	file->file_minor_version = 1;
	file->n_fields = file->n_column_indices = 1;
	file->fields = w->overlay_ids[at];
	file->column_indices = w->overlay_columns[at];
	w->overlay_ids[at][0] = field;
	lance__table__data_overlay_file__init(overlay);
	overlay->data_file = file;
	overlay->coverage_case = LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP;
	overlay->shared_offset_bitmap = world_bitmap(w->bitmaps[at], rows);
	overlay->committed_version = committed;
	w->overlay_list[at] = overlay;
}

#endif

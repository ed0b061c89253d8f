/* A version whose every part that a precondition looks at can be changed, and conditions on it.
 *
 * Fragment 4 has 10 rows: column a (field 0) in one file, struct s (1) of x (2) and y (3) in
 * another one, a deletion file, and an overlay of x in the rows 1 and 2. Fragment 5 has all in one
 * file.
 */
#ifndef TESTS_WORLDMAKE_H
#define TESTS_WORLDMAKE_H

#include "core/precondition.h"
#include "core/transaction.h"
#include "lance/precondition.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"
#include "util/arena.h"

#include <roaring/roaring.h>

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

static inline void
world_fragments(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		lance__table__data_fragment__init(&w->fragments[i]);
		w->fragments[i].id = 4 + i;
		w->fragments[i].physical_rows = 10;
		w->fragment_list[i] = &w->fragments[i];
	}
	world_file(w, 0, "a.lance", 0, 1);
	world_file(w, 1, "s.lance", 2, 2);
	world_file(w, 2, "all.lance", 0, 1);
	world_file(w, 3, "more.lance", 2, 2);
	w->fragments[0].n_files = w->fragments[1].n_files = 2;
	w->fragments[0].files = w->file_list;
	w->fragments[1].files = w->file_list + 2;
	lance__table__deletion_file__init(&w->deletion);
	w->deletion.file_type = LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP;
	w->deletion.read_version = 2;
	w->deletion.id = 7;
	w->deletion.num_deleted_rows = 1;
	w->fragments[0].deletion_file = &w->deletion;
	world_overlay(w, 0, 2, "12", 2);
	w->fragments[0].n_overlays = 1;
	w->fragments[0].overlays = w->overlay_list;
}

static inline void
world_init(struct world *w, uint64_t version)
{
	memset(w, 0, sizeof(*w));
	lance__table__manifest__init(&w->manifest);
	lance__table__manifest__writer_version__init(&w->writer);
	w->writer.library = maker_text("lance");
	w->manifest.writer_version = &w->writer;
	w->manifest.version = version;
	world_field(w, 0, 0, -1, "a", "int32");
	world_field(w, 1, 1, -1, "s", "struct");
	world_field(w, 2, 2, 1, "x", "int32");
	world_field(w, 3, 3, 1, "y", "string");
	w->manifest.n_fields = 4;
	w->manifest.fields = w->field_list;
	world_fragments(w);
	w->manifest.n_fragments = 2;
	w->manifest.fragments = w->fragment_list;
	lance__table__base_path__init(&w->base);
	w->base.id = 1;
	w->base.path = maker_text("/base");
	w->base_list[0] = &w->base;
	w->manifest.n_base_paths = 1;
	w->manifest.base_paths = w->base_list;
}

static inline lancet_version *
world_open(struct world *w)
{
	struct lancet_error err = { 0 };

	ck_assert_msg(maker_load_message(&w->file, &w->manifest, &w->version, &err) == LANCET_OK,
		"%s", err.text);
	return w->version;
}

static inline void
world_release(struct world *w)
{
	lancet_version_unref(w->version);
	buf_release(&w->file);
}

/* A transaction with these encoded conditions. */
static inline lancet_transaction *
world_transaction(const struct slice *list, size_t count)
{
	Lance__Table__Transaction message = LANCE__TABLE__TRANSACTION__INIT;
	ProtobufCBinaryData conditions[4];
	lancet_transaction *transaction = NULL;
	struct buf bytes = { 0 };

	for (size_t i = 0; i < count; i++)
		conditions[i] =
			(ProtobufCBinaryData){ list[i].size, (uint8_t *)(uintptr_t)list[i].data };
	message.preconditions = conditions;
	message.n_preconditions = count;
	message.read_version = 3;
	maker_pack(&bytes, &message.base);
	ck_assert_int_eq(transaction_parse(bytes.data, bytes.size, &transaction, NULL), LANCET_OK);
	return transaction;
}

#endif

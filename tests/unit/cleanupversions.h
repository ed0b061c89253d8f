/* Manifests that name files, for tests of cleanup. */
#ifndef TESTS_CLEANUPVERSIONS_H
#define TESTS_CLEANUPVERSIONS_H

#include "maker.h"
#include "treedata.h"

#define FILES_MAX_DATA 8

struct data_version {
	const char *dir; /* "ds" or "ds/tree/NAME" */
	uint64_t number, seconds;
	const char *data;    /* "a b": data/a.lance and data/b.lance; "a@3" lies in base 3 */
	uint64_t deletion;   /* id of fragment 0's deletion file, made at version 1; 0 = none */
	const char *overlay; /* stem of an overlay's file of fragment 0 */
	const char *txn;     /* name of the transaction file */
	uint64_t writer_flags;
};

static inline void
data_file_fill(
	Lance__Table__DataFile *file, const char *at, size_t size, int32_t *field_id, char into[64])
{
	static int32_t column = 0;
	const char *base = memchr(at, '@', size);

	lance__table__data_file__init(file);
	(void)snprintf(
		into, 64, "%.*s.lance", (int)(base != NULL ? (size_t)(base - at) : size), at);
	file->path = maker_text(into);
	file->n_fields = file->n_column_indices = 1;
	file->fields = field_id;
	file->column_indices = &column;
	file->file_major_version = 2;
	if (base != NULL) {
		file->base_id_presence_case = LANCE__TABLE__DATA_FILE__BASE_ID_PRESENCE_BASE_ID;
		file->base_id = (uint32_t)atoi(base + 1);
	}
}

/* A column for each data file. */
static inline void
schema_fill(Lance__File__Field *fields, int32_t *ids, Lance__File__Field **places)
{
	static const char *const names[FILES_MAX_DATA] = { "a", "b", "c", "d", "e", "f", "g", "h" };

	for (int32_t i = 0; i < FILES_MAX_DATA; i++) {
		lance__file__field__init(&fields[i]);
		fields[i].name = maker_text(names[i]);
		fields[i].id = ids[i] = i;
		fields[i].parent_id = -1;
		fields[i].logical_type = maker_text("int64");
		places[i] = &fields[i];
	}
}

/* One fragment, id 0, with all the files. */
static inline void
put_version(const struct tree *tree, const struct data_version *v)
{
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__DataFragment fragment = LANCE__TABLE__DATA_FRAGMENT__INIT;
	Lance__Table__DeletionFile deletion = LANCE__TABLE__DELETION_FILE__INIT;
	Lance__Table__DataOverlayFile overlay = LANCE__TABLE__DATA_OVERLAY_FILE__INIT;
	Lance__Table__Manifest__WriterVersion writer = LANCE__TABLE__MANIFEST__WRITER_VERSION__INIT;
	Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
	Lance__Table__DataFile files[FILES_MAX_DATA], overlay_file;
	Lance__Table__DataFile *places[FILES_MAX_DATA];
	Lance__Table__DataFragment *fragments[] = { &fragment };
	Lance__Table__DataOverlayFile *overlays[] = { &overlay };
	char names[FILES_MAX_DATA + 1][64], name[MANIFEST_NAME_MAX], path[256];
	struct buf message = { 0 }, file = { 0 };
	Lance__File__Field fields[FILES_MAX_DATA], *field_places[FILES_MAX_DATA];
	int32_t ids[FILES_MAX_DATA];

	schema_fill(fields, ids, field_places);
	manifest.n_fields = FILES_MAX_DATA;
	manifest.fields = field_places;
	for (const char *at = v->data; *at != '\0'; at += strspn(at, " ")) {
		size_t size = strcspn(at, " "), n = fragment.n_files++;

		data_file_fill(&files[n], at, size, &ids[n], names[n]);
		places[n] = &files[n];
		at += size;
	}
	fragment.files = places;
	fragment.physical_rows = 10;
	deletion.read_version = 1;
	deletion.id = v->deletion;
	deletion.num_deleted_rows = 1;
	if (v->deletion != 0)
		fragment.deletion_file = &deletion;
	if (v->overlay != NULL) {
		data_file_fill(&overlay_file, v->overlay, strlen(v->overlay), &ids[0],
			names[FILES_MAX_DATA]);
		overlay.data_file = &overlay_file;
		fragment.n_overlays = 1;
		fragment.overlays = overlays;
	}
	writer.library = maker_text("lance");
	writer.version = maker_text("14.0.2");
	manifest.writer_version = &writer;
	manifest.version = v->number;
	time.seconds = (int64_t)v->seconds;
	manifest.timestamp = &time;
	manifest.n_fragments = 1;
	manifest.fragments = fragments;
	manifest.writer_feature_flags = v->writer_flags;
	if (v->txn != NULL)
		manifest.transaction_file = maker_text(v->txn);
	maker_pack(&message, &manifest.base);
	maker_frame(&file, buf_slice(&message));
	manifest_name_format(
		v->number >> 63 != 0 ? MANIFEST_DETACHED : MANIFEST_V2, v->number, name);
	(void)snprintf(path, sizeof(path), "%s/_versions/%s", v->dir, name);
	tree_put(tree, path, file.data, file.size);
	buf_release(&message);
	buf_release(&file);
}

#endif

/* Datasets for tests of cleanup: manifests that name files, and the files. */
#ifndef TESTS_CLEANUPDATA_H
#define TESTS_CLEANUPDATA_H

#include <lancet/cleanup.h>

#include "maker.h"
#include "storecalls.h"
#include "treedata.h"

#define FILES_MAX_DATA 8
#define OLD_DAYS       8 /* older than what may still be on its way */

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

/* Made so many days ago. */
static inline void
age_days(const struct tree *tree, const char *relative, int days)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = time(NULL) - days * 86400 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, TREE_PATH(tree, relative), times, 0), 0);
}

static inline void
put_old(const struct tree *tree, const char *relative)
{
	tree_text(tree, relative, "old");
	age_days(tree, relative, OLD_DAYS);
}

static inline bool
exists(const struct tree *tree, const char *relative)
{
	return access(TREE_PATH(tree, relative), F_OK) == 0;
}

static inline bool
plan_has(const lancet_cleanup *cleanup, const char *path)
{
	for (size_t i = 0; i < lancet_cleanup_count(cleanup); i++)
		if (strcmp(lancet_cleanup_file(cleanup, i)->path, path) == 0)
			return true;
	return false;
}

/* The versions that go, "1 3". */
static inline const char *
going_text(const lancet_cleanup *cleanup, char into[256])
{
	size_t count, size = 0;
	const uint64_t *numbers = lancet_cleanup_versions(cleanup, &count);

	into[0] = '\0';
	for (size_t i = 0; i < count; i++)
		size += (size_t)snprintf(into + size, 256 - size, "%s%llu", i == 0 ? "" : " ",
			(unsigned long long)numbers[i]);
	return into;
}

#endif

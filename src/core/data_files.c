/* Columns of a fragment by field id; see data_files.h. */
#include "data_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "util/macros.h"
#include "version.h"

/* (0, 3) is how 2.0 calls itself in its footer; what lies below is the legacy format. */
#define LEGACY_MINOR_MAX 2u
#define NOWHERE          SIZE_MAX

struct placed {
	size_t file; /* of the fragment, or NOWHERE */
	uint32_t column;
};

struct data_files {
	struct lancet_fragment *fragment;
	const struct data_schema *schema;
	struct file_pool *pool;
	struct placed *placed;       /* by ordinal */
	struct column_place *places; /* by ordinal; filled for one root while its reader is made */
	struct datafile **files;     /* by number: the fragment's, then those of the overlays */
};

bool
data_file_is_legacy(const struct lancet_data_file *file)
{
	return file->major == 0 && file->minor <= LEGACY_MINOR_MAX;
}

int
data_file_check(const struct lancet_data_file *stored, const struct datafile *file,
	struct lancet_error *err)
{
	bool legacy = datafile_version(file) == FILE_LEGACY;

	if (legacy != data_file_is_legacy(stored))
		return lancet_fail(err, LANCET_CORRUPT,
			"recorded as version %" PRIu32 ".%" PRIu32 ", the file is %s",
			stored->major, stored->minor, file_version_name(datafile_version(file)));
	return LANCET_OK;
}

int32_t
data_file_column(const struct lancet_data_file *file, size_t position)
{
	if (data_file_is_legacy(file))
		return file->fields[position];
	return position < file->column_index_count ? file->column_indices[position] : -1;
}

int
data_file_check_column(const struct datafile *file, uint32_t column, struct lancet_error *err)
{
	uint32_t count = datafile_column_count(file);

	if (datafile_version(file) != FILE_LEGACY && column >= count)
		return lancet_fail(err, LANCET_CORRUPT,
			"column %" PRIu32 " of a file that has %" PRIu32, column, count);
	return LANCET_OK;
}

const struct lancet_fragment_info *
data_files_info(const struct data_files *files)
{
	return &files->fragment->info;
}

const struct data_schema *
data_files_schema(const struct data_files *files)
{
	return files->schema;
}

/* A data file of the fragment, or behind these one of an overlay. */
static const struct lancet_data_file *
stored_file(const struct data_files *files, size_t number)
{
	const struct lancet_fragment_info *info = &files->fragment->info;

	return number < info->file_count ? &info->files[number]
					 : &info->overlays[number - info->file_count].file;
}

static size_t
stored_count(const struct data_files *files)
{
	return files->fragment->info.file_count + files->fragment->info.overlay_count;
}

static bool
same_file(const struct lancet_data_file *a, const struct lancet_data_file *b)
{
	return a->has_base == b->has_base && a->base_id == b->base_id &&
	       slice_equal(
		       slice_of(a->path.data, a->path.size), slice_of(b->path.data, b->path.size));
}

static int
open_file(struct data_files *files, size_t number, struct lancet_error *err)
{
	const struct lancet_data_file *stored = stored_file(files, number);
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct source *source = NULL;
	struct datafile *file = NULL;
	int rc;

	TRY(lancet_data_file_path(files->fragment->version, stored, &base, &path, err));
	TRY(file_pool_open(files->pool, base, path, &source, err));
	rc = datafile_open(source, &file, err);
	source_unref(source);
	if (rc == LANCET_OK)
		rc = data_file_check(stored, file, err);
	if (rc != LANCET_OK) {
		datafile_unref(file);
		return lancet_wrap(err, rc, "%s", path);
	}
	files->files[number] = file;
	return LANCET_OK;
}

/* An open file, borrowed. The manifest may name one file several times. */
static int
get_file(struct data_files *files, size_t number, struct datafile **ret_file,
	struct lancet_error *err)
{
	const struct lancet_data_file *stored = stored_file(files, number);

	for (size_t i = 0; files->files[number] == NULL && i < stored_count(files); i++) {
		if (files->files[i] != NULL && same_file(stored_file(files, i), stored))
			files->files[number] = datafile_ref(files->files[i]);
	}
	if (files->files[number] == NULL)
		TRY(open_file(files, number, err));
	*ret_file = files->files[number];
	return LANCET_OK;
}

/* Ids below zero are no user columns: tombstones, lineage, and what later versions may add. Of two
 * files with one field, which old writers could leave behind, the first has it. */
static void
place_file(struct data_files *files, size_t number)
{
	const struct lancet_data_file *file = stored_file(files, number);

	for (size_t i = 0; i < file->field_count; i++) {
		int32_t column = data_file_column(file, i);
		uint32_t ordinal;

		if (file->fields[i] < 0 || column < 0 ||
			!data_schema_find(files->schema, file->fields[i], &ordinal))
			continue;
		if (files->placed[ordinal].file == NOWHERE)
			files->placed[ordinal] = (struct placed){ number, (uint32_t)column };
	}
}

static int
place_columns(struct data_files *files, struct lancet_error *err)
{
	const struct data_schema *schema = files->schema;

	files->placed = calloc(schema->tree.count + 1, sizeof(*files->placed));
	files->places = calloc(schema->tree.count + 1, sizeof(struct column_place));
	files->files = calloc(stored_count(files) + 1, sizeof(struct datafile *));
	if (files->placed == NULL || files->places == NULL || files->files == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	for (uint32_t i = 0; i < schema->tree.count; i++)
		files->placed[i].file = NOWHERE;
	for (size_t i = 0; i < files->fragment->info.file_count; i++)
		place_file(files, i);
	return LANCET_OK;
}

int
data_files_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct data_files **ret_files, struct lancet_error *err)
{
	struct data_files *files = calloc(1, sizeof(*files));
	int rc;

	if (files == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	files->fragment = lancet_fragment_ref(fragment);
	files->schema = schema;
	files->pool = pool;
	rc = place_columns(files, err);
	if (rc != LANCET_OK) {
		data_files_free(files);
		return rc;
	}
	*ret_files = files;
	return LANCET_OK;
}

void
data_files_free(struct data_files *files)
{
	if (files == NULL)
		return;
	for (size_t i = 0; files->files != NULL && i < stored_count(files); i++)
		datafile_unref(files->files[i]);
	free(files->files);
	free(files->places);
	free(files->placed);
	lancet_fragment_unref(files->fragment);
	free(files);
}

/* Makes a reader from what is in `places` for the root, which is empty again afterwards. */
static int
make_reader(struct data_files *files, const struct field *root, uint64_t rows,
	struct field_reader **ret_reader, struct lancet_error *err)
{
	uint32_t end = data_schema_end(root);
	int rc = field_reader_open(root, files->places, rows, ret_reader, err);

	for (uint32_t i = root->ordinal; i < end; i++)
		files->places[i] = (struct column_place){ 0 };
	return rc;
}

int
data_files_places(struct data_files *files, const struct field *root, struct column_place *places,
	struct lancet_error *err)
{
	uint32_t end = data_schema_end(root);

	for (uint32_t i = root->ordinal; i < end; i++) {
		const struct placed *placed = &files->placed[i];

		places[i] = (struct column_place){ 0 };
		if (placed->file == NOWHERE)
			continue;
		places[i].column = placed->column;
		TRY(get_file(files, placed->file, &places[i].file, err));
		TRY(data_files_wrap(files, root,
			data_file_check_column(places[i].file, placed->column, err), err));
	}
	return LANCET_OK;
}

int
data_files_reader(struct data_files *files, const struct field *root,
	struct field_reader **ret_reader, struct lancet_error *err)
{
	int rc;

	TRY(data_files_places(files, root, files->places, err));
	rc = make_reader(files, root, files->fragment->info.physical_rows, ret_reader, err);
	return data_files_wrap(files, root, rc, err);
}

int
data_files_coverage(struct data_files *files, size_t overlay, size_t position,
	lancet_deletion **ret_coverage, struct lancet_error *err)
{
	const struct lancet_overlay *stored = &files->fragment->info.overlays[overlay];
	size_t index = stored->shared ? 0 : position;

	if (index >= stored->coverage_count)
		return lancet_fail(err, LANCET_CORRUPT,
			"overlay %zu: field %" PRId32 " has no bitmap", overlay,
			stored->file.fields[position]);
	return lancet_coverage_open(files->fragment, overlay, index, ret_coverage, err);
}

/* True when `field` is `below`, one of its ancestors, or lies below it. */
static bool
concerns(const struct field *field, const struct field *below)
{
	return field->ordinal <= below->ordinal ? data_schema_end(field) > below->ordinal
						: field->ordinal < data_schema_end(below);
}

int
data_files_overlay_reader(struct data_files *files, size_t overlay, const struct field *root,
	const struct field *field, uint64_t rows, struct field_reader **ret_reader,
	struct lancet_error *err)
{
	size_t number = files->fragment->info.file_count + overlay;
	const struct lancet_data_file *stored = stored_file(files, number);
	struct datafile *file;

	TRY(get_file(files, number, &file, err));
	for (size_t i = 0; i < stored->field_count; i++) {
		int32_t column = data_file_column(stored, i);
		uint32_t ordinal;

		if (stored->fields[i] < 0 || column < 0 ||
			!data_schema_find(files->schema, stored->fields[i], &ordinal) ||
			ordinal < root->ordinal || ordinal >= data_schema_end(root) ||
			!concerns(files->schema->fields[ordinal], field) ||
			files->places[ordinal].file != NULL)
			continue;
		TRY(data_file_check_column(file, (uint32_t)column, err));
		files->places[ordinal] = (struct column_place){ file, (uint32_t)column };
	}
	return make_reader(files, root, rows, ret_reader, err);
}

int
data_files_wrap(
	const struct data_files *files, const struct field *root, int rc, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = data_files_info(files);
	uint32_t end = data_schema_end(root);
	size_t first = NOWHERE, more = 0;
	struct lancet_bytes path;
	int size;

	for (size_t file = 0; rc != LANCET_OK && file < info->file_count; file++) {
		uint32_t at = root->ordinal;

		while (at < end && files->placed[at].file != file)
			at++;
		if (at < end && first == NOWHERE)
			first = file;
		else if (at < end)
			more++;
	}
	if (first == NOWHERE)
		return rc;
	path = info->files[first].path;
	size = path.size < 100 ? (int)path.size : 100;
	if (more == 0)
		return lancet_wrap(err, rc, "data/%.*s", size, (const char *)path.data);
	return lancet_wrap(err, rc, "data/%.*s and %zu more", size, (const char *)path.data, more);
}

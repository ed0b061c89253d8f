/* Columns of a fragment by field id; see fragment_data.h. */
#include "fragment_data.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "overlay.h"
#include "util/macros.h"
#include "version.h"

/* (0, 3) is how 2.0 calls itself in its footer; what lies below is the legacy format. */
#define LEGACY_MINOR_MAX 2u
#define NOWHERE          SIZE_MAX

struct placed {
	size_t file; /* of the fragment, or NOWHERE */
	uint32_t column;
};

/* What is kept of a top-level field once it was read. */
struct root_state {
	struct field_reader *reader;
	struct overlay_set *overlays;
	bool is_open;
};

struct fragment_data {
	struct lancet_fragment *fragment;
	const struct data_schema *schema;
	struct file_pool *pool;
	struct placed *placed;       /* by ordinal */
	struct column_place *places; /* by ordinal; filled for one root while its reader is made */
	struct datafile **files;     /* by number: the fragment's, then those of the overlays */
	struct root_state *roots;
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
fragment_data_info(const struct fragment_data *data)
{
	return &data->fragment->info;
}

const struct data_schema *
fragment_data_schema(const struct fragment_data *data)
{
	return data->schema;
}

/* A data file of the fragment, or behind these one of an overlay. */
static const struct lancet_data_file *
stored_file(const struct fragment_data *data, size_t number)
{
	const struct lancet_fragment_info *info = &data->fragment->info;

	return number < info->file_count ? &info->files[number]
					 : &info->overlays[number - info->file_count].file;
}

static size_t
stored_count(const struct fragment_data *data)
{
	return data->fragment->info.file_count + data->fragment->info.overlay_count;
}

static bool
same_file(const struct lancet_data_file *a, const struct lancet_data_file *b)
{
	return a->has_base == b->has_base && a->base_id == b->base_id &&
	       slice_equal(
		       slice_of(a->path.data, a->path.size), slice_of(b->path.data, b->path.size));
}

static int
open_file(struct fragment_data *data, size_t number, struct lancet_error *err)
{
	const struct lancet_data_file *stored = stored_file(data, number);
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct source *source = NULL;
	struct datafile *file = NULL;
	int rc;

	TRY(lancet_data_file_path(data->fragment->version, stored, &base, &path, err));
	TRY(file_pool_open(data->pool, base, path, &source, err));
	rc = datafile_open(source, &file, err);
	source_unref(source);
	if (rc == LANCET_OK)
		rc = data_file_check(stored, file, err);
	if (rc != LANCET_OK) {
		datafile_unref(file);
		return lancet_wrap(err, rc, "%s", path);
	}
	data->files[number] = file;
	return LANCET_OK;
}

/* An open file, borrowed. The manifest may name one file several times. */
static int
get_file(struct fragment_data *data, size_t number, struct datafile **ret_file,
	struct lancet_error *err)
{
	const struct lancet_data_file *stored = stored_file(data, number);

	for (size_t i = 0; data->files[number] == NULL && i < stored_count(data); i++) {
		if (data->files[i] != NULL && same_file(stored_file(data, i), stored))
			data->files[number] = datafile_ref(data->files[i]);
	}
	if (data->files[number] == NULL)
		TRY(open_file(data, number, err));
	*ret_file = data->files[number];
	return LANCET_OK;
}

static int
refuse_second(const struct fragment_data *data, int32_t field, size_t first, size_t second,
	struct lancet_error *err)
{
	struct lancet_bytes one = stored_file(data, first)->path;
	struct lancet_bytes other = stored_file(data, second)->path;

	return lancet_fail(err, LANCET_CORRUPT, "field %" PRId32 " is in %.*s and in %.*s", field,
		one.size < 100 ? (int)one.size : 100, (const char *)one.data,
		other.size < 100 ? (int)other.size : 100, (const char *)other.data);
}

/* Ids below zero are no user columns: tombstones, lineage, and what later versions may add. */
static int
place_file(struct fragment_data *data, size_t number, struct lancet_error *err)
{
	const struct lancet_data_file *file = stored_file(data, number);

	for (size_t i = 0; i < file->field_count; i++) {
		int32_t column = data_file_column(file, i);
		uint32_t ordinal;

		if (file->fields[i] < 0 || column < 0 ||
			!data_schema_find(data->schema, file->fields[i], &ordinal))
			continue;
		if (data->placed[ordinal].file != NOWHERE)
			return refuse_second(
				data, file->fields[i], data->placed[ordinal].file, number, err);
		data->placed[ordinal] = (struct placed){ number, (uint32_t)column };
	}
	return LANCET_OK;
}

static int
place_columns(struct fragment_data *data, struct lancet_error *err)
{
	const struct data_schema *schema = data->schema;

	data->placed = calloc(schema->tree.count + 1, sizeof(*data->placed));
	data->places = calloc(schema->tree.count + 1, sizeof(struct column_place));
	data->files = calloc(stored_count(data) + 1, sizeof(struct datafile *));
	data->roots = calloc(schema->tree.root_count + 1, sizeof(*data->roots));
	if (data->placed == NULL || data->places == NULL || data->files == NULL ||
		data->roots == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	for (uint32_t i = 0; i < schema->tree.count; i++)
		data->placed[i].file = NOWHERE;
	for (size_t i = 0; i < data->fragment->info.file_count; i++)
		TRY(place_file(data, i, err));
	return LANCET_OK;
}

int
fragment_data_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct fragment_data **ret_data, struct lancet_error *err)
{
	struct fragment_data *data = calloc(1, sizeof(*data));
	int rc;

	if (data == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	data->fragment = lancet_fragment_ref(fragment);
	data->schema = schema;
	data->pool = pool;
	rc = place_columns(data, err);
	if (rc != LANCET_OK) {
		fragment_data_free(data);
		return rc;
	}
	*ret_data = data;
	return LANCET_OK;
}

void
fragment_data_free(struct fragment_data *data)
{
	if (data == NULL)
		return;
	for (size_t i = 0; data->roots != NULL && i < data->schema->tree.root_count; i++) {
		field_reader_free(data->roots[i].reader);
		overlay_set_free(data->roots[i].overlays);
	}
	for (size_t i = 0; data->files != NULL && i < stored_count(data); i++)
		datafile_unref(data->files[i]);
	free(data->roots);
	free(data->files);
	free(data->places);
	free(data->placed);
	lancet_fragment_unref(data->fragment);
	free(data);
}

/* Makes a reader from what is in `places` for the root, which is empty again afterwards. */
static int
make_reader(struct fragment_data *data, const struct field *root, uint64_t rows,
	struct field_reader **ret_reader, struct lancet_error *err)
{
	uint32_t end = data_schema_end(root);
	int rc = field_reader_open(root, data->places, rows, ret_reader, err);

	for (uint32_t i = root->ordinal; i < end; i++)
		data->places[i] = (struct column_place){ 0 };
	return rc;
}

static int
fill_places(struct fragment_data *data, const struct field *root, struct lancet_error *err)
{
	uint32_t end = data_schema_end(root);

	for (uint32_t i = root->ordinal; i < end; i++) {
		const struct placed *placed = &data->placed[i];

		if (placed->file == NOWHERE)
			continue;
		data->places[i].column = placed->column;
		TRY(get_file(data, placed->file, &data->places[i].file, err));
		TRY(data_file_check_column(data->places[i].file, placed->column, err));
	}
	return LANCET_OK;
}

static int
open_root(struct fragment_data *data, size_t number, struct lancet_error *err)
{
	const struct field *root = &data->schema->tree.roots[number];
	struct root_state *state = &data->roots[number];

	if (state->is_open)
		return LANCET_OK;
	if (state->reader == NULL) {
		TRY(fill_places(data, root, err));
		TRY(make_reader(
			data, root, data->fragment->info.physical_rows, &state->reader, err));
	}
	TRY(overlay_set_open(data, root, &state->overlays, err));
	state->is_open = true;
	return LANCET_OK;
}

int
fragment_data_coverage(struct fragment_data *data, size_t overlay, size_t position,
	lancet_deletion **ret_coverage, struct lancet_error *err)
{
	const struct lancet_overlay *stored = &data->fragment->info.overlays[overlay];
	size_t index = stored->shared ? 0 : position;

	if (index >= stored->coverage_count)
		return lancet_fail(err, LANCET_CORRUPT,
			"overlay %zu: field %" PRId32 " has no bitmap", overlay,
			stored->file.fields[position]);
	return lancet_coverage_open(data->fragment, overlay, index, ret_coverage, err);
}

/* True when `field` is `below`, one of its ancestors, or lies below it. */
static bool
concerns(const struct field *field, const struct field *below)
{
	return field->ordinal <= below->ordinal ? data_schema_end(field) > below->ordinal
						: field->ordinal < data_schema_end(below);
}

int
fragment_data_overlay_reader(struct fragment_data *data, size_t overlay, const struct field *root,
	const struct field *field, uint64_t rows, struct field_reader **ret_reader,
	struct lancet_error *err)
{
	size_t number = data->fragment->info.file_count + overlay;
	const struct lancet_data_file *stored = stored_file(data, number);
	struct datafile *file;

	TRY(get_file(data, number, &file, err));
	for (size_t i = 0; i < stored->field_count; i++) {
		int32_t column = data_file_column(stored, i);
		uint32_t ordinal;

		if (stored->fields[i] < 0 || column < 0 ||
			!data_schema_find(data->schema, stored->fields[i], &ordinal) ||
			ordinal < root->ordinal || ordinal >= data_schema_end(root) ||
			!concerns(data->schema->fields[ordinal], field))
			continue;
		TRY(data_file_check_column(file, (uint32_t)column, err));
		data->places[ordinal] = (struct column_place){ file, (uint32_t)column };
	}
	return make_reader(data, root, rows, ret_reader, err);
}

int
fragment_data_read(struct fragment_data *data, size_t root, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err)
{
	const struct field *field = &data->schema->tree.roots[root];
	const struct root_state *state = &data->roots[root];
	int rc = open_root(data, root, err);

	if (rc == LANCET_OK && state->overlays == NULL)
		rc = field_reader_read(state->reader, ranges, count, out, err);
	else if (rc == LANCET_OK)
		rc = overlay_set_read(state->overlays, state->reader, ranges, count, out, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "column %.*s",
					 field->name.size < 100 ? (int)field->name.size : 100,
					 (const char *)field->name.data);
}

uint64_t
fragment_data_decoded(const struct fragment_data *data)
{
	uint64_t decoded = 0;

	for (size_t i = 0; i < data->schema->tree.root_count; i++) {
		if (data->roots[i].reader != NULL)
			decoded += field_reader_decoded(data->roots[i].reader);
	}
	return decoded;
}

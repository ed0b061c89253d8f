/* What the data files of a fragment hold, column by column, for people.
 *
 * A column is told by the lists of the manifest; what is in it by the file. A superseded column is
 * still in its file and is shown as such: its type is that of the file's own schema. Nothing is
 * decoded. Format facts: data files, page layouts.
 */
#include <lancet/scan.h>

#include <inttypes.h>
#include <stdlib.h>

#include "data_files.h"
#include "file/reader.h"
#include "file_pool.h"
#include "fragment.h"
#include "util/macros.h"
#include "version.h"

#define UNKNOWN         "-"
#define ENCODINGS_LIMIT (1u << 20)

struct walk {
	lancet_version *version;
	struct data_schema schema; /* of the columns whose type is known */
	struct file_pool pool;
	lancet_column_info_fn fn;
	void *user;
	struct buf name, type, encodings;
};

/* The file at hand, and its own schema when that was needed. */
struct walk_file {
	const struct lancet_data_file *stored;
	struct datafile *file;
	bool has_tree;
	struct field_tree tree;
	int32_t *columns; /* by ordinal */
};

/* The top-level names whose types are known; the caller frees. */
static int
list_supported(lancet_version *version, struct lancet_bytes **ret_names, size_t *ret_count,
	struct lancet_error *err)
{
	const struct lancet_field *fields;
	struct lancet_bytes *names;
	size_t count, kept = 0;

	TRY(lancet_version_fields(version, &fields, &count, err));
	names = calloc(count + 1, sizeof(*names));
	if (names == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema: %zu fields", count);
	for (size_t i = 0; i < count; i++) {
		struct data_schema schema;

		if (fields[i].depth > 0 || data_schema_init(&schema, version, &fields[i].name, 1,
						   FIELD_BLOB_DESCRIPTIONS, NULL) != LANCET_OK)
			continue;
		data_schema_release(&schema);
		names[kept++] = fields[i].name;
	}
	*ret_names = names;
	*ret_count = kept;
	return LANCET_OK;
}

static int
init_schema(struct walk *walk, struct lancet_error *err)
{
	lancet_autofree struct lancet_bytes *names = NULL;
	size_t count = 0;
	int rc = data_schema_init(
		&walk->schema, walk->version, NULL, 0, FIELD_BLOB_DESCRIPTIONS, err);

	if (rc != LANCET_UNSUPPORTED)
		return rc;
	TRY(list_supported(walk->version, &names, &count, err));
	return data_schema_init(
		&walk->schema, walk->version, names, count, FIELD_BLOB_DESCRIPTIONS, err);
}

static int
load_tree(struct walk_file *at, struct lancet_error *err)
{
	uint64_t rows;

	TRY(datafile_schema(at->file, FIELD_BLOB_DESCRIPTIONS, &at->tree, &rows, err));
	at->has_tree = true;
	at->columns = calloc((size_t)at->tree.count + 1, sizeof(*at->columns));
	if (at->columns == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a file");
	datafile_number_columns(datafile_version(at->file), &at->tree, at->columns);
	return LANCET_OK;
}

static const struct field *
find_in_file(const struct walk_file *at, const struct field *fields, size_t count, int32_t column)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *found = &fields[i];

		if (at->columns[found->ordinal] != column)
			found = find_in_file(at, found->children, found->child_count, column);
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* The field of a column that the schema does not tell: by the file itself; NULL when it can't. */
static const struct field *
field_of_file(struct walk_file *at, int32_t column)
{
	if (!at->has_tree && load_tree(at, NULL) != LANCET_OK)
		return NULL;
	if (at->columns == NULL)
		return NULL;
	return find_in_file(at, at->tree.roots, at->tree.root_count, column);
}

static void
put_path(struct buf *into, const struct field *field)
{
	if (field->parent != NULL) {
		put_path(into, field->parent);
		buf_put_byte(into, '.');
	}
	buf_put_slice(into, field->name);
}

/* The name and type of a field whose type is not known here: as they are stored. */
static int
name_unsupported(struct walk *walk, int32_t id, struct lancet_error *err)
{
	const struct lancet_field *fields;
	size_t count;

	TRY(lancet_version_fields(walk->version, &fields, &count, err));
	for (size_t i = 0; i < count; i++) {
		if (fields[i].id != id)
			continue;
		buf_put(&walk->name, fields[i].name.data, fields[i].name.size);
		buf_put(&walk->type, fields[i].logical_type.data, fields[i].logical_type.size);
		return LANCET_OK;
	}
	buf_put_text(&walk->name, UNKNOWN);
	buf_put_text(&walk->type, UNKNOWN);
	return LANCET_OK;
}

static const char *
lineage_name(int32_t id)
{
	switch (id) {
	case -3:
		return "_rowid";
	case -4:
		return "_row_created_at_version";
	case -5:
		return "_row_last_updated_at_version";
	default:
		return NULL;
	}
}

/* Fills name and type of the column; its field for decoding, or NULL. */
static int
name_column(struct walk *walk, struct walk_file *at, int32_t id, int32_t column,
	const struct field **ret_field, struct lancet_error *err)
{
	const char *lineage = lineage_name(id);
	uint32_t ordinal;

	walk->name.size = walk->type.size = 0;
	if (lineage != NULL) {
		buf_put_text(&walk->name, lineage);
		buf_put_text(&walk->type, "uint64");
		*ret_field = field_unsigned(64);
	} else if (id >= 0 && data_schema_find(&walk->schema, id, &ordinal)) {
		*ret_field = walk->schema.fields[ordinal];
		put_path(&walk->name, *ret_field);
		buf_put_slice(&walk->type, (*ret_field)->logical_type);
	} else {
		*ret_field = field_of_file(at, column);
		TRY(name_unsupported(walk, id, err));
	}
	buf_put_byte(&walk->name, '\0');
	buf_put_byte(&walk->type, '\0');
	TRY(buf_check(&walk->name, "name of a column", err));
	return buf_check(&walk->type, "type of a column", err);
}

/* Without a field only the pages can be counted. */
static int
describe(struct walk *walk, const struct walk_file *at, int32_t column, const struct field *field,
	struct column_description *ret_description, struct lancet_error *err)
{
	const struct file_column *pages;

	walk->encodings = (struct buf){ .data = walk->encodings.data,
		.capacity = walk->encodings.capacity,
		.limit = ENCODINGS_LIMIT };
	*ret_description = (struct column_description){ 0 };
	if (field != NULL) {
		TRY(column_describe(
			at->file, (uint32_t)column, field, ret_description, &walk->encodings, err));
	} else if (datafile_version(at->file) != FILE_LEGACY) {
		TRY(datafile_column(at->file, (uint32_t)column, &pages, err));
		ret_description->pages = pages->page_count;
		for (size_t i = 0; i < pages->page_count; i++) {
			for (size_t j = 0; j < pages->pages[i].buffer_count; j++)
				ret_description->bytes += pages->pages[i].buffers[j].size;
		}
	}
	if (walk->encodings.size == 0)
		buf_put_text(&walk->encodings, UNKNOWN);
	buf_put_byte(&walk->encodings, '\0');
	return buf_check(&walk->encodings, "encodings of a column", err);
}

static int
walk_column(struct walk *walk, struct walk_file *at, size_t position, struct lancet_error *err)
{
	int32_t id = at->stored->fields[position];
	int32_t column = data_file_column(at->stored, position);
	bool legacy = datafile_version(at->file) == FILE_LEGACY;
	const struct field *field;
	struct column_description description;
	struct lancet_column_info info = { .field = id, .column = legacy ? -1 : column };
	int rc;

	if (column < 0)
		return LANCET_OK;
	TRY(name_column(walk, at, id, column, &field, err));
	rc = data_file_check_column(at->file, (uint32_t)column, err);
	if (rc == LANCET_OK)
		rc = describe(walk, at, column, field, &description, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%.*s: field %" PRId32,
			at->stored->path.size < 100 ? (int)at->stored->path.size : 100,
			(const char *)at->stored->path.data, id);
	info.name = (const char *)walk->name.data;
	info.type = (const char *)walk->type.data;
	info.path = at->stored->path;
	info.file_version = file_version_name(datafile_version(at->file));
	info.pages = description.pages;
	info.bytes = description.bytes;
	info.encodings = (const char *)walk->encodings.data;
	info.has_null_count = description.has_null_count;
	info.null_count = description.null_count;
	return walk->fn(walk->user, &info);
}

static int
open_file(struct walk *walk, struct walk_file *at, const char *path, const lancet_base *base,
	struct lancet_error *err)
{
	struct source *source = NULL;
	int rc;

	TRY(file_pool_open(&walk->pool, base, path, &source, err));
	rc = datafile_open(source, &at->file, err);
	source_unref(source);
	return rc == LANCET_OK ? data_file_check(at->stored, at->file, err) : rc;
}

static int
walk_file(struct walk *walk, const struct lancet_data_file *stored, struct lancet_error *err)
{
	struct walk_file at = { .stored = stored };
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	int rc;

	TRY(lancet_data_file_path(walk->version, stored, &base, &path, err));
	rc = open_file(walk, &at, path, base, err);
	if (rc != LANCET_OK)
		lancet_wrap(err, rc, "%s", path);
	for (size_t i = 0; rc == LANCET_OK && i < stored->field_count; i++)
		rc = walk_column(walk, &at, i, err);
	if (at.has_tree)
		field_tree_release(&at.tree);
	free(at.columns);
	datafile_unref(at.file);
	return rc;
}

int
lancet_fragment_columns(
	lancet_fragment *fragment, lancet_column_info_fn fn, void *user, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = &fragment->info;
	struct walk walk = { .version = fragment->version, .fn = fn, .user = user };
	int rc = init_schema(&walk, err);

	if (rc != LANCET_OK)
		return rc;
	for (size_t i = 0; rc == LANCET_OK && i < info->file_count; i++)
		rc = walk_file(&walk, &info->files[i], err);
	data_schema_release(&walk.schema);
	buf_release(&walk.name);
	buf_release(&walk.type);
	buf_release(&walk.encodings);
	return rc;
}

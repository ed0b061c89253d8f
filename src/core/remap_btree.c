/* B-trees over row addresses whose rows get other ones.
 *
 * page_data.lance has all values with their addresses, page_lookup.lance says where each page of
 * values begins. Rows keep their values, so only the addresses are written anew: the values are
 * copied in the same order, and the look-up file as it is. An entry of a deleted row keeps its old
 * address, which nobody has any more. Format facts: remap without sorting again.
 */
#include "remap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <uuid/uuid.h>

#include "change_build.h"
#include "conflict_rules.h"
#include "file/file_writer.h"
#include "util/macros.h"
#include "version.h"

#define COPY_SIZE ((size_t)1 << 20)
#define KEY_MAX   96u

enum { ROOT_VALUES, ROOT_IDS, ROOTS };

/* The file with the values, as it is and as it is to be. */
struct pages {
	struct source *lookup;
	struct datafile *file;
	struct field_tree tree;
	uint64_t rows;
	struct column_place *places; /* by ordinal */
	int32_t *columns;
	struct file_writer *writer;
};

static void
release(struct pages *pages)
{
	file_writer_free(pages->writer);
	free(pages->places);
	free(pages->columns);
	field_tree_release(&pages->tree);
	datafile_unref(pages->file);
	source_unref(pages->lookup);
}

static bool
is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash == NULL ? path : slash + 1, name) == 0;
}

static int
open_source(const lancet_base *base, const char *path, struct source **ret_source,
	struct lancet_error *err)
{
	struct stat st;

	return store_open_source(base->store, path, ret_source, &st, err);
}

/* Opens the two files; *ret_why is set when there are others, or one is missing. */
static int
open_files(struct pages *pages, lancet_version *read, const struct lancet_index_segment *segment,
	const char **ret_why, struct lancet_error *err)
{
	const lancet_base *base;
	lancet_autofree char **paths = NULL;
	struct source *data = NULL;
	bool others = false;
	size_t count;
	int rc = LANCET_OK;

	TRY(lancet_index_segment_files(read, segment, &base, &paths, &count, err));
	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		if (is_named(paths[i], BTREE_DATA_FILE) && data == NULL)
			rc = open_source(base, paths[i], &data, err);
		else if (is_named(paths[i], BTREE_LOOKUP_FILE) && pages->lookup == NULL)
			rc = open_source(base, paths[i], &pages->lookup, err);
		else
			others = true;
	}
	if (others || data == NULL || pages->lookup == NULL)
		*ret_why = "its files are not those of a B-tree in one piece";
	else if (rc == LANCET_OK)
		rc = datafile_open(data, &pages->file, err);
	source_unref(data);
	return rc;
}

static bool
is_root(const struct pages *pages, size_t root, const char *name)
{
	return slice_equal(pages->tree.roots[root].name, slice_text(name));
}

static int
place_columns(struct pages *pages, struct lancet_error *err)
{
	pages->columns = calloc((size_t)pages->tree.count + 1, sizeof(*pages->columns));
	pages->places = calloc((size_t)pages->tree.count + 1, sizeof(*pages->places));
	if (pages->columns == NULL || pages->places == NULL)
		return change_no_memory(err);
	datafile_number_columns(datafile_version(pages->file), &pages->tree, pages->columns);
	for (uint32_t i = 0; i < pages->tree.count; i++)
		if (pages->columns[i] >= 0)
			pages->places[i] =
				(struct column_place){ pages->file, (uint32_t)pages->columns[i] };
	return LANCET_OK;
}

static int
open_columns(struct pages *pages, const char **ret_why, struct lancet_error *err)
{
	TRY(datafile_schema(pages->file, FIELD_BLOB_DESCRIPTIONS, &pages->tree, &pages->rows, err));
	if (pages->tree.root_count != ROOTS || !is_root(pages, ROOT_VALUES, "values") ||
		!is_root(pages, ROOT_IDS, "ids") ||
		!slice_equal(pages->tree.roots[ROOT_IDS].logical_type, slice_text("uint64"))) {
		*ret_why = "its files are not those of a B-tree";
		return LANCET_OK;
	}
	return place_columns(pages, err);
}

static int
open_writer(
	struct pages *pages, struct file_sink sink, const char **ret_why, struct lancet_error *err)
{
	struct file_writer_options options = { .version = datafile_version(pages->file) };
	struct lancet_error cause = { 0 };
	int rc;

	if (options.version < FILE_2_0 || options.version > FILE_2_2) {
		*ret_why = "files of their version are not written by this build";
		return LANCET_OK;
	}
	TRY(datafile_fields(pages->file, &options.fields, &options.field_count, err));
	rc = file_writer_open(&options, sink, &pages->writer, &cause);
	if (rc == LANCET_UNSUPPORTED) {
		*ret_why = "values of their type are not written by this build";
		return LANCET_OK;
	}
	return rc == LANCET_OK ? rc : lancet_fail(err, cause.code, "%s", cause.text);
}

/* *ret_why stays NULL when all is there to write. */
static int
open_pages(struct pages *pages, lancet_version *read, const struct lancet_index_segment *segment,
	struct file_sink sink, const char **ret_why, struct lancet_error *err)
{
	TRY(open_files(pages, read, segment, ret_why, err));
	if (*ret_why == NULL)
		TRY(open_columns(pages, ret_why, err));
	return *ret_why == NULL ? open_writer(pages, sink, ret_why, err) : LANCET_OK;
}

static int
put_nowhere(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	(void)context;
	(void)parts;
	(void)count;
	(void)err;
	return LANCET_OK;
}

int
remap_btree_check(lancet_version *read, const struct lancet_index_segment *segment,
	const char **ret_why, struct lancet_error *err)
{
	const struct index_segment *stored = (const struct index_segment *)segment;
	struct lancet_error cause = { 0 };
	struct pages pages = { 0 };
	int rc;

	*ret_why = NULL;
	if (!entry_is_kind(stored->message, "BTree")) {
		*ret_why = "files of its kind are not written by this build";
		return LANCET_OK;
	}
	rc = open_pages(
		&pages, read, segment, (struct file_sink){ put_nowhere, NULL }, ret_why, &cause);
	release(&pages);
	if (rc == LANCET_NO_MEMORY || rc == LANCET_IO) { /* nothing is known of it then */
		if (err != NULL)
			*err = cause;
		return lancet_wrap(err, rc, "index files");
	}
	if (rc != LANCET_OK)
		*ret_why = "its files can't be read";
	return LANCET_OK;
}

static void
key_of(const struct btree_writing *writing, const char *name, char into[KEY_MAX])
{
	char uuid[UUID_TEXT_SIZE + 1];

	uuid_unparse_lower(writing->segment->new_uuid, uuid);
	(void)snprintf(into, KEY_MAX, "_indices/%s/%s", uuid, name);
}

static int
check_cancelled(const struct btree_writing *writing, struct lancet_error *err)
{
	const struct lancet_rewrite_run *run = writing->run;

	if (run == NULL || run->cancelled == NULL || !run->cancelled(run->context))
		return LANCET_OK;
	return lancet_fail(err, LANCET_CANCELLED, "cancelled while an index was rewritten");
}

static int
put_parts(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	return store_writer_put_parts(*(struct store_writer **)context, parts, count, err);
}

/* What is done with some values of a column. */
typedef int (*root_visitor)(struct btree_writing *writing, struct pages *pages, size_t root,
	struct array *values, struct lancet_error *err);

/* The addresses moved. */
static int
put_values(struct btree_writing *writing, struct pages *pages, size_t root, struct array *values,
	struct lancet_error *err)
{
	uint64_t *ids = (uint64_t *)(void *)values->data.data;

	if (root == ROOT_IDS)
		TRY(row_moves_apply(writing->moves, ids, (size_t)values->length, err));
	return file_writer_put(pages->writer, root, values, 0, values->length, err);
}

static int
check_values(struct btree_writing *writing, struct pages *pages, size_t root, struct array *values,
	struct lancet_error *err)
{
	(void)pages;
	if (root != ROOT_IDS)
		return LANCET_OK;
	if (values->null_count != 0)
		return lancet_fail(err, LANCET_CORRUPT, "a row address is null");
	return row_moves_check(writing->moves, (const uint64_t *)(const void *)values->data.data,
		(size_t)values->length, err);
}

/* Of a file whose columns need no more than that they can be read. */
static int
pass_values(struct btree_writing *writing, struct pages *pages, size_t root, struct array *values,
	struct lancet_error *err)
{
	(void)writing;
	(void)pages;
	(void)root;
	(void)values;
	(void)err;
	return LANCET_OK;
}

/* Reads a column bit by bit. */
static int
visit_values(struct btree_writing *writing, struct pages *pages, size_t root, root_visitor visitor,
	struct field_reader *reader, struct array *values, struct lancet_error *err)
{
	for (uint64_t at = 0; at < pages->rows; at += writing->chunk_rows) {
		uint64_t left = pages->rows - at;
		struct row_range range = { at,
			left < writing->chunk_rows ? left : writing->chunk_rows };

		TRY(check_cancelled(writing, err));
		array_reset(values);
		TRY(field_reader_read(reader, &range, 1, values, err));
		TRY(visitor(writing, pages, root, values, err));
	}
	return LANCET_OK;
}

static int
visit_root(struct btree_writing *writing, struct pages *pages, size_t root, root_visitor visitor,
	struct lancet_error *err)
{
	const struct field *field = &pages->tree.roots[root];
	struct array_budget budget = { .limit = SIZE_MAX };
	struct field_reader *reader;
	struct array values;
	int rc;

	TRY(array_init(&values, field, &budget, err));
	rc = field_reader_open(field, pages->places, pages->rows, &reader, err);
	if (rc == LANCET_OK) {
		rc = visit_values(writing, pages, root, visitor, reader, &values, err);
		field_reader_free(reader);
	}
	array_release(&values);
	return rc;
}

static int
write_roots(struct btree_writing *writing, struct pages *pages, struct lancet_error *err)
{
	struct file_written written;

	if (file_writer_can_copy(pages->writer, ROOT_VALUES, pages->places))
		TRY(file_writer_copy(pages->writer, ROOT_VALUES, pages->places, pages->rows, err));
	else
		TRY(visit_root(writing, pages, ROOT_VALUES, put_values, err));
	TRY(visit_root(writing, pages, ROOT_IDS, put_values, err));
	TRY(file_writer_finish(pages->writer, &written, err));
	writing->data_size = written.size;
	return LANCET_OK;
}

static int
copy_lookup(struct btree_writing *writing, struct source *from, struct lancet_error *err)
{
	lancet_autofree uint8_t *chunk = malloc(COPY_SIZE);
	struct store_writer *writer;
	char key[KEY_MAX];

	if (chunk == NULL)
		return change_no_memory(err);
	key_of(writing, BTREE_LOOKUP_FILE, key);
	TRY(publish_open(&writing->change->files, key, PUBLISH_NEW, &writer, err));
	for (uint64_t at = 0; at < from->size; at += COPY_SIZE) {
		size_t size = from->size - at < COPY_SIZE ? (size_t)(from->size - at) : COPY_SIZE;

		TRY(source_read_at(from, at, size, chunk, err));
		TRY(store_writer_put(writer, slice_of(chunk, size), err));
	}
	writing->lookup_size = from->size;
	return LANCET_OK;
}

static int
changed(const char *why, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "changed while rows were rewritten: %s", why);
}

static int
write_files(struct btree_writing *writing, lancet_version *read, struct pages *pages,
	struct lancet_error *err)
{
	struct store_writer *writer = NULL;
	const char *why = NULL;
	char key[KEY_MAX];

	TRY(open_pages(pages, read, writing->segment->segment,
		(struct file_sink){ put_parts, &writer }, &why, err));
	if (why != NULL)
		return changed(why, err);
	key_of(writing, BTREE_DATA_FILE, key);
	TRY(publish_open(&writing->change->files, key, PUBLISH_NEW, &writer, err));
	TRY(write_roots(writing, pages, err));
	return copy_lookup(writing, pages->lookup, err);
}

static int
prove_roots(struct btree_writing *writing, struct pages *pages, root_visitor visitor,
	struct lancet_error *err)
{
	for (size_t i = 0; i < pages->tree.root_count; i++)
		TRY(visit_root(writing, pages, i, visitor, err));
	return LANCET_OK;
}

static int
prove_lookup(struct btree_writing *writing, struct source *file, struct lancet_error *err)
{
	struct pages pages = { 0 };
	int rc = datafile_open(file, &pages.file, err);

	if (rc == LANCET_OK)
		rc = datafile_schema(
			pages.file, FIELD_BLOB_DESCRIPTIONS, &pages.tree, &pages.rows, err);
	if (rc == LANCET_OK)
		rc = place_columns(&pages, err);
	if (rc == LANCET_OK)
		rc = prove_roots(writing, &pages, pass_values, err);
	release(&pages);
	return rc;
}

/* What was wrong with which file of the segment as it is. */
static int
name_file(const struct btree_writing *writing, int rc, const char *name, struct lancet_error *err)
{
	char uuid[UUID_TEXT_SIZE + 1];

	uuid_unparse_lower(writing->segment->segment->uuid, uuid);
	return lancet_wrap(err, rc, "_indices/%s/%s", uuid, name);
}

static int
prove_files(struct btree_writing *writing, lancet_version *read, struct pages *pages,
	struct lancet_error *err)
{
	const struct file_sink nowhere = { put_nowhere, NULL };
	const char *why = NULL;
	int rc;

	TRY(open_pages(pages, read, writing->segment->segment, nowhere, &why, err));
	if (why != NULL)
		return changed(why, err);
	rc = prove_roots(writing, pages, check_values, err);
	if (rc != LANCET_OK)
		return name_file(writing, rc, BTREE_DATA_FILE, err);
	rc = prove_lookup(writing, pages->lookup, err);
	return rc == LANCET_OK ? rc : name_file(writing, rc, BTREE_LOOKUP_FILE, err);
}

static int
name_index(const struct btree_writing *writing, int rc, struct lancet_error *err)
{
	struct lancet_bytes name = writing->segment->index->name;

	return rc == LANCET_OK
		       ? rc
		       : lancet_wrap(err, rc, "index %.*s", name.size < 80 ? (int)name.size : 80,
				 (const char *)name.data);
}

int
remap_btree_prove(struct btree_writing *writing, lancet_version *read, struct lancet_error *err)
{
	struct pages pages = { 0 };
	int rc = prove_files(writing, read, &pages, err);

	release(&pages);
	return name_index(writing, rc, err);
}

int
remap_btree_write(struct btree_writing *writing, lancet_version *read, struct lancet_error *err)
{
	struct pages pages = { 0 };
	int rc = write_files(writing, read, &pages, err);

	release(&pages);
	return name_index(writing, rc, err);
}

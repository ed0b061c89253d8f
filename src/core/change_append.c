/* Append of a Lance data file: its rows become one new fragment.
 *
 * The file is held against the schema, and copied into the dataset under a name of its own. The
 * copy is what counts: it is held against the schema once more, since whoever made the file may
 * still be at it. Row ids and versions are given when it is committed. Format facts: data file
 * names, DataFile.
 */
#include "change_build.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append_match.h"
#include "data_schema.h"
#include "file/reader.h"
#include "fragment_write.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "version.h"

#define CHUNK_SIZE ((size_t)1 << 20)

struct appending {
	lancet_change *change;
	struct source *source;
	struct datafile *file;
	struct field_tree tree;    /* of the file */
	struct data_schema schema; /* of the dataset */
	int32_t *ids, *columns;    /* by ordinal of the tree */
	uint64_t rows;
	char key[DATA_KEY_SIZE + 1];
};

static int
open_descriptor(struct appending *appending, int fd, struct lancet_error *err)
{
	lancet_autoclose int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct stat st;

	if (copy < 0 || fstat(copy, &st) != 0)
		return lancet_fail_errno(err, "data file");
	if (!S_ISREG(st.st_mode))
		return lancet_fail(err, LANCET_INVALID, "data file: no regular file");
	appending->source = source_fd_new(copy, (uint64_t)st.st_size);
	if (appending->source == NULL)
		return change_no_memory(err);
	(void)lancet_steal_fd(&copy);
	return LANCET_OK;
}

static int
check_version(const struct appending *appending, struct lancet_error *err)
{
	struct lancet_bytes due = appending->change->read->info.storage_version;
	const char *name = file_version_name(datafile_version(appending->file));

	if (datafile_version(appending->file) == FILE_LEGACY)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"a data file of format %s, to which this build does not append", name);
	if (!slice_equal(slice_of(due.data, due.size), slice_text(name)))
		return lancet_fail(err, LANCET_INVALID,
			"a data file of version %s, the dataset is of %.*s: write it with that",
			name, due.size < 20 ? (int)due.size : 20, (const char *)due.data);
	return LANCET_OK;
}

/* The reader of a column looks at its pages, and whether they have the rows. */
static int
check_root(const struct appending *appending, const struct column_place *places, size_t root,
	struct lancet_error *err)
{
	const struct field *field = &appending->tree.roots[root];
	struct field_reader *reader;
	int rc = field_reader_open(field, places, appending->rows, &reader, err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "column \"%.*s\"", FIELD_TEXT(field->name));
	field_reader_free(reader);
	return LANCET_OK;
}

static int
check_columns(const struct appending *appending, struct lancet_error *err)
{
	lancet_autofree struct column_place *places =
		calloc(appending->tree.count + 1, sizeof(*places));

	if (places == NULL)
		return change_no_memory(err);
	for (uint32_t i = 0; i < appending->tree.count; i++) {
		if (appending->columns[i] >= 0)
			places[i] = (struct column_place){ appending->file,
				(uint32_t)appending->columns[i] };
	}
	for (size_t i = 0; i < appending->tree.root_count; i++)
		TRY(check_root(appending, places, i, err));
	return LANCET_OK;
}

static int
match_columns(struct appending *appending, struct lancet_error *err)
{
	size_t count = appending->tree.count;

	appending->ids = calloc(count + 1, sizeof(int32_t));
	appending->columns = calloc(count + 1, sizeof(int32_t));
	if (appending->ids == NULL || appending->columns == NULL)
		return change_no_memory(err);
	if (appending->tree.root_count == 0)
		return lancet_fail(err, LANCET_INVALID, "the data file has no columns");
	TRY(append_match(&appending->tree, &appending->schema.tree, appending->ids, err));
	datafile_number_columns(
		datafile_version(appending->file), &appending->tree, appending->columns);
	return check_columns(appending, err);
}

/* Reads everything of appending->source but the rows. What is made is the caller's to forget. */
static int
inspect(struct appending *appending, struct lancet_error *err)
{
	TRY(datafile_open(appending->source, &appending->file, err));
	TRY(check_version(appending, err));
	TRY(datafile_schema(
		appending->file, FIELD_BLOB_DESCRIPTIONS, &appending->tree, &appending->rows, err));
	TRY(data_schema_init(&appending->schema, appending->change->read, NULL, 0,
		FIELD_BLOB_DESCRIPTIONS, err));
	TRY(match_columns(appending, err));
	if (appending->rows > FRAGMENT_ROWS_MAX)
		return lancet_fail(err, LANCET_LIMIT,
			"%" PRIu64 " rows, a fragment has at most %" PRIu64, appending->rows,
			FRAGMENT_ROWS_MAX);
	return LANCET_OK;
}

static int
copy_bytes(struct source *from, struct store_writer *writer, struct lancet_error *err)
{
	lancet_autofree uint8_t *chunk = malloc(CHUNK_SIZE);

	if (chunk == NULL)
		return change_no_memory(err);
	for (uint64_t at = 0; at < from->size; at += CHUNK_SIZE) {
		size_t size = from->size - at < CHUNK_SIZE ? (size_t)(from->size - at) : CHUNK_SIZE;

		TRY(source_read_at(from, at, size, chunk, err));
		TRY(store_writer_put(writer, slice_of(chunk, size), err));
	}
	return LANCET_OK;
}

static void
forget(struct appending *appending)
{
	free(appending->ids);
	free(appending->columns);
	field_tree_release(&appending->tree);
	data_schema_release(&appending->schema);
	datafile_unref(appending->file);
	source_unref(appending->source);
	*appending = (struct appending){ .change = appending->change };
}

/* Afterwards the copy is the one that is open. */
static int
copy_file(struct appending *appending, struct lancet_error *err)
{
	struct publish *files = &appending->change->files;
	struct store_writer *writer;
	char key[DATA_KEY_SIZE + 1];
	struct stat st;

	data_key_make(key);
	TRY(publish_open(files, key, PUBLISH_NEW, &writer, err));
	TRY(copy_bytes(appending->source, writer, err));
	TRY(publish_name_all(files, err));
	forget(appending);
	memcpy(appending->key, key, sizeof(key));
	TRY(store_open_source(files->store, key, &appending->source, &st, err));
	return lancet_wrap(err, inspect(appending, err), "copied while it was written to");
}

static int
set_append(struct appending *appending, struct lancet_error *err)
{
	lancet_change *change = appending->change;
	Lance__Table__DataFile *stored;
	Lance__Table__DataFragment *fragment;

	TRY(data_file_make(change, appending->key, datafile_version(appending->file),
		appending->ids, appending->columns, appending->tree.count, appending->source->size,
		&stored, err));
	TRY(data_fragment_make(change, stored, appending->rows, &fragment, err));
	return data_append_make(change, &fragment, 1, err);
}

static int
build(struct appending *appending, int fd, struct lancet_error *err)
{
	TRY(open_descriptor(appending, fd, err));
	TRY(inspect(appending, err));
	if (appending->rows == 0)
		return LANCET_OK;
	TRY(copy_file(appending, err));
	if (appending->rows == 0)
		return lancet_fail(err, LANCET_INVALID, "data file: emptied while it was copied");
	return set_append(appending, err);
}

int
lancet_change_append_file(lancet_version *read, int fd, lancet_change **ret_change,
	uint64_t *ret_rows, struct lancet_error *err)
{
	struct appending appending = { 0 };
	uint64_t rows;
	int rc;

	TRY(change_new(read, &appending.change, err));
	rc = build(&appending, fd, err);
	rows = appending.rows;
	forget(&appending);
	TRY(change_built_rows(appending.change, rc, rows, ret_change));
	*ret_rows = rows;
	return LANCET_OK;
}

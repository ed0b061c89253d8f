/* Data files of new fragments; see fragment_write.h.
 *
 * Each writer has a publish of its own, so that threads don't meet before their files are complete
 * and synced; then the change takes the file over, under its lock.
 */
#include "fragment_write.h"

#include <inttypes.h>

#include "change_build.h"
#include "fieldnames.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "version.h"

#define LINEAGE      3u
#define READ_AT_ONCE 8192u
#define PAGES_MEMORY ((size_t)256 << 20)
#define PAGE_MAX     ((size_t)8 << 20)
#define PAGE_MIN     ((size_t)64 << 10)

struct fragment_writer {
	lancet_change *change;
	const struct lineage_out *lineage;
	enum file_version version;
	size_t user_roots;
	struct file_writer *file;
	struct publish files; /* just this one */
	struct store_writer *store_writer;
	uint64_t bytes;
	char key[DATA_KEY_SIZE + 1];
};

int
fragment_write_version(
	lancet_version *read, enum file_version *ret_version, struct lancet_error *err)
{
	struct lancet_bytes stored = read->info.storage_version;

	for (enum file_version version = FILE_2_0; version <= FILE_2_2; version++) {
		if (slice_equal(slice_of(stored.data, stored.size),
			    slice_text(file_version_name(version)))) {
			*ret_version = version;
			return LANCET_OK;
		}
	}
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"data files of version %.*s, as this dataset has, are not written by this build",
		stored.size < 20 ? (int)stored.size : 20, (const char *)stored.data);
}

static void
lineage_field(unsigned which, Lance__File__Field *field)
{
	static const char *const names[LINEAGE] = { "_rowid", "_row_created_at_version",
		"_row_last_updated_at_version" };

	lance__file__field__init(field);
	field->name = (ProtobufCBinaryData){ strlen(names[which]), (uint8_t *)names[which] };
	field->logical_type = (ProtobufCBinaryData){ 6, (uint8_t *)"uint64" };
	field->id = FIELD_ROW_ID - (int32_t)which;
	field->parent_id = -1;
}

/* The file comes with its first bytes. */
static int
put_parts(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	struct fragment_writer *writer = context;

	if (writer->store_writer == NULL)
		TRY(publish_open(
			&writer->files, writer->key, PUBLISH_NEW, &writer->store_writer, err));
	TRY(store_writer_put_parts(writer->store_writer, parts, count, err));
	for (size_t i = 0; i < count; i++)
		writer->bytes += parts[i].size;
	return LANCET_OK;
}

static bool
is_spilled(const struct fragment_writer *writer, unsigned which)
{
	return writer->lineage != NULL && writer->lineage->sequences[which].present &&
	       writer->lineage->sequences[which].spilled;
}

static int
open_file(struct fragment_writer *writer, size_t page_bytes, struct lancet_error *err)
{
	const Lance__Table__Manifest *manifest = writer->change->read->message;
	lancet_autofree Lance__File__Field **fields =
		calloc(manifest->n_fields + LINEAGE, sizeof(Lance__File__Field *));
	struct file_writer_options options = {
		.version = writer->version,
		.fields = fields,
		.field_count = manifest->n_fields,
		.page_bytes = page_bytes,
	};
	Lance__File__Field hidden[LINEAGE];
	size_t roots;

	if (fields == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < manifest->n_fields; i++)
		fields[i] = manifest->fields[i];
	for (unsigned i = 0; i < LINEAGE; i++) {
		if (!is_spilled(writer, i))
			continue;
		lineage_field(i, &hidden[i]);
		fields[options.field_count++] = &hidden[i];
	}
	TRY(file_writer_open(
		&options, (struct file_sink){ put_parts, writer }, &writer->file, err));
	roots = file_writer_tree(writer->file)->root_count;
	writer->user_roots = roots - (options.field_count - manifest->n_fields);
	return LANCET_OK;
}

int
fragment_writer_open(lancet_change *change, const struct lineage_out *lineage, size_t page_bytes,
	struct fragment_writer **ret_writer, struct lancet_error *err)
{
	struct fragment_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	if (writer == NULL)
		return change_no_memory(err);
	writer->change = change;
	writer->lineage = lineage;
	publish_init(&writer->files, change->files.store, change->files.durable);
	data_key_make(writer->key);
	rc = fragment_write_version(change->read, &writer->version, err);
	if (rc == LANCET_OK)
		rc = open_file(writer, page_bytes, err);
	if (rc != LANCET_OK) {
		fragment_writer_free(writer);
		return rc;
	}
	*ret_writer = writer;
	return LANCET_OK;
}

size_t
fragment_page_bytes(const struct field_tree *tree)
{
	size_t bytes = PAGES_MEMORY / (tree->count + (size_t)1);

	bytes = bytes < PAGE_MIN ? PAGE_MIN : bytes;
	return bytes > PAGE_MAX ? PAGE_MAX : bytes;
}

void
fragment_writer_free(struct fragment_writer *writer)
{
	if (writer == NULL)
		return;
	file_writer_free(writer->file);
	publish_release(&writer->files);
	free(writer);
}

struct file_writer *
fragment_writer_file(struct fragment_writer *writer)
{
	return writer->file;
}

uint64_t
fragment_writer_bytes(const struct fragment_writer *writer)
{
	return writer->bytes;
}

int
fragment_writer_put(struct fragment_writer *writer, const struct array *roots, uint64_t first,
	uint64_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < writer->user_roots; i++)
		TRY(file_writer_put(writer->file, i, &roots[i], first, count, err));
	return LANCET_OK;
}

static int
put_sequence(struct fragment_writer *writer, unsigned which, size_t root, struct array *values,
	struct lancet_error *err)
{
	for (uint64_t at = 0; at < writer->lineage->rows; at += READ_AT_ONCE) {
		uint64_t left = writer->lineage->rows - at;
		size_t count = left < READ_AT_ONCE ? (size_t)left : READ_AT_ONCE;
		uint64_t numbers[READ_AT_ONCE];

		TRY(lineage_out_read(
			writer->lineage, (enum lancet_lineage)which, at, count, numbers, err));
		array_reset(values);
		TRY(array_append_fixed(values, 64, (const uint8_t *)numbers, count, err));
		TRY(file_writer_put(writer->file, root, values, 0, count, err));
	}
	return LANCET_OK;
}

static int
put_lineage(struct fragment_writer *writer, struct lancet_error *err)
{
	size_t root = writer->user_roots;

	for (unsigned i = 0; i < LINEAGE; i++) {
		struct array_budget budget = { .limit = SIZE_MAX };
		struct array values;
		int rc;

		if (!is_spilled(writer, i))
			continue;
		TRY(array_init(
			&values, &file_writer_tree(writer->file)->roots[root], &budget, err));
		rc = put_sequence(writer, i, root++, &values, err);
		array_release(&values);
		if (rc != LANCET_OK)
			return rc;
	}
	return LANCET_OK;
}

static void
list_ids(const struct field *field, int32_t *ids)
{
	ids[field->ordinal] = field->id;
	for (size_t i = 0; i < field->child_count; i++)
		list_ids(&field->children[i], ids);
}

static int
describe_file(struct fragment_writer *writer, uint64_t size, Lance__Table__DataFile **ret_file,
	struct lancet_error *err)
{
	const struct field_tree *tree = file_writer_tree(writer->file);
	lancet_autofree int32_t *numbers = calloc(2 * (size_t)tree->count + 1, sizeof(int32_t));
	int32_t *columns = numbers + tree->count;

	if (numbers == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < tree->root_count; i++)
		list_ids(&tree->roots[i], numbers);
	datafile_number_columns(writer->version, tree, columns);
	return data_file_make(writer->change, writer->key, writer->version, numbers, columns,
		tree->count, size, ret_file, err);
}

/* What touches the change; under its lock. */
static int
join(struct fragment_writer *writer, const struct file_written *written,
	Lance__Table__DataFragment **ret_fragment, struct lancet_error *err)
{
	lancet_change *change = writer->change;
	Lance__Table__DataFile *file;

	TRY(describe_file(writer, written->size, &file, err));
	TRY(data_fragment_make(change, file, written->rows, ret_fragment, err));
	if (writer->lineage != NULL)
		TRY(lineage_out_store(writer->lineage, change, *ret_fragment, err));
	return publish_take(&change->files, &writer->files, err);
}

static int
finish(struct fragment_writer *writer, Lance__Table__DataFragment **ret_fragment,
	uint64_t *ret_bytes, struct lancet_error *err)
{
	struct file_written written;
	int rc;

	TRY(put_lineage(writer, err));
	TRY(file_writer_finish(writer->file, &written, err));
	if (written.rows == 0 || written.rows > FRAGMENT_ROWS_MAX)
		return lancet_fail(
			err, LANCET_INVALID, "a fragment of %" PRIu64 " rows", written.rows);
	if (writer->lineage != NULL && writer->lineage->rows != written.rows)
		return lancet_fail(err, LANCET_INVALID,
			"a fragment of %" PRIu64 " rows, with row ids and versions of %" PRIu64,
			written.rows, writer->lineage->rows);
	TRY(publish_sync_all(&writer->files, err));
	(void)pthread_mutex_lock(&writer->change->lock);
	rc = join(writer, &written, ret_fragment, err);
	(void)pthread_mutex_unlock(&writer->change->lock);
	*ret_bytes = written.size;
	return rc;
}

int
fragment_writer_finish(struct fragment_writer *writer, Lance__Table__DataFragment **ret_fragment,
	uint64_t *ret_bytes, struct lancet_error *err)
{
	int rc = finish(writer, ret_fragment, ret_bytes, err);

	fragment_writer_free(writer);
	return rc;
}

int
fragment_writers_name(lancet_change *change, struct lancet_error *err)
{
	return publish_name_all(&change->files, err);
}

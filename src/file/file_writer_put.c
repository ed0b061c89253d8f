/* Columns of a data file being written; see file_writer.h.
 *
 * Of each top-level field values are gathered in an array of its own, which is encoded when it has
 * grown to the size of a page. Encoders hand over page by page; its buffers go to the sink under
 * the lock, and what the metadata says of it is kept until the end.
 */
#include "file_writer_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "encode_message.h"
#include "lance/file.pb-c.h"
#include "util/macros.h"
#include "v20_write.h"

#define PAGE_BYTES ((size_t)8 << 20)

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "writer of a data file");
}

static int
put_field(struct buf *into, const struct Lance__File__Field *field, struct lancet_error *err)
{
	lancet_autofree uint8_t *packed = NULL;
	size_t size = lance__file__field__get_packed_size(field);

	packed = malloc(size + 1);
	if (packed == NULL)
		return no_memory(err);
	lance__file__field__pack(field, packed);
	message_put_bytes(into, 1, slice_of(packed, size));
	return buf_check(into, "schema", err);
}

/* What the version can't hold is refused before there is a byte. */
static int
check_fields(const struct file_writer *writer, struct lancet_error *err)
{
	if (writer->version < FILE_2_0 || writer->version > FILE_2_2)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"data files of version %s are not written by this build",
			file_version_name(writer->version));
	for (size_t i = 0; i < writer->tree.root_count; i++) {
		const struct field *root = &writer->tree.roots[i];

		TRY(file_blob_check(writer->version, root, err));
		if (writer->version == FILE_2_0)
			TRY(v20_write_check(root, err));
		else
			TRY(page_write_check(writer->version, root, err));
	}
	return LANCET_OK;
}

static void
place_columns(struct file_writer *writer, const struct field *field, const int32_t *numbers,
	struct root_out *root)
{
	int32_t number = numbers[field->ordinal];

	if (number >= 0) {
		writer->columns[number].field = field;
		if (root->column_count++ == 0)
			root->first_column = (uint32_t)number;
	}
	for (size_t i = 0; i < field->child_count; i++)
		place_columns(writer, &field->children[i], numbers, root);
}

static int
make_columns(struct file_writer *writer, struct lancet_error *err)
{
	const struct field_tree *stored = &writer->stored;
	lancet_autofree int32_t *numbers = calloc(stored->count + 1, sizeof(*numbers));

	writer->tree_columns = calloc(writer->tree.count + 1, sizeof(*writer->tree_columns));
	writer->roots = calloc(stored->root_count + 1, sizeof(*writer->roots));
	if (numbers == NULL || writer->tree_columns == NULL || writer->roots == NULL)
		return no_memory(err);
	datafile_number_columns(writer->version, &writer->tree, writer->tree_columns);
	datafile_number_columns(writer->version, stored, numbers);
	for (uint32_t i = 0; i < stored->count; i++)
		writer->column_count += numbers[i] >= 0;
	writer->columns = calloc((size_t)writer->column_count + 1, sizeof(*writer->columns));
	if (writer->columns == NULL)
		return no_memory(err);
	for (size_t i = 0; i < stored->root_count; i++) {
		struct root_out *root = &writer->roots[i];

		root->field = &stored->roots[i];
		root->budget.limit = SIZE_MAX;
		place_columns(writer, root->field, numbers, root);
		TRY(array_init(&root->gathered, root->field, &root->budget, err));
	}
	return LANCET_OK;
}

static int
writer_init(struct file_writer *writer, const struct file_writer_options *options,
	struct lancet_error *err)
{
	for (size_t i = 0; i < options->field_count; i++)
		TRY(put_field(&writer->fields, options->fields[i], err));
	TRY(field_tree_init(
		&writer->tree, options->fields, options->field_count, FIELD_BLOB_BYTES, err));
	TRY(field_tree_init(&writer->stored, options->fields, options->field_count,
		FIELD_BLOB_DESCRIPTIONS, err));
	TRY(check_fields(writer, err));
	return make_columns(writer, err);
}

int
file_writer_open(const struct file_writer_options *options, struct file_sink sink,
	struct file_writer **ret_writer, struct lancet_error *err)
{
	struct file_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	if (writer == NULL)
		return no_memory(err);
	writer->version = options->version;
	writer->page_bytes = options->page_bytes == 0 ? PAGE_BYTES : options->page_bytes;
	writer->sink = sink;
	pthread_mutex_init(&writer->lock, NULL);
	rc = writer_init(writer, options, err);
	if (rc != LANCET_OK) {
		file_writer_free(writer);
		return rc;
	}
	*ret_writer = writer;
	return LANCET_OK;
}

void
file_writer_free(struct file_writer *writer)
{
	if (writer == NULL)
		return;
	for (size_t i = 0; writer->roots != NULL && i < writer->stored.root_count; i++)
		array_release(&writer->roots[i].gathered);
	for (uint32_t i = 0; writer->columns != NULL && i < writer->column_count; i++)
		buf_release(&writer->columns[i].pages);
	free(writer->roots);
	free(writer->columns);
	free(writer->tree_columns);
	field_tree_release(&writer->tree);
	field_tree_release(&writer->stored);
	buf_release(&writer->fields);
	buf_release(&writer->metadata);
	buf_release(&writer->globals);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

const struct field_tree *
file_writer_tree(const struct file_writer *writer)
{
	return &writer->tree;
}

struct page_target {
	struct file_writer *writer;
	struct column_out *column;
};

static int
put_page(void *context, struct page_out *page, struct lancet_error *err)
{
	const struct page_target *to = context;
	struct page_buffer places[PAGE_BUFFERS_MAX];
	struct slice parts[PAGE_BUFFERS_MAX];

	TRY(page_out_check(page, err));
	for (size_t i = 0; i < page->buffer_count; i++)
		parts[i] = buf_slice(&page->buffers[i]);
	TRY(file_writer_put_parts(to->writer, parts, page->buffer_count, places, err));
	return file_writer_add_page(to->writer, to->column, page->length, places,
		page->buffer_count, buf_slice(&page->encoding), err);
}

static int
encode_column(struct file_writer *writer, const struct root_out *root, struct column_out *column,
	struct lancet_error *err)
{
	const struct array *values = &root->gathered;
	const struct field *field = column->field;
	struct page_target to = { writer, column };
	struct page_sink sink = { put_page, &to };

	if (field->blob != FIELD_NO_BLOB)
		return file_blob_write(writer->version, values, field, sink, err);
	if (writer->version != FILE_2_0)
		return page_write_leaf(
			writer->version, values, field, 0, values->length, sink, err);
	if (field->kind == FIELD_STRUCT && !field->packed) {
		/* The header's only page is made at the end. */
		column->length += v20_write_length(values, field, 0, values->length);
		return LANCET_OK;
	}
	return v20_write_field(values, field, 0, values->length, sink, err);
}

int
file_writer_flush(struct file_writer *writer, struct root_out *root, struct lancet_error *err)
{
	char name[PAGE_NAME_SIZE];

	if (root->gathered.length == 0)
		return LANCET_OK;
	for (uint32_t i = 0; i < root->column_count; i++) {
		struct column_out *column = &writer->columns[root->first_column + i];
		int rc = encode_column(writer, root, column, err);

		if (rc != LANCET_OK)
			return lancet_wrap(
				err, rc, "column %s", page_column_name(column->field, name));
	}
	array_reset(&root->gathered);
	if (root->budget.used / 4 <= writer->page_bytes)
		return LANCET_OK;
	array_release(&root->gathered);
	return array_init(&root->gathered, root->field, &root->budget, err);
}

static int
put_blob(void *context, struct slice bytes, uint64_t *ret_position, struct lancet_error *err)
{
	struct page_buffer place;

	TRY(file_writer_put_parts(context, &bytes, 1, &place, err));
	*ret_position = place.offset;
	return LANCET_OK;
}

/* Nulls where the field allows none, or the version; what is null has nothing below it. */
static int
check_nulls(enum file_version version, const struct array *array, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	const struct field *field = array->field;
	uint64_t each = field->kind == FIELD_FIXED_LIST ? field->dimension : 1;
	bool is_struct = field->kind == FIELD_STRUCT && field->blob == FIELD_NO_BLOB;
	char name[PAGE_NAME_SIZE];

	if (array_nulls(array, first, count) > 0) {
		if (!field->nullable)
			return lancet_fail(err, LANCET_INVALID,
				"column %s: a null where there may be none",
				page_column_name(field, name));
		if (version == FILE_2_0 && field->parent != NULL && field->parent->packed)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"column %s: files of version 2.0 can't hold nulls in packed "
				"structs",
				page_column_name(field, name));
		if (is_struct && version == FILE_2_0)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"column %s: files of version 2.0 can't hold null structs",
				page_column_name(field, name));
	}
	if (field->kind == FIELD_LIST || field->kind == FIELD_MAP) {
		uint64_t start = array_offset(array, first);

		return check_nulls(version, &array->children[0], start,
			array_offset(array, first + count) - start, err);
	}
	for (size_t i = 0; (is_struct || each > 1) && i < array->child_count; i++)
		TRY(check_nulls(version, &array->children[i], first * each, count * each, err));
	return LANCET_OK;
}

/* How many of the values make the page full; 0 when not even one fits behind what is there. */
static uint64_t
count_fitting(const struct file_writer *writer, const struct root_out *root,
	const struct array *values, uint64_t first, uint64_t count)
{
	const struct array *gathered = &root->gathered;
	uint64_t used = gather_size(root->field, gathered, 0, gathered->length);
	uint64_t room = used < writer->page_bytes ? writer->page_bytes - used : 0;
	uint64_t low = 0, high = count;

	if (gather_size(root->field, values, first, count) <= room)
		return count;
	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		if (gather_size(root->field, values, first, middle) <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low == 0 && gathered->length == 0 ? 1 : low;
}

int
file_writer_put(struct file_writer *writer, size_t root_index, const struct array *values,
	uint64_t first, uint64_t count, struct lancet_error *err)
{
	struct root_out *root = &writer->roots[root_index];
	struct blob_sink blobs = { put_blob, writer };

	assert(root_index < writer->stored.root_count && !root->is_ended);
	while (count > 0) {
		uint64_t before = root->gathered.length, some = 0;
		bool has_keys = true;

		if (before > 0)
			TRY(gather_has_keys(&root->gathered, values, &has_keys, err));
		if (has_keys)
			some = count_fitting(writer, root, values, first, count);
		if (some > 0) {
			TRY(gather_append(&root->gathered, values, first, some, &blobs, err));
			TRY(check_nulls(writer->version, &root->gathered, before, some, err));
			root->rows += some;
			first += some;
			count -= some;
		}
		if (count > 0)
			TRY(file_writer_flush(writer, root, err));
	}
	return LANCET_OK;
}

int
file_writer_end(struct file_writer *writer, size_t root_index, struct lancet_error *err)
{
	struct root_out *root = &writer->roots[root_index];

	if (root->is_ended)
		return LANCET_OK;
	TRY(file_writer_flush(writer, root, err));
	array_release(&root->gathered);
	root->is_ended = true;
	return LANCET_OK;
}

int
file_writer_finish(
	struct file_writer *writer, struct file_written *ret_written, struct lancet_error *err)
{
	size_t count = writer->stored.root_count;
	uint64_t rows = count == 0 ? 0 : writer->roots[0].rows;

	for (size_t i = 0; i < count; i++) {
		const struct root_out *root = &writer->roots[i];

		if (root->rows != rows)
			return lancet_fail(err, LANCET_INVALID,
				"column %.*s: %" PRIu64 " values, %" PRIu64 " in the first column",
				FIELD_TEXT(root->field->name), root->rows, rows);
	}
	for (size_t i = 0; i < count; i++)
		TRY(file_writer_end(writer, i, err));
	TRY(file_writer_put_tail(writer, rows, err));
	*ret_written = (struct file_written){
		.size = writer->position,
		.rows = rows,
		.columns = writer->column_count,
	};
	return LANCET_OK;
}

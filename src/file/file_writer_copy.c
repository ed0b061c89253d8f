/* Pages of other files taken over as they are. Format facts: page-level concatenation.
 *
 * Nothing in a page refers to other pages: only to its buffers, whose new places the metadata
 * tells. Exceptions are not copied: blobs, and 2.0 pages with buffers of the column or the file.
 * Headers of structs stay one page, made when the file ends.
 */
#include <assert.h>
#include <inttypes.h>

#include "file_writer_parts.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "v20_node.h"

#define BLOB_LAYOUT 4u /* arm of PageLayout */

/* The columns of a field of both trees, and those above and below it. */
struct column_copy {
	struct file_writer *writer;
	const struct column_place *places;
	const struct field *root; /* of writer->tree */
};

static bool
is_header(const struct file_writer *writer, const struct field *field)
{
	return writer->version == FILE_2_0 && field->kind == FIELD_STRUCT && !field->packed;
}

static bool
names_elsewhere(const struct v20_node *node)
{
	if (node->has_buffer && node->buffer_type != 0)
		return true;
	if ((node->inner != NULL && names_elsewhere(node->inner)) ||
		(node->second != NULL && names_elsewhere(node->second)))
		return true;
	for (size_t i = 0; i < node->part_count; i++) {
		if (names_elsewhere(&node->parts[i]))
			return true;
	}
	return false;
}

static bool
can_copy_v20(const struct page *page)
{
	struct arena arena = { 0 };
	struct v20_node node;
	bool can = v20_open(page->encoding, &arena, 0, &node, NULL) == LANCET_OK &&
		   !names_elsewhere(&node);

	arena_release(&arena);
	return can;
}

static bool
can_copy_layout(const struct page *page)
{
	struct pbmem scan = { .in = page->encoding };
	struct pb_field field;
	bool more;

	return pbmem_next(&scan, &field, &more, NULL) == LANCET_OK && more &&
	       field.number != BLOB_LAYOUT;
}

static bool
can_copy_column(const struct file_writer *writer, const struct column_place *place)
{
	const struct file_column *column;

	if (place->file == NULL || datafile_version(place->file) != writer->version ||
		datafile_column(place->file, place->column, &column, NULL) != LANCET_OK ||
		column->is_blob)
		return false;
	for (size_t i = 0; i < column->page_count; i++) {
		const struct page *page = &column->pages[i];

		if (page->buffer_count > PAGE_BUFFERS_MAX ||
			!(writer->version == FILE_2_0 ? can_copy_v20(page) : can_copy_layout(page)))
			return false;
	}
	return true;
}

static bool
has_list_below(const struct field *field)
{
	if (field_is_leaf(field))
		return false;
	if (field->kind == FIELD_LIST || field->kind == FIELD_MAP)
		return true;
	for (size_t i = 0; i < field->child_count; i++) {
		if (has_list_below(&field->children[i]))
			return true;
	}
	return false;
}

/* True for layers of 2.1 and later of which the reference can't read pages with and without nulls
 * in one column: structs above lists, and fixed-size lists of structs. */
static bool
must_be_alike(const struct field *field)
{
	if (field->kind == FIELD_FIXED_LIST && !field_is_leaf(field))
		return true;
	return field->kind == FIELD_STRUCT && field->nullable && has_list_below(field);
}

static bool
can_copy_field(const struct file_writer *writer, const struct field *field,
	const struct column_place *places)
{
	if (field->blob != FIELD_NO_BLOB || (writer->version != FILE_2_0 && must_be_alike(field)))
		return false;
	if (writer->tree_columns[field->ordinal] >= 0 &&
		!can_copy_column(writer, &places[field->ordinal]))
		return false;
	for (size_t i = 0; i < field->child_count; i++) {
		if (!can_copy_field(writer, &field->children[i], places))
			return false;
	}
	return true;
}

bool
file_writer_can_copy(
	const struct file_writer *writer, size_t root, const struct column_place *places)
{
	return can_copy_field(writer, &writer->tree.roots[root], places);
}

static int
copy_pages(struct file_writer *writer, const struct column_place *place,
	const struct file_column *from, struct column_out *column, struct lancet_error *err)
{
	struct page_buffer places[PAGE_BUFFERS_MAX];

	for (size_t i = 0; i < from->page_count; i++) {
		const struct page *page = &from->pages[i];

		for (size_t j = 0; j < page->buffer_count; j++)
			TRY(file_writer_put_range(writer, datafile_source(place->file),
				page->buffers[j].offset, page->buffers[j].size, &places[j], err));
		TRY(file_writer_add_page(writer, column, page->length, places, page->buffer_count,
			page->encoding, err));
	}
	return LANCET_OK;
}

/* Lengths must be those that the rows make: what follows would be misplaced. */
static int
check_length(const struct file_column *column, uint64_t length, struct lancet_error *err)
{
	if (column->length == length)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values, %" PRIu64 " expected",
		column->length, length);
}

static int
count_items(const struct file_column *column, uint64_t *ret_items, struct lancet_error *err)
{
	uint64_t items = 0, some;

	for (size_t i = 0; i < column->page_count; i++) {
		TRY(v20_list_items(&column->pages[i], &some, err));
		if (__builtin_add_overflow(items, some, &items))
			return lancet_fail(err, LANCET_CORRUPT, "lists of too many items");
	}
	*ret_items = items;
	return LANCET_OK;
}

/* The column of the field; *length becomes that of its children. */
static int
copy_column(struct column_copy *copy, const struct field *field, uint64_t *length,
	struct lancet_error *err)
{
	struct file_writer *writer = copy->writer;
	const struct column_place *place = &copy->places[field->ordinal];
	struct column_out *column = &writer->columns[writer->tree_columns[field->ordinal]];
	const struct file_column *from;

	TRY(datafile_column(place->file, place->column, &from, err));
	TRY(check_length(from, *length, err));
	if (is_header(writer, field)) {
		column->length += *length;
		return LANCET_OK;
	}
	TRY(copy_pages(writer, place, from, column, err));
	if (writer->version == FILE_2_0 && field->kind == FIELD_LIST)
		return count_items(from, length, err);
	return LANCET_OK;
}

static int
copy_field(struct column_copy *copy, const struct field *field, uint64_t length,
	struct lancet_error *err)
{
	char name[PAGE_NAME_SIZE];

	if (copy->writer->tree_columns[field->ordinal] >= 0) {
		int rc = copy_column(copy, field, &length, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "column %s", page_column_name(field, name));
	}
	/* Structural fixed-size lists: their columns count the structs of all rows. */
	if (field->kind == FIELD_FIXED_LIST && !field_is_leaf(field) &&
		__builtin_mul_overflow(length, field->dimension, &length))
		return lancet_fail(err, LANCET_CORRUPT, "too many values");
	for (size_t i = 0; i < field->child_count; i++)
		TRY(copy_field(copy, &field->children[i], length, err));
	return LANCET_OK;
}

int
file_writer_copy(struct file_writer *writer, size_t root, const struct column_place *places,
	uint64_t rows, struct lancet_error *err)
{
	struct root_out *out = &writer->roots[root];
	struct column_copy copy = { writer, places, &writer->tree.roots[root] };

	assert(!out->is_ended);
	TRY(file_writer_flush(writer, out, err));
	TRY(copy_field(&copy, copy.root, rows, err));
	out->rows += rows;
	return LANCET_OK;
}

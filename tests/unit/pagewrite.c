/* Fields written as pages and read back; see pagewrite.h. */
#include "pagewrite.h"

#include "columnmeta.h"
#include "file/reader.h"
#include "pagefile.h"

static void
put_numbers(struct buf *page, unsigned field, const uint64_t *numbers, size_t count)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < count; i++)
		put_varint(&list, numbers[i]);
	put_message(page, field, &list);
}

int
page_written_put(void *context, struct page_out *page, struct lancet_error *err)
{
	struct page_written *written = context;
	size_t column = written->columns - 1;
	uint64_t offsets[PAGE_BUFFERS_MAX], sizes[PAGE_BUFFERS_MAX];
	struct buf body = { 0 }, layout = { 0 };

	(void)err;
	for (size_t i = 0; i < page->buffer_count; i++) {
		struct page_buffer place = put_page_buffer(&written->file, &page->buffers[i]);

		offsets[i] = place.offset;
		sizes[i] = place.size;
	}
	put_numbers(&body, 1, offsets, page->buffer_count);
	put_numbers(&body, 2, sizes, page->buffer_count);
	put_number(&body, 3, page->length);
	buf_put_slice(&layout, buf_slice(&page->encoding));
	put_encoding(&body, 4, "lance.encodings21.PageLayout", &layout);
	put_number(&body, 5, written->lengths[column]);
	put_message(&written->pages[column], 2, &body);
	written->lengths[column] += page->length;
	written->page_counts[column]++;
	written->layouts |= 1u << (page->encoding.data[0] >> 3);
	return LANCET_OK;
}

int
page_written_add(struct page_written *written, enum file_version version, const struct array *root,
	const struct field *field, uint64_t first, uint64_t count, struct lancet_error *err)
{
	const struct page_sink sink = { page_written_put, written };

	if (field_is_leaf(field)) {
		ck_assert_uint_lt(written->columns, WRITE_COLUMNS_MAX);
		written->columns++;
		return page_write_leaf(version, root, field, first, count, sink, err);
	}
	for (size_t i = 0; i < field->child_count; i++)
		TRY(page_written_add(
			written, version, root, &field->children[i], first, count, err));
	return LANCET_OK;
}

void
page_written_release(struct page_written *written)
{
	buf_release(&written->file);
	for (size_t i = 0; i < written->columns; i++)
		buf_release(&written->pages[i]);
	*written = (struct page_written){ 0 };
}

static size_t
place_columns(const struct field *field, struct datafile *file, struct column_place *places,
	size_t column)
{
	if (field_is_leaf(field)) {
		places[field->ordinal] = (struct column_place){ file, (uint32_t)column };
		return column + 1;
	}
	for (size_t i = 0; i < field->child_count; i++)
		column = place_columns(&field->children[i], file, places, column);
	return column;
}

int
page_written_read(struct page_written *written, enum file_version version,
	const struct field *field, uint64_t rows, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err)
{
	struct column_place places[2 * WRITE_COLUMNS_MAX] = { { 0 } };
	struct field_reader *reader = NULL;
	struct datafile *file = NULL;
	struct source *source;
	struct buf bytes = { 0 };
	int rc;

	buf_put_slice(&bytes, buf_slice(&written->file));
	end_page_file(&bytes, version == FILE_2_1 ? 1 : 2, written->pages, written->columns);
	source = source_memory_new(buf_slice(&bytes), NULL);
	ck_assert_ptr_nonnull(source);
	rc = datafile_open(source, &file, err);
	if (rc == LANCET_OK) {
		place_columns(field, file, places, 0);
		rc = field_reader_open(field, places, rows, &reader, err);
	}
	if (rc == LANCET_OK)
		rc = field_reader_read(reader, ranges, count, out, err);
	field_reader_free(reader);
	datafile_unref(file);
	source_unref(source);
	buf_release(&bytes);
	return rc;
}

static bool
same_bytes(struct slice a, struct slice b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_null_value(const struct array *array, uint64_t index);

bool
same_value(const struct array *a, uint64_t i, const struct array *b, uint64_t j)
{
	const struct field *field = a->field;
	uint64_t first[2] = { i, j }, count = 1;

	if (is_null_value(a, i) || is_null_value(b, j))
		return is_null_value(a, i) == is_null_value(b, j);
	switch (field->kind) {
	case FIELD_NULL:
		return true;
	case FIELD_FIXED:
		if (field->bits == 1)
			return array_bit(a, i) == array_bit(b, j);
		return memcmp(a->data.data + i * (field->bits / 8),
			       b->data.data + j * (field->bits / 8), field->bits / 8) == 0;
	case FIELD_VARIABLE:
		return same_bytes(array_bytes(a, i), array_bytes(b, j));
	case FIELD_DICTIONARY:
		return same_value(&a->children[0], array_unsigned(a, i), &b->children[0],
			array_unsigned(b, j));
	case FIELD_LIST:
	case FIELD_MAP:
		first[0] = array_offset(a, i);
		first[1] = array_offset(b, j);
		count = array_offset(a, i + 1) - first[0];
		if (count != array_offset(b, j + 1) - first[1])
			return false;
		break;
	case FIELD_FIXED_LIST:
		count = field->dimension;
		first[0] *= count;
		first[1] *= count;
		break;
	case FIELD_STRUCT:
		break;
	}
	for (size_t child = 0; child < a->child_count; child++)
		for (uint64_t k = 0; k < count; k++)
			if (!same_value(&a->children[child], first[0] + k, &b->children[child],
				    first[1] + k))
				return false;
	return true;
}

static bool
is_null_value(const struct array *array, uint64_t index)
{
	if (!array_is_valid(array, index))
		return true;
	return array->field->kind == FIELD_DICTIONARY &&
	       !array_is_valid(&array->children[0], array_unsigned(array, index));
}

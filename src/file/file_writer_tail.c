/* The bytes of a data file around its pages: places, metadata, descriptor, tables, footer. Format
 * facts: file layout.
 */
#include <assert.h>
#include <inttypes.h>

#include "encode_message.h"
#include "file_writer_parts.h"
#include "util/macros.h"

#define PADDING     0x48 /* as the reference has it */
#define RANGE_BYTES ((size_t)256 << 10)
#define COLUMN_TYPE "/lance.encodings.ColumnEncoding"

static const uint8_t padding[FILE_ALIGNMENT] = {
	[0 ... FILE_ALIGNMENT - 1] = PADDING,
};

static struct slice
padding_behind(uint64_t size)
{
	return slice_of(padding, (size_t)(-size % FILE_ALIGNMENT));
}

int
file_writer_put_parts(struct file_writer *writer, const struct slice *parts, size_t count,
	struct page_buffer *ret_places, struct lancet_error *err)
{
	struct slice padded[2 * PAGE_BUFFERS_MAX];
	size_t padded_count = 0;
	uint64_t position;
	int rc = LANCET_OK;

	assert(count <= PAGE_BUFFERS_MAX);
	pthread_mutex_lock(&writer->lock);
	position = writer->position;
	for (size_t i = 0; i < count; i++) {
		struct slice rest = padding_behind(parts[i].size);

		ret_places[i] = (struct page_buffer){ position, parts[i].size };
		if (parts[i].size > 0)
			padded[padded_count++] = parts[i];
		if (rest.size > 0)
			padded[padded_count++] = rest;
		position += parts[i].size + rest.size;
	}
	if (padded_count > 0)
		rc = writer->sink.put(writer->sink.context, padded, padded_count, err);
	if (rc == LANCET_OK)
		writer->position = position;
	pthread_mutex_unlock(&writer->lock);
	return rc;
}

static int
copy_range(struct file_writer *writer, struct source *src, uint64_t offset, uint64_t size,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = malloc(RANGE_BYTES);
	struct slice part = { .data = bytes };

	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "copy of a page");
	for (; size > 0; size -= part.size) {
		part.size = size < RANGE_BYTES ? (size_t)size : RANGE_BYTES;
		TRY(source_read_at(src, offset, part.size, bytes, err));
		TRY(writer->sink.put(writer->sink.context, &part, 1, err));
		writer->position += part.size;
		offset += part.size;
	}
	part = padding_behind(writer->position);
	if (part.size > 0)
		TRY(writer->sink.put(writer->sink.context, &part, 1, err));
	writer->position += part.size;
	return LANCET_OK;
}

int
file_writer_put_range(struct file_writer *writer, struct source *src, uint64_t offset,
	uint64_t size, struct page_buffer *ret_place, struct lancet_error *err)
{
	int rc;

	pthread_mutex_lock(&writer->lock);
	*ret_place = (struct page_buffer){ writer->position, size };
	rc = copy_range(writer, src, offset, size, err);
	pthread_mutex_unlock(&writer->lock);
	return rc;
}

/* Encoding { direct { Any { type, value } } } as a field of `into`. */
static void
put_encoding(struct buf *into, unsigned field, const char *type, struct slice value)
{
	struct buf any = { 0 }, direct = { 0 }, encoding = { 0 };

	message_put_bytes(&any, 1, slice_text(type));
	message_put_bytes(&any, 2, value);
	message_put_bytes(&direct, 1, buf_slice(&any));
	message_put_bytes(&encoding, 2, buf_slice(&direct));
	message_put_bytes(into, field, buf_slice(&encoding));
	if (any.failed != LANCET_OK || direct.failed != LANCET_OK || encoding.failed != LANCET_OK)
		into->failed = LANCET_NO_MEMORY;
	buf_release(&any);
	buf_release(&direct);
	buf_release(&encoding);
}

int
file_writer_add_page(struct file_writer *writer, struct column_out *column, uint64_t length,
	const struct page_buffer *places, size_t count, struct slice encoding,
	struct lancet_error *err)
{
	bool is_v20 = writer->version == FILE_2_0;
	struct buf page = { 0 }, numbers = { 0 };

	for (size_t i = 0; i < count; i++)
		buf_put_varint(&numbers, places[i].offset);
	if (count > 0)
		message_put_bytes(&page, 1, buf_slice(&numbers));
	numbers.size = 0;
	for (size_t i = 0; i < count; i++)
		buf_put_varint(&numbers, places[i].size);
	if (count > 0)
		message_put_bytes(&page, 2, buf_slice(&numbers));
	message_put_number(&page, 3, length);
	put_encoding(&page, 4,
		is_v20 ? "/lance.encodings.ArrayEncoding" : "/lance.encodings21.PageLayout",
		encoding);
	message_put_number(&page, 5, is_v20 ? 0 : column->length);
	if (numbers.failed != LANCET_OK || page.failed != LANCET_OK)
		column->pages.failed = LANCET_NO_MEMORY;
	message_put_bytes(&column->pages, 2, buf_slice(&page));
	column->length += length;
	buf_release(&numbers);
	buf_release(&page);
	return buf_check(&column->pages, "metadata of a column", err);
}

int
file_writer_buffer(struct file_writer *writer, struct slice bytes, uint32_t *ret_index,
	struct lancet_error *err)
{
	struct page_buffer place;

	TRY(file_writer_put_parts(writer, &bytes, 1, &place, err));
	pthread_mutex_lock(&writer->lock);
	buf_put(&writer->globals, &place, sizeof(place));
	*ret_index = (uint32_t)(writer->globals.size / sizeof(place));
	pthread_mutex_unlock(&writer->lock);
	return buf_check(&writer->globals, "global buffers", err);
}

int
file_writer_metadata(
	struct file_writer *writer, const char *key, const char *value, struct lancet_error *err)
{
	struct buf entry = { 0 };

	message_put_bytes(&entry, 1, slice_text(key));
	message_put_bytes(&entry, 2, slice_text(value));
	if (entry.failed != LANCET_OK)
		writer->metadata.failed = LANCET_NO_MEMORY;
	message_put_bytes(&writer->metadata, 5, buf_slice(&entry));
	buf_release(&entry);
	return buf_check(&writer->metadata, "metadata of a schema", err);
}

static void
put_u32(struct buf *into, uint32_t value)
{
	for (unsigned i = 0; i < 32; i += 8)
		buf_put_byte(into, (uint8_t)(value >> i));
}

static void
put_u64(struct buf *into, uint64_t value)
{
	put_u32(into, (uint32_t)value);
	put_u32(into, (uint32_t)(value >> 32));
}

/* The header of a struct says how many there are, in one page. */
static int
end_column(struct file_writer *writer, struct column_out *column, struct lancet_error *err)
{
	static const uint8_t header[] = { 0x2a, 0 };
	const struct field *field = column->field;
	uint64_t length = column->length;

	if (writer->version != FILE_2_0 || field->kind != FIELD_STRUCT || field->packed ||
		field->blob != FIELD_NO_BLOB)
		return LANCET_OK;
	column->length = 0;
	return file_writer_add_page(
		writer, column, length, NULL, 0, slice_of(header, sizeof(header)), err);
}

/* Appends the metadata of the columns to `tail`, and where it is to `table`. */
static int
put_columns(struct file_writer *writer, uint64_t at, struct buf *tail, struct buf *table,
	struct lancet_error *err)
{
	static const uint8_t values[] = { 0x0a, 0 };
	static const uint8_t blobs[] = { 0x1a, 4, 0x0a, 2, 0x0a, 0 };
	bool is_v20 = writer->version == FILE_2_0;

	for (uint32_t i = 0; i < writer->column_count; i++) {
		struct column_out *column = &writer->columns[i];
		bool is_blob = is_v20 && column->field->blob != FIELD_NO_BLOB;
		uint64_t first = at + tail->size;

		TRY(end_column(writer, column, err));
		put_encoding(tail, 1, COLUMN_TYPE,
			is_blob ? slice_of(blobs, sizeof(blobs))
				: slice_of(values, sizeof(values)));
		buf_put_slice(tail, buf_slice(&column->pages));
		buf_release(&column->pages);
		put_u64(table, first);
		put_u64(table, at + tail->size - first);
	}
	return LANCET_OK;
}

static void
put_footer(struct file_writer *writer, uint64_t metadata, uint64_t columns, uint64_t globals,
	struct buf *tail)
{
	static const uint16_t numbers[][2] = {
		[FILE_2_0] = { 0, 3 },
		[FILE_2_1] = { 2, 1 },
		[FILE_2_2] = { 2, 2 },
	};
	const uint16_t *number = numbers[writer->version];

	put_u64(tail, metadata);
	put_u64(tail, columns);
	put_u64(tail, globals);
	put_u32(tail, 1 + (uint32_t)(writer->globals.size / sizeof(struct page_buffer)));
	put_u32(tail, writer->column_count);
	put_u32(tail, (uint32_t)number[0] | (uint32_t)number[1] << 16);
	buf_put_text(tail, "LANC");
}

static void
put_tables(struct file_writer *writer, uint64_t at, uint64_t metadata, const struct buf *table,
	struct buf *tail)
{
	const struct page_buffer *places =
		(const struct page_buffer *)(const void *)writer->globals.data;
	uint64_t columns = at + tail->size;
	uint64_t globals = columns + table->size;

	buf_put_slice(tail, buf_slice(table));
	put_u64(tail, at);
	put_u64(tail, metadata - at);
	for (size_t i = 0; i < writer->globals.size / sizeof(*places); i++) {
		put_u64(tail, places[i].offset);
		put_u64(tail, places[i].size);
	}
	put_footer(writer, metadata, columns, globals, tail);
}

int
file_writer_put_tail(struct file_writer *writer, uint64_t rows, struct lancet_error *err)
{
	struct buf tail = { 0 }, table = { 0 };
	uint64_t at = writer->position;
	struct slice bytes;
	int rc;

	/* FileDescriptor { schema { fields, metadata }, length } */
	buf_put_slice(&writer->fields, buf_slice(&writer->metadata));
	message_put_bytes(&tail, 1, buf_slice(&writer->fields));
	message_put_number(&tail, 2, rows);
	uint64_t metadata = at + tail.size;

	rc = put_columns(writer, at, &tail, &table, err);
	put_tables(writer, at, metadata, &table, &tail);
	if (rc == LANCET_OK)
		rc = buf_check(&writer->fields, "schema", err);
	if (rc == LANCET_OK)
		rc = buf_check(&table, "table of columns", err);
	if (rc == LANCET_OK)
		rc = buf_check(&tail, "metadata of a data file", err);
	bytes = buf_slice(&tail);
	if (rc == LANCET_OK)
		rc = writer->sink.put(writer->sink.context, &bytes, 1, err);
	if (rc == LANCET_OK)
		writer->position += tail.size;
	buf_release(&tail);
	buf_release(&table);
	return rc;
}

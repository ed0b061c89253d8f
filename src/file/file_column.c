/* ColumnMetadata messages; see file_column.h. */
#include "file_column.h"

#include <inttypes.h>

#include "lance/datafile.pb-c.h"
#include "lance/encodings.pb-c.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "util/pbunpack.h"

#define ALIGNMENT   64u /* of page buffers since 2.1 */
#define COLUMN_TYPE "lance.encodings.ColumnEncoding"

static const char *
page_type(enum file_version version)
{
	switch (version) {
	case FILE_2_0:
		return "lance.encodings.ArrayEncoding";
	case FILE_2_1:
	case FILE_2_2:
		return "lance.encodings21.PageLayout";
	default:
		return "lance.encodings23.PlanarLayout";
	}
}

/* google.protobuf.Any, its parts borrowed; the type loses its leading slash. */
static int
split_any(
	struct slice any, struct slice *ret_type, struct slice *ret_value, struct lancet_error *err)
{
	struct pbmem scan = { .in = any };
	struct slice type = { 0 }, value = { 0 };
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			break;
		if (field.wire != PB_BYTES)
			continue;
		if (field.number == 1)
			type = slice_of(any.data + field.offset, (size_t)field.value);
		else if (field.number == 2)
			value = slice_of(any.data + field.offset, (size_t)field.value);
	}
	if (type.size > 0 && type.data[0] == '/')
		type = slice_of(type.data + 1, type.size - 1);
	*ret_type = type;
	*ret_value = value;
	return LANCET_OK;
}

/* The encoding of a column or a page, which has to be there and of the type. */
static int
open_encoding(const Lance__File__V2__Encoding *encoding, const char *wanted, struct slice *ret_type,
	struct slice *ret_value, struct lancet_error *err)
{
	struct slice type, value;
	int rc;

	if (encoding == NULL ||
		encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION__NOT_SET ||
		encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_NONE)
		return lancet_fail(err, LANCET_CORRUPT, "no encoding");
	if (encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_INDIRECT)
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "encodings stored elsewhere are not supported");
	rc = split_any(slice_of(encoding->direct->encoding.data, encoding->direct->encoding.len),
		&type, &value, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "encoding");
	if (!slice_equal(type, slice_text(wanted)))
		return lancet_fail(err, LANCET_CORRUPT, "encoding of type \"%.*s\", %s expected",
			(int)(type.size < 60 ? type.size : 60), (const char *)type.data, wanted);
	*ret_type = type;
	*ret_value = value;
	return LANCET_OK;
}

static int
open_column_encoding(const Lance__File__V2__Encoding *encoding, struct arena *arena,
	bool *ret_is_blob, struct lancet_error *err)
{
	Lance__Encodings__ColumnEncoding *message;
	struct slice type, value;

	TRY(open_encoding(encoding, COLUMN_TYPE, &type, &value, err));
	TRY(pb_unpack(&lance__encodings__column_encoding__descriptor, value, arena, &message, err));
	switch (message->column_encoding_case) {
	case LANCE__ENCODINGS__COLUMN_ENCODING__COLUMN_ENCODING_VALUES:
		*ret_is_blob = false;
		return LANCET_OK;
	case LANCE__ENCODINGS__COLUMN_ENCODING__COLUMN_ENCODING_BLOB:
		*ret_is_blob = true;
		return LANCET_OK;
	case LANCE__ENCODINGS__COLUMN_ENCODING__COLUMN_ENCODING_ZONE_INDEX:
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "columns with zone maps are not supported");
	default:
		return lancet_fail(err, LANCET_CORRUPT, "encoding of no known kind");
	}
}

static int
fill_buffers(const Lance__File__V2__ColumnMetadata__Page *stored, enum file_version version,
	uint64_t limit, struct arena *arena, struct page *page, struct lancet_error *err)
{
	size_t count = stored->n_buffer_offsets;
	struct page_buffer *buffers;

	if (count != stored->n_buffer_sizes)
		return lancet_fail(err, LANCET_CORRUPT, "%zu places of buffers, %zu sizes", count,
			stored->n_buffer_sizes);
	buffers = arena_zalloc(arena, count, sizeof(*buffers));
	if (buffers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu buffers", count);
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = stored->buffer_offsets[i];
		uint64_t size = stored->buffer_sizes[i];

		if (offset > limit || size > limit - offset)
			return lancet_fail(err, LANCET_CORRUPT,
				"buffer %zu: %" PRIu64 " bytes at %" PRIu64
				" pass the end of the pages at %" PRIu64,
				i, size, offset, limit);
		if (version >= FILE_2_1 && offset % ALIGNMENT != 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"buffer %zu at %" PRIu64 " is not aligned to %u bytes", i, offset,
				ALIGNMENT);
		buffers[i] = (struct page_buffer){ offset, size };
	}
	page->buffers = buffers;
	page->buffer_count = count;
	return LANCET_OK;
}

static int
fill_page(const Lance__File__V2__ColumnMetadata__Page *stored, enum file_version version,
	uint64_t limit, struct arena *arena, struct page *page, struct lancet_error *err)
{
	page->length = stored->length;
	page->priority = stored->priority;
	if (page->length > (uint64_t)INT64_MAX - page->first)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " rows behind %" PRIu64,
			page->length, page->first);
	TRY(open_encoding(stored->encoding, page_type(version), &page->type, &page->encoding, err));
	return fill_buffers(stored, version, limit, arena, page, err);
}

int
file_column_parse(struct slice metadata, enum file_version version, uint64_t limit,
	struct arena *arena, struct file_column *column, struct lancet_error *err)
{
	Lance__File__V2__ColumnMetadata *message;
	struct page *pages;
	uint64_t length = 0;

	TRY(pb_unpack(
		&lance__file__v2__column_metadata__descriptor, metadata, arena, &message, err));
	TRY(open_column_encoding(message->encoding, arena, &column->is_blob, err));
	pages = arena_zalloc(arena, message->n_pages, sizeof(*pages));
	if (pages == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu pages", message->n_pages);
	for (size_t i = 0; i < message->n_pages; i++) {
		int rc;

		pages[i].first = length;
		rc = fill_page(message->pages[i], version, limit, arena, &pages[i], err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "page %zu", i);
		length += pages[i].length;
	}
	column->pages = pages;
	column->page_count = message->n_pages;
	column->length = length;
	return LANCET_OK;
}

size_t
file_column_find_page(const struct file_column *column, uint64_t row)
{
	size_t low = 0, high = column->page_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (column->pages[middle].first <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

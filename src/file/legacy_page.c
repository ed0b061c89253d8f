/* Values of legacy pages; see legacy_page.h. Every place and every offset is compared with the size
 * of the file before anything is taken for it. Format facts: legacy data files.
 */
#include "legacy_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "encodings.h"
#include "lance/file.pb-c.h"
#include "legacy_meta.h"
#include "util/bits.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/source.h"

#define ENTRY_SIZE 16u /* i64 position, i64 length */

/* The lowest and the highest id of the file's own schema. */
static int
id_range(struct datafile *file, int32_t *ret_lowest, int32_t *ret_highest, struct lancet_error *err)
{
	struct Lance__File__Field *const *fields;
	size_t count;

	TRY(datafile_fields(file, &fields, &count, err));
	*ret_lowest = INT32_MAX;
	*ret_highest = INT32_MIN;
	for (size_t i = 0; i < count; i++) {
		int32_t id = fields[i]->id;

		*ret_lowest = id < *ret_lowest ? id : *ret_lowest;
		*ret_highest = id > *ret_highest ? id : *ret_highest;
	}
	return LANCET_OK;
}

static void
decode_entries(const uint8_t *bytes, struct legacy_page *pages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pages[i].position = load_u64(bytes + i * ENTRY_SIZE);
		pages[i].length = load_u64(bytes + i * ENTRY_SIZE + 8);
	}
}

int
legacy_pages_load(
	struct datafile *file, int32_t id, struct legacy_page **ret_pages, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct source *src = datafile_source(file);
	const struct legacy_meta *meta;
	struct legacy_page *pages;
	int32_t lowest, highest;
	uint64_t at;
	int rc;

	TRY(datafile_legacy(file, &meta, err));
	TRY(id_range(file, &lowest, &highest, err));
	if (id < lowest || id > highest)
		return lancet_fail(err, LANCET_CORRUPT, "page table: no field %" PRId32, id);
	at = (uint64_t)((int64_t)id - lowest) * meta->batch_count * ENTRY_SIZE;
	if (meta->page_table > src->size || at > src->size - meta->page_table)
		return lancet_fail(err, LANCET_CORRUPT,
			"page table: at %" PRIu64 ", passes the end of the file", meta->page_table);
	rc = source_load(src, meta->page_table + at, meta->batch_count * ENTRY_SIZE, &bytes, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "page table");
	pages = calloc(meta->batch_count + 1, sizeof(*pages));
	if (pages == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page table");
	decode_entries(bytes, pages, meta->batch_count);
	*ret_pages = pages;
	return LANCET_OK;
}

/* `size` bytes from unit `first` on, units of `width` bytes, at the page's place. */
static int
locate(const struct source *src, const struct legacy_page *page, uint64_t first, uint64_t width,
	uint64_t size, uint64_t *ret_offset, struct lancet_error *err)
{
	uint64_t offset = 0;

	if (__builtin_mul_overflow(first, width, &offset) ||
		__builtin_add_overflow(offset, page->position, &offset) || offset > src->size ||
		size > src->size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"page at %" PRIu64 ": %" PRIu64 " bytes pass the end of the file",
			page->position, size);
	*ret_offset = offset;
	return LANCET_OK;
}

static int
check_length(
	const struct legacy_page *page, uint64_t first, uint64_t count, struct lancet_error *err)
{
	if (first > page->length || count > page->length - first)
		return lancet_fail(err, LANCET_CORRUPT,
			"page at %" PRIu64 ": %" PRIu64 " values, %" PRIu64 " expected",
			page->position, page->length, first + count);
	return LANCET_OK;
}

static int
read_bits(struct source *src, const struct legacy_page *page, uint64_t first, uint64_t count,
	struct array *out, struct lancet_error *err)
{
	uint64_t skip = first % 8;
	uint64_t size = bits_size(skip + count);
	uint64_t offset = 0;
	uint8_t *bytes;
	int rc;

	TRY(locate(src, page, first / 8, 1, size, &offset, err));
	TRY(source_load(src, offset, (size_t)size, &bytes, err));
	rc = array_append_bits(out, bytes, skip, count, err);
	free(bytes);
	return rc;
}

static int
read_fixed(struct source *src, const struct legacy_page *page, uint64_t first, uint64_t count,
	struct array *out, struct lancet_error *err)
{
	uint64_t width = out->field->bits / 8;
	uint64_t size, offset = 0;
	uint8_t *place;

	if (out->field->bits == 1)
		return read_bits(src, page, first, count, out, err);
	if (__builtin_mul_overflow(count, width, &size))
		size = UINT64_MAX;
	TRY(locate(src, page, first, width, size, &offset, err));
	TRY(array_extend_fixed(out, out->field->bits, count, &place, err));
	return source_read_at(src, offset, (size_t)size, place, err);
}

/* Items of fixed-size lists, of which lists may be nested, count on. */
static int
read_items(struct source *src, const struct legacy_page *page, uint64_t first, uint64_t count,
	struct array *out, struct lancet_error *err)
{
	uint64_t dimension = out->field->dimension;
	uint64_t first_item, items;

	if (out->field->kind == FIELD_FIXED)
		return read_fixed(src, page, first, count, out, err);
	if (out->field->kind != FIELD_FIXED_LIST)
		return lancet_fail(err, LANCET_CORRUPT, "fixed-size lists of values of any size");
	if (__builtin_mul_overflow(first, dimension, &first_item) ||
		__builtin_mul_overflow(count, dimension, &items))
		return lancet_fail(err, LANCET_CORRUPT,
			"page at %" PRIu64 ": more items than a file has", page->position);
	TRY(read_items(src, page, first_item, items, &out->children[0], err));
	return array_extend(out, count, err);
}

int
legacy_read_plain(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct array *out, struct lancet_error *err)
{
	TRY(check_length(page, first, count, err));
	return read_items(src, page, first, count, out, err);
}

/* Offsets into the file become offsets from the first one; false when they descend. */
lancet_hot static bool
rebase(const uint64_t *offsets, uint64_t count, uint32_t *ends)
{
	unsigned bad = 0;

	ends[0] = 0;
	for (uint64_t i = 0; i < count; i++) {
		bad |= offsets[i + 1] < offsets[i];
		ends[i + 1] = (uint32_t)(offsets[i + 1] - offsets[0]);
	}
	return bad == 0;
}

static int
null_if_empty(const uint32_t *ends, uint64_t count, struct array *out, struct lancet_error *err)
{
	for (uint64_t i = 0; i < count; i++) {
		if (ends[i + 1] == ends[i])
			TRY(array_set_null(out, out->length - count + i, err));
	}
	return LANCET_OK;
}

static int
append_binary(struct source *src, const uint64_t *offsets, uint64_t count, uint32_t *ends,
	struct array *out, struct lancet_error *err)
{
	uint64_t start = offsets[0], end = offsets[count];
	uint8_t *place;

	if (end < start || end > src->size)
		return lancet_fail(err, LANCET_CORRUPT,
			"values from %" PRIu64 " to %" PRIu64 " of %" PRIu64 " bytes", start, end,
			src->size);
	if (end - start > UINT32_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "more than 4 GiB of values at once: ask for fewer rows");
	if (!rebase(offsets, count, ends))
		return lancet_fail(err, LANCET_CORRUPT, "offsets of values descend");
	TRY(array_extend_variable(out, ends, count, &place, err));
	TRY(source_read_at(src, start, (size_t)(end - start), place, err));
	return out->field->nullable ? null_if_empty(ends, count, out, err) : LANCET_OK;
}

int
legacy_read_binary(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct buf *memory;
	uint64_t offset = 0;
	size_t size;
	int rc;

	TRY(check_length(page, first, count, err));
	if (count >= src->size / 8)
		return lancet_fail(err, LANCET_CORRUPT,
			"page at %" PRIu64 ": %" PRIu64 " values in a file of %" PRIu64 " bytes",
			page->position, count, src->size);
	size = (size_t)(count + 1) * 8;
	TRY(locate(src, page, first, 8, size, &offset, err));
	TRY(codec_take_buffer(scratch, &memory, err));
	(void)buf_reserve(memory, size + size / 2);
	rc = buf_check(memory, "offsets", err);
	if (rc == LANCET_OK)
		rc = source_read_at(src, offset, size, memory->data, err);
	if (rc == LANCET_OK)
		rc = append_binary(src, (const uint64_t *)(const void *)memory->data, count,
			(uint32_t *)(void *)(memory->data + size), out, err);
	scratch_give(scratch);
	return rc;
}

/* Bounds of lists, as wide as those of the type, become 32-bit ones from the first; false when they
 * descend or are too large for that. */
static bool
rebase_lists(const uint8_t *stored, unsigned width, uint64_t count, uint32_t *bounds)
{
	uint64_t first = width == 8 ? load_u64(stored) : load_u32(stored);
	uint64_t before = first;
	unsigned bad = 0;

	for (uint64_t i = 0; i <= count; i++) {
		uint64_t bound = width == 8 ? load_u64(stored + i * 8) : load_u32(stored + i * 4);

		bad |= bound < before || bound - first > INT32_MAX;
		before = bound;
		bounds[i] = (uint32_t)(bound - first);
	}
	return bad == 0;
}

static int
append_lists(const uint8_t *stored, uint64_t count, uint32_t *bounds, struct array *out,
	uint64_t *ret_item, uint64_t *ret_items, struct lancet_error *err)
{
	unsigned width = out->field->large ? 8 : 4;

	if (!rebase_lists(stored, width, count, bounds))
		return lancet_fail(err, LANCET_CORRUPT, "bounds of lists descend");
	TRY(array_append_lists(out, bounds, count, err));
	*ret_item = width == 8 ? load_u64(stored) : load_u32(stored);
	*ret_items = bounds[count];
	return LANCET_OK;
}

int
legacy_read_lists(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct scratch *scratch, struct array *out, uint64_t *ret_item,
	uint64_t *ret_items, struct lancet_error *err)
{
	unsigned width = out->field->large ? 8 : 4;
	struct buf *memory;
	uint64_t offset = 0;
	size_t size;
	int rc;

	TRY(check_length(page, first, count + 1, err));
	if (count >= src->size / width)
		return lancet_fail(err, LANCET_CORRUPT,
			"page at %" PRIu64 ": %" PRIu64 " lists in a file of %" PRIu64 " bytes",
			page->position, count, src->size);
	size = (size_t)(count + 1) * width;
	TRY(locate(src, page, first, width, size, &offset, err));
	TRY(codec_take_buffer(scratch, &memory, err));
	(void)buf_reserve(memory, size + (size_t)(count + 1) * sizeof(uint32_t));
	rc = buf_check(memory, "bounds", err);
	if (rc == LANCET_OK)
		rc = source_read_at(src, offset, size, memory->data, err);
	if (rc == LANCET_OK)
		rc = append_lists(memory->data, count, (uint32_t *)(void *)(memory->data + size),
			out, ret_item, ret_items, err);
	scratch_give(scratch);
	return rc;
}

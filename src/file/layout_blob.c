/* Blob layout: the values of the page are where the bytes of a blob lie in the file.
 *
 *     size > 0: bytes [position, position + size); size 0: position keeps the levels of the entry
 *
 * The page inside has an entry for each one of ours. As entries of lists lose their repetition
 * level when they have bytes, blobs in lists can't be read by anybody. Format facts: blob layout.
 */
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "layout_cases.h"
#include "util/macros.h"

#define WINDOW_SIZE_MAX ((uint64_t)1 << 20) /* bytes of neighbouring blobs read at once */
#define GAP_MAX         64u                 /* each begins at a multiple of it */

/* What the page inside is read as. */
static struct field description_parts[] = {
	{ .kind = FIELD_FIXED, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
	{ .kind = FIELD_FIXED, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
};
static const struct field description_field = {
	.kind = FIELD_STRUCT,
	.id = FIELD_NO_ID,
	.format = "+s",
	.packed = true,
	.children = description_parts,
	.child_count = ARRAY_SIZE(description_parts),
};

struct blob_page {
	struct page_reader inner;
	struct page page;
};

static uint64_t *
part(const struct array *description, size_t index)
{
	return (uint64_t *)(void *)description->children[index].data.data;
}

/* Definition levels of the entries; positions that are none become 0. */
static int
take_levels(const struct array *description, uint64_t file_size, uint16_t *def,
	struct lancet_error *err)
{
	uint64_t *positions = part(description, 0);
	const uint64_t *sizes = part(description, 1);

	for (uint64_t i = 0; i < description->length; i++) {
		def[i] = 0;
		if (positions[i] < file_size && sizes[i] > 0 &&
			sizes[i] <= file_size - positions[i])
			continue;
		if (sizes[i] > 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"a blob of %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, sizes[i],
				positions[i], file_size);
		def[i] = (uint16_t)(positions[i] >> 16);
		if ((positions[i] & UINT16_MAX) != 0)
			return lancet_fail(
				err, LANCET_CORRUPT, "a repetition level where there are no lists");
		positions[i] = 0;
	}
	return LANCET_OK;
}

/* How many blobs from `first` on are read together: neighbours, and those without bytes. */
static uint64_t
count_together(const struct array *description, uint64_t first, uint64_t *ret_size)
{
	const uint64_t *positions = part(description, 0), *sizes = part(description, 1);
	uint64_t start = positions[first];
	uint64_t size = sizes[first];
	uint64_t at = first + 1;

	for (; at < description->length; at++) {
		if (sizes[at] == 0)
			continue;
		if (positions[at] < start || positions[at] - start < size ||
			positions[at] - start - size >= GAP_MAX ||
			positions[at] - start > WINDOW_SIZE_MAX ||
			sizes[at] > WINDOW_SIZE_MAX - (positions[at] - start))
			break;
		size = positions[at] - start + sizes[at];
	}
	*ret_size = size;
	return at - first;
}

static int
append_together(struct page_reader *reader, const struct array *description, uint64_t first,
	uint64_t *ret_count, struct buf *window, struct array *out, struct lancet_error *err)
{
	const uint64_t *positions = part(description, 0), *sizes = part(description, 1);
	uint64_t count, size;

	if (sizes[first] == 0) {
		*ret_count = 1;
		return array_append_bytes(out, (struct slice){ 0 }, err);
	}
	count = count_together(description, first, &size);
	if (size > out->budget->limit)
		return lancet_fail(err, LANCET_LIMIT,
			"a blob of %" PRIu64 " bytes is more than the %zu that may be taken", size,
			out->budget->limit);
	window->size = 0;
	if (!buf_reserve(window, (size_t)size))
		return buf_check(window, "blobs", err);
	TRY(source_read_at(
		datafile_source(reader->file), positions[first], (size_t)size, window->data, err));
	for (uint64_t i = first; i < first + count; i++) {
		struct slice bytes = { 0 };

		if (sizes[i] > 0)
			bytes = slice_of(
				window->data + (positions[i] - positions[first]), (size_t)sizes[i]);
		TRY(array_append_bytes(out, bytes, err));
	}
	*ret_count = count;
	return LANCET_OK;
}

static int
append_bytes(struct page_reader *reader, const struct array *description, struct array *out,
	struct lancet_error *err)
{
	struct buf *window = scratch_take(reader->scratch, 0);
	int rc = LANCET_OK;

	if (window == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	for (uint64_t at = 0, count = 0; rc == LANCET_OK && at < description->length; at += count)
		rc = append_together(reader, description, at, &count, window, out, err);
	scratch_give(reader->scratch);
	return rc;
}

static int
append_blobs(struct page_reader *reader, const struct array *description, struct leaf_out *out,
	struct lancet_error *err)
{
	struct level_run run = { .count = description->length };
	struct buf *levels = scratch_take(reader->scratch, 0);
	uint64_t visible;
	int rc;

	if (levels == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	if (buf_reserve(levels, (size_t)run.count * sizeof(*run.def) + 1)) {
		run.def = (const uint16_t *)(void *)levels->data;
		rc = take_levels(description, datafile_source(reader->file)->size,
			(uint16_t *)(void *)levels->data, err);
	} else {
		rc = buf_check(levels, "levels", err);
	}
	if (rc == LANCET_OK)
		rc = levels_count_visible(&reader->layers, &run, &visible, err);
	if (rc == LANCET_OK && reader->leaf->kind == FIELD_VARIABLE)
		rc = append_bytes(reader, description, &out->leaf, err);
	else if (rc == LANCET_OK)
		rc = array_append_range(&out->leaf, description, 0, run.count, err);
	if (rc == LANCET_OK)
		rc = levels_unravel(&reader->layers, &run, out, err);
	scratch_give(reader->scratch);
	return rc;
}

static int
read_rows(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	struct blob_page *blob = reader->state;
	struct leaf_out inner;
	int rc;

	TRY(leaf_out_init(&inner, &description_field, out->leaf.budget, err));
	rc = page_reader_read(&blob->inner, ranges, count, &inner, err);
	if (rc == LANCET_OK)
		rc = append_blobs(reader, &inner.leaf, out, err);
	leaf_out_release(&inner);
	return rc;
}

static void
describe(const struct page_reader *reader, struct buf *out)
{
	const struct blob_page *blob = reader->state;

	buf_put_text(out, "blob(");
	blob->inner.layout->describe(&blob->inner, out);
	buf_put_byte(out, ')');
}

static void
release(struct page_reader *reader)
{
	struct blob_page *blob = reader->state;

	page_reader_release(&blob->inner);
}

static const struct layout layout_blob = {
	.name = "blob",
	.read = read_rows,
	.describe = describe,
	.null_count = layout_null_count,
	.release = release,
};

static int
check_leaf(const struct field *leaf, struct lancet_error *err)
{
	const struct field *parts = leaf->children;

	if (leaf == &description_field)
		return lancet_fail(err, LANCET_CORRUPT, "blobs of blobs");
	if (leaf->kind == FIELD_VARIABLE)
		return LANCET_OK;
	if (leaf->kind != FIELD_STRUCT || leaf->child_count != 2 || parts[0].kind != FIELD_FIXED ||
		parts[0].bits != 64 || parts[1].kind != FIELD_FIXED || parts[1].bits != 64)
		return lancet_fail(err, LANCET_CORRUPT, "a field that is no blob");
	return LANCET_OK;
}

int
layout_open_blob(struct page_reader *reader, const void *page_layout, struct lancet_error *err)
{
	const Lance__Encodings21__PageLayout *page = page_layout;
	const Lance__Encodings21__BlobLayout *layout = page->blob_layout;
	struct blob_page *blob = arena_zalloc(&reader->arena, 1, sizeof(*blob));

	if (blob == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	TRY(check_leaf(reader->leaf, err));
	TRY(LAYOUT_LAYERS(reader, layout, err));
	if (reader->layers.list_count > 0)
		return lancet_fail(err, LANCET_UNSUPPORTED, "blobs in lists");
	blob->page = *reader->page;
	blob->inner = (struct page_reader){ .file = reader->file,
		.version = reader->version,
		.page = &blob->page,
		.leaf = &description_field,
		.scale = 1,
		.scratch = reader->scratch };
	reader->state = blob;
	reader->layout = &layout_blob;
	return page_layout_open(
		&blob->inner, slice_of(layout->inner_layout.data, layout->inner_layout.len), err);
}

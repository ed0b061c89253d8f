/* Columns of blobs: what pages have of them is where their bytes are in the file.
 *
 *     2.0: packed struct of u64 position, u64 size; (0, 0) is empty, (1, 0) null
 *     2.1, 2.2: the same inside a blob layout; without bytes the position keeps the levels of the
 *     entry, its definition level 16 bits up
 *
 * Format facts: blob v1, blob layout.
 */
#include <inttypes.h>

#include "encode_message.h"
#include "file_writer_parts.h"
#include "lance/encodings21.pb-c.h"
#include "levels.h"
#include "util/macros.h"

static struct field description_parts[] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
	{ .kind = FIELD_FIXED, .ordinal = 2, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
};
static const struct field description_field = {
	.kind = FIELD_STRUCT,
	.id = FIELD_NO_ID,
	.name = { (const uint8_t *)"description", 11 },
	.format = "+s",
	.packed = true,
	.children = description_parts,
	.child_count = ARRAY_SIZE(description_parts),
};

static int
refuse(const struct field *field, const char *what, struct lancet_error *err)
{
	char name[PAGE_NAME_SIZE];

	return lancet_fail(err, LANCET_UNSUPPORTED, "column %s: %s are not written by this build",
		page_column_name(field, name), what);
}

static int
check_below(enum file_version version, const struct field *field, bool in_list,
	struct lancet_error *err)
{
	if (field->blob == FIELD_BLOB_V2)
		return refuse(field, "blobs of format v2", err);
	if (field->blob == FIELD_BLOB_V1)
		return in_list && version != FILE_2_0 ? refuse(field, "lists of blobs", err)
						      : LANCET_OK;
	for (size_t i = 0; i < field->child_count; i++)
		TRY(check_below(version, &field->children[i],
			in_list || field->kind != FIELD_STRUCT || field->packed, err));
	return LANCET_OK;
}

int
file_blob_check(enum file_version version, const struct field *root, struct lancet_error *err)
{
	return check_below(version, root, false, err);
}

/* The array of the field, all of it. */
static const struct array *
find(const struct array *root, const struct field *field)
{
	if (field == root->field)
		return root;
	return &find(root, field->parent)->children[field - field->parent->children];
}

/* How deep the null is that makes value `index` null: 1 is the blob itself, the outermost one
 * counts; 0: none. Only structs are above it. */
static uint64_t
level_of(const struct array *root, const struct field *field, uint64_t index)
{
	uint64_t level = 0, depth = 0;

	for (;; field = field->parent) {
		depth++;
		if (!array_is_valid(find(root, field), index))
			level = depth;
		if (field == root->field)
			return level;
	}
}

static bool
is_ever_null(const struct array *root, const struct field *field)
{
	for (; find(root, field)->null_count == 0; field = field->parent) {
		if (field == root->field)
			return false;
	}
	return true;
}

static int
fill_descriptions(enum file_version version, const struct array *root, const struct field *field,
	struct array *into, struct lancet_error *err)
{
	const struct array *blobs = find(root, field);
	uint64_t count = is_ever_null(root, field) ? blobs->length : 0;

	for (unsigned i = 0; i < 2; i++)
		TRY(array_append_range(
			&into->children[i], &blobs->children[i], 0, blobs->length, err));
	TRY(array_extend(into, blobs->length, err));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t position = 0;

		if (version == FILE_2_0)
			position = !array_is_valid(blobs, i);
		else
			position = level_of(root, field, i) << 16;
		if (position > 0)
			memcpy(into->children[0].data.data + i * sizeof(position), &position,
				sizeof(position));
	}
	return LANCET_OK;
}

struct wrapping {
	struct page_sink sink;
	const struct field *field, *root;
};

/* PageLayout { blob { inner_layout, layers } } around the page of the descriptions. */
static int
wrap_page(void *context, struct page_out *page, struct lancet_error *err)
{
	struct wrapping *wrapping = context;
	struct buf layers = { 0 }, blob = { 0 };
	const struct field *field = wrapping->field;

	for (;; field = field->parent) {
		buf_put_varint(
			&layers, LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM);
		if (field == wrapping->root)
			break;
	}
	message_put_bytes(&blob, 1, buf_slice(&page->encoding));
	message_put_bytes(&blob, 2, buf_slice(&layers));
	page->encoding.size = 0;
	message_put_bytes(&page->encoding, 4, buf_slice(&blob));
	if (layers.failed != LANCET_OK || blob.failed != LANCET_OK)
		page->encoding.failed = LANCET_NO_MEMORY;
	buf_release(&layers);
	buf_release(&blob);
	return wrapping->sink.put(wrapping->sink.context, page, err);
}

int
file_blob_write(enum file_version version, const struct array *root, const struct field *field,
	struct page_sink sink, struct lancet_error *err)
{
	struct wrapping wrapping = { sink, field, root->field };
	struct page_sink wrapped = { wrap_page, &wrapping };
	struct array_budget budget = { .limit = SIZE_MAX };
	struct array blobs;
	int rc;

	TRY(array_init(&blobs, &description_field, &budget, err));
	rc = fill_descriptions(version, root, field, &blobs, err);
	if (rc == LANCET_OK && version == FILE_2_0)
		rc = v20_write_field(&blobs, &description_field, 0, blobs.length, sink, err);
	else if (rc == LANCET_OK)
		rc = page_write_leaf(
			version, &blobs, &description_field, 0, blobs.length, wrapped, err);
	array_release(&blobs);
	return rc;
}

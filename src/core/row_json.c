/* A row as a JSON object on one line; see lancet/rowtext.h for what becomes of each type. */
#include "row_field.h"

#include "util/jsoncheck.h"
#include "util/jsonw.h"
#include "util/text.h"

/* Bytes of a string, escaped or as base64, a block at a time. */
static void
put_blocks(struct row_writer *writer, struct slice bytes, void (*put)(struct buf *, struct slice))
{
	for (size_t at = 0; at < bytes.size; at += ROW_BLOCK) {
		size_t left = bytes.size - at;

		put(writer->text, slice_of(bytes.data + at, left < ROW_BLOCK ? left : ROW_BLOCK));
		row_flush(writer, ROW_BLOCK);
	}
}

/* The largest size up to `size` that ends a character of text that is UTF-8. */
static size_t
whole_characters(struct slice text, size_t size)
{
	while (size > 0 && size < text.size && (text.data[size] & 0xc0) == 0x80)
		size--;
	return size;
}

/* A string of base64; the bytes of a cut one are whole groups, so that it decodes as far as it
 * goes. */
static void
put_base64(struct row_writer *writer, struct slice bytes)
{
	size_t shown = row_take_bytes(writer, bytes.size);

	shown -= shown < bytes.size ? shown % 3 : 0;
	buf_put_byte(writer->text, '"');
	put_blocks(writer, slice_of(bytes.data, shown), jsonw_put_base64);
	if (shown < bytes.size)
		row_put_mark(writer->text, bytes.size - shown, "bytes");
	buf_put_byte(writer->text, '"');
}

void
row_json_text(struct row_writer *writer, struct slice text)
{
	size_t shown;

	if (!text_is_utf8(text)) {
		buf_put_text(writer->text, "{\"base64\":");
		put_base64(writer, text);
		buf_put_byte(writer->text, '}');
		return;
	}
	shown = whole_characters(text, row_take_bytes(writer, text.size));
	buf_put_byte(writer->text, '"');
	put_blocks(writer, slice_of(text.data, shown), jsonw_put_escaped);
	if (shown < text.size)
		row_put_mark(writer->text, text.size - shown, "bytes");
	buf_put_byte(writer->text, '"');
}

static void
put_raw(struct buf *out, struct slice text)
{
	buf_put_slice(out, text);
}

/* JSON in JSON; one that is to be cut becomes a string of its text. */
static void
put_json(struct row_writer *writer, struct slice text)
{
	bool fits = writer->cut.bytes == 0 || text.size <= writer->left.bytes;

	if (fits && jsoncheck_is_compact(text))
		put_blocks(writer, slice_of(text.data, row_take_bytes(writer, text.size)), put_raw);
	else
		row_json_text(writer, text);
}

/* Items [first, first + count) of the child, as far as they are to be shown. */
static void
put_items(struct row_writer *writer, const struct row_field *item, const struct ArrowArray *items,
	int64_t first, int64_t count)
{
	int64_t shown = row_take_items(writer, count);

	buf_put_byte(writer->text, '[');
	for (int64_t i = 0; i < shown && writer->failed == LANCET_OK; i++) {
		if (i > 0)
			buf_put_byte(writer->text, ',');
		row_json_value(writer, item, items, first + i);
	}
	if (shown < count) {
		buf_put_text(writer->text, shown > 0 ? ",\"" : "\"");
		row_put_mark(writer->text, (uint64_t)(count - shown), "items");
		buf_put_byte(writer->text, '"');
	}
	buf_put_byte(writer->text, ']');
}

static void
put_members(struct row_writer *writer, const struct row_field *field,
	const struct ArrowArray *array, int64_t index)
{
	buf_put_byte(writer->text, '{');
	for (size_t i = 0; i < field->child_count && writer->failed == LANCET_OK; i++) {
		if (i > 0)
			buf_put_byte(writer->text, ',');
		buf_put_slice(writer->text, field->children[i].label);
		row_json_value(
			writer, &field->children[i], array->children[i], array->offset + index);
	}
	buf_put_byte(writer->text, '}');
}

void
row_json_value(struct row_writer *writer, const struct row_field *field,
	const struct ArrowArray *array, int64_t index)
{
	struct buf *text = writer->text;
	const char *quote;
	int64_t at;

	if (!row_resolve(&field, &array, &index)) {
		buf_put_text(text, "null");
		return;
	}
	at = array->offset + index;
	switch (field->type.kind) {
	case ARROW_TEXT:
		if (field->is_json)
			put_json(writer, row_bytes(field, array, index));
		else
			row_json_text(writer, row_bytes(field, array, index));
		break;
	case ARROW_LIST:
	case ARROW_MAP:
		at = arrow_offset(array, field->type.large, array->offset + index);
		put_items(writer, field->children, array->children[0], at,
			arrow_offset(array, field->type.large, array->offset + index + 1) - at);
		break;
	case ARROW_FIXED_LIST:
		put_items(writer, field->children, array->children[0], at * field->type.size,
			field->type.size);
		break;
	case ARROW_STRUCT:
		put_members(writer, field, array, index);
		break;
	case ARROW_BINARY:
	case ARROW_FIXED_BINARY:
		put_base64(writer, row_bytes(field, array, index));
		break;
	default:
		quote = row_is_literal(field, array, index) ? "" : "\"";
		buf_put_text(text, quote);
		row_put_scalar(text, field, array, index);
		buf_put_text(text, quote);
	}
	row_flush(writer, ROW_BLOCK);
}

void
row_json_line(struct row_writer *writer, const struct row_field *root,
	const struct ArrowArray *batch, int64_t row)
{
	buf_put_byte(writer->text, '{');
	for (size_t i = 0; i < root->child_count && writer->failed == LANCET_OK; i++) {
		if (i > 0)
			buf_put_byte(writer->text, ',');
		writer->left = writer->cut;
		buf_put_slice(writer->text, root->children[i].label);
		row_json_value(writer, &root->children[i], batch->children[i], batch->offset + row);
	}
	buf_put_text(writer->text, "}\n");
}

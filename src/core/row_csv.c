/* A row as a line of CSV (RFC 4180); see lancet/rowtext.h for what becomes of each type. */
#include "row_field.h"

#include "util/jsonw.h"
#include "util/text.h"

/* Nothing is null, so what is there and empty needs quotes too. */
static bool
needs_quotes(struct slice text)
{
	if (text.size == 0)
		return true;
	for (size_t i = 0; i < text.size; i++) {
		uint8_t byte = text.data[i];

		if (byte == '"' || byte == ',' || byte == '\n' || byte == '\r')
			return true;
	}
	return false;
}

/* Appends with quotes doubled. */
static void
put_doubled(struct buf *out, struct slice text)
{
	while (text.size > 0) {
		const uint8_t *quote = memchr(text.data, '"', text.size);
		size_t size = quote != NULL ? (size_t)(quote - text.data) + 1 : text.size;

		buf_put(out, text.data, size);
		if (quote != NULL)
			buf_put_byte(out, '"');
		text = slice_of(text.data + size, text.size - size);
	}
}

static void
put_text(struct row_writer *writer, struct slice text)
{
	bool quoted = needs_quotes(text);

	if (quoted)
		buf_put_byte(writer->text, '"');
	for (size_t at = 0; at < text.size; at += ROW_BLOCK) {
		size_t left = text.size - at;
		struct slice block = slice_of(text.data + at, left < ROW_BLOCK ? left : ROW_BLOCK);

		if (quoted)
			put_doubled(writer->text, block);
		else
			buf_put_slice(writer->text, block);
		row_flush(writer, ROW_BLOCK);
	}
	if (quoted)
		buf_put_byte(writer->text, '"');
}

/* Digits of base64 are no marks of CSV. */
static void
put_binary(struct row_writer *writer, struct slice bytes)
{
	if (bytes.size == 0)
		buf_put_text(writer->text, "\"\"");
	for (size_t at = 0; at < bytes.size; at += ROW_BLOCK) {
		size_t left = bytes.size - at;

		jsonw_put_base64(writer->text,
			slice_of(bytes.data + at, left < ROW_BLOCK ? left : ROW_BLOCK));
		row_flush(writer, ROW_BLOCK);
	}
}

/* What has no form of its own in CSV. */
static void
put_json(struct row_writer *writer, const struct row_field *field, const struct ArrowArray *array,
	int64_t index)
{
	struct buf text = { 0 };
	struct row_writer inner = { .text = &text, .err = writer->err };

	row_json_value(&inner, field, array, index);
	if (writer->failed == LANCET_OK)
		writer->failed = inner.failed;
	if (writer->failed == LANCET_OK)
		put_text(writer, buf_slice(&text));
	buf_release(&text);
}

static void
put_value(struct row_writer *writer, const struct row_field *field, const struct ArrowArray *array,
	int64_t index)
{
	struct slice bytes;

	if (!row_resolve(&field, &array, &index))
		return;
	switch (field->type.kind) {
	case ARROW_TEXT:
		bytes = row_bytes(field, array, index);
		if (text_is_utf8(bytes))
			put_text(writer, bytes);
		else
			put_json(writer, field, array, index);
		break;
	case ARROW_BINARY:
	case ARROW_FIXED_BINARY:
		put_binary(writer, row_bytes(field, array, index));
		break;
	case ARROW_LIST:
	case ARROW_FIXED_LIST:
	case ARROW_MAP:
	case ARROW_STRUCT:
		put_json(writer, field, array, index);
		break;
	default:
		row_put_scalar(writer->text, field, array, index);
	}
	row_flush(writer, ROW_BLOCK);
}

void
row_csv_header(struct row_writer *writer, const struct row_field *root)
{
	for (size_t i = 0; i < root->child_count; i++) {
		if (i > 0)
			buf_put_byte(writer->text, ',');
		put_text(writer, root->children[i].name);
	}
	buf_put_byte(writer->text, '\n');
}

void
row_csv_line(struct row_writer *writer, const struct row_field *root,
	const struct ArrowArray *batch, int64_t row)
{
	for (size_t i = 0; i < root->child_count && writer->failed == LANCET_OK; i++) {
		if (i > 0)
			buf_put_byte(writer->text, ',');
		put_value(writer, &root->children[i], batch->children[i], batch->offset + row);
	}
	buf_put_byte(writer->text, '\n');
}

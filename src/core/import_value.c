/* Text as a value; see import_value.h. */
#include "import_value.h"

#include "json_binary.h"
#include "util/base64.h"
#include "util/macros.h"

#define SHOWN_MAX 40u /* bytes of a value in messages */

/* The name of the type as the schema has it. */
static struct slice
type_name(const struct import_node *node)
{
	return node->field->logical_type.size > 0 ? node->field->logical_type
						  : slice_text(node->field->format);
}

/* The beginning of a value, on one line. */
static struct slice
show(struct slice text, char into[SHOWN_MAX + 4])
{
	size_t size = text.size < SHOWN_MAX ? text.size : SHOWN_MAX;

	while (size > 0 && size < text.size && (text.data[size] & 0xc0) == 0x80)
		size--;
	for (size_t i = 0; i < size; i++)
		into[i] = text.data[i] < 0x20 || text.data[i] == 0x7f ? '?' : (char)text.data[i];
	if (size == text.size)
		return slice_of(into, size);
	memcpy(into + size, "...", 3);
	return slice_of(into, size + 3);
}

int
import_refuse(const struct import_node *node, struct slice text, const char *what,
	struct lancet_error *err)
{
	char shown[SHOWN_MAX + 4];
	struct slice beginning = show(text, shown);
	struct slice type = type_name(node);

	return lancet_fail(err, LANCET_INVALID, "\"%.*s\" %s %.*s", (int)beginning.size,
		(const char *)beginning.data, what, FIELD_TEXT(type));
}

int
import_null(const struct import_node *node, struct array *array, struct lancet_error *err)
{
	if (!node->nullable)
		return lancet_fail(err, LANCET_INVALID, "null where a value is needed");
	return array_append_nulls(array, 1, err);
}

static int
put_parsed(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	uint8_t value[IMPORT_SCALAR_MAX];
	const char *wrong = node->parse(&node->type, text, value);

	if (wrong != NULL)
		return import_refuse(node, text, wrong, err);
	return array_append_fixed(array, node->field->bits, value, 1, err);
}

/* Leaves the bytes in node->text. */
static int
decode(struct import_node *node, struct slice text, struct lancet_error *err)
{
	struct buf *bytes = &node->text;
	size_t size;

	bytes->size = 0;
	if (!buf_reserve(bytes, text.size / 4 * 3 + 3))
		return buf_check(bytes, "a value", err);
	if (!base64_decode(text, bytes->data, &size))
		return import_refuse(node, text, "is no base64, as it is needed for", err);
	bytes->size = size;
	return LANCET_OK;
}

static int
put_binary(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	struct slice bytes = { 0 };

	if (text.size > 0) {
		TRY(decode(node, text, err));
		bytes = buf_slice(&node->text);
	}
	if (node->form == IMPORT_BINARY)
		return array_append_bytes(array, bytes, err);
	if (bytes.size != node->field->bits / 8)
		return import_refuse(node, text, "has another number of bytes than", err);
	return array_append_fixed(array, node->field->bits, bytes.data, 1, err);
}

int
import_key(struct import_node *node, struct array *array, struct lancet_error *err)
{
	uint64_t key;

	TRY(array_dictionary_key(array, &node->one, 0, &key, err));
	return array_append_fixed(array, node->field->bits, (const uint8_t *)&key, 1, err);
}

int
import_scalar(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	switch (node->form) {
	case IMPORT_SCALAR:
		return put_parsed(node, array, text, err);
	case IMPORT_TEXT:
		return array_append_bytes(array, text, err);
	case IMPORT_BINARY:
	case IMPORT_FIXED_BINARY:
		return put_binary(node, array, text, err);
	default:
		return import_refuse(node, text, "is no", err);
	}
}

/* Text that is JSON, all of it. */
static int
put_json(struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	struct jsonpull from;

	jsonpull_init(&from, text);
	TRY(import_json(node, array, &from, err));
	return jsonpull_finish(&from, err);
}

/* CSV has null as nothing, so null in words is a value of JSON, which columns of JSON have. */
static int
put_json_column(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	struct buf *stored = &node->text;

	stored->size = 0;
	TRY(json_binary_put(text, stored, err));
	return array_append_bytes(
		array, node->form == IMPORT_JSON_TEXT ? text : buf_slice(stored), err);
}

/* Blanks around what is no text mean nothing. */
static struct slice
trim(struct slice text)
{
	while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
		text = slice_of(text.data + 1, text.size - 1);
	while (text.size > 0 &&
		(text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
		text.size--;
	return text;
}

int
import_text(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err)
{
	switch (node->form) {
	case IMPORT_DICTIONARY:
		array_reset(&node->one);
		TRY(import_text(node->values, &node->one, text, err));
		return import_key(node, array, err);
	case IMPORT_LIST:
	case IMPORT_FIXED_LIST:
	case IMPORT_MAP:
	case IMPORT_STRUCT:
		return put_json(node, array, text, err);
	case IMPORT_JSON_BINARY:
	case IMPORT_JSON_TEXT:
		return put_json_column(node, array, text, err);
	default:
		return import_scalar(
			node, array, node->form == IMPORT_SCALAR ? trim(text) : text, err);
	}
}

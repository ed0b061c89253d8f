/* JSON as a value; see import_value.h. */
#include "import_value.h"

#include <inttypes.h>

#include "json_binary.h"
#include "util/macros.h"

/* A value of a kind that the type does not have. */
static int
refuse_kind(const struct import_node *node, enum jsonpull_kind kind, struct jsonpull *from,
	struct lancet_error *err)
{
	const struct field *field = node->field;
	struct slice type =
		field->logical_type.size > 0 ? field->logical_type : slice_text(field->format);
	struct slice text;

	if (kind == JSONPULL_OBJECT || kind == JSONPULL_ARRAY)
		return lancet_fail(err, LANCET_INVALID, "%s is no %.*s",
			kind == JSONPULL_OBJECT ? "an object" : "an array", FIELD_TEXT(type));
	if (kind == JSONPULL_STRING)
		return lancet_fail(err, LANCET_INVALID, "a string is no %.*s", FIELD_TEXT(type));
	TRY(jsonpull_literal(from, &text, err));
	return lancet_fail(
		err, LANCET_INVALID, "%.*s is no %.*s", FIELD_TEXT(text), FIELD_TEXT(type));
}

/* NaN and Infinity without quotes, as Python writes them. */
static bool
take_bare_word(struct import_node *node, struct jsonpull *from, struct slice *ret_text)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

	if (node->type.kind != ARROW_FLOAT && node->parse != import_parse_bfloat16)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t size = strlen(words[i]);

		if ((size_t)(from->end - from->at) >= size &&
			memcmp(from->at, words[i], size) == 0) {
			*ret_text = slice_of(from->at, size);
			from->at += size;
			return true;
		}
	}
	return false;
}

/* Numbers may be strings, so that digits survive those who read all numbers as doubles; text is
 * never a number. */
static int
put_scalar(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	enum jsonpull_kind kind = jsonpull_peek(from);
	struct slice text;

	if (kind == JSONPULL_STRING)
		TRY(jsonpull_string(from, &node->text, &text, err));
	else if (kind == JSONPULL_OBJECT || kind == JSONPULL_ARRAY || node->form != IMPORT_SCALAR)
		return refuse_kind(node, kind, from, err);
	else if (!take_bare_word(node, from, &text))
		TRY(jsonpull_literal(from, &text, err));
	return import_scalar(node, array, text, err);
}

/* Base64 is decoded to where a string with escapes would be. */
static int
put_binary(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	enum jsonpull_kind kind = jsonpull_peek(from);
	struct buf unescaped = { 0 };
	struct slice text;
	int rc;

	if (kind != JSONPULL_STRING)
		return refuse_kind(node, kind, from, err);
	rc = jsonpull_string(from, &unescaped, &text, err);
	if (rc == LANCET_OK)
		rc = import_scalar(node, array, text, err);
	buf_release(&unescaped);
	return rc;
}

static int
put_any(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	struct buf *stored = &node->text;
	const uint8_t *start;

	(void)jsonpull_peek(from);
	start = from->at;
	stored->size = 0;
	TRY(json_binary_take(from, stored, err));
	return array_append_bytes(array,
		node->form == IMPORT_JSON_TEXT ? slice_of(start, (size_t)(from->at - start))
					       : buf_slice(stored),
		err);
}

/* The items of an array, up to its bracket. */
static int
put_items(struct import_node *item, struct array *items, struct jsonpull *from, uint64_t *ret_count,
	struct lancet_error *err)
{
	bool more;

	jsonpull_enter(from);
	for (uint64_t count = 0;; count++) {
		int rc = jsonpull_next(from, ']', count == 0, &more, err);

		if (rc == LANCET_OK && !more)
			*ret_count = count;
		if (rc != LANCET_OK || !more)
			return rc;
		rc = import_json(item, items, from, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "item %" PRIu64, count + 1);
	}
}

static int
put_list(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	uint64_t count = 0;

	TRY(put_items(&node->children[0], &array->children[0], from, &count, err));
	if (node->form != IMPORT_FIXED_LIST)
		return array_append_list(array, count, err);
	if (count != node->field->dimension)
		return lancet_fail(err, LANCET_INVALID, "%" PRIu64 " items, %" PRIu64 " expected",
			count, node->field->dimension);
	return array_extend(array, 1, err);
}

/* The object {"key": value, …} as a map: keys that are text. */
static int
put_map_object(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	struct import_node *entry = &node->children[0];
	struct array *entries = &array->children[0];
	struct slice key;
	uint64_t count = 0;
	bool more;

	jsonpull_enter(from);
	for (;; count++) {
		TRY(jsonpull_next(from, '}', count == 0, &more, err));
		if (!more)
			return array_append_list(array, count, err);
		TRY(jsonpull_key(from, &node->text, &key, err));
		TRY(import_text(&entry->children[0], &entries->children[0], key, err));
		TRY(import_json(&entry->children[1], &entries->children[1], from, err));
		TRY(array_extend(entries, 1, err));
	}
}

static int
put_member(struct import_node *node, struct array *children, struct jsonpull *from,
	struct lancet_error *err)
{
	struct import_node *child;
	struct slice key;

	TRY(jsonpull_key(from, &node->text, &key, err));
	child = import_node_find(node, key);
	if (child == NULL)
		return lancet_fail(err, LANCET_INVALID, "no %s has the name \"%.*s\"",
			node->field == NULL ? "column" : "member", FIELD_TEXT(key));
	if (child->seen == node->objects)
		return lancet_fail(err, LANCET_INVALID, "\"%.*s\" comes twice", FIELD_TEXT(key));
	child->seen = node->objects;
	node->failed = child;
	TRY(import_json(child, &children[child - node->children], from, err));
	node->failed = NULL;
	return LANCET_OK;
}

static int
put_missing(struct import_node *node, struct array *children, struct lancet_error *err)
{
	for (size_t i = 0; i < node->child_count; i++) {
		struct import_node *child = &node->children[i];

		if (child->seen == node->objects)
			continue;
		if (!child->nullable)
			return lancet_fail(err, LANCET_INVALID,
				"\"%.*s\" is missing, and can't be null", FIELD_TEXT(child->name));
		TRY(array_append_nulls(&children[i], 1, err));
	}
	return LANCET_OK;
}

int
import_members(struct import_node *node, struct array *children, struct jsonpull *from,
	struct lancet_error *err)
{
	size_t count = 0;
	bool more;

	node->objects++;
	node->likely = 0;
	node->failed = NULL;
	jsonpull_enter(from);
	for (;; count++) {
		TRY(jsonpull_next(from, '}', count == 0, &more, err));
		if (!more)
			break;
		TRY(put_member(node, children, from, err));
	}
	return count < node->child_count ? put_missing(node, children, err) : LANCET_OK;
}

static int
put_dictionary(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	array_reset(&node->one);
	TRY(import_json(node->values, &node->one, from, err));
	return import_key(node, array, err);
}

static int
put_struct(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	int rc = import_members(node, array->children, from, err);

	if (rc == LANCET_OK)
		return array_extend(array, 1, err);
	if (node->failed == NULL)
		return rc;
	return lancet_wrap(err, rc, "member \"%.*s\"", FIELD_TEXT(node->failed->name));
}

static bool
has_text_keys(const struct import_node *map)
{
	return map->children[0].children[0].form == IMPORT_TEXT;
}

static int
put_nested(struct import_node *node, enum jsonpull_kind kind, struct array *array,
	struct jsonpull *from, struct lancet_error *err)
{
	if (node->form == IMPORT_STRUCT && kind == JSONPULL_OBJECT)
		return put_struct(node, array, from, err);
	if (node->form == IMPORT_MAP && kind == JSONPULL_OBJECT && has_text_keys(node))
		return put_map_object(node, array, from, err);
	if (node->form != IMPORT_STRUCT && kind == JSONPULL_ARRAY)
		return put_list(node, array, from, err);
	return refuse_kind(node, kind, from, err);
}

int
import_json(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err)
{
	enum jsonpull_kind kind = jsonpull_peek(from);
	bool json = node->form == IMPORT_JSON_BINARY || node->form == IMPORT_JSON_TEXT;
	struct slice text;

	if (kind == JSONPULL_NULL && (!json || node->nullable)) {
		TRY(jsonpull_literal(from, &text, err));
		return import_null(node, array, err);
	}
	switch (node->form) {
	case IMPORT_NULL:
		return refuse_kind(node, kind, from, err);
	case IMPORT_BINARY:
	case IMPORT_FIXED_BINARY:
		return put_binary(node, array, from, err);
	case IMPORT_JSON_BINARY:
	case IMPORT_JSON_TEXT:
		return put_any(node, array, from, err);
	case IMPORT_LIST:
	case IMPORT_FIXED_LIST:
	case IMPORT_MAP:
	case IMPORT_STRUCT:
		return put_nested(node, kind, array, from, err);
	case IMPORT_DICTIONARY:
		return put_dictionary(node, array, from, err);
	case IMPORT_SCALAR:
	case IMPORT_TEXT:
		break;
	}
	return put_scalar(node, array, from, err);
}

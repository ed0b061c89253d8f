/* Strict reading over json-c; see json.h.
 *
 * json-c stops at a NUL byte, clamps numbers that are too large and converts between types on
 * demand: each of these is checked for here.
 */
#include "json.h"

#include <json-c/json.h>

bool
json_has(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && value != NULL;
}

void
json_free(struct json_object *root)
{
	(void)json_object_put(root);
}

static bool
is_space(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static int
parse_with(struct json_tokener *tokener, struct slice text, int depth_max,
	struct json_object **ret_root, struct lancet_error *err)
{
	struct json_object *root;
	enum json_tokener_error why;
	size_t end;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tokener, (const char *)text.data, (int)text.size);
	why = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	if (why == json_tokener_success && end == text.size &&
	    json_object_is_type(root, json_type_object)) {
		*ret_root = root;
		return LANCET_OK;
	}
	json_free(root);
	if (why == json_tokener_error_depth)
		return lancet_fail(err, LANCET_CORRUPT, "JSON nested deeper than %d",
		                   depth_max);
	if (why == json_tokener_continue)
		return lancet_fail(err, LANCET_CORRUPT, "JSON is cut off");
	if (why != json_tokener_success)
		return lancet_fail(err, LANCET_CORRUPT, "JSON at byte %zu: %s", end,
		                   json_tokener_error_desc(why));
	if (end != text.size)
		return lancet_fail(err, LANCET_CORRUPT, "JSON ends at byte %zu of %zu", end,
		                   text.size);
	return lancet_fail(err, LANCET_CORRUPT, "JSON is not an object");
}

/* Whether each byte can be there: outside of strings, in strings. Leaves the grammar to json-c. */
static bool
bytes_are_allowed(struct slice text)
{
	static const char outside[] = "{}[],:\" \t\r\n0123456789+-.eEtrufalsn";
	bool in_string = false;

	for (size_t i = 0; i < text.size; i++) {
		uint8_t byte = text.data[i];

		if (in_string ? byte < 0x20 : memchr(outside, byte, sizeof(outside) - 1) == NULL)
			return false;
		if (in_string && byte == '\\')
			i++; /* json-c looks at what is escaped */
		else if (byte == '"')
			in_string = !in_string;
	}
	return true;
}

int
json_parse_depth(struct slice text, int depth_max, struct json_object **ret_root,
	struct lancet_error *err)
{
	struct json_tokener *tokener = json_tokener_new_ex(depth_max);
	int rc;

	if (tokener == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a JSON parser");
	rc = parse_with(tokener, text, depth_max, ret_root, err);
	json_tokener_free(tokener);
	return rc;
}

int
json_parse(struct slice text, struct json_object **ret_root, struct lancet_error *err)
{
	if (text.size > JSON_SIZE_MAX)
		return lancet_fail(err, LANCET_LIMIT, "JSON of %zu bytes, at most %u", text.size,
		                   JSON_SIZE_MAX);
	while (text.size > 0 && is_space(text.data[text.size - 1]))
		text.size--;
	if (text.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "JSON is empty");
	if (!bytes_are_allowed(text))
		return lancet_fail(err, LANCET_CORRUPT, "JSON with a byte that is not allowed");
	return json_parse_depth(text, JSON_DEPTH_MAX, ret_root, err);
}

int
json_get_u64(struct json_object *object, const char *key, uint64_t *ret_value,
             struct lancet_error *err)
{
	struct json_object *value = NULL;
	uint64_t number;

	if (!json_object_object_get_ex(object, key, &value) || value == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "no \"%s\"", key);
	number = json_object_get_uint64(value);
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 ||
	    number == UINT64_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "\"%s\" is no exact 64-bit number", key);
	*ret_value = number;
	return LANCET_OK;
}

int
json_get_text(struct json_object *object, const char *key, struct slice *ret_text,
              struct lancet_error *err)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value) || value == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "no \"%s\"", key);
	if (!json_object_is_type(value, json_type_string))
		return lancet_fail(err, LANCET_CORRUPT, "\"%s\" is not text", key);
	*ret_text = slice_of(json_object_get_string(value),
	                     (size_t)json_object_get_string_len(value));
	return LANCET_OK;
}

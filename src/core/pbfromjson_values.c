/* Numbers, text and bytes from JSON: pbfromjson.h. */
#include "pbfromjson.h"

#include <json-c/json.h>

#include <inttypes.h>

#include "util/base64.h"
#include "util/macros.h"
#include "util/text.h"

struct whole {
	bool negative;
	uint64_t magnitude;
};

/* Decimal text with a sign when it is negative; "-0" is no number of ours. */
static bool
parse_whole(struct slice text, struct whole *ret_whole)
{
	ret_whole->negative = text.size > 0 && text.data[0] == '-';
	if (ret_whole->negative)
		text = slice_of(text.data + 1, text.size - 1);
	return text_to_u64(text, &ret_whole->magnitude) &&
	       !(ret_whole->negative && ret_whole->magnitude == 0);
}

static struct slice
string_of(struct json_object *json)
{
	return slice_of(json_object_get_string(json), (size_t)json_object_get_string_len(json));
}

static int
read_whole(struct pbfrom *from, struct json_object *json, struct whole *ret_whole)
{
	if (json_object_is_type(json, json_type_int)) {
		int64_t value = json_object_get_int64(json);

		*ret_whole = (struct whole){ value < 0,
			value < 0 ? 0 - (uint64_t)value : json_object_get_uint64(json) };
		return LANCET_OK;
	}
	if (!json_object_is_type(json, json_type_string))
		return pbfrom_want(from, json, json_type_int, "a whole number");
	if (!parse_whole(string_of(json), ret_whole))
		return pbfrom_fail(
			from, "\"%.60s\" is no whole number", json_object_get_string(json));
	return LANCET_OK;
}

static int
fit_u64(struct pbfrom *from, struct whole whole, uint64_t max, uint64_t *ret_value)
{
	if (whole.negative || whole.magnitude > max)
		return pbfrom_fail(from, "%s%" PRIu64 " is not in 0-%" PRIu64,
			whole.negative ? "-" : "", whole.magnitude, max);
	*ret_value = whole.magnitude;
	return LANCET_OK;
}

static int
fit_i64(struct pbfrom *from, struct whole whole, int64_t min, int64_t max, int64_t *ret_value)
{
	/* both are magnitudes: 0 - INT64_MIN has no int64_t */
	uint64_t most = whole.negative ? 0 - (uint64_t)min : (uint64_t)max;

	if (whole.magnitude > most)
		return pbfrom_fail(from, "%s%" PRIu64 " is not in %" PRId64 " to %" PRId64,
			whole.negative ? "-" : "", whole.magnitude, min, max);
	*ret_value = (int64_t)(whole.negative ? 0 - whole.magnitude : whole.magnitude);
	return LANCET_OK;
}

int
pbfrom_u64(struct pbfrom *from, struct json_object *json, uint64_t max, uint64_t *ret_value)
{
	struct whole whole;

	TRY(read_whole(from, json, &whole));
	return fit_u64(from, whole, max, ret_value);
}

int
pbfrom_i64(
	struct pbfrom *from, struct json_object *json, int64_t min, int64_t max, int64_t *ret_value)
{
	struct whole whole;

	TRY(read_whole(from, json, &whole));
	return fit_i64(from, whole, min, max, ret_value);
}

int
pbfrom_bool(struct pbfrom *from, struct json_object *json, bool *ret_value)
{
	TRY(pbfrom_want(from, json, json_type_boolean, "true or false"));
	*ret_value = json_object_get_boolean(json);
	return LANCET_OK;
}

int
pbfrom_number_key(struct pbfrom *from, const char *key, const ProtobufCFieldDescriptor *field,
	void *ret_member)
{
	struct whole whole;
	uint64_t value = 0;
	int64_t signed_value = 0;

	if (!parse_whole(slice_text(key), &whole))
		return pbfrom_fail(from, "the key is no whole number");
	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
		TRY(fit_u64(from, whole, UINT32_MAX, &value));
		*(uint32_t *)ret_member = (uint32_t)value;
		return LANCET_OK;
	case PROTOBUF_C_TYPE_UINT64:
		return fit_u64(from, whole, UINT64_MAX, ret_member);
	case PROTOBUF_C_TYPE_INT32:
		TRY(fit_i64(from, whole, INT32_MIN, INT32_MAX, &signed_value));
		*(int32_t *)ret_member = (int32_t)signed_value;
		return LANCET_OK;
	default:
		return fit_i64(from, whole, INT64_MIN, INT64_MAX, ret_member);
	}
}

static int
keep(struct pbfrom *from, struct slice bytes, ProtobufCBinaryData *ret_bytes)
{
	*ret_bytes = (ProtobufCBinaryData){ 0 };
	if (bytes.size == 0)
		return LANCET_OK;
	ret_bytes->data = arena_copy(from->arena, bytes.data, bytes.size);
	if (ret_bytes->data == NULL)
		return pbfrom_no_memory(from);
	ret_bytes->len = bytes.size;
	return LANCET_OK;
}

int
pbfrom_base64(struct pbfrom *from, struct json_object *json, ProtobufCBinaryData *ret_bytes)
{
	struct slice text;
	uint8_t *bytes;
	size_t size;

	TRY(pbfrom_want(from, json, json_type_string, "base64"));
	text = string_of(json);
	*ret_bytes = (ProtobufCBinaryData){ 0 };
	if (text.size == 0)
		return LANCET_OK;
	bytes = arena_alloc(from->arena, text.size / 4 * 3 + 3);
	if (bytes == NULL)
		return pbfrom_no_memory(from);
	if (!base64_decode(text, bytes, &size))
		return pbfrom_fail(from, "no base64");
	*ret_bytes = (ProtobufCBinaryData){ size, bytes };
	return LANCET_OK;
}

/* What is not UTF-8 is {"base64": "…"}. */
int
pbfrom_text(struct pbfrom *from, struct json_object *json, ProtobufCBinaryData *ret_text)
{
	struct json_object *bytes;

	if (json_object_is_type(json, json_type_string))
		return keep(from, string_of(json), ret_text);
	if (json_object_is_type(json, json_type_object) && json_object_object_length(json) == 1 &&
		json_object_object_get_ex(json, "base64", &bytes))
		return pbfrom_base64(from, bytes, ret_text);
	return pbfrom_fail(from, "no text, and no {\"base64\": ...}");
}

/* Maps, unknown fields and messages with a form of their own, from JSON: pbfromjson.h.
 */
#include "pbfromjson.h"

#include <json-c/json.h>
#include <uuid/uuid.h>

#include "google/protobuf/any.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "lance/table.pb-c.h"
#include "pbjson.h"
#include "pbjson_fields.h"
#include "util/base64.h"
#include "util/json_large.h"
#include "util/macros.h"
#include "util/pbunpack.h"
#include "util/text.h"

#define FIELD_NUMBER_MAX 536870911u /* of protobuf */
#define DECODED_MAX      ((size_t)256 << 20)
#define DEPTH_MAX        64

typedef Lance__File__StringEntry string_entry;

/* "base64:…" is a key that is not UTF-8, unless it says what is. */
static int
read_key(struct pbfrom *from, const char *key, ProtobufCBinaryData *ret_key)
{
	static const char prefix[] = "base64:";
	struct buf plain = { 0 };
	struct slice digits;
	uint8_t *bytes;
	size_t size;

	json_key_put(key, &plain);
	bytes = arena_alloc(from->arena, plain.size + 1);
	if (plain.failed != LANCET_OK || bytes == NULL) {
		buf_release(&plain);
		return pbfrom_no_memory(from);
	}
	if (plain.size > 0)
		memcpy(bytes, plain.data, plain.size);
	*ret_key = (ProtobufCBinaryData){ plain.size, bytes };
	digits = buf_slice(&plain);
	if (plain.size >= sizeof(prefix) - 1 &&
		memcmp(plain.data, prefix, sizeof(prefix) - 1) == 0) {
		digits = slice_of(
			digits.data + sizeof(prefix) - 1, digits.size - sizeof(prefix) + 1);
		if (base64_decode(digits, bytes, &size) && !text_is_utf8(slice_of(bytes, size)))
			ret_key->len = size;
		else
			memcpy(bytes, plain.data, plain.size);
	}
	buf_release(&plain);
	return LANCET_OK;
}

int
pbfrom_map(struct pbfrom *from, struct json_object *json, string_entry ***ret_entries,
	size_t *ret_count)
{
	string_entry **entries;
	size_t count = 0;

	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	entries = arena_zalloc(
		from->arena, (size_t)json_object_object_length(json), sizeof(string_entry *));
	if (entries == NULL)
		return pbfrom_no_memory(from);
	json_object_object_foreach(json, key, value)
	{
		size_t before = pbfrom_enter(from, key);
		string_entry *entry = arena_alloc(from->arena, sizeof(*entry));

		if (entry == NULL)
			return pbfrom_no_memory(from);
		lance__file__string_entry__init(entry);
		TRY(read_key(from, key, &entry->key));
		TRY(pbfrom_text(from, value, &entry->value));
		entries[count++] = entry;
		pbfrom_leave(from, before);
	}
	*ret_entries = entries;
	*ret_count = count;
	return LANCET_OK;
}

/* As it stands on the wire behind the tag: protobuf-c keeps the length of bytes with them. */
static int
set_unknown(struct pbfrom *from, ProtobufCMessageUnknownField *unknown, ProtobufCWireType wire,
	uint64_t value, ProtobufCBinaryData bytes)
{
	size_t width = wire == PROTOBUF_C_WIRE_TYPE_64BIT   ? 8
		       : wire == PROTOBUF_C_WIRE_TYPE_32BIT ? 4
							    : 0;
	uint8_t *data = arena_alloc(from->arena, 10 + bytes.len);
	size_t size = 0;

	if (data == NULL)
		return pbfrom_no_memory(from);
	for (; size < width; size++)
		data[size] = (uint8_t)(value >> 8 * size);
	if (width == 0) {
		for (; value >= 0x80; value >>= 7)
			data[size++] = (uint8_t)(value | 0x80);
		data[size++] = (uint8_t)value;
	}
	if (bytes.len > 0)
		memcpy(data + size, bytes.data, bytes.len);
	unknown->wire_type = wire;
	unknown->data = data;
	unknown->len = size + bytes.len;
	return LANCET_OK;
}

static int
read_unknown_object(
	struct pbfrom *from, struct json_object *json, ProtobufCMessageUnknownField *unknown)
{
	const ProtobufCBinaryData none = { 0 };
	struct json_object *member;
	ProtobufCBinaryData bytes;
	uint64_t value;

	if (json_object_object_length(json) != 1)
		return pbfrom_fail(from, "one of base64, fixed32, fixed64 is due");
	if (json_object_object_get_ex(json, "fixed64", &member)) {
		TRY(pbfrom_u64(from, member, UINT64_MAX, &value));
		return set_unknown(from, unknown, PROTOBUF_C_WIRE_TYPE_64BIT, value, none);
	}
	if (json_object_object_get_ex(json, "fixed32", &member)) {
		TRY(pbfrom_u64(from, member, UINT32_MAX, &value));
		return set_unknown(from, unknown, PROTOBUF_C_WIRE_TYPE_32BIT, value, none);
	}
	if (!json_object_object_get_ex(json, "base64", &member))
		return pbfrom_fail(from, "one of base64, fixed32, fixed64 is due");
	TRY(pbfrom_base64(from, member, &bytes));
	return set_unknown(from, unknown, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, bytes.len, bytes);
}

static int
read_unknown_value(
	struct pbfrom *from, struct json_object *json, ProtobufCMessageUnknownField *unknown)
{
	ProtobufCBinaryData bytes = { 0 };
	uint64_t value;

	if (json_object_is_type(json, json_type_object))
		return read_unknown_object(from, json, unknown);
	if (json_object_is_type(json, json_type_int) ||
		text_to_u64(slice_text(json_object_get_string(json)), &value)) {
		TRY(pbfrom_u64(from, json, UINT64_MAX, &value));
		return set_unknown(from, unknown, PROTOBUF_C_WIRE_TYPE_VARINT, value, bytes);
	}
	TRY(pbfrom_base64(from, json, &bytes));
	return set_unknown(from, unknown, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, bytes.len, bytes);
}

static int
read_number(struct pbfrom *from, const char *key, uint32_t min, const ProtobufCMessage *message,
	uint32_t *ret_number)
{
	uint64_t number;

	if (!text_to_u64(slice_text(key), &number) || number < min || number > FIELD_NUMBER_MAX)
		return pbfrom_fail(from, "no number of a field");
	if (protobuf_c_message_descriptor_get_field(message->descriptor, (unsigned)number) != NULL)
		return pbfrom_fail(from, "a field that is known");
	*ret_number = (uint32_t)number;
	return LANCET_OK;
}

static int
count_unknown(struct pbfrom *from, struct json_object *json, size_t *ret_count)
{
	size_t count = 0;

	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	json_object_object_foreach(json, key, values)
	{
		size_t before = pbfrom_enter(from, key);

		TRY(pbfrom_want(from, values, json_type_array, "an array"));
		count += json_object_array_length(values);
		pbfrom_leave(from, before);
	}
	*ret_count = count;
	return LANCET_OK;
}

int
pbfrom_unknown(
	struct pbfrom *from, struct json_object *json, uint32_t min, ProtobufCMessage *message)
{
	ProtobufCMessageUnknownField *fields;
	size_t count, done = 0;

	TRY(count_unknown(from, json, &count));
	fields = arena_zalloc(from->arena, count, sizeof(*fields));
	if (fields == NULL)
		return pbfrom_no_memory(from);
	json_object_object_foreach(json, key, values)
	{
		size_t before = pbfrom_enter(from, key);
		uint32_t number = 0;

		TRY(read_number(from, key, min, message, &number));
		for (size_t i = 0; i < json_object_array_length(values); i++) {
			size_t item = pbfrom_enter_item(from, i);

			fields[done].tag = number;
			TRY(read_unknown_value(
				from, json_object_array_get_idx(values, i), &fields[done++]));
			pbfrom_leave(from, item);
		}
		pbfrom_leave(from, before);
	}
	message->n_unknown_fields = (unsigned)done;
	message->unknown_fields = fields;
	return LANCET_OK;
}

static int
append(void *context, const void *data, size_t size)
{
	struct buf *text = context;

	buf_put(text, data, size);
	return (int)text->failed;
}

/* What pbjson.h makes of the message, as JSON. */
static int
render(struct pbfrom *from, const ProtobufCMessage *message, struct json_object **ret_json)
{
	struct buf text = { .limit = DECODED_MAX };
	const struct lancet_output out = { append, &text };
	struct json_object *root = NULL;
	struct jsondoc doc;
	int rc;

	jsondoc_begin(&doc, &out);
	doc.w.compact = true;
	rc = jsondoc_end(&doc, pbjson_message(&doc, "m", message, from->err), from->err);
	if (rc == LANCET_OK)
		rc = json_parse_large(buf_slice(&text), text.size, DEPTH_MAX, &root, from->err);
	buf_release(&text);
	if (rc != LANCET_OK)
		return rc;
	*ret_json = json_object_get(json_object_object_get(root, "m"));
	json_free(root);
	return LANCET_OK;
}

/* Holds "decoded" against the value, which is there too. Of damage it is null. */
static int
compare_decoded(struct pbfrom *from, struct json_object *decoded,
	const ProtobufCMessageDescriptor *type, ProtobufCBinaryData value)
{
	struct json_object *rendered = NULL;
	struct arena arena = { 0 };
	ProtobufCMessage *message;
	int rc = pb_unpack(type, slice_of(value.data, value.len), &arena, &message, from->err);
	bool same;

	if (rc == LANCET_OK)
		rc = render(from, message, &rendered);
	arena_release(&arena);
	if (rc != LANCET_OK && rc != LANCET_CORRUPT)
		return rc;
	same = rc == LANCET_OK ? json_object_equal(decoded, rendered) != 0 : decoded == NULL;
	(void)json_object_put(rendered);
	if (!same)
		return pbfrom_fail(
			from, "says something else than \"value\": leave one of them out");
	return LANCET_OK;
}

static int
pack_decoded(struct pbfrom *from, struct json_object *decoded,
	const ProtobufCMessageDescriptor *type, ProtobufCBinaryData *ret_value)
{
	ProtobufCMessage *message;

	TRY(pbfrom_message(from, decoded, type, &message));
	ret_value->len = protobuf_c_message_get_packed_size(message);
	ret_value->data = arena_alloc(from->arena, ret_value->len + 1);
	if (ret_value->data == NULL)
		return pbfrom_no_memory(from);
	(void)protobuf_c_message_pack(message, ret_value->data);
	return LANCET_OK;
}

static int
read_decoded(
	struct pbfrom *from, struct json_object *json, bool has_value, Google__Protobuf__Any *any)
{
	const ProtobufCMessageDescriptor *type =
		pbjson_any_type(slice_of(any->type_url.data, any->type_url.len));
	struct json_object *decoded = json_object_object_get(json, "decoded");
	size_t before = pbfrom_enter(from, "decoded");

	if (type == NULL)
		return pbfrom_fail(from, "the type is not known: \"value\" is due");
	if (has_value)
		TRY(compare_decoded(from, decoded, type, any->value));
	else
		TRY(pack_decoded(from, decoded, type, &any->value));
	pbfrom_leave(from, before);
	return LANCET_OK;
}

static int
read_any_member(struct pbfrom *from, const char *key, struct json_object *member,
	Google__Protobuf__Any *any, bool *has_value, bool *has_decoded)
{
	if (strcmp(key, "type_url") == 0)
		return pbfrom_text(from, member, &any->type_url);
	if (strcmp(key, "unknown") == 0)
		return pbfrom_unknown(from, member, 1, &any->base);
	if (strcmp(key, "decoded") == 0) {
		*has_decoded = true;
		return LANCET_OK;
	}
	if (strcmp(key, "value") != 0)
		return pbfrom_fail(from, "no such key");
	*has_value = true;
	return pbfrom_base64(from, member, &any->value);
}

static int
read_any(struct pbfrom *from, struct json_object *json, Google__Protobuf__Any *any)
{
	bool has_value = false, has_decoded = false;

	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	json_object_object_foreach(json, key, member)
	{
		size_t before = pbfrom_enter(from, key);

		TRY(read_any_member(from, key, member, any, &has_value, &has_decoded));
		pbfrom_leave(from, before);
	}
	return has_decoded ? read_decoded(from, json, has_value, any) : LANCET_OK;
}

static int
read_time(struct pbfrom *from, struct json_object *json, Google__Protobuf__Timestamp *time)
{
	if (!text_to_timestamp(slice_of(json_object_get_string(json),
				       (size_t)json_object_get_string_len(json)),
		    &time->seconds, &time->nanos))
		return pbfrom_fail(from, "no time");
	return LANCET_OK;
}

static int
read_uuid(struct pbfrom *from, struct json_object *json, Lance__Table__UUID *uuid)
{
	uint8_t *bytes = arena_alloc(from->arena, 16);

	if (bytes == NULL)
		return pbfrom_no_memory(from);
	if (json_object_get_string_len(json) != 36 ||
		uuid_parse(json_object_get_string(json), bytes) != 0)
		return pbfrom_fail(from, "no UUID");
	uuid->uuid = (ProtobufCBinaryData){ 16, bytes };
	return LANCET_OK;
}

int
pbfrom_special(
	struct pbfrom *from, struct json_object *json, ProtobufCMessage *message, bool *ret_done)
{
	bool is_text = json_object_is_type(json, json_type_string);

	*ret_done = true;
	if (message->descriptor == &google__protobuf__any__descriptor)
		return read_any(from, json, (Google__Protobuf__Any *)message);
	if (is_text && message->descriptor == &lance__table__uuid__descriptor)
		return read_uuid(from, json, (Lance__Table__UUID *)message);
	if (is_text && message->descriptor == &google__protobuf__timestamp__descriptor)
		return read_time(from, json, (Google__Protobuf__Timestamp *)message);
	*ret_done = false;
	return LANCET_OK;
}

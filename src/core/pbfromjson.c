/* One walk over a JSON value and a descriptor: pbfromjson.h. */
#include "pbfromjson.h"

#include <json-c/json.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lance/file.pb-c.h"
#include "pbjson_fields.h"
#include "pbjson_parts.h"
#include "util/macros.h"

static int read_value(struct pbfrom *from, struct json_object *json,
	const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field,
	void *member);

/* Appends to the place what is plain text of it. */
static size_t
enter(struct pbfrom *from, const char *text, bool plain)
{
	size_t before = from->place_size;

	for (; *text != '\0' && from->place_size + 1 < PBFROM_PLACE_MAX; text++)
		from->place[from->place_size++] =
			plain || (*text >= ' ' && *text < 0x7f) ? *text : '?';
	from->place[from->place_size] = '\0';
	return before;
}

size_t
pbfrom_enter(struct pbfrom *from, const char *key)
{
	size_t before = from->place_size;

	if (before > 0)
		(void)enter(from, ".", true);
	(void)enter(from, key, false);
	return before;
}

size_t
pbfrom_enter_item(struct pbfrom *from, size_t index)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "[%zu]", index);
	return enter(from, text, true);
}

void
pbfrom_leave(struct pbfrom *from, size_t place_size)
{
	from->place_size = place_size;
	from->place[place_size] = '\0';
}

int
pbfrom_fail(struct pbfrom *from, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return lancet_fail(from->err, LANCET_INVALID, "%s%s%s", from->place,
		from->place_size > 0 ? ": " : "", text);
}

int
pbfrom_no_memory(struct pbfrom *from)
{
	if (from->arena->limit != 0 && from->arena->used >= from->arena->limit / 2)
		return lancet_fail(from->err, LANCET_LIMIT,
			"%s: the message takes more than %zu bytes", from->place,
			from->arena->limit);
	return lancet_fail(from->err, LANCET_NO_MEMORY, "%s", from->place);
}

int
pbfrom_want(struct pbfrom *from, struct json_object *json, int type, const char *what)
{
	if (!json_object_is_type(json, (json_type)type))
		return pbfrom_fail(from, "%s, where %s is due",
			json_type_to_name(json_object_get_type(json)), what);
	return LANCET_OK;
}

static int
read_enum(struct pbfrom *from, struct json_object *json, const ProtobufCEnumDescriptor *type,
	int *ret_value)
{
	const ProtobufCEnumValue *known = NULL;
	int64_t number;

	if (json_object_is_type(json, json_type_string)) {
		known = protobuf_c_enum_descriptor_get_value_by_name(
			type, json_object_get_string(json));
		if (known == NULL)
			return pbfrom_fail(from, "\"%.60s\" is no %s", json_object_get_string(json),
				type->short_name);
		*ret_value = known->value;
		return LANCET_OK;
	}
	TRY(pbfrom_i64(from, json, INT32_MIN, INT32_MAX, &number));
	*ret_value = (int)number;
	return LANCET_OK;
}

static int
read_double(struct pbfrom *from, struct json_object *json, double *ret_value)
{
	if (!json_object_is_type(json, json_type_double) &&
		!json_object_is_type(json, json_type_int))
		return pbfrom_want(from, json, json_type_double, "a number");
	*ret_value = json_object_get_double(json);
	if (!isfinite(*ret_value))
		return pbfrom_fail(from, "no finite number");
	return LANCET_OK;
}

static int
read_bytes(struct pbfrom *from, struct json_object *json, const ProtobufCMessageDescriptor *type,
	const ProtobufCFieldDescriptor *field, ProtobufCBinaryData *ret_bytes)
{
	if (pbjson_is_text(type->name, field->name))
		return pbfrom_text(from, json, ret_bytes);
	return pbfrom_base64(from, json, ret_bytes);
}

static int
read_int32(struct pbfrom *from, struct json_object *json, int32_t *ret_value)
{
	int64_t value;

	TRY(pbfrom_i64(from, json, INT32_MIN, INT32_MAX, &value));
	*ret_value = (int32_t)value;
	return LANCET_OK;
}

static int
read_uint32(struct pbfrom *from, struct json_object *json, uint32_t *ret_value)
{
	uint64_t value;

	TRY(pbfrom_u64(from, json, UINT32_MAX, &value));
	*ret_value = (uint32_t)value;
	return LANCET_OK;
}

static int
read_boolean(struct pbfrom *from, struct json_object *json, protobuf_c_boolean *ret_value)
{
	bool value;

	TRY(pbfrom_bool(from, json, &value));
	*ret_value = value;
	return LANCET_OK;
}

static int
read_float(struct pbfrom *from, struct json_object *json, float *ret_value)
{
	double value;

	TRY(read_double(from, json, &value));
	*ret_value = (float)value;
	return LANCET_OK;
}

/* One value into its place in the message or in the array of a repeated field. */
static int
read_value(struct pbfrom *from, struct json_object *json, const ProtobufCMessageDescriptor *type,
	const ProtobufCFieldDescriptor *field, void *member)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		return read_int32(from, json, member);
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return read_uint32(from, json, member);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		return pbfrom_i64(from, json, INT64_MIN, INT64_MAX, member);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return pbfrom_u64(from, json, UINT64_MAX, member);
	case PROTOBUF_C_TYPE_BOOL:
		return read_boolean(from, json, member);
	case PROTOBUF_C_TYPE_FLOAT:
		return read_float(from, json, member);
	case PROTOBUF_C_TYPE_DOUBLE:
		return read_double(from, json, member);
	case PROTOBUF_C_TYPE_ENUM:
		return read_enum(from, json, field->descriptor, member);
	case PROTOBUF_C_TYPE_BYTES:
		return read_bytes(from, json, type, field, member);
	case PROTOBUF_C_TYPE_MESSAGE:
		return pbfrom_message(from, json, field->descriptor, member);
	case PROTOBUF_C_TYPE_STRING:
		break; /* proto/ declares text as bytes */
	}
	return pbfrom_fail(from, "can't be given as JSON");
}

static int
read_list(struct pbfrom *from, struct json_object *json, const ProtobufCMessageDescriptor *type,
	const ProtobufCFieldDescriptor *field, uint8_t **ret_array, size_t *ret_count)
{
	size_t size = pbjson_value_size(field->type), count;
	uint8_t *array;

	TRY(pbfrom_want(from, json, json_type_array, "an array"));
	count = json_object_array_length(json);
	array = arena_zalloc(from->arena, count, size);
	if (array == NULL)
		return pbfrom_no_memory(from);
	for (size_t i = 0; i < count; i++) {
		size_t before = pbfrom_enter_item(from, i);

		TRY(read_value(
			from, json_object_array_get_idx(json, i), type, field, array + i * size));
		pbfrom_leave(from, before);
	}
	*ret_array = array;
	*ret_count = count;
	return LANCET_OK;
}

/* A map whose keys are integers: a list of messages {key = 1; value = 2}. */
static int
read_numbered_map(struct pbfrom *from, struct json_object *json,
	const ProtobufCMessageDescriptor *type, ProtobufCMessage ***ret_list, size_t *ret_count)
{
	const ProtobufCFieldDescriptor *value = &type->fields[1];
	ProtobufCMessage **list;
	size_t count = 0;

	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	list = arena_zalloc(from->arena, (size_t)json_object_object_length(json), sizeof(*list));
	if (list == NULL)
		return pbfrom_no_memory(from);
	json_object_object_foreach(json, key, member)
	{
		size_t before = pbfrom_enter(from, key);
		ProtobufCMessage *entry = arena_alloc(from->arena, type->sizeof_message);

		if (entry == NULL)
			return pbfrom_no_memory(from);
		type->message_init(entry);
		TRY(pbfrom_number_key(
			from, key, &type->fields[0], (uint8_t *)entry + type->fields[0].offset));
		TRY(read_value(from, member, type, value, (uint8_t *)entry + value->offset));
		list[count++] = entry;
		pbfrom_leave(from, before);
	}
	*ret_list = list;
	*ret_count = count;
	return LANCET_OK;
}

static int
read_repeated(struct pbfrom *from, struct json_object *json, const ProtobufCFieldDescriptor *field,
	ProtobufCMessage *message)
{
	void *member = (uint8_t *)message + field->offset;
	size_t *count = (size_t *)(void *)((uint8_t *)message + field->quantifier_offset);

	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		if (field->descriptor == &lance__file__string_entry__descriptor)
			return pbfrom_map(from, json, member, count);
		if (is_numbered_entry(field->descriptor))
			return read_numbered_map(from, json, field->descriptor, member, count);
	}
	return read_list(from, json, message->descriptor, field, member, count);
}

static int
read_member(struct pbfrom *from, struct json_object *json, const ProtobufCFieldDescriptor *field,
	ProtobufCMessage *message)
{
	uint32_t *arm = (uint32_t *)(void *)((uint8_t *)message + field->quantifier_offset);

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return read_repeated(from, json, field, message);
	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
		if (*arm != 0)
			return pbfrom_fail(
				from, "there is another one of its kind, field %" PRIu32, *arm);
		*arm = field->id;
	}
	return read_value(
		from, json, message->descriptor, field, (uint8_t *)message + field->offset);
}

/* The field that a key stands for, or NULL. */
static const ProtobufCFieldDescriptor *
find_field(const ProtobufCMessageDescriptor *type, const char *key)
{
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(type, key);
	const struct pbjson_rule *rule = field != NULL ? pbjson_rule_find(type->name, key) : NULL;

	if (rule != NULL && rule->key != NULL)
		return NULL; /* it has another key */
	for (unsigned i = 0; field == NULL && i < type->n_fields; i++) {
		rule = pbjson_rule_find(type->name, type->fields[i].name);
		if (rule != NULL && rule->key != NULL && strcmp(rule->key, key) == 0)
			field = &type->fields[i];
	}
	return field;
}

static int
read_members(struct pbfrom *from, struct json_object *json, ProtobufCMessage *message)
{
	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	json_object_object_foreach(json, key, member)
	{
		size_t before = pbfrom_enter(from, key);
		const ProtobufCFieldDescriptor *field = find_field(message->descriptor, key);

		if (field != NULL)
			TRY(read_member(from, member, field, message));
		else if (strcmp(key, "unknown") == 0)
			TRY(pbfrom_unknown(from, member, 1, message));
		else
			return pbfrom_fail(from, "no such key");
		pbfrom_leave(from, before);
	}
	return LANCET_OK;
}

int
pbfrom_message(struct pbfrom *from, struct json_object *json,
	const ProtobufCMessageDescriptor *type, ProtobufCMessage **ret_message)
{
	ProtobufCMessage *message = arena_alloc(from->arena, type->sizeof_message);
	bool done = false;

	if (message == NULL)
		return pbfrom_no_memory(from);
	type->message_init(message);
	TRY(pbfrom_special(from, json, message, &done));
	if (!done)
		TRY(read_members(from, json, message));
	*ret_message = message;
	return LANCET_OK;
}

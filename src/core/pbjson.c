/* Reflection of pbjson.h: one walk over a message's descriptor, no code per message type.
 *
 * Messages nest as deep as the .proto files say, which is not deep. Only an Any could hold itself:
 * it is decoded ANY_DEPTH levels down, further ones stay base64.
 */
#include "pbjson.h"

#include <stdlib.h>

#include "google/protobuf/any.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "lance/table.pb-c.h"
#include "names.h"
#include "pbjson_fields.h"
#include "util/pbunpack.h"
#include "util/macros.h"

#define ANY_DEPTH 4

struct walk {
	struct jsondoc *doc;
	unsigned any_depth;
	struct lancet_error *err;
};

/* A field and what is special about it. */
struct place {
	const ProtobufCMessageDescriptor *type;
	const ProtobufCFieldDescriptor *field;
	const struct pbjson_rule *rule; /* may be NULL */
};

static int put_message(struct walk *walk, const char *key, const ProtobufCMessage *message);

static struct slice
slice_of_data(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

static void
put_enum(struct jsonw *w, const char *key, const ProtobufCEnumDescriptor *type, int value)
{
	const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);

	if (known != NULL)
		jsonw_text(w, key, known->name);
	else
		jsonw_i64(w, key, value);
}

static void
put_integer64(struct jsonw *w, const char *key, const struct place *place, uint64_t value)
{
	bool number = place->rule != NULL && place->rule->number;
	bool is_signed = place->field->type != PROTOBUF_C_TYPE_UINT64 &&
		place->field->type != PROTOBUF_C_TYPE_FIXED64;

	if (number && is_signed)
		jsonw_i64(w, key, (int64_t)value);
	else if (number)
		jsonw_u64(w, key, value);
	else if (is_signed)
		jsonw_i64_text(w, key, (int64_t)value);
	else
		jsonw_u64_text(w, key, value);
}

static void
put_bytes(struct jsonw *w, const char *key, const struct place *place, ProtobufCBinaryData value)
{
	if (pbjson_is_text(place->type->name, place->field->name))
		jsonw_slice(w, key, slice_of_data(value));
	else
		jsonw_base64(w, key, slice_of_data(value));
}

/* One value; `member` points at it in the message or in the array of a repeated field. */
static int
put_value(struct walk *walk, const char *key, const struct place *place, const void *member)
{
	struct jsonw *w = &walk->doc->w;

	switch (place->field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		jsonw_i64(w, key, *(const int32_t *)member);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		jsonw_u64(w, key, *(const uint32_t *)member);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		put_integer64(w, key, place, *(const uint64_t *)member);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		jsonw_bool(w, key, *(const protobuf_c_boolean *)member != 0);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		jsonw_double(w, key, (double)*(const float *)member);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		jsonw_double(w, key, *(const double *)member);
		break;
	case PROTOBUF_C_TYPE_ENUM:
		put_enum(w, key, place->field->descriptor, *(const int *)member);
		break;
	case PROTOBUF_C_TYPE_STRING:
		jsonw_text(w, key, *(const char *const *)member);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		put_bytes(w, key, place, *(const ProtobufCBinaryData *)member);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		return put_message(walk, key, *(const ProtobufCMessage *const *)member);
	}
	return LANCET_OK;
}

size_t
pbjson_value_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	default:
		return sizeof(uint32_t);
	}
}

static int
put_numbered_map(struct walk *walk, const char *key, const struct place *place,
                 ProtobufCMessage *const *stored, size_t count)
{
	const ProtobufCMessageDescriptor *type = place->field->descriptor;
	struct place value = { type, &type->fields[1], NULL };
	lancet_autofree struct numbered *numbered = NULL;

	TRY(numbered_sort(stored, &count, &numbered, walk->err));
	jsonw_object(&walk->doc->w, key);
	for (size_t i = 0; i < count; i++) {
		const void *member = (const uint8_t *)numbered[i].entry + value.field->offset;

		TRY(put_value(walk, numbered[i].text, &value, member));
		TRY(jsondoc_flush(walk->doc, walk->err));
	}
	jsonw_end(&walk->doc->w);
	return LANCET_OK;
}

static int
put_repeated(struct walk *walk, const char *key, const struct place *place, const void *array,
             size_t count)
{
	size_t size = pbjson_value_size(place->field->type);

	if (place->field->type == PROTOBUF_C_TYPE_MESSAGE) {
		if (place->field->descriptor == &lance__file__string_entry__descriptor)
			return pbjson_map(walk->doc, key, array, count, walk->err);
		if (is_numbered_entry(place->field->descriptor))
			return put_numbered_map(walk, key, place, array, count);
	}
	jsonw_array(&walk->doc->w, key);
	for (size_t i = 0; i < count; i++) {
		TRY(put_value(walk, NULL, place, (const uint8_t *)array + i * size));
		TRY(jsondoc_flush(walk->doc, walk->err));
	}
	jsonw_end(&walk->doc->w);
	return LANCET_OK;
}

/* False for a field without presence that has its default. */
static bool
is_set(const struct place *place, const ProtobufCMessage *message, const void *member)
{
	static const uint64_t zero = 0;
	const ProtobufCFieldDescriptor *field = place->field;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)((const uint8_t *)message + field->quantifier_offset) ==
			field->id;
	if (place->rule != NULL && place->rule->always)
		return true;
	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
	case PROTOBUF_C_TYPE_STRING:
		return *(const void *const *)member != NULL;
	case PROTOBUF_C_TYPE_BYTES:
		return ((const ProtobufCBinaryData *)member)->len != 0;
	default:
		return memcmp(member, &zero, pbjson_value_size(field->type)) != 0;
	}
}

static int
put_member(struct walk *walk, const ProtobufCMessage *message,
           const ProtobufCFieldDescriptor *field)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;
	struct place place = { type, field, pbjson_rule_find(type->name, field->name) };
	const char *key =
		place.rule != NULL && place.rule->key != NULL ? place.rule->key : field->name;
	const uint8_t *member = (const uint8_t *)message + field->offset;
	size_t count;

	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return is_set(&place, message, member) ? put_value(walk, key, &place, member)
						       : LANCET_OK;
	count = *(const size_t *)((const uint8_t *)message + field->quantifier_offset);
	if (count == 0)
		return LANCET_OK;
	return put_repeated(walk, key, &place, *(const void *const *)member, count);
}

/* What the value of a known type says. Damage in it is no damage of what is around it. */
static int
put_decoded(struct walk *walk, const ProtobufCMessageDescriptor *type, struct slice value)
{
	struct arena arena = { 0 };
	ProtobufCMessage *message;
	struct lancet_error damage = { 0 };
	int rc = pb_unpack(type, value, &arena, &message, &damage);

	if (rc == LANCET_OK) {
		rc = put_message(walk, "decoded", message);
	} else if (rc == LANCET_CORRUPT) {
		jsonw_null(&walk->doc->w, "decoded");
		rc = LANCET_OK;
	} else if (walk->err != NULL) {
		*walk->err = damage;
	}
	arena_release(&arena);
	return rc;
}

static int
put_any(struct walk *walk, const char *key, const Google__Protobuf__Any *any)
{
	struct jsonw *w = &walk->doc->w;
	const ProtobufCMessageDescriptor *type = pbjson_any_type(slice_of_data(any->type_url));

	jsonw_object(w, key);
	jsonw_slice(w, "type_url", slice_of_data(any->type_url));
	jsonw_base64(w, "value", slice_of_data(any->value));
	if (type != NULL && walk->any_depth < ANY_DEPTH) {
		walk->any_depth++;
		TRY(put_decoded(walk, type, slice_of_data(any->value)));
		walk->any_depth--;
	}
	TRY(pbjson_unknown(walk->doc, &any->base, NULL, walk->err));
	jsonw_end(w);
	return LANCET_OK;
}

/* Messages that stand for one value. False when the message is not one, or not a proper one. */
static bool
put_plain(struct jsonw *w, const char *key, const ProtobufCMessage *message)
{
	if (message->n_unknown_fields != 0)
		return false;
	if (message->descriptor == &lance__table__uuid__descriptor) {
		const Lance__Table__UUID *uuid = (const Lance__Table__UUID *)message;
		char text[37];

		if (uuid->uuid.len != 16)
			return false;
		uuid_format(uuid->uuid.data, text);
		jsonw_text(w, key, text);
		return true;
	}
	if (message->descriptor == &google__protobuf__timestamp__descriptor) {
		const Google__Protobuf__Timestamp *time =
			(const Google__Protobuf__Timestamp *)message;

		pbjson_time(w, key, time->seconds, time->nanos);
		return true;
	}
	return false;
}

/* A NULL message is one with all defaults: the value of a map entry that was left out. */
static int
put_message(struct walk *walk, const char *key, const ProtobufCMessage *message)
{
	struct jsonw *w = &walk->doc->w;

	if (message != NULL && message->descriptor == &google__protobuf__any__descriptor)
		return put_any(walk, key, (const Google__Protobuf__Any *)message);
	if (message != NULL && put_plain(w, key, message))
		return LANCET_OK;
	jsonw_object(w, key);
	for (unsigned i = 0; message != NULL && i < message->descriptor->n_fields; i++)
		TRY(put_member(walk, message, &message->descriptor->fields[i]));
	if (message != NULL)
		TRY(pbjson_unknown(walk->doc, message, NULL, walk->err));
	jsonw_end(w);
	return jsondoc_flush(walk->doc, walk->err);
}

int
pbjson_message(struct jsondoc *doc, const char *key, const ProtobufCMessage *message,
               struct lancet_error *err)
{
	struct walk walk = { .doc = doc, .err = err };

	return put_message(&walk, key, message);
}

int
pbjson_any(struct jsondoc *doc, const char *key, const struct Google__Protobuf__Any *any,
           struct lancet_error *err)
{
	struct walk walk = { .doc = doc, .err = err };

	return put_any(&walk, key, any);
}

#include "pbutf8.h"

#include "lance/table.pb-c.h"
#include "pbjson_fields.h"
#include "util/macros.h"
#include "util/text.h"

/* Fields of DataFragment. */
enum { FRAGMENT_CLUSTERING = 15, FRAGMENT_METADATA = 16 };

static int
check_bytes(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field,
	const ProtobufCBinaryData *bytes, struct lancet_error *err)
{
	if (text_is_utf8((struct slice){ bytes->data, bytes->len }))
		return LANCET_OK;
	return lancet_fail(
		err, LANCET_INVALID, "%s of %s is not UTF-8", field->name, type->short_name);
}

static bool
is_member(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 ||
	       *(const uint32_t *)((const uint8_t *)message + field->quantifier_offset) ==
		       field->id;
}

/* Decoders of others know these numbers, and what they hold is not released. */
static int
check_reserved(const ProtobufCMessage *message, struct lancet_error *err)
{
	if (message->descriptor != &lance__table__data_fragment__descriptor)
		return LANCET_OK;
	for (unsigned i = 0; i < message->n_unknown_fields; i++) {
		uint32_t tag = message->unknown_fields[i].tag;

		if (tag == FRAGMENT_CLUSTERING || tag == FRAGMENT_METADATA)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"a fragment declares %s: this build can't write it",
				tag == FRAGMENT_CLUSTERING ? "clustering" : "metadata");
	}
	return LANCET_OK;
}

/* The values of a field of texts. */
static int
check_texts(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
	struct lancet_error *err)
{
	const uint8_t *member = (const uint8_t *)message + field->offset;
	const ProtobufCBinaryData *list = (const ProtobufCBinaryData *)member;
	size_t count = 1;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		list = *(const ProtobufCBinaryData *const *)member;
		count = *(const size_t *)((const uint8_t *)message + field->quantifier_offset);
	}
	for (size_t i = 0; i < count; i++)
		TRY(check_bytes(message->descriptor, field, &list[i], err));
	return LANCET_OK;
}

/* Messages don't hold each other in a circle, so that the types bound how deep this goes. */
static int
check_messages(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
	struct lancet_error *err)
{
	const uint8_t *member = (const uint8_t *)message + field->offset;
	const ProtobufCMessage *const *list = (const ProtobufCMessage *const *)member;
	size_t count = 1;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		list = *(const ProtobufCMessage *const *const *)member;
		count = *(const size_t *)((const uint8_t *)message + field->quantifier_offset);
	}
	for (size_t i = 0; i < count; i++)
		if (list[i] != NULL)
			TRY(pb_check_decodable(list[i], err));
	return LANCET_OK;
}

int
pb_check_decodable(const ProtobufCMessage *message, struct lancet_error *err)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;

	TRY(check_reserved(message, err));
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];

		if (!is_member(message, field))
			continue;
		if (field->type == PROTOBUF_C_TYPE_MESSAGE)
			TRY(check_messages(message, field, err));
		else if (field->type == PROTOBUF_C_TYPE_BYTES &&
			 pbjson_is_text(type->name, field->name))
			TRY(check_texts(message, field, err));
	}
	return LANCET_OK;
}

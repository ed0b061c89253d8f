#include "pbutf8.h"

#include "pbjson_fields.h"
#include "util/macros.h"
#include "util/text.h"

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
			TRY(pb_check_text(list[i], err));
	return LANCET_OK;
}

int
pb_check_text(const ProtobufCMessage *message, struct lancet_error *err)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;

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

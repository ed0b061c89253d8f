/* Random messages of any type, by their descriptors: every kind of field, unknown fields, text that
 * holds NUL or is no UTF-8. The same seed makes the same message.
 */
#ifndef TESTS_PBRANDOM_H
#define TESTS_PBRANDOM_H

#include "pbrandomvalues.h"

static inline ProtobufCMessage *pbrandom_message(
	struct pbrandom *random, const ProtobufCMessageDescriptor *type);

static inline void
pbrandom_value(struct pbrandom *random, const ProtobufCFieldDescriptor *field, void *member)
{
	uint64_t number = pbrandom_number(random);

	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)member = number & 1;
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		*(double *)member = (double)(int64_t)number / 7;
		break;
	case PROTOBUF_C_TYPE_ENUM:
		*(int *)member = (int)(number % 5);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*(ProtobufCBinaryData *)member = pbrandom_bytes(random);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)member = pbrandom_message(random, field->descriptor);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		*(uint64_t *)member = number;
		break;
	default:
		*(uint32_t *)member = (uint32_t)number;
		break;
	}
}

static inline size_t
pbrandom_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_DOUBLE:
	case PROTOBUF_C_TYPE_MESSAGE:
		return 8;
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

static inline void
pbrandom_member(struct pbrandom *random, const ProtobufCFieldDescriptor *field, uint8_t *message)
{
	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		size_t count = (size_t)(pbrandom_next(random) >> 33) % 4;
		size_t size = pbrandom_size(field->type);
		uint8_t *array = arena_zalloc(random->arena, count, size);

		for (size_t i = 0; i < count; i++)
			pbrandom_value(random, field, array + i * size);
		*(uint8_t **)(void *)(message + field->offset) = array;
		*(size_t *)(void *)(message + field->quantifier_offset) = count;
		return;
	}
	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
		uint32_t *arm = (uint32_t *)(void *)(message + field->quantifier_offset);

		if (*arm != 0)
			return;
		*arm = field->id;
	}
	pbrandom_value(random, field, message + field->offset);
}

/* Fewer members are there the deeper it is, so that it ends. */
static inline ProtobufCMessage *
pbrandom_message(struct pbrandom *random, const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = arena_alloc(random->arena, type->sizeof_message);

	type->message_init(message);
	random->depth++;
	for (unsigned i = 0; i < type->n_fields; i++) {
		if (pbrandom_one_in(random, 1 + random->depth / 2))
			pbrandom_member(random, &type->fields[i], (uint8_t *)message);
	}
	if (pbrandom_one_in(random, 6))
		pbrandom_unknown(random, message);
	random->depth--;
	return message;
}

#endif

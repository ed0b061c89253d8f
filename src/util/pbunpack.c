/* Decoding with a price limit.
 *
 * Real messages cost 3 to 5 times their bytes, a run of empty sub-messages 89 times. Small messages
 * may cost much for their size, large ones may not: what nobody wrote in earnest is refused before
 * it takes the memory of the machine.
 */
#include "pbunpack.h"

#include "pballoc.h"

#include <stdbool.h>

#define COST_PER_BYTE     32u
#define COST_BASE         ((size_t)64 * 1024)
#define COST_FREE         ((size_t)256 * 1024 * 1024) /* beyond it only COST_PER_BYTE_MIN counts */
#define COST_PER_BYTE_MIN 8u

size_t
pb_cost_limit(size_t size)
{
	size_t usual = COST_PER_BYTE * size + COST_BASE;
	size_t large = COST_PER_BYTE_MIN * size;

	if (large < COST_FREE)
		large = COST_FREE;
	return usual < large ? usual : large;
}

static bool has_field_zero(const ProtobufCMessage *message);

static bool
any_has_field_zero(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const uint8_t *member = (const uint8_t *)message + field->offset;
	const uint8_t *quantifier = (const uint8_t *)message + field->quantifier_offset;
	ProtobufCMessage *const *list = (ProtobufCMessage *const *)member;
	size_t count = 1;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		list = *(ProtobufCMessage *const *const *)member;
		count = *(const size_t *)quantifier;
	} else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
		   *(const uint32_t *)quantifier != field->id) {
		return false;
	}
	for (size_t i = 0; i < count; i++)
		if (list[i] != NULL && has_field_zero(list[i]))
			return true;
	return false;
}

/* protobuf-c keeps a field of number 0 as an unknown one, and may not decode it again from another
 * place; others refuse it. Messages don't hold each other in a circle: types bound the depth. */
static bool
has_field_zero(const ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->n_unknown_fields; i++)
		if (message->unknown_fields[i].tag == 0)
			return true;
	for (unsigned i = 0; i < message->descriptor->n_fields; i++)
		if (message->descriptor->fields[i].type == PROTOBUF_C_TYPE_MESSAGE &&
		    any_has_field_zero(message, &message->descriptor->fields[i]))
			return true;
	return false;
}

int
pb_unpack(const ProtobufCMessageDescriptor *type, struct slice bytes, struct arena *arena,
          void *ret_message, struct lancet_error *err)
{
	ProtobufCAllocator allocator = pb_allocator(arena);
	ProtobufCMessage *message;

	arena->limit = arena->used + pb_cost_limit(bytes.size);
	message = protobuf_c_message_unpack(type, &allocator, bytes.size,
	                                    bytes.size == 0 ? (const uint8_t *)"" : bytes.data);
	if (message == NULL && arena->full)
		return lancet_fail(err, LANCET_LIMIT,
		                   "%s: %zu bytes decode to more than %zu or there is no memory",
		                   type->short_name, bytes.size, pb_cost_limit(bytes.size));
	if (message == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "%s: not decodable", type->short_name);
	if (has_field_zero(message))
		return lancet_fail(
			err, LANCET_CORRUPT, "%s: a field of number 0", type->short_name);
	arena->limit = 0;
	*(void **)ret_message = message;
	return LANCET_OK;
}

/* Decoding in two steps: see pbborrow.h.
 *
 * The message is written again with a mark in place of each long value, which leaves little to be
 * copied; after it was decoded, the marks are exchanged for the values. A mark begins with bytes
 * that nobody can guess, so that no value of the message is taken for one.
 */
#include "pbborrow.h"

#include <stdlib.h>
#include <sys/random.h>

#include "buf.h"
#include "macros.h"
#include "pbscan.h"

struct mark {
	uint8_t secret[16];
	uint64_t number; /* of the value */
};

struct borrowing {
	uint8_t secret[16];
	struct slice *values;
	size_t count, capacity;
};

static int
put_mark(struct borrowing *borrowing, struct slice value, struct buf *out, struct lancet_error *err)
{
	struct mark mark = { .number = borrowing->count };

	if (borrowing->count == borrowing->capacity) {
		size_t capacity = 2 * borrowing->capacity + 16;
		struct slice *values = reallocarray(borrowing->values, capacity, sizeof(*values));

		if (values == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "values of a message");
		borrowing->values = values;
		borrowing->capacity = capacity;
	}
	borrowing->values[borrowing->count++] = value;
	memcpy(mark.secret, borrowing->secret, sizeof(mark.secret));
	buf_put_varint(out, sizeof(mark));
	buf_put(out, &mark, sizeof(mark));
	return LANCET_OK;
}

/* Writes the message again. Types bound the depth: messages don't hold each other in a circle. */
static int
put_marked(struct borrowing *borrowing, const ProtobufCMessageDescriptor *type, struct slice in,
	struct buf *out, struct lancet_error *err)
{
	struct pbmem scan = { in, 0 };
	struct pb_field field;
	bool more;

	for (;;) {
		const ProtobufCFieldDescriptor *known;
		struct slice value;

		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		known = protobuf_c_message_descriptor_get_field(type, field.number);
		if (known == NULL || field.wire != PB_BYTES || field.value < PB_BORROWED_MIN ||
			(known->type != PROTOBUF_C_TYPE_BYTES &&
				known->type != PROTOBUF_C_TYPE_MESSAGE)) {
			buf_put(out, in.data + field.start, (size_t)(field.end - field.start));
			continue;
		}
		value = slice_of(in.data + field.offset, (size_t)field.value);
		buf_put_varint(out, (uint64_t)field.number << 3 | PB_BYTES);
		if (known->type == PROTOBUF_C_TYPE_BYTES) {
			TRY(put_mark(borrowing, value, out, err));
		} else {
			struct buf inner = { 0 };
			int rc = put_marked(borrowing, known->descriptor, value, &inner, err);

			buf_put_varint(out, inner.size);
			buf_put_slice(out, buf_slice(&inner));
			if (rc == LANCET_OK)
				rc = buf_check(&inner, "message", err);
			buf_release(&inner);
			TRY(rc);
		}
	}
}

static void exchange(const struct borrowing *borrowing, ProtobufCMessage *message);

static void
exchange_value(const struct borrowing *borrowing, ProtobufCBinaryData *value)
{
	struct mark mark;

	if (value->len != sizeof(mark) ||
		memcmp(value->data, borrowing->secret, sizeof(borrowing->secret)) != 0)
		return;
	memcpy(&mark, value->data, sizeof(mark));
	value->data = (uint8_t *)(uintptr_t)borrowing->values[mark.number].data;
	value->len = borrowing->values[mark.number].size;
}

static void
exchange_field(const struct borrowing *borrowing, const ProtobufCFieldDescriptor *field,
	ProtobufCMessage *message)
{
	uint8_t *member = (uint8_t *)message + field->offset;
	const uint8_t *quantifier = (const uint8_t *)message + field->quantifier_offset;
	size_t count = 1;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		member = *(uint8_t *const *)(const void *)member;
		count = *(const size_t *)(const void *)quantifier;
	} else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
		   *(const uint32_t *)(const void *)quantifier != field->id) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (field->type == PROTOBUF_C_TYPE_BYTES)
			exchange_value(borrowing, (ProtobufCBinaryData *)(void *)member + i);
		else if (((ProtobufCMessage **)(void *)member)[i] != NULL)
			exchange(borrowing, ((ProtobufCMessage **)(void *)member)[i]);
	}
}

static void
exchange(const struct borrowing *borrowing, ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];

		if (field->type == PROTOBUF_C_TYPE_BYTES || field->type == PROTOBUF_C_TYPE_MESSAGE)
			exchange_field(borrowing, field, message);
	}
}

/* What can't be walked is decoded as it is, which says what is wrong with it. */
int
pb_unpack_borrowing(const ProtobufCMessageDescriptor *type, struct slice bytes, struct arena *arena,
	void *ret_message, struct lancet_error *err)
{
	struct borrowing borrowing = { .count = 0 };
	struct buf marked = { 0 };
	int rc = LANCET_INVALID;

	if (bytes.size >= PB_BORROWED_MIN && getrandom(borrowing.secret, sizeof(borrowing.secret),
						     0) == (ssize_t)sizeof(borrowing.secret))
		rc = put_marked(&borrowing, type, bytes, &marked, NULL);
	if (rc == LANCET_OK && borrowing.count > 0 && marked.failed == LANCET_OK) {
		rc = pb_unpack(type, buf_slice(&marked), arena, ret_message, err);
		if (rc == LANCET_OK)
			exchange(&borrowing, *(ProtobufCMessage **)ret_message);
	} else {
		rc = pb_unpack(type, bytes, arena, ret_message, err);
	}
	free(borrowing.values);
	buf_release(&marked);
	return rc;
}

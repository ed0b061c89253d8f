/* Decoding that borrows long values: the same message as decoding that copies all. */
#include <lance/table.pb-c.h>
#include <lance/transaction.pb-c.h>

#include "pbrandom.h"
#include "unit.h"
#include "util/buf.h"
#include "util/pbborrow.h"

#define LONG_SIZE (3 * PB_BORROWED_MIN)

static const ProtobufCMessageDescriptor *const types[] = { &lance__table__transaction__descriptor,
	&lance__table__manifest__descriptor, &lance__table__data_fragment__descriptor,
	&lance__table__index_metadata__descriptor };

static bool
lies_in(const void *data, const struct buf *bytes)
{
	return (const uint8_t *)data >= bytes->data &&
	       (const uint8_t *)data < bytes->data + bytes->size;
}

static struct buf
packed(const ProtobufCMessage *message)
{
	struct buf bytes = { 0 };

	ck_assert(buf_reserve(&bytes, protobuf_c_message_get_packed_size(message) + 1));
	bytes.size = protobuf_c_message_pack(message, bytes.data);
	return bytes;
}

/* Makes some of the message's values long, also below; what they hold differs. Returns how many. */
static size_t
lengthen(struct pbrandom *random, ProtobufCMessage *message)
{
	size_t count = 0;

	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		uint8_t *member = (uint8_t *)message + field->offset;
		const uint8_t *quantifier = (uint8_t *)message + field->quantifier_offset;
		size_t values = 1;

		if (field->label == PROTOBUF_C_LABEL_REPEATED) {
			values = *(const size_t *)(const void *)quantifier;
			member = *(uint8_t **)(void *)member;
		} else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
			   *(const uint32_t *)(const void *)quantifier != field->id) {
			continue;
		}
		for (size_t k = 0; k < values; k++) {
			ProtobufCBinaryData *bytes = (ProtobufCBinaryData *)(void *)member + k;

			if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
				ProtobufCMessage *inner = ((ProtobufCMessage **)(void *)member)[k];

				count += inner == NULL ? 0 : lengthen(random, inner);
			} else if (field->type == PROTOBUF_C_TYPE_BYTES &&
				   pbrandom_next(random) >> 33 & 1) {
				bytes->len = LONG_SIZE;
				bytes->data = arena_zalloc(random->arena, 1, LONG_SIZE);
				memset(bytes->data, (int)(count++ % 251), LONG_SIZE);
			}
		}
	}
	return count;
}

START_TEST(messages_are_the_same)
{
	size_t lengthened = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct arena arena = { 0 }, borrowing = { 0 };
		struct pbrandom random = { .state = seed, .arena = &arena };
		ProtobufCMessage *message = pbrandom_message(&random, types[_i]), *copy, *borrowed;
		struct lancet_error err = { 0 };
		struct buf bytes, again;
		size_t values = lengthen(&random, message);

		bytes = packed(message);
		ck_assert_msg(
			pb_unpack(types[_i], buf_slice(&bytes), &arena, &copy, &err) == LANCET_OK,
			"%s", err.text);
		ck_assert_msg(pb_unpack_borrowing(types[_i], buf_slice(&bytes), &borrowing,
				      &borrowed, &err) == LANCET_OK,
			"%s", err.text);
		again = packed(borrowed);
		ck_assert_uint_eq(again.size, bytes.size);
		ck_assert_int_eq(memcmp(again.data, bytes.data, bytes.size), 0);
		if (values > 20)
			ck_assert_uint_lt(borrowing.used, bytes.size);
		lengthened += values;
		buf_release(&again);
		buf_release(&bytes);
		arena_release(&arena);
		arena_release(&borrowing);
	}
	ck_assert_uint_gt(lengthened, 100);
}
END_TEST

START_TEST(long_values_stay_where_they_are)
{
	Lance__Table__DataFragment fragment, *decoded;
	static uint8_t ids[LONG_SIZE];
	struct arena arena = { 0 };
	struct buf bytes;

	lance__table__data_fragment__init(&fragment);
	fragment.id = 7;
	fragment.row_id_sequence_case = LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_INLINE_ROW_IDS;
	fragment.inline_row_ids = (ProtobufCBinaryData){ PB_BORROWED_MIN, ids };
	bytes = packed(&fragment.base);
	ck_assert_int_eq(pb_unpack_borrowing(fragment.base.descriptor, buf_slice(&bytes), &arena,
				 &decoded, NULL),
		LANCET_OK);
	ck_assert_uint_eq(decoded->id, 7);
	ck_assert_uint_eq(decoded->inline_row_ids.len, PB_BORROWED_MIN);
	ck_assert(lies_in(decoded->inline_row_ids.data, &bytes));
	buf_release(&bytes);

	fragment.inline_row_ids.len = PB_BORROWED_MIN - 1;
	bytes = packed(&fragment.base);
	ck_assert_int_eq(pb_unpack_borrowing(fragment.base.descriptor, buf_slice(&bytes), &arena,
				 &decoded, NULL),
		LANCET_OK);
	ck_assert_uint_eq(decoded->inline_row_ids.len, PB_BORROWED_MIN - 1);
	ck_assert(!lies_in(decoded->inline_row_ids.data, &bytes));
	buf_release(&bytes);
	arena_release(&arena);
}
END_TEST

static void
check_both(const ProtobufCMessageDescriptor *type, struct slice in)
{
	struct arena copying = { 0 }, borrowing = { 0 };
	struct lancet_error a = { 0 }, b = { 0 };
	ProtobufCMessage *one, *two;
	int rc = pb_unpack(type, in, &copying, &one, &a);

	ck_assert_int_eq(rc, pb_unpack_borrowing(type, in, &borrowing, &two, &b));
	ck_assert_str_eq(a.text, b.text);
	if (rc == LANCET_OK) {
		struct buf first = packed(one), second = packed(two);

		ck_assert_uint_eq(first.size, second.size);
		ck_assert_int_eq(memcmp(first.data, second.data, first.size), 0);
		buf_release(&first);
		buf_release(&second);
	}
	arena_release(&copying);
	arena_release(&borrowing);
}

/* Cut anywhere, and with a byte changed, both say the same. */
START_TEST(damage_is_told_as_it_was)
{
	Lance__Table__DataFragment fragment;
	Lance__Table__Transaction transaction;
	Lance__Table__Transaction__Append append;
	Lance__Table__DataFragment *fragments[] = { &fragment };
	static uint8_t ids[PB_BORROWED_MIN];
	struct buf bytes;

	lance__table__data_fragment__init(&fragment);
	lance__table__transaction__init(&transaction);
	lance__table__transaction__append__init(&append);
	fragment.id = 7;
	fragment.row_id_sequence_case = LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_INLINE_ROW_IDS;
	fragment.inline_row_ids = (ProtobufCBinaryData){ sizeof(ids), ids };
	append.fragments = fragments;
	append.n_fragments = 1;
	transaction.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_APPEND;
	transaction.append = &append;
	bytes = packed(&transaction.base);
	for (size_t size = 0; size <= bytes.size; size++)
		check_both(transaction.base.descriptor, slice_of(bytes.data, size));
	for (size_t at = 0; at < 40; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			bytes.data[at] ^= (uint8_t)(1u << bit);
			check_both(transaction.base.descriptor, buf_slice(&bytes));
			bytes.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	buf_release(&bytes);
}
END_TEST

UNIT_MAIN("pbborrow", UNIT_LOOP(messages_are_the_same, types),
	UNIT_TEST(long_values_stay_where_they_are), UNIT_TEST(damage_is_told_as_it_was))

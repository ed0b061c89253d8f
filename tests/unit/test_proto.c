/* What our messages keep when they are read and written again: fields that this build doesn't know,
 * and NUL bytes in text. */
#include <string.h>

#include "lance/index.pb-c.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "unit.h"
#include "util/pbunpack.h"
#include "util/slice.h"

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }
#define UNKNOWN     "\x98\x3f\x2a\xa2\x3f\x03h\0i\xad\x3f\1\2\3\4" /* 1011, 1012, 1013 */

static const struct {
	const char *label;
	const ProtobufCMessageDescriptor *type;
	struct slice bytes;
} messages[] = {
	{ "manifest", &lance__table__manifest__descriptor, BYTES("\x18\x05" UNKNOWN) },
	{ "fields below a manifest", &lance__table__manifest__descriptor,
	  BYTES("\x12\x11\x08\x07" UNKNOWN "\x18\x05") },
	{ "fragment", &lance__table__data_fragment__descriptor, BYTES("\x08\x07" UNKNOWN) },
	{ "data file", &lance__table__data_file__descriptor, BYTES("\x0a\x03\0a\0" UNKNOWN) },
	{ "index", &lance__table__index_metadata__descriptor, BYTES("\x1a\x03i\0x" UNKNOWN) },
	{ "transaction", &lance__table__transaction__descriptor,
	  BYTES("\x08\x05\x12\x03u\0u" UNKNOWN) },
	{ "clone", &lance__table__transaction__clone__descriptor,
	  BYTES("\x12\x03\0\0r" UNKNOWN) },
};

START_TEST(unknown_fields_and_nul_survive_a_round_trip)
{
	struct slice in = messages[_i].bytes;
	ProtobufCMessage *message =
		protobuf_c_message_unpack(messages[_i].type, NULL, in.size, in.data);
	uint8_t out[128];

	ck_assert_msg(message != NULL, "%s", messages[_i].label);
	ck_assert_uint_eq(protobuf_c_message_get_packed_size(message), in.size);
	ck_assert_uint_eq(protobuf_c_message_pack(message, out), in.size);
	ck_assert_msg(memcmp(out, in.data, in.size) == 0, "%s", messages[_i].label);
	protobuf_c_message_free_unpacked(message, NULL);
}
END_TEST

static const struct {
	const char *label;
	struct slice bytes;
	int code;
} zeros[] = {
	{ "none", { (const uint8_t *)"\x20\x05\xf8\x07\x01", 5 }, LANCET_OK },
	{ "first", { (const uint8_t *)"\x00\x40\x20\x05", 4 }, LANCET_CORRUPT },
	{ "in the middle", { (const uint8_t *)"\x20\x05\x00\x40\x20\x05", 6 }, LANCET_CORRUPT },
	{ "in a list", { (const uint8_t *)"\x12\x04\x08\x01\x00\x40", 6 }, LANCET_CORRUPT },
	{ "in a member", { (const uint8_t *)"\x1a\x04\x18\x01\x00\x40", 6 }, LANCET_CORRUPT },
	{ "in an arm", { (const uint8_t *)"\x62\x02\x00\x40", 4 }, LANCET_CORRUPT },
};

/* Nobody else reads what has one, and what we write anew would have it. */
START_TEST(fields_of_number_0_are_refused)
{
	struct arena arena = { 0 };
	struct lancet_error err = { 0 };
	Lance__Table__DataFragment *message = NULL;
	int rc = pb_unpack(
		&lance__table__data_fragment__descriptor, zeros[_i].bytes, &arena, &message, &err);

	ck_assert_msg(rc == zeros[_i].code, "%s: %d: %s", zeros[_i].label, rc, err.text);
	ck_assert_msg((rc == LANCET_OK) == (message != NULL), "%s", zeros[_i].label);
	arena_release(&arena);
}
END_TEST

UNIT_MAIN("proto", UNIT_LOOP(unknown_fields_and_nul_survive_a_round_trip, messages),
	UNIT_LOOP(fields_of_number_0_are_refused, zeros))

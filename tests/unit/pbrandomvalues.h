/* The values of pbrandom.h: a generator of numbers, and what is picked by them. */
#ifndef TESTS_PBRANDOMVALUES_H
#define TESTS_PBRANDOMVALUES_H

#include <protobuf-c/protobuf-c.h>

#include "core/pbjson_fields.h"
#include "util/arena.h"
#include "util/macros.h"

#include <string.h>

struct pbrandom {
	struct arena *arena;
	uint64_t state; /* not 0 */
	unsigned depth;
};

static inline uint64_t
pbrandom_next(struct pbrandom *random)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state;
}

static inline bool
pbrandom_one_in(struct pbrandom *random, unsigned n)
{
	return pbrandom_next(random) >> 32 < (UINT64_C(1) << 32) / n;
}

static inline uint64_t
pbrandom_number(struct pbrandom *random)
{
	static const uint64_t picked[] = { 0, 1, 2, 127, 128, INT32_MAX, UINT32_MAX,
		UINT64_C(1) << 53, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX };
	uint64_t which = pbrandom_next(random) >> 32;

	return which % 3 == 0 ? pbrandom_next(random) : picked[which / 3 % ARRAY_SIZE(picked)];
}

static inline ProtobufCBinaryData
pbrandom_bytes(struct pbrandom *random)
{
	static const struct {
		size_t size;
		const char *bytes;
	} picked[] = {
		{ 0, "" },
		{ 1, "a" },
		{ 3, "a\0b" },
		{ 2, "\1\1" },
		{ 2, "\1\0" },
		{ 6, "\"\\/\n\t\x7f" },
		{ 4, "\xf0\x9f\x98\x80" },
		{ 2, "\xff\xfe" },
		{ 3, "\xd7\x6d\xf8" }, /* base64 1234 */
		{ 11, "base64:YQ==" },
		{ 8, "base64:!" },
		{ 5, "12345" },
		{ 16, "0123456789abcdef" },
	};
	uint64_t which = (pbrandom_next(random) >> 32) % ARRAY_SIZE(picked);

	return (ProtobufCBinaryData){ picked[which].size,
		arena_copy(random->arena, picked[which].bytes, picked[which].size + 1) };
}

static inline void
pbrandom_unknown(struct pbrandom *random, ProtobufCMessage *message)
{
	static const struct {
		ProtobufCWireType wire;
		size_t size;
		const char *bytes;
	} picked[] = {
		{ PROTOBUF_C_WIRE_TYPE_VARINT, 1, "\x05" },
		{ PROTOBUF_C_WIRE_TYPE_VARINT, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" },
		{ PROTOBUF_C_WIRE_TYPE_64BIT, 8, "\1\0\0\0\0\0\0\x80" },
		{ PROTOBUF_C_WIRE_TYPE_32BIT, 4, "\1\0\0\x80" },
		{ PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 1, "\0" },
		{ PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 4, "\3\xd7\x6d\xf8" },
		{ PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 3, "\2\xff\xfe" },
	};
	unsigned count = 1 + (unsigned)(pbrandom_next(random) >> 33) % 3;

	message->unknown_fields =
		arena_zalloc(random->arena, count, sizeof(message->unknown_fields[0]));
	message->n_unknown_fields = count;
	for (unsigned i = 0; i < count; i++) {
		size_t which = (size_t)(pbrandom_next(random) >> 33) % ARRAY_SIZE(picked);

		message->unknown_fields[i] = (ProtobufCMessageUnknownField){ 700 + i / 2,
			picked[which].wire, picked[which].size,
			arena_copy(random->arena, picked[which].bytes, picked[which].size) };
	}
}

#endif

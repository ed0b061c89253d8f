/* Whether two values of messages are the same. */
#ifndef CORE_PBSAME_H
#define CORE_PBSAME_H

#include <stdint.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "util/slice.h"

static inline bool
pbsame_bytes(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
	return slice_equal(slice_of(a.data, a.len), slice_of(b.data, b.len));
}

static inline bool
pbsame_numbers(const int32_t *a, size_t a_count, const int32_t *b, size_t b_count)
{
	return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

/* Of a base id that may be absent. */
static inline bool
pbsame_base(bool a_has, uint32_t a, bool b_has, uint32_t b)
{
	return a_has == b_has && (!a_has || a == b);
}

#endif

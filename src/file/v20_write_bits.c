/* Integers of 2.0 pages without the bits that none of them needs: a stream of bits, the lowest bit
 * of a value first. Format facts: v2.0 page encodings, Bitpacked.
 */
#include <assert.h>

#include "util/bits.h"
#include "util/macros.h"
#include "v20_write.h"

/* Bits that differ from the sign, if there is one, in any of the values. */
#define GATHER(type)                                                                               \
	do {                                                                                       \
		for (uint64_t i = 0; i < count; i++) {                                             \
			type value;                                                                \
			memcpy(&value, from + i * sizeof(value), sizeof(value));                   \
			used |= (uint64_t)value;                                                   \
			inner |= (uint64_t)value ^ -(uint64_t)(value >> (8 * sizeof(value) - 1));  \
		}                                                                                  \
	} while (0)

static unsigned
length_of(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

lancet_hot static void
gather(const uint8_t *from, uint64_t count, unsigned width, uint64_t *ret_used, uint64_t *ret_inner)
{
	uint64_t used = 0, inner = 0;

	switch (width) {
	case 1:
		GATHER(uint8_t);
		break;
	case 2:
		GATHER(uint16_t);
		break;
	case 4:
		GATHER(uint32_t);
		break;
	default:
		GATHER(uint64_t);
		break;
	}
	*ret_used = used;
	*ret_inner = inner;
}

unsigned
v20_bits_needed(const struct v20_values *values, bool *ret_signed)
{
	const struct field *field = values->array->field;
	unsigned width = field->bits / 8;
	uint64_t used, inner, mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
	unsigned plain, sign;

	gather(values->array->data.data + values->first * width, values->count, width, &used,
		&inner);
	plain = length_of(used);
	sign = length_of(inner & mask) + 1;
	*ret_signed = field->is_signed && sign < plain;
	if (*ret_signed)
		return sign;
	return plain == 0 ? 1 : plain;
}

static uint64_t
value_at(const uint8_t *from, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, from, width);
	return value;
}

lancet_hot static void
pack(const uint8_t *from, uint64_t count, unsigned width, unsigned bits, uint8_t *to)
{
	uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	unsigned __int128 pending = 0;
	unsigned held = 0;

	for (uint64_t i = 0; i < count; i++) {
		pending |= (unsigned __int128)(value_at(from + i * width, width) & mask) << held;
		for (held += bits; held >= 64; held -= 64) {
			uint64_t word = (uint64_t)pending;

			memcpy(to, &word, sizeof(word));
			to += sizeof(word);
			pending >>= 64;
		}
	}
	for (; held > 0; held = held > 8 ? held - 8 : 0) {
		*to++ = (uint8_t)pending;
		pending >>= 8;
	}
}

void
v20_pack_bits(const struct v20_values *values, unsigned bits, struct buf *into)
{
	unsigned width = values->array->field->bits / 8;
	size_t size = (size_t)bits_size(values->count * bits);

	assert(width <= 8 && bits <= 8 * width);
	if (!buf_reserve(into, size))
		return;
	pack(values->array->data.data + values->first * width, values->count, width, bits,
		into->data + into->size);
	into->size += size;
}

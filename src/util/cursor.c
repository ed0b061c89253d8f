/* Bounds-checked reading of little-endian bytes; see cursor.h for the rule of sticky failure.
 *
 * All comparisons are made against what is left, never against a sum that hostile sizes could wrap.
 */
#include "cursor.h"

#include <assert.h>

#define VARINT_SIZE_MAX 10

uint16_t
load_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t
load_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

uint64_t
load_u64(const uint8_t *at)
{
	return (uint64_t)load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

struct slice
cursor_take(struct cursor *c, uint64_t size)
{
	const uint8_t *from;

	assert(c->at <= c->in.size);
	if (c->bad || size > c->in.size - c->at) {
		c->bad = true;
		return (struct slice){ 0 };
	}
	if (size == 0) /* in.data may be NULL, to which nothing may be added */
		return (struct slice){ c->in.data, 0 };
	from = c->in.data + c->at;
	c->at += (size_t)size;
	return (struct slice){ from, (size_t)size };
}

void
cursor_skip(struct cursor *c, uint64_t size)
{
	(void)cursor_take(c, size);
}

size_t
cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : c->in.size - c->at;
}

uint8_t
cursor_u8(struct cursor *c)
{
	struct slice s = cursor_take(c, 1);

	return s.size == 1 ? s.data[0] : 0;
}

uint16_t
cursor_u16(struct cursor *c)
{
	struct slice s = cursor_take(c, 2);

	return s.size == 2 ? load_u16(s.data) : 0;
}

uint32_t
cursor_u32(struct cursor *c)
{
	struct slice s = cursor_take(c, 4);

	return s.size == 4 ? load_u32(s.data) : 0;
}

uint64_t
cursor_u64(struct cursor *c)
{
	struct slice s = cursor_take(c, 8);

	return s.size == 8 ? load_u64(s.data) : 0;
}

uint64_t
cursor_varint(struct cursor *c)
{
	size_t left = cursor_left(c);
	const uint8_t *from = left == 0 ? NULL : c->in.data + c->at;
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_SIZE_MAX && i < left; i++) {
		uint64_t bits = from[i] & 0x7f;

		if (i == VARINT_SIZE_MAX - 1 && from[i] > 1)
			break; /* more than 64 bits, or an eleventh byte */
		value |= bits << (7 * i);
		if (from[i] < 0x80) {
			c->at += i + 1;
			return value;
		}
	}
	c->bad = true;
	return 0;
}

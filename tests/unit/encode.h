/* Messages made by hand for tests: protobuf fields, and the segments of row id sequences.
 *
 * Written from the format facts, without the code under test. Buffers are the caller's.
 */
#ifndef TESTS_ENCODE_H
#define TESTS_ENCODE_H

#include "util/buf.h"

#include <stdlib.h>

static inline void
put_varint(struct buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_put_byte(b, (uint8_t)(value | 0x80));
	buf_put_byte(b, (uint8_t)value);
}

static inline void
put_number(struct buf *b, unsigned field, uint64_t value)
{
	put_varint(b, field << 3);
	put_varint(b, value);
}

static inline void
put_head(struct buf *b, unsigned field, uint64_t size)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, size);
}

/* A length-delimited field; takes the content. */
static inline void
put_message(struct buf *b, unsigned field, struct buf *content)
{
	put_head(b, field, content->size);
	buf_put(b, content->data, content->size);
	buf_release(content);
}

/* EncodedU64Array of `width` bytes an element; values are stored less base. */
static inline void
put_array(struct buf *b, unsigned width, uint64_t base, const uint64_t *values, size_t count)
{
	struct buf body = { 0 };

	if (width != 8)
		put_number(&body, 1, base);
	put_head(&body, 2, count * width);
	for (size_t i = 0; i < count; i++) {
		uint64_t stored = width == 8 ? values[i] : values[i] - base;

		for (unsigned j = 0; j < width; j++)
			buf_put_byte(&body, (uint8_t)(stored >> 8 * j));
	}
	put_message(b, width == 2 ? 1 : width == 4 ? 2 : 3, &body);
}

static inline void
put_range(struct buf *b, uint64_t start, uint64_t end)
{
	struct buf body = { 0 };

	put_number(&body, 1, start);
	put_number(&body, 2, end);
	put_message(b, 1, &body);
}

static inline void
put_holes(struct buf *b, uint64_t start, uint64_t end, unsigned width, const uint64_t *holes,
	size_t count)
{
	struct buf body = { 0 };
	struct buf array = { 0 };

	put_number(&body, 1, start);
	put_number(&body, 2, end);
	put_array(&array, width, start, holes, count);
	put_message(&body, 3, &array);
	put_message(b, 2, &body);
}

/* present[i] tells whether start + i is a value. */
static inline void
put_bitmap(struct buf *b, uint64_t start, uint64_t span, const bool *present)
{
	struct buf body = { 0 };

	put_number(&body, 1, start);
	put_number(&body, 2, start + span);
	put_head(&body, 3, (span + 7) / 8);
	for (uint64_t i = 0; i < span; i += 8) {
		uint8_t byte = 0;

		for (unsigned j = 0; j < 8 && i + j < span; j++)
			byte |= (uint8_t)(present[i + j] << j);
		buf_put_byte(&body, byte);
	}
	put_message(b, 3, &body);
}

/* SortedArray (4) or Array (5). */
static inline void
put_values(struct buf *b, unsigned kind, unsigned width, uint64_t base, const uint64_t *values,
	size_t count)
{
	struct buf array = { 0 };

	put_array(&array, width, base, values, count);
	put_message(b, kind, &array);
}

static inline struct buf
from_hex(const char *hex)
{
	struct buf b = { 0 };

	for (; hex[0] != '\0'; hex += 2) {
		const char pair[3] = { hex[0], hex[1], '\0' };

		buf_put_byte(&b, (uint8_t)strtoul(pair, NULL, 16));
	}
	return b;
}

/* A fixed stream of numbers (xorshift), the same on every run. */
static inline uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Puts a message head in front: its tag and length, the payload to come counted. */
static inline void
wrap_head(struct buf *head, unsigned field, uint64_t payload)
{
	struct buf outer = { 0 };

	put_head(&outer, field, head->size + payload);
	buf_put(&outer, head->data, head->size);
	buf_release(head);
	*head = outer;
}

#endif

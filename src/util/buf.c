/* The growable buffer of buf.h.
 *
 * Invariant: size <= capacity, and capacity + 1 bytes are allocated once data is not NULL, so that
 * printf's NUL always has room without counting against the limit.
 */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY_MIN 64

void
buf_release(struct buf *b)
{
	if (b == NULL)
		return;
	free(b->data);
	*b = (struct buf){ .limit = b->limit };
}

static size_t
next_capacity(const struct buf *b, size_t needed)
{
	size_t capacity = b->capacity < CAPACITY_MIN ? CAPACITY_MIN : b->capacity;

	while (capacity < needed)
		capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
	return b->limit != 0 && capacity > b->limit ? b->limit : capacity;
}

/* The rare half of reserve: the room is not there, or nothing may be written any more. */
static bool
grow(struct buf *b, size_t more)
{
	size_t capacity;
	uint8_t *data;

	if (b->failed != LANCET_OK)
		return false;
	if (b->limit != 0 && (b->size > b->limit || more > b->limit - b->size)) {
		b->failed = LANCET_LIMIT;
		return false;
	}
	if (more >= SIZE_MAX - b->size) {
		b->failed = LANCET_NO_MEMORY;
		return false;
	}
	capacity = next_capacity(b, b->size + more);
	data = realloc(b->data, capacity + 1);
	if (data == NULL) {
		b->failed = LANCET_NO_MEMORY;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

/* Small enough to be inlined into every writer below, which are called once per token of output. */
static inline bool
reserve(struct buf *b, size_t more)
{
	if (b->failed == LANCET_OK && b->data != NULL && more <= b->capacity - b->size)
		return true;
	return grow(b, more);
}

bool
buf_reserve(struct buf *b, size_t more)
{
	return reserve(b, more);
}

void
buf_put(struct buf *b, const void *data, size_t size)
{
	if (size == 0 || !reserve(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void
buf_put_slice(struct buf *b, struct slice s)
{
	buf_put(b, s.data, s.size);
}

void
buf_put_text(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

void
buf_put_byte(struct buf *b, uint8_t byte)
{
	if (reserve(b, 1))
		b->data[b->size++] = byte;
}

void
buf_put_varint(struct buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_put_byte(b, (uint8_t)(value | 0x80));
	buf_put_byte(b, (uint8_t)value);
}

void
buf_fill(struct buf *b, uint8_t byte, size_t count)
{
	if (count == 0 || !reserve(b, count))
		return;
	memset(b->data + b->size, byte, count);
	b->size += count;
}

/* Formats into what is free. True when all of it fit; *ret_size is what it takes. */
LANCET_PRINTF(3, 0)
static bool
format(struct buf *b, size_t *ret_size, const char *fmt, va_list args)
{
	size_t room = b->capacity - b->size;
	int size = vsnprintf((char *)b->data + b->size, room + 1, fmt, args);

	if (size < 0) {
		b->failed = LANCET_INVALID;
		return false;
	}
	*ret_size = (size_t)size;
	if ((size_t)size > room)
		return false;
	b->size += (size_t)size;
	return true;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	size_t size = 0;
	va_list args;
	bool done;

	if (!reserve(b, 0))
		return;
	va_start(args, fmt);
	done = format(b, &size, fmt, args);
	va_end(args);
	if (done || !reserve(b, size))
		return;
	va_start(args, fmt);
	(void)format(b, &size, fmt, args);
	va_end(args);
}

int
buf_check(const struct buf *b, const char *what, struct lancet_error *err)
{
	switch (b->failed) {
	case LANCET_OK:
		return LANCET_OK;
	case LANCET_LIMIT:
		return lancet_fail(err, LANCET_LIMIT, "%s: more than %zu bytes", what, b->limit);
	case LANCET_NO_MEMORY:
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", what);
	default:
		return lancet_fail(err, b->failed, "%s: can't be rendered", what);
	}
}

struct slice
buf_slice(const struct buf *b)
{
	return (struct slice){ b->data, b->size };
}

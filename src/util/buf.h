/* A growable byte buffer with sticky failure: writers append, and check `failed` once at the end.
 *
 * `limit` (bytes, 0 = none) bounds what hostile input can make us render; passing it sets `failed`
 * with LANCET_LIMIT, running out of memory sets it with LANCET_NO_MEMORY. Once failed, the content
 * does not grow any more. Zero-initialised storage is a valid empty buffer.
 */
#ifndef UTIL_BUF_H
#define UTIL_BUF_H

#include "slice.h"
#include <lancet/error.h>

struct buf {
	uint8_t *data;
	size_t size;
	size_t capacity;
	size_t limit;
	enum lancet_code failed; /* LANCET_OK while all is well */
};

void buf_release(struct buf *b);
bool buf_reserve(struct buf *b, size_t more);
void buf_put(struct buf *b, const void *data, size_t size);
void buf_put_slice(struct buf *b, struct slice s);
void buf_put_text(struct buf *b, const char *text);
void buf_put_byte(struct buf *b, uint8_t byte);
void buf_put_varint(struct buf *b, uint64_t value); /* as protobuf has it */
void buf_fill(struct buf *b, uint8_t byte, size_t count);
void buf_printf(struct buf *b, const char *fmt, ...) LANCET_PRINTF(2, 3);
/* LANCET_OK, or the sticky failure put into err with `what` as its subject. */
int buf_check(const struct buf *b, const char *what, struct lancet_error *err);
struct slice buf_slice(const struct buf *b);

#endif

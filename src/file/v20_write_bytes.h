/* Buffers of 2.0 pages that may be compressed as a whole. */
#ifndef FILE_V20_WRITE_BYTES_H
#define FILE_V20_WRITE_BYTES_H

#include "v20_write.h"

/* Flat 8 of bytes that belong to values of `field`. */
int v20_put_bytes(struct page_out *page, const struct field *field, struct slice bytes,
	struct buf *into, struct lancet_error *err);

#endif

/* Buffers of 2.0 pages that may be compressed as a whole. */
#ifndef FILE_V20_WRITE_BYTES_H
#define FILE_V20_WRITE_BYTES_H

#include "v20_write.h"

/* Flat of bytes, `bits` of them a value, that belong to values of `field`: compressed when that
 * makes much less of them than `others` bytes, what the best other way takes, or as they are. */
int v20_put_bytes(struct page_out *page, const struct field *field, uint64_t bits,
	struct slice bytes, struct buf *into, struct lancet_error *err);
/* True when it was compressed; without that nothing was done. */
int v20_try_zstd(struct page_out *page, const struct field *field, uint64_t bits,
	struct slice bytes, uint64_t others, struct buf *into, bool *ret_done,
	struct lancet_error *err);

#endif

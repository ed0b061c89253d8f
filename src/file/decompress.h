/* Compressed buffers: a size, and what zstd or lz4 made of that many bytes. */
#ifndef FILE_DECOMPRESS_H
#define FILE_DECOMPRESS_H

#include "scratch.h"
#include "util/slice.h"

enum decompress_scheme { DECOMPRESS_ZSTD, DECOMPRESS_LZ4 };

/* Appends to `into`, which grows to `size_max` bytes at most: LIMIT beyond that. CORRUPT: the size
 * that is announced can't come from so few bytes, or is not what comes out. An empty buffer gives
 * nothing. The size is checked before memory is taken for it. */
int decompress(enum decompress_scheme scheme, struct slice in, uint64_t size_max,
	struct scratch *scratch, struct buf *into, struct lancet_error *err);

#endif

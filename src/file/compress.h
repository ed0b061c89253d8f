/* The other way round of decompress.h: a size, and what zstd or lz4 makes of the bytes. */
#ifndef FILE_COMPRESS_H
#define FILE_COMPRESS_H

#include "decompress.h"

struct compressor {
	enum decompress_scheme scheme;
	int level;     /* of zstd; 0: the library's default */
	int match_min; /* of zstd: bytes of a match; 0: what the level says */
	bool quick;    /* zstd is to look for matches where they are found fast, if not as many */
	bool symbols;  /* zstd is to look for no matches, and gives each byte its share of bits */
	void *zstd;    /* ZSTD_CCtx, made when first needed */
};

void compressor_release(struct compressor *compressor);
/* Appends the parts as one buffer. Each of them ends a zstd block, so that statistics of one don't
 * spoil the next. LIMIT: more than lz4 takes. */
int compress_parts(struct compressor *compressor, const struct slice *parts, size_t count,
	struct buf *into, struct lancet_error *err);
int compress(
	struct compressor *compressor, struct slice in, struct buf *into, struct lancet_error *err);

#endif

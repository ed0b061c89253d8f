/* The other way round of fsst.h: a symbol table made from a sample, and values as its codes. */
#ifndef FILE_FSST_BUILD_H
#define FILE_FSST_BUILD_H

#include <lancet/error.h>
#include "util/buf.h"

#define FSST_TABLE_BYTES 2312u
#define FSST_SYMBOLS_MAX 255u /* code 255 is the escape */
#define FSST_SYMBOL_SIZE 8u   /* bytes, at most */

struct fsst_symbol {
	uint64_t bytes; /* first one lowest, zero behind the last */
	uint32_t size;
};

#define FSST_BUCKETS 4096u

/* Symbols in order: those of three bytes and more by a hash of the first three, longer ones first;
 * then the others, which are found by their bytes. What matches is a code, from 256 on a byte that
 * has none and is escaped, and above nine bits for it how many bytes match. */
struct fsst_symbols {
	unsigned count;
	struct fsst_symbol symbols[FSST_SYMBOLS_MAX];
	struct {
		uint8_t first, count;
	} buckets[FSST_BUCKETS];
	uint16_t pairs[65536]; /* by two bytes: what matches when no longer one does */
	uint16_t singles[256]; /* by one */
};

/* Learns from values that are representative; some 16 KiB are enough, more are not looked at.
 * NO_MEMORY. The caller frees. */
int fsst_symbols_make(const struct slice *sample, size_t count, struct fsst_symbols **ret_symbols,
	struct lancet_error *err);
/* The table as files have it. */
void fsst_symbols_put(const struct fsst_symbols *symbols, struct buf *into);
/* Appends the codes of one value: at most twice its size. */
void fsst_compress(const struct fsst_symbols *symbols, struct slice value, struct buf *into);

#endif

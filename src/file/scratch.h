/* Working memory of one reading thread: buffers that are taken and given back in stack order, and
 * the decompression context. It keeps its capacity, so that decoding chunk after chunk allocates
 * nothing. */
#ifndef FILE_SCRATCH_H
#define FILE_SCRATCH_H

#include <lancet/error.h>
#include "util/buf.h"

#define SCRATCH_BUFFERS 24u /* deeper nesting of codecs is refused when they are opened */

struct scratch {
	struct buf buffers[SCRATCH_BUFFERS];
	unsigned used;
	void *zstd;       /* ZSTD_DCtx, made when first needed */
	uint64_t decoded; /* values that came out of codecs since the start: for counted tests */
};

void scratch_release(struct scratch *scratch);
/* An empty buffer; its limit is `limit` bytes (0 = none). NULL when all are taken. */
struct buf *scratch_take(struct scratch *scratch, size_t limit);
/* Gives back the one taken last. */
void scratch_give(struct scratch *scratch);

#endif

/* Working memory in stack order; see scratch.h. */
#include "scratch.h"

#include <assert.h>
#include <zstd.h>

void
scratch_release(struct scratch *scratch)
{
	assert(scratch->used == 0);
	for (unsigned i = 0; i < SCRATCH_BUFFERS; i++) {
		scratch->buffers[i].limit = 0;
		buf_release(&scratch->buffers[i]);
	}
	ZSTD_freeDCtx(scratch->zstd);
	scratch->zstd = NULL;
}

struct buf *
scratch_take(struct scratch *scratch, size_t limit)
{
	struct buf *taken;

	if (scratch->used == SCRATCH_BUFFERS)
		return NULL;
	taken = &scratch->buffers[scratch->used++];
	taken->size = 0;
	taken->limit = limit;
	taken->failed = LANCET_OK;
	return taken;
}

void
scratch_give(struct scratch *scratch)
{
	assert(scratch->used > 0);
	scratch->used--;
}

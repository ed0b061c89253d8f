/* Labels of many rows, two bytes each: in memory up to a limit, beyond it in a file without a name
 * below $TMPDIR (/var/tmp).
 *
 * They are put one after the other by one thread; after that many may read them. Zeroed storage is
 * an empty spool.
 */
#ifndef CORE_LABEL_SPOOL_H
#define CORE_LABEL_SPOOL_H

#include "util/buf.h"

struct label_spool {
	struct buf tail;  /* labels behind those in the file */
	uint64_t written; /* labels in the file */
	uint64_t count;   /* labels */
	size_t memory;    /* bytes that tail may take; 0: LABEL_SPOOL_MEMORY */
	int file;         /* descriptor + 1; 0: none */
};

#define LABEL_SPOOL_MEMORY ((size_t)32 << 20)

/* IO: the temporary file, with its errno. */
int label_spool_put(
	struct label_spool *spool, const uint16_t *labels, size_t count, struct lancet_error *err);
/* Labels [first, first + count), which were put. */
int label_spool_read(const struct label_spool *spool, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err);
void label_spool_release(struct label_spool *spool);

#endif

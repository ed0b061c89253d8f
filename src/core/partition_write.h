/* Inside of writing the outputs of a partition.
 *
 * A pass goes over the sources once and fills as many outputs as may be open at the same time: up
 * to 256, a quarter of the descriptors that the process may have, and what the memory holds. Most
 * partitions take one pass; one with all of 65535 outputs takes 256, each of which reads only the
 * rows that it needs. In a pass columns come one after the other, or a few at a time, and each
 * worker has columns of its own: a batch of rows is read, sorted by output, and handed to the
 * writers.
 */
#ifndef CORE_PARTITION_WRITE_H
#define CORE_PARTITION_WRITE_H

#include "data_schema.h"
#include "fragment_write.h"
#include "partition.h"

struct partition_pass {
	lancet_rewrite *rewrite;
	struct rewrite_task *task;
	lancet_change *change;
	struct rewrite_crew crew;
	struct data_schema schema;
	size_t outputs_max; /* of a pass */
	size_t root_group;  /* columns that a worker writes side by side */
	size_t batch_bytes, page_bytes;
	size_t first, count; /* outputs of this pass */
	struct fragment_writer **writers;
	size_t next_root; /* the first that nobody has taken; with the crew's lock */
};

/* partition_scatter.c: puts columns [first, first + count) of all rows of the pass. */
int partition_scatter(
	struct partition_pass *pass, size_t first, size_t count, struct lancet_error *err);

#endif

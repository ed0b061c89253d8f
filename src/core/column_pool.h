/* Readers of one column of plain numbers, shared without a lock.
 *
 * Each thread takes a reader of its own from a small pool that is filled and emptied by atomic
 * exchange, so no lock is on the read path. Readers keep the page that they read last.
 */
#ifndef CORE_COLUMN_POOL_H
#define CORE_COLUMN_POOL_H

#include <stdatomic.h>

#include "file/reader.h"

#define COLUMN_POOL_SIZE 8u

/* What one thread reads with. */
struct column_reader {
	struct field_reader *fields;
	struct array values; /* those read last */
	struct array_budget budget;
	uint64_t counted; /* of what it decoded */
};

struct column_pool {
	struct datafile *file;
	uint32_t column;
	const struct field *field;
	uint64_t rows;
	_Atomic(struct column_reader *) readers[COLUMN_POOL_SIZE];
	_Atomic uint64_t decoded;
};

/* CORRUPT: no such column, or one of another length. */
int column_check(struct datafile *file, uint32_t column, uint64_t rows, struct lancet_error *err);
/* Takes a reference of the file, and opens one reader, so that what is wrong is found here. `field`
 * is FIXED and outlives the pool. */
int column_pool_init(struct column_pool *pool, struct datafile *file, uint32_t column,
	const struct field *field, uint64_t rows, struct lancet_error *err);
void column_pool_release(struct column_pool *pool);

int column_pool_take(
	struct column_pool *pool, struct column_reader **ret_reader, struct lancet_error *err);
/* Takes the reader back; `rc` is how its last read ended: one that failed isn't used again. */
void column_pool_give(struct column_pool *pool, struct column_reader *reader, int rc);
/* The `rows` rows of the ranges, which ascend, become reader->values. */
int column_reader_read(struct column_reader *reader, const struct row_range *ranges, size_t count,
	size_t rows, struct lancet_error *err);
/* Values decoded by all readers that were given back. */
uint64_t column_pool_decoded(const struct column_pool *pool);

#endif

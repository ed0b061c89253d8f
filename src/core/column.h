/* Inside of lineage columns, for the modules of core that read or search many rows of one. */
#ifndef CORE_COLUMN_H
#define CORE_COLUMN_H

#include <lancet/column.h>
#include "file/reader.h"

/* values[i] = that of the i-th row of the ranges, which are ascending and inside the rows. */
int column_read_ranges(const lancet_column *column, const struct row_range *ranges, size_t count,
	uint64_t *values, struct lancet_error *err);

/* A row whose value is wanted[index]. What it returns other than LANCET_OK ends the search. */
typedef int (*column_found_fn)(void *user, uint64_t row, size_t index, struct lancet_error *err);
/* Finds all rows that have one of the wanted values (ascending, each once), in ascending order of
 * rows within each stretch of them. Runs of ids are not decoded. */
int column_find(const lancet_column *column, const uint64_t *wanted, size_t count,
	column_found_fn found, void *user, struct lancet_error *err);
/* Values that all reads and searches have decoded so far. */
uint64_t column_decoded(const lancet_column *column);

#endif

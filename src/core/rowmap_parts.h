/* Inside of a row map, for its own files. */
#ifndef CORE_ROWMAP_PARTS_H
#define CORE_ROWMAP_PARTS_H

#include "column_pool.h"
#include "rowmap_counts.h"

#define ROWMAP_PIECE_ROWS 16384u /* labels that are decoded at a time */

struct rowmap {
	struct datafile *file;
	struct rowmap_counts counts;
	struct column_pool labels;
	/* The address of each destination's first row; behind them, for deleted rows,
	 * LANCET_NO_ROW, which stays what it is whatever offset is put in. */
	uint64_t *bases;
	/* Marks: counts of our own between two of the file's, made when a block is first walked, so
	 * that a later read begins near its rows. */
	uint64_t mark_rows;         /* from mark to mark; 0: blocks have none */
	_Atomic(uint32_t *) *marks; /* by block; NULL: not walked yet */
};

/* Decides on marks. */
int rowmap_marks_init(struct rowmap *map, struct lancet_error *err);
void rowmap_marks_release(struct rowmap *map);

/* Labels of rows [first, first + count), count <= ROWMAP_PIECE_ROWS; those of deleted rows become
 * `null`, which is no destination. */
int rowmap_decode(struct rowmap *map, struct column_reader *reader, uint64_t first, size_t count,
	uint16_t null, uint16_t *labels, struct lancet_error *err);

#endif

/* What the files behind array.h share. */
#ifndef FILE_ARRAY_GROW_H
#define FILE_ARRAY_GROW_H

#include "array.h"

/* Room for `more` bytes in one of the array's buffers, counted against the budget. */
int array_grow(struct array *array, struct buf *buf, uint64_t more, struct lancet_error *err);
/* `count` more values, their slots aside: length, validity and null count. */
int array_lengthen(struct array *array, uint64_t count, bool valid, struct lancet_error *err);
/* LIST, MAP: as many values as [first, first + count) of another array, with as many items, which
 * the caller appends. */
int array_append_lists_of(struct array *array, const struct array *from, uint64_t first,
	uint64_t count, struct lancet_error *err);
unsigned array_offset_width(const struct array *array); /* bytes */

#endif

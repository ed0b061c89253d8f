/* What the files behind array.h share. */
#ifndef FILE_ARRAY_GROW_H
#define FILE_ARRAY_GROW_H

#include "array.h"

/* Room for `more` bytes in one of the array's buffers, counted against the budget. */
int array_grow(struct array *array, struct buf *buf, uint64_t more, struct lancet_error *err);
/* `count` more values, their slots aside: length, validity and null count. */
int array_lengthen(struct array *array, uint64_t count, bool valid, struct lancet_error *err);
unsigned array_offset_width(const struct array *array); /* bytes */

#endif

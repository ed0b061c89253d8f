/* The value of a constant page. */
#ifndef FILE_CONSTANT_VALUE_H
#define FILE_CONSTANT_VALUE_H

#include "array.h"

/* Appends the value that these little-endian bytes are: of a fixed width, which must be that of the
 * field; a bit takes a byte. */
int constant_value_put(struct slice bytes, struct array *value, struct lancet_error *err);
/* The same from a value buffer: u32 n, u32 sizes[n], then the parts: one of a fixed width, or the
 * two offsets and the bytes of a value of variable size. */
int constant_value_load(struct slice buffer, struct array *value, struct lancet_error *err);

#endif

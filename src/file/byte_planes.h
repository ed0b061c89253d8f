/* Values of 4 or 8 bytes as planes: byte b of value i is byte i of plane b, planes one behind the
 * other. Format facts: ByteStreamSplit. */
#ifndef FILE_BYTE_PLANES_H
#define FILE_BYTE_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* `width` is 4 or 8. Nothing need be aligned; values and planes don't overlap. Planes that are
 * split begin `stride` bytes apart: a power of two would have them push each other out of the
 * cache. */
void byte_planes_split(
	const uint8_t *values, size_t count, size_t width, uint8_t *restrict planes, size_t stride);
void byte_planes_join(const uint8_t *planes, size_t count, size_t width, uint8_t *restrict values);

#endif

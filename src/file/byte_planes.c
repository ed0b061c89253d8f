/* Transposing of bytes, 16 values at a time.
 *
 * Interleaving the bytes of the first half of some vectors with those of the second half turns the
 * binary digits of each byte's place round by one. The digits of a value's number (4) stand in
 * front of those of the byte's (3 or 2), or behind them: so many turns exchange the two.
 */
#include "byte_planes.h"

#include <string.h>

#include "util/macros.h"

#define STEP       16u /* values */
#define STEP_TURNS 4u  /* digits of a value's number */

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* All vectors at once: `half` is half their number. */
static inline __attribute__((always_inline)) void
turn(const bytes16 *in, unsigned half, bytes16 *out)
{
	for (unsigned i = 0; i < half; i++) {
		bytes16 a = in[i], b = in[i + half];

		out[2 * i] = __builtin_shufflevector(
			a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
		out[2 * i + 1] = __builtin_shufflevector(
			a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	}
}

/* `width` vectors, of which one begins every `in_stride` bytes, and ends up `out_stride` apart. */
static inline __attribute__((always_inline)) void
transpose(const uint8_t *in, size_t in_stride, unsigned width, unsigned turns, uint8_t *out,
	size_t out_stride)
{
	bytes16 vectors[8], turned[8];

	for (unsigned i = 0; i < width; i++)
		memcpy(&vectors[i], in + i * in_stride, sizeof(vectors[i]));
#pragma GCC unroll 4
	for (unsigned i = 0; i < turns; i++) {
		turn(vectors, width / 2, turned);
		memcpy(vectors, turned, sizeof(vectors));
	}
	for (unsigned i = 0; i < width; i++)
		memcpy(out + i * out_stride, &vectors[i], sizeof(vectors[i]));
}

lancet_hot void
byte_planes_split(
	const uint8_t *values, size_t count, size_t width, uint8_t *restrict planes, size_t stride)
{
	size_t i = 0;

	if (width == 8)
		for (; i + STEP <= count; i += STEP)
			transpose(values + 8 * i, STEP, 8, STEP_TURNS, planes + i, stride);
	else
		for (; i + STEP <= count; i += STEP)
			transpose(values + 4 * i, STEP, 4, STEP_TURNS, planes + i, stride);
	for (; i < count; i++)
		for (size_t k = 0; k < width; k++)
			planes[k * stride + i] = values[i * width + k];
}

lancet_hot void
byte_planes_join(const uint8_t *planes, size_t count, size_t width, uint8_t *restrict values)
{
	size_t i = 0;

	if (width == 8)
		for (; i + STEP <= count; i += STEP)
			transpose(planes + i, count, 8, 3, values + 8 * i, STEP);
	else
		for (; i + STEP <= count; i += STEP)
			transpose(planes + i, count, 4, 2, values + 4 * i, STEP);
	for (; i < count; i++)
		for (size_t k = 0; k < width; k++)
			values[i * width + k] = planes[k * count + i];
}

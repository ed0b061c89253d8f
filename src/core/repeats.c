/* Looking for repeated values among a few thousand; see repeats.h. */
#include "repeats.h"

#include <assert.h>
#include <string.h>

#include "util/macros.h"

#define SLOTS (2u * REPEATS_MAX)

/* Without branches, and without comparisons of unsigned numbers, which not all processors have for
 * vectors: where no top bit is set, a value is above the one before when that less it is negative.
 */
lancet_hot bool
values_ascend(const uint64_t *values, size_t count)
{
	uint64_t rises = UINT64_MAX, tops = count > 0 ? values[0] : 0;

	for (size_t i = 1; i < count; i++) {
		rises &= values[i - 1] - values[i];
		tops |= values[i];
	}
	if (tops >> 63 == 0)
		return rises >> 63 != 0;
	for (size_t i = 1; i < count; i++) {
		if (values[i] <= values[i - 1])
			return false;
	}
	return true;
}

bool
repeats_find(const uint64_t *values, size_t count, uint64_t *ret_value)
{
	uint16_t slots[SLOTS]; /* 1 + the place of a value, 0 = free */

	assert(count <= REPEATS_MAX);
	memset(slots, 0, sizeof(slots));
	for (size_t i = 0; i < count; i++) {
		size_t slot = (values[i] * 0x9e3779b97f4a7c15 >> 32) % SLOTS;

		for (; slots[slot] != 0; slot = (slot + 1) % SLOTS) {
			if (values[slots[slot] - 1] == values[i]) {
				*ret_value = values[i];
				return true;
			}
		}
		slots[slot] = (uint16_t)(i + 1);
	}
	return false;
}

/* Looking for repeated values among a few thousand; see repeats.h. */
#include "repeats.h"

#include <assert.h>
#include <string.h>

#define SLOTS (2u * REPEATS_MAX)

static bool
ascends(const uint64_t *values, size_t count)
{
	unsigned falls = 0;

	for (size_t i = 1; i < count; i++)
		falls |= values[i] <= values[i - 1];
	return falls == 0;
}

bool
repeats_find(const uint64_t *values, size_t count, uint64_t *ret_value)
{
	uint16_t slots[SLOTS]; /* 1 + the place of a value, 0 = free */

	assert(count <= REPEATS_MAX);
	if (ascends(values, count))
		return false;
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

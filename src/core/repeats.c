/* Looking for repeated values among a few thousand; see repeats.h. */
#include "repeats.h"

#include <assert.h>
#include <string.h>

#include "util/macros.h"

#define SLOTS_LOG 13u
#define SLOTS     (1u << SLOTS_LOG)
#define SIEVE_LOG 16u
#define SIEVE     (1u << SIEVE_LOG)

_Static_assert(SLOTS >= 2 * REPEATS_MAX, "half of the slots stay free");

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

static unsigned
hash(uint64_t value, unsigned bits)
{
	return (unsigned)(value * 0x9e3779b97f4a7c15u >> (64 - bits));
}

/* Looks at all of the values that are listed. */
static bool
find_among(const uint64_t *values, const uint16_t *list, size_t count, uint64_t *ret_value)
{
	uint16_t slots[SLOTS]; /* 1 + the place of a value, 0 = free */

	memset(slots, 0, sizeof(slots));
	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[list[i]];
		size_t slot = hash(value, SLOTS_LOG);

		for (; slots[slot] != 0; slot = (slot + 1) % SLOTS) {
			if (values[slots[slot] - 1] == value) {
				*ret_value = value;
				return true;
			}
		}
		slots[slot] = (uint16_t)(list[i] + 1);
	}
	return false;
}

/* Most values are sifted out: those whose bit no other value has. */
bool
repeats_find(const uint64_t *values, size_t count, uint64_t *ret_value)
{
	uint64_t met[SIEVE / 64] = { 0 }, again[SIEVE / 64] = { 0 };
	uint16_t list[REPEATS_MAX];
	size_t listed = 0;

	assert(count <= REPEATS_MAX);
	for (size_t i = 0; i < count; i++) {
		unsigned bit = hash(values[i], SIEVE_LOG);
		uint64_t one = UINT64_C(1) << bit % 64, *word = &met[bit / 64];

		again[bit / 64] |= *word & one;
		*word |= one;
	}
	for (size_t i = 0; i < count; i++) {
		unsigned bit = hash(values[i], SIEVE_LOG);

		list[listed] = (uint16_t)i;
		listed += again[bit / 64] >> bit % 64 & 1;
	}
	return listed > 0 && find_among(values, list, listed, ret_value);
}

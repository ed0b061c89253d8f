/* Putting addresses in order: a radix sort over those bits in which they differ, and the merge of
 * two ascending lists. */
#include "translate.h"

#include <assert.h>
#include <string.h>

#include "util/macros.h"

#define FEW           32u   /* items that are inserted one by one */
#define MANY          8192u /* from here on larger digits pay */
#define DIGIT_BITS    8u
#define DIGIT_BITS_AT 11u /* of many */

static void
insert_sorted(struct translate_items *items, uint64_t mask)
{
	for (size_t i = 1; i < items->count; i++) {
		uint64_t addr = items->row_addrs[i];
		uint32_t place = items->places[i];
		size_t at = i;

		for (; at > 0 && (items->row_addrs[at - 1] & mask) > (addr & mask); at--) {
			items->row_addrs[at] = items->row_addrs[at - 1];
			items->places[at] = items->places[at - 1];
		}
		items->row_addrs[at] = addr;
		items->places[at] = place;
	}
}

/* Moves the items to `to`, stable, by `bits` bits of their addresses from `shift` on. */
static void
distribute(struct translate_items *to, const struct translate_items *from, unsigned shift,
	unsigned bits)
{
	uint32_t starts[1u << DIGIT_BITS_AT] = { 0 };
	uint64_t digit_mask = (UINT64_C(1) << bits) - 1;
	uint32_t sum = 0;

	for (size_t i = 0; i < from->count; i++)
		starts[from->row_addrs[i] >> shift & digit_mask]++;
	for (size_t digit = 0; digit <= digit_mask; digit++) {
		uint32_t count = starts[digit];

		starts[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < from->count; i++) {
		uint64_t addr = from->row_addrs[i];
		uint32_t at = starts[addr >> shift & digit_mask]++;

		to->row_addrs[at] = addr;
		to->places[at] = from->places[i];
	}
	to->count = from->count;
}

/* The bits of mask in which the items differ; none when they are in order. */
static uint64_t
differing(const struct translate_items *items, uint64_t mask)
{
	uint64_t bits = 0;
	bool falls = false;

	for (size_t i = 1; i < items->count; i++) {
		bits |= items->row_addrs[i] ^ items->row_addrs[i - 1];
		falls |= (items->row_addrs[i] & mask) < (items->row_addrs[i - 1] & mask);
	}
	return falls ? bits & mask : 0;
}

static void
copy_items(struct translate_items *to, const struct translate_items *from)
{
	memcpy(to->row_addrs, from->row_addrs, from->count * sizeof(*to->row_addrs));
	memcpy(to->places, from->places, from->count * sizeof(*to->places));
	to->count = from->count;
}

void
translate_sort(struct translate_items *items, const struct translate_items *scratch, uint64_t mask)
{
	unsigned bits = items->count < MANY ? DIGIT_BITS : DIGIT_BITS_AT;
	uint64_t left = differing(items, mask);
	struct translate_items from = *items, to = *scratch;

	if (items->count <= FEW && left != 0) {
		insert_sorted(items, mask);
		return;
	}
	while (left != 0) {
		unsigned shift = (unsigned)__builtin_ctzll(left);
		const struct translate_items moved = from;

		/* a digit may reach beyond mask: bits that don't differ don't matter, and those
		 * above are sorted by next */
		distribute(&to, &from, shift, bits);
		from = to;
		to = moved;
		left &= ~(((UINT64_C(1) << bits) - 1) << shift);
	}
	if (from.row_addrs != items->row_addrs)
		copy_items(items, &from);
}

void
translate_merge(struct translate_items *into, const struct translate_items *more)
{
	size_t left = into->count, right = more->count, at = left + right;

	into->count = at;
	while (right > 0) {
		bool take_left = left > 0 && into->row_addrs[left - 1] > more->row_addrs[right - 1];
		const struct translate_items *from = take_left ? into : more;
		size_t *take = take_left ? &left : &right;

		at--;
		(*take)--;
		into->row_addrs[at] = from->row_addrs[*take];
		into->places[at] = from->places[*take];
	}
}

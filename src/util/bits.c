/* Runs of bits at any position, moved whole bytes at a time; see bits.h. */
#include "bits.h"

#include <string.h>

static uint8_t
low_mask(uint64_t count)
{
	return count >= 8 ? 0xff : (uint8_t)((1u << count) - 1);
}

/* Up to 8 bits at any position; `count` tells how many are there to be read. */
static uint8_t
take_byte(const uint8_t *from, uint64_t at, uint64_t count)
{
	unsigned shift = at & 7;
	unsigned value = from[at >> 3] >> shift;

	if (shift != 0 && count > 8 - shift)
		value |= (unsigned)from[(at >> 3) + 1] << (8 - shift);
	return (uint8_t)value & low_mask(count);
}

static void
put_byte(uint8_t *to, uint64_t at, uint8_t value, uint64_t count)
{
	unsigned shift = at & 7;
	uint8_t mask = low_mask(count);
	uint8_t *byte = to + (at >> 3);

	*byte = (uint8_t)((*byte & ~(unsigned)(mask << shift)) | (unsigned)value << shift);
	if (shift != 0 && count > 8 - shift)
		byte[1] = (uint8_t)((byte[1] & ~(unsigned)(mask >> (8 - shift))) |
				    value >> (8 - shift));
}

void
bits_copy(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t count)
{
	uint64_t head = (8 - (to_bit & 7)) & 7;

	if (head > count)
		head = count;
	if (head > 0) {
		put_byte(to, to_bit, take_byte(from, from_bit, head), head);
		to_bit += head;
		from_bit += head;
		count -= head;
	}
	if (count >= 8 && (from_bit & 7) == 0) {
		memcpy(to + (to_bit >> 3), from + (from_bit >> 3), (size_t)(count >> 3));
		to_bit += count & ~UINT64_C(7);
		from_bit += count & ~UINT64_C(7);
		count &= 7;
	}
	for (; count >= 8; count -= 8, to_bit += 8, from_bit += 8)
		to[to_bit >> 3] = take_byte(from, from_bit, 9);
	if (count > 0)
		put_byte(to, to_bit, take_byte(from, from_bit, count), count);
}

void
bits_fill(uint8_t *to, uint64_t first, uint64_t count, bool value)
{
	uint8_t fill = value ? 0xff : 0;
	uint64_t head = (8 - (first & 7)) & 7;

	if (head > count)
		head = count;
	if (head > 0)
		put_byte(to, first, fill & low_mask(head), head);
	first += head;
	count -= head;
	if (count >= 8)
		memset(to + (first >> 3), fill, (size_t)(count >> 3));
	first += count & ~UINT64_C(7);
	count &= 7;
	if (count > 0)
		put_byte(to, first, fill & low_mask(count), count);
}

static inline __attribute__((always_inline)) uint64_t
count_words(const uint8_t *words, size_t count)
{
	uint64_t ones = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, words + 8 * i, sizeof(word));
		ones += (unsigned)__builtin_popcountll(word);
	}
	return ones;
}

#ifdef __x86_64__
/* Nearly all processors have an instruction for it, but not all that the rest is compiled for. */
__attribute__((target("popcnt"))) static uint64_t
count_words_at_once(const uint8_t *words, size_t count)
{
	return count_words(words, count);
}
#endif

static uint64_t
words_count(const uint8_t *words, size_t count)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("popcnt"))
		return count_words_at_once(words, count);
#endif
	return count_words(words, count);
}

uint64_t
bits_count(const uint8_t *bitmap, uint64_t first, uint64_t count)
{
	uint64_t ones = 0;

	for (; count > 0 && (first & 7) != 0; first++, count--)
		ones += bits_get(bitmap, first);
	bitmap += first >> 3;
	ones += words_count(bitmap, (size_t)(count / 64));
	bitmap += count / 64 * 8;
	for (uint64_t i = 0; i < count % 64; i++)
		ones += bits_get(bitmap, i);
	return ones;
}

/* Shortest digits; see number.h.
 *
 * Most numbers that people store have few decimals: m / 10^k with m < 2^53 and k <= 22 is correctly
 * rounded, since both are exact, so trying k upwards finds the shortest such text with a division
 * each. What is left goes through printf with growing precision. A value narrower than double is
 * met when the text lies between the two points half-way to its neighbours, which are exact in
 * double.
 */
#include "number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

#define EXACT_MAX   9007199254740992.0 /* 2^53 */
#define SMALL_MIN   1e-5               /* below, an exponent is shorter than zeros */
#define DECIMAL_MAX 22

static const double powers[DECIMAL_MAX + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/* What reads back as a positive value: all between the two, or the value itself. */
struct range {
	double value, above, below; /* above and below are excluded; equal to value: only that */
	int digits_min, digits_max;
};

static bool
meets(const struct range *range, double got)
{
	if (range->above == range->value)
		return got == range->value;
	return got > range->below && got < range->above;
}

static void
put_decimals(struct buf *b, uint64_t digits, unsigned decimals)
{
	uint8_t text[32];
	size_t size = 0;

	do {
		text[sizeof(text) - ++size] = (uint8_t)('0' + digits % 10);
		digits /= 10;
		if (size == decimals)
			text[sizeof(text) - ++size] = '.';
	} while (digits > 0 || size < decimals + 2);
	buf_put(b, text + sizeof(text) - size, size);
}

static bool
put_plain(struct buf *b, const struct range *range)
{
	if ((range->value != 0 && range->value < SMALL_MIN) ||
		range->value >= powers[range->digits_max])
		return false;
	for (unsigned k = 0; k <= DECIMAL_MAX && range->value * powers[k] < EXACT_MAX - 1; k++) {
		uint64_t digits = (uint64_t)(range->value * powers[k] + 0.5);

		if (!meets(range, (double)digits / powers[k]))
			continue;
		if (k == 0) {
			buf_put_u64(b, 0, digits);
			buf_put_text(b, ".0");
		} else {
			put_decimals(b, digits, k);
		}
		return true;
	}
	return false;
}

/* printf's text with the point of any locale turned into ours. */
static void
put_printed(struct buf *b, const char *printed)
{
	bool point = false, marked = false;

	for (size_t i = 0; printed[i] != '\0'; i++) {
		bool plain = strchr("0123456789+-e", printed[i]) != NULL;

		marked = marked || printed[i] == 'e';
		if (plain)
			buf_put_byte(b, (uint8_t)printed[i]);
		else if (!point)
			buf_put_byte(b, '.');
		point = point || !plain;
	}
	if (!point && !marked)
		buf_put_text(b, ".0");
}

static void
put_positive(struct buf *b, const struct range *range)
{
	char text[48];

	if (put_plain(b, range))
		return;
	for (int digits = range->digits_min; digits <= range->digits_max; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, range->value);
		if (meets(range, strtod(text, NULL)))
			break;
	}
	put_printed(b, text);
}

void
buf_put_double(struct buf *b, double value)
{
	double size = fabs(value);
	struct range range = { size, size, size, size < SMALL_MIN ? 1 : 15, 17 };

	assert(isfinite(value));
	if (signbit(value))
		buf_put_byte(b, '-');
	put_positive(b, &range);
}

/* Positive floats follow each other as their bits do; behind the last one comes what would. */
static double
float_of_bits(uint32_t bits)
{
	float value;

	if (bits == 0x7f800000)
		return 0x1p128;
	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

void
buf_put_float(struct buf *b, float value)
{
	uint32_t bits, size;
	struct range range = { .digits_min = 1, .digits_max = 9 };

	assert(isfinite(value));
	memcpy(&bits, &value, sizeof(bits));
	size = bits & 0x7fffffff;
	range.value = float_of_bits(size);
	if (size != 0) {
		range.above = (range.value + float_of_bits(size + 1)) / 2;
		range.below = (range.value + float_of_bits(size - 1)) / 2;
	}
	if (size != bits)
		buf_put_byte(b, '-');
	put_positive(b, &range);
}

/* Exact: 2^-24 is the smallest half, and every other one a multiple of it. */
static double
half_of_bits(uint16_t bits)
{
	unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;

	if (exponent == 0)
		return fraction * 0x1p-24;
	return (double)((uint64_t)(1024 + fraction) << (exponent - 1)) * 0x1p-24;
}

double
number_of_half(uint16_t bits)
{
	double value = half_of_bits(bits & 0x7fff);

	if ((bits & 0x7c00) == 0x7c00)
		value = bits & 1023 ? NAN : INFINITY;
	return bits & 0x8000 ? -value : value;
}

void
buf_put_half(struct buf *b, uint16_t bits)
{
	uint16_t size = bits & 0x7fff;
	struct range range = { .digits_min = 1, .digits_max = 5 };

	assert(size < 0x7c00);
	range.value = half_of_bits(size);
	if (size != 0) {
		range.above = (range.value + half_of_bits(size + 1)) / 2;
		range.below = (range.value + half_of_bits(size - 1)) / 2;
	}
	if (size != bits)
		buf_put_byte(b, '-');
	put_positive(b, &range);
}

/* Floating-point numbers as text: known forms, and whether they read back, over many values. */
#include "unit.h"

#include "util/number.h"

#include <math.h>
#include <stdio.h>

static const char *
text_of(struct buf *b)
{
	buf_put_byte(b, '\0');
	ck_assert_int_eq(b->failed, LANCET_OK);
	return (const char *)b->data;
}

static const struct {
	double value;
	const char *want;
} doubles[] = {
	{ 0.0, "0.0" },
	{ -0.0, "-0.0" },
	{ 1.0, "1.0" },
	{ -1.5, "-1.5" },
	{ 0.1, "0.1" },
	{ 0.005, "0.005" },
	{ 100.0, "100.0" },
	{ 123456.789, "123456.789" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 9007199254740991.0, "9007199254740991.0" },
	{ 9007199254740992.0, "9007199254740992.0" },
	{ 123456789012345680.0, "1.2345678901234568e+17" },
	{ 1e22, "1e+22" },
	{ 1e-5, "0.00001" },
	{ 1.5e-7, "1.5e-07" },
	{ 5e-324, "5e-324" },
	{ 0x1.fffffffffffffp1023, "1.7976931348623157e+308" },
	{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
};

START_TEST(doubles_have_few_digits)
{
	struct buf b = { 0 };

	buf_put_double(&b, doubles[_i].value);
	ck_assert_str_eq(text_of(&b), doubles[_i].want);
	buf_release(&b);
}
END_TEST

static const struct {
	float value;
	const char *want;
} floats[] = {
	{ 0.0f, "0.0" },
	{ -0.0f, "-0.0" },
	{ 0.1f, "0.1" },
	{ 16777216.0f, "16777216.0" },
	{ 3.4028235e38f, "3.4028235e+38" },
	{ 1.1754944e-38f, "1.1754944e-38" },
	{ 1e-45f, "1e-45" },
	{ 0.33333334f, "0.33333334" },
	{ -2.5f, "-2.5" },
	{ 1e10f, "1e+10" },
};

START_TEST(floats_have_the_digits_of_a_float)
{
	struct buf b = { 0 };

	buf_put_float(&b, floats[_i].value);
	ck_assert_str_eq(text_of(&b), floats[_i].want);
	buf_release(&b);
}
END_TEST

/* A fixed sequence of 64-bit patterns. */
static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void
check_double(double value)
{
	char longest[40];
	struct buf b = { 0 };
	double back;

	buf_put_double(&b, value);
	back = strtod(text_of(&b), NULL);
	ck_assert_msg(back == value && signbit(back) == signbit(value), "%.17g is %s", value,
		(const char *)b.data);
	(void)snprintf(longest, sizeof(longest), "%.17g", value);
	ck_assert_msg(
		b.size - 1 <= strlen(longest) + 6, "%s for %s", (const char *)b.data, longest);
	buf_release(&b);
}

START_TEST(every_double_reads_back)
{
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < 200000; i++) {
		uint64_t bits = next_random(&state);
		double value, few = (double)(int64_t)(bits >> 40) / 1000.0;

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_double(value);
		check_double(few);
		check_double((double)bits / 18446744073709551616.0);
	}
}
END_TEST

START_TEST(every_float_reads_back)
{
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < 400000; i++) {
		uint32_t bits = (uint32_t)next_random(&state);
		struct buf b = { 0 };
		float value;

		memcpy(&value, &bits, sizeof(value));
		if (i % 2 == 0)
			value = (float)bits / 4294967296.0f;
		if (!isfinite(value))
			continue;
		buf_put_float(&b, value);
		ck_assert_msg(strtof(text_of(&b), NULL) == value, "%.9g is %s", (double)value,
			(const char *)b.data);
		ck_assert_uint_le(b.size - 1, 16);
		buf_release(&b);
	}
}
END_TEST

/* No other half may be nearer to the text than the one that was written. */
START_TEST(every_half_reads_back)
{
	for (unsigned bits = 0; bits < 0x7c00; bits++) {
		struct buf b = { 0 };
		double back, value = number_of_half((uint16_t)bits);

		buf_put_half(&b, (uint16_t)bits);
		back = strtod(text_of(&b), NULL);
		if (bits > 0)
			ck_assert(fabs(back - value) <
				  fabs(back - number_of_half((uint16_t)(bits - 1))));
		if (bits < 0x7bff)
			ck_assert(fabs(back - value) <
				  fabs(back - number_of_half((uint16_t)(bits + 1))));
		ck_assert_uint_le(b.size - 1, 12);
		buf_release(&b);
	}
}
END_TEST

/* From the table of IEEE 754 examples for binary16. */
static const struct {
	uint16_t bits;
	double value;
} halves[] = {
	{ 0x0001, 0x1p-24 },
	{ 0x03ff, 0x3ffp-24 },
	{ 0x0400, 0x1p-14 },
	{ 0x3555, 0x1.554p-2 },
	{ 0x3c00, 1.0 },
	{ 0xc000, -2.0 },
	{ 0x7bff, 65504.0 },
	{ 0x7c00, INFINITY },
	{ 0xfc00, -INFINITY },
};

START_TEST(halves_have_their_values)
{
	ck_assert(number_of_half(halves[_i].bits) == halves[_i].value);
	ck_assert(isnan(number_of_half(0x7e00)));
	ck_assert(signbit(number_of_half(0x8000)));
}
END_TEST

UNIT_MAIN("number", UNIT_LOOP(doubles_have_few_digits, doubles),
	UNIT_LOOP(floats_have_the_digits_of_a_float, floats), UNIT_TEST(every_double_reads_back),
	UNIT_TEST(every_float_reads_back), UNIT_TEST(every_half_reads_back),
	UNIT_LOOP(halves_have_their_values, halves))

/* Floating-point numbers from text, correctly rounded; see import_number.h.
 *
 * Most numbers have so few digits that a division of exact values rounds once. Those with up to 19
 * digits are computed in long double where it has 64 bits: what its extra bits leave no doubt about
 * is right. The rest is strtod's, which gets digits and an exponent without a point, since that
 * depends on the locale.
 */
#include "import_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/macros.h"

#define NO_VALUE     "is no"
#define OUT_OF_RANGE "is out of range for"
#define EXACT_MAX    (UINT64_C(1) << 53)
#define DIGITS_FAST  19  /* that always fit into 64 bits */
#define DIGITS_MAX   800 /* more than decide about any double; then one stands for what follows */
#define EXPONENT_FAR 100000

/* Widths of a type that is narrower than double. */
struct form {
	unsigned fraction; /* bits */
	int exponent_min;  /* of normal numbers */
	uint64_t infinity; /* bits */
};
static const struct form half_form = { 10, -14, 0x7c00 };
static const struct form bfloat16_form = { 7, -126, 0x7f80 };
static const struct form float_form = { 23, -126, 0x7f800000 };

static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
#if LDBL_MANT_DIG == 64
static const long double long_powers[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L,
	1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L,
	1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L };
#endif

/* Up to DIGITS_FAST digits, times 10^exponent. */
struct short_number {
	uint64_t digits;
	int32_t exponent;
};

static bool
make_short(const struct import_digits *from, struct short_number *ret_number)
{
	const struct slice parts[] = { from->whole, from->fraction };
	uint64_t digits = 0;

	if (from->whole.size + from->fraction.size > DIGITS_FAST)
		return false;
	for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
		for (size_t i = 0; i < parts[part].size; i++)
			digits = digits * 10 + (parts[part].data[i] - '0');
	}
	*ret_number =
		(struct short_number){ digits, from->exponent - (int32_t)from->fraction.size };
	return true;
}

#if LDBL_MANT_DIG == 64
static bool
try_long(const struct short_number *number, double *ret_value)
{
	size_t power = (size_t)abs(number->exponent);
	long double value = (long double)number->digits;
	uint64_t bits;

	if (power >= ARRAY_SIZE(long_powers))
		return false;
	value = number->exponent < 0 ? value / long_powers[power] : value * long_powers[power];
	memcpy(&bits, &value, sizeof(bits));
	*ret_value = (double)value;
	return (bits & 0x7ff) != 0x400; /* not half-way between two doubles */
}
#endif

static bool
try_short(const struct import_digits *digits, double *ret_value)
{
	struct short_number number;
	size_t power;

	if (!make_short(digits, &number))
		return false;
	power = (size_t)abs(number.exponent);
	if (number.digits == 0) {
		*ret_value = 0;
		return true;
	}
	if (number.digits <= EXACT_MAX && power < ARRAY_SIZE(powers)) {
		*ret_value = number.exponent < 0 ? (double)number.digits / powers[power]
						 : (double)number.digits * powers[power];
		return true;
	}
#if LDBL_MANT_DIG == 64
	return try_long(&number, ret_value);
#else
	return false;
#endif
}

/* Digits and an exponent for strtod. */
static void
put_plain(const struct import_digits *digits, char text[DIGITS_MAX + 32])
{
	const struct slice parts[] = { digits->whole, digits->fraction };
	int64_t exponent = digits->exponent;
	size_t size = 0;
	bool more = false;

	for (size_t part = 0; part < ARRAY_SIZE(parts); part++) {
		for (size_t i = 0; i < parts[part].size; i++) {
			char digit = (char)parts[part].data[i];

			exponent -= part == 1;
			if (size == 0 && digit == '0')
				continue;
			if (size < DIGITS_MAX) {
				text[size++] = digit;
				continue;
			}
			more |= digit != '0';
			exponent++;
		}
	}
	if (size == 0)
		text[size++] = '0';
	if (more) {
		text[size++] = '1';
		exponent--;
	}
	exponent = exponent > EXPONENT_FAR ? EXPONENT_FAR : exponent;
	exponent = exponent < -EXPONENT_FAR ? -EXPONENT_FAR : exponent;
	(void)snprintf(text + size, 32, "e%d", (int)exponent);
}

/* The size of the number as the nearest double; infinity: there is none. */
static double
nearest(const struct import_digits *digits)
{
	char text[DIGITS_MAX + 32];
	double value;

	if (try_short(digits, &value))
		return value;
	put_plain(digits, text);
	return strtod(text, NULL);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* A positive double in a narrower type, ties to even. *ret_tie: it was half-way between two. */
static uint64_t
narrow(double value, const struct form *form, bool *ret_tie)
{
	uint64_t bits = bits_of(value), fraction = (bits & (EXACT_MAX / 2 - 1)) | EXACT_MAX / 2;
	int exponent = (int)(bits >> 52) - 1023;
	unsigned shift = 52 - form->fraction;
	uint64_t base = 0, kept, rest;

	if (exponent >= form->exponent_min)
		base = (uint64_t)(exponent - form->exponent_min) << form->fraction;
	else
		shift += (unsigned)(form->exponent_min - exponent);
	*ret_tie = false;
	if (shift > 54)
		return 0;
	kept = fraction >> shift;
	rest = fraction & ((UINT64_C(1) << shift) - 1);
	*ret_tie = rest == UINT64_C(1) << (shift - 1);
	kept += rest > UINT64_C(1) << (shift - 1) || (*ret_tie && kept & 1);
	return base + kept;
}

/* What looks half-way may have been rounded to there. */
static uint64_t
narrow_float(const struct import_digits *digits, double value)
{
	char text[DIGITS_MAX + 32];
	uint32_t narrow_bits;
	float exact;
	bool tie;
	uint64_t bits = narrow(value, &float_form, &tie);

	if (!tie)
		return bits;
	put_plain(digits, text);
	exact = strtof(text, NULL);
	memcpy(&narrow_bits, &exact, sizeof(narrow_bits));
	return narrow_bits;
}

/* Infinity, or a number that is none; the sign is told. */
static bool
take_word(struct slice text, bool *ret_negative, double *ret_value)
{
	static const struct {
		const char *word;
		double value;
	} words[] = { { "nan", NAN }, { "inf", INFINITY }, { "infinity", INFINITY } };

	*ret_negative = text.size > 0 && text.data[0] == '-';
	text = slice_of(text.data + *ret_negative, text.size - *ret_negative);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t size = strlen(words[i].word), at = 0;

		while (at < text.size && at < size && (text.data[at] | 0x20) == words[i].word[at])
			at++;
		if (at == size && at == text.size) {
			*ret_value = words[i].value;
			return true;
		}
	}
	return false;
}

static uint64_t
special_bits(const struct form *form, double value)
{
	return form->infinity | (isnan(value) ? UINT64_C(1) << (form->fraction - 1) : 0);
}

static const char *
parse(const struct form *form, uint32_t width, struct slice text, uint64_t *ret_bits)
{
	struct import_digits digits;
	bool negative, tie;
	double value;

	if (import_digits_take(text, &digits)) {
		negative = digits.negative;
		value = nearest(&digits);
		if (isinf(value))
			return OUT_OF_RANGE;
		*ret_bits = form == NULL          ? bits_of(value)
			    : form == &float_form ? narrow_float(&digits, value)
						  : narrow(value, form, &tie);
		if (form != NULL && *ret_bits >= form->infinity)
			return OUT_OF_RANGE;
	} else if (take_word(text, &negative, &value)) {
		*ret_bits = form == NULL ? bits_of(value) : special_bits(form, value);
	} else {
		return NO_VALUE;
	}
	*ret_bits |= (uint64_t)negative << (width - 1);
	return NULL;
}

const char *
import_parse_float(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	const struct form *form = type->bits == 16   ? &half_form
				  : type->bits == 32 ? &float_form
						     : NULL;
	uint64_t bits = 0;
	const char *wrong = parse(form, type->bits, text, &bits);

	memcpy(into, &bits, sizeof(bits));
	return wrong;
}

const char *
import_parse_bfloat16(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	uint64_t bits = 0;
	const char *wrong = parse(&bfloat16_form, 16, text, &bits);

	(void)type;
	memcpy(into, &bits, sizeof(bits));
	return wrong;
}

bool
import_double(struct slice text, uint64_t *ret_bits)
{
	struct import_digits digits;
	double value;

	if (!import_digits_take(text, &digits))
		return false;
	value = nearest(&digits);
	*ret_bits = bits_of(value) | (uint64_t)digits.negative << 63;
	return !isinf(value);
}

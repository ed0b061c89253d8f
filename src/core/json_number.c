/* Numbers of JSONB as text; see json_number.h. */
#include "json_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsonb.h"
#include "util/text.h"

/* Decimal exponents of the first digit that are written without one. */
#define PLAIN_MIN (-5)
#define PLAIN_MAX 15
#define DIGITS    17

static void
put_zeros(struct buf *into, int count)
{
	buf_fill(into, '0', count > 0 ? (size_t)count : 0);
}

/* "d.ddde±x" of printf, whatever the locale's point, as digits and the exponent of the first. */
static int
take_digits(const char *printed, char digits[DIGITS + 1])
{
	int count = 0;
	const char *exponent = strchr(printed, 'e');

	for (const char *at = printed; at < exponent; at++) {
		if (*at >= '0' && *at <= '9' && count < DIGITS)
			digits[count++] = *at;
	}
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	return (int)strtol(exponent + 1, NULL, 10);
}

/* The fewest digits that read back as `value`, which is positive. What n digits are nearest to it
 * may not read back while the next higher ones do: above a power of two the distance to the next
 * double is twice that to the one before. */
static int
shortest(double value, char digits[DIGITS + 1])
{
	const long double upper = 1 + 0.37L * 0x1p-52L; /* inside of what reads back */
	char printed[48];

	for (int precision = 0; precision < DIGITS; precision++) {
		(void)snprintf(printed, sizeof(printed), "%.*e", precision, value);
		if (strtod(printed, NULL) == value)
			break;
		(void)snprintf(printed, sizeof(printed), "%.*Le", precision, value * upper);
		if (strtod(printed, NULL) == value)
			break;
	}
	return take_digits(printed, digits);
}

static void
put_exponent(struct buf *into, const char *digits, int exponent)
{
	buf_put(into, digits, 1);
	if (digits[1] != '\0') {
		buf_put_byte(into, '.');
		buf_put_text(into, digits + 1);
	}
	buf_printf(into, "e%+d", exponent);
}

static void
put_plain(struct buf *into, const char *digits, int exponent)
{
	int count = (int)strlen(digits);
	int whole = exponent + 1; /* digits before the point */

	if (whole <= 0) {
		buf_put_text(into, "0.");
		put_zeros(into, -whole);
		buf_put_text(into, digits);
		return;
	}
	buf_put(into, digits, (size_t)(whole < count ? whole : count));
	put_zeros(into, whole - count);
	buf_put_byte(into, '.');
	buf_put_text(into, whole < count ? digits + whole : "0");
}

static void
put_double(struct buf *into, double value)
{
	char digits[DIGITS + 1];
	int exponent;

	if (!isfinite(value)) {
		buf_put_text(into, "null");
		return;
	}
	if (signbit(value))
		buf_put_byte(into, '-');
	if (value == 0) {
		buf_put_text(into, "0.0");
		return;
	}
	exponent = shortest(fabs(value), digits);
	if (exponent < PLAIN_MIN || exponent > PLAIN_MAX)
		put_exponent(into, digits, exponent);
	else
		put_plain(into, digits, exponent);
}

static uint64_t
big_endian(struct slice bytes, bool extend)
{
	uint64_t value = extend && bytes.data[0] & 0x80 ? UINT64_MAX : 0;

	for (size_t i = 0; i < bytes.size; i++)
		value = value << 8 | bytes.data[i];
	return value;
}

static void
put_signed(struct buf *into, uint64_t bits)
{
	if (bits >> 63) {
		buf_put_byte(into, '-');
		bits = 0 - bits;
	}
	buf_put_u64(into, 0, bits);
}

static int
put_sized(uint8_t kind, struct slice bytes, struct buf *into, struct lancet_error *err)
{
	size_t size = bytes.size;
	bool whole = size == 1 || size == 2 || size == 4 || size == 8;
	uint64_t bits;
	double value;

	if (!whole || (kind == JSONB_DOUBLE && size != sizeof(double)))
		return lancet_fail(
			err, LANCET_CORRUPT, "a number of kind 0x%02x with %zu bytes", kind, size);
	bits = big_endian(bytes, kind == JSONB_SIGNED);
	if (kind == JSONB_UNSIGNED) {
		buf_put_u64(into, 0, bits);
	} else if (kind == JSONB_SIGNED) {
		put_signed(into, bits);
	} else {
		memcpy(&value, &bits, sizeof(value));
		put_double(into, value);
	}
	return LANCET_OK;
}

int
json_number_put(struct slice value, struct buf *into, struct lancet_error *err)
{
	uint8_t kind = value.size == 0 ? 0xff : value.data[0];

	switch (kind) {
	case JSONB_ZERO:
		buf_put_byte(into, '0');
		return LANCET_OK;
	case JSONB_NAN:
	case JSONB_INFINITY:
	case JSONB_NEGATIVE:
		buf_put_text(into, "null");
		return LANCET_OK;
	case JSONB_SIGNED:
	case JSONB_UNSIGNED:
	case JSONB_DOUBLE:
		return put_sized(kind, slice_of(value.data + 1, value.size - 1), into, err);
	case JSONB_DECIMAL:
		return lancet_fail(err, LANCET_UNSUPPORTED, "a decimal number");
	default:
		return lancet_fail(err, LANCET_CORRUPT, "a number of kind 0x%02x", kind);
	}
}

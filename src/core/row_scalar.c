/* Numbers, decimals, dates and times of rows as text. None of it depends on locale or time zone. */
#include "row_field.h"

#include <math.h>

#include "util/number.h"
#include "util/text.h"

#define DAY_SECONDS 86400
#define LIMBS       4 /* 64-bit words of the widest decimal */

static const int64_t unit_per_second[] = {
	[ARROW_SECOND] = 1,
	[ARROW_MILLI] = 1000,
	[ARROW_MICRO] = 1000000,
	[ARROW_NANO] = 1000000000,
};
static const unsigned unit_digits[] = {
	[ARROW_SECOND] = 0,
	[ARROW_MILLI] = 3,
	[ARROW_MICRO] = 6,
	[ARROW_NANO] = 9,
};

/* With zeros in front up to `width` digits. */
static void
put_padded(struct buf *text, uint64_t value, unsigned width)
{
	uint8_t digits[20];
	unsigned size = 0;

	do {
		digits[sizeof(digits) - ++size] = (uint8_t)('0' + value % 10);
		value /= 10;
	} while (value > 0 || size < width);
	buf_put(text, digits + sizeof(digits) - size, size);
}

/* Rounded down, with the rest that is left, in [0, by). */
static int64_t
divide(int64_t value, int64_t by, int64_t *ret_rest)
{
	int64_t rest = value % by;

	*ret_rest = rest < 0 ? rest + by : rest;
	return value / by - (rest < 0);
}

static void
put_fraction(struct buf *text, int64_t fraction, enum arrow_unit unit)
{
	if (unit_digits[unit] == 0)
		return;
	buf_put_byte(text, '.');
	put_padded(text, (uint64_t)fraction, unit_digits[unit]);
}

/* Years beyond four digits have a sign, as ISO 8601 wants it. */
static void
put_date(struct buf *text, int64_t days)
{
	int64_t year;
	int month, day;

	text_date(days, &year, &month, &day);
	if (year < 0 || year > 9999)
		buf_put_byte(text, year < 0 ? '-' : '+');
	put_padded(text, year < 0 ? 0 - (uint64_t)year : (uint64_t)year, 4);
	buf_put_byte(text, '-');
	put_padded(text, (uint64_t)month, 2);
	buf_put_byte(text, '-');
	put_padded(text, (uint64_t)day, 2);
}

static void
put_clock(struct buf *text, int64_t second, int64_t fraction, enum arrow_unit unit)
{
	put_padded(text, (uint64_t)(second / 3600), 2);
	buf_put_byte(text, ':');
	put_padded(text, (uint64_t)(second / 60 % 60), 2);
	buf_put_byte(text, ':');
	put_padded(text, (uint64_t)(second % 60), 2);
	put_fraction(text, fraction, unit);
}

static bool
take_digits(const char **text, int64_t max, int64_t *ret_value)
{
	const char *at = *text;

	if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
		return false;
	*ret_value = (at[0] - '0') * 10 + (at[1] - '0');
	*text = at + 2;
	return *ret_value <= max;
}

/* The offset of a zone that is one: "+08:00", "-0330", "+01". Zones with a name have none here:
 * what they meant at a time is in no file of the dataset. */
static int64_t
zone_seconds(const char *zone)
{
	int64_t hours, minutes = 0;
	const char *text = zone + 1;

	if ((*zone != '+' && *zone != '-') || !take_digits(&text, 23, &hours))
		return 0;
	text += *text == ':';
	if (*text != '\0' && (!take_digits(&text, 59, &minutes) || *text != '\0'))
		return 0;
	return (*zone == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
}

static void
put_zone(struct buf *text, int64_t seconds)
{
	int64_t size = seconds < 0 ? -seconds : seconds;

	if (seconds == 0) {
		buf_put_byte(text, 'Z');
		return;
	}
	buf_put_byte(text, seconds < 0 ? '-' : '+');
	put_padded(text, (uint64_t)(size / 3600), 2);
	buf_put_byte(text, ':');
	put_padded(text, (uint64_t)(size / 60 % 60), 2);
}

static void
put_timestamp(struct buf *text, int64_t value, enum arrow_unit unit, const char *zone)
{
	int64_t fraction, second, offset = zone_seconds(zone);
	int64_t days =
		divide(divide(value, unit_per_second[unit], &fraction), DAY_SECONDS, &second);

	second += offset; /* after the split: value may be the largest there is */
	days += divide(second, DAY_SECONDS, &second);
	put_date(text, days);
	buf_put_byte(text, 'T');
	put_clock(text, second, fraction, unit);
	if (zone[0] != '\0')
		put_zone(text, offset);
}

/* A date of milliseconds that is no whole day keeps its time. */
static void
put_date_of(struct buf *text, uint32_t bits, int64_t value)
{
	int64_t rest = 0;
	int64_t days = bits == 32 ? value : divide(value, DAY_SECONDS * 1000, &rest);

	put_date(text, days);
	if (rest == 0)
		return;
	buf_put_byte(text, 'T');
	put_clock(text, rest / 1000, rest % 1000, ARROW_MILLI);
}

/* What is no time of a day stays the number that it is. */
static void
put_time(struct buf *text, int64_t value, enum arrow_unit unit)
{
	if (value < 0 || value >= DAY_SECONDS * unit_per_second[unit])
		buf_put_i64(text, value);
	else
		put_clock(text, value / unit_per_second[unit], value % unit_per_second[unit], unit);
}

static void
put_duration(struct buf *text, int64_t value, enum arrow_unit unit)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	uint64_t per_second = (uint64_t)unit_per_second[unit];

	buf_put_text(text, value < 0 ? "-PT" : "PT");
	buf_put_u64(text, 0, size / per_second);
	put_fraction(text, (int64_t)(size % per_second), unit);
	buf_put_byte(text, 'S');
}

/* Divides by 10^18 and returns the rest. */
static uint64_t
divide_limbs(uint64_t limbs[LIMBS])
{
	const uint64_t by = UINT64_C(1000000000000000000);
	unsigned __int128 rest = 0;

	for (int i = LIMBS - 1; i >= 0; i--) {
		rest = rest << 64 | limbs[i];
		limbs[i] = (uint64_t)(rest / by);
		rest %= by;
	}
	return (uint64_t)rest;
}

/* The digits of the size of a two's complement number, whose sign is told. */
static unsigned
decimal_digits(const uint8_t *bytes, uint32_t bits, uint8_t digits[80], bool *ret_negative)
{
	uint64_t limbs[LIMBS], any = 0, carry = 1;
	unsigned size = 0;

	*ret_negative = bytes[bits / 8 - 1] >> 7;
	memset(limbs, *ret_negative ? 0xff : 0, sizeof(limbs));
	memcpy(limbs, bytes, bits / 8);
	for (int i = 0; i < LIMBS && *ret_negative; i++) {
		limbs[i] = ~limbs[i] + carry;
		carry = carry && limbs[i] == 0;
	}
	do {
		uint64_t group = divide_limbs(limbs);

		any = limbs[0] | limbs[1] | limbs[2] | limbs[3];
		for (int i = 0; i < 18 && (any != 0 || group != 0 || size == 0); i++) {
			digits[80 - ++size] = (uint8_t)('0' + group % 10);
			group /= 10;
		}
	} while (any != 0);
	return size;
}

static void
put_decimal(struct buf *text, const struct arrow_type *type, const uint8_t *bytes)
{
	uint8_t digits[80];
	bool negative;
	unsigned size = decimal_digits(bytes, type->bits, digits, &negative);
	const uint8_t *first = digits + sizeof(digits) - size;
	unsigned decimals = type->scale > 0 ? (unsigned)type->scale : 0;

	if (negative)
		buf_put_byte(text, '-');
	if (size > decimals)
		buf_put(text, first, size - decimals);
	else
		buf_put_byte(text, '0');
	if (decimals > 0) {
		unsigned shown = size < decimals ? size : decimals;

		buf_put_byte(text, '.');
		buf_fill(text, '0', decimals - shown);
		buf_put(text, first + size - shown, shown);
	}
	if (type->scale < 0 && (size > 1 || *first != '0'))
		buf_fill(text, '0', (size_t)-type->scale);
}

/* The value of any floating-point column, exactly. */
static double
number_at(const struct row_field *field, const struct ArrowArray *array, int64_t at)
{
	const void *values = array->buffers[1];
	float narrow;
	uint32_t bits;

	if (field->is_bfloat16) {
		bits = (uint32_t)arrow_unsigned(values, 16, at) << 16;
		memcpy(&narrow, &bits, sizeof(narrow));
		return (double)narrow;
	}
	if (field->type.bits == 16)
		return number_of_half(((const uint16_t *)values)[at]);
	if (field->type.bits == 32)
		return (double)((const float *)values)[at];
	return ((const double *)values)[at];
}

static void
put_number(
	struct buf *text, const struct row_field *field, const struct ArrowArray *array, int64_t at)
{
	double value = number_at(field, array, at);

	if (isnan(value))
		buf_put_text(text, "NaN");
	else if (isinf(value))
		buf_put_text(text, value > 0 ? "Infinity" : "-Infinity");
	else if (field->is_bfloat16 || field->type.bits == 32)
		buf_put_float(text, (float)value);
	else if (field->type.bits == 16)
		buf_put_half(text, ((const uint16_t *)array->buffers[1])[at]);
	else
		buf_put_double(text, value);
}

bool
row_is_literal(const struct row_field *field, const struct ArrowArray *array, int64_t index)
{
	double value;

	switch (field->type.kind) {
	case ARROW_BOOL:
	case ARROW_INT:
		return true;
	case ARROW_FLOAT:
		value = number_at(field, array, array->offset + index);
		return isfinite(value);
	default:
		return false;
	}
}

void
row_put_scalar(struct buf *text, const struct row_field *field, const struct ArrowArray *array,
	int64_t index)
{
	const struct arrow_type *type = &field->type;
	const void *values = array->buffers[1];
	int64_t at = array->offset + index;

	switch (type->kind) {
	case ARROW_BOOL:
		buf_put_text(text, arrow_bit(values, at) ? "true" : "false");
		break;
	case ARROW_INT:
		if (type->is_signed)
			buf_put_i64(text, arrow_signed(values, type->bits, at));
		else
			buf_put_u64(text, 0, arrow_unsigned(values, type->bits, at));
		break;
	case ARROW_FLOAT:
		put_number(text, field, array, at);
		break;
	case ARROW_DECIMAL:
		put_decimal(text, type, (const uint8_t *)values + at * (type->bits / 8));
		break;
	case ARROW_DATE:
		put_date_of(text, type->bits, arrow_signed(values, type->bits, at));
		break;
	case ARROW_TIME:
		put_time(text, arrow_signed(values, type->bits, at), type->unit);
		break;
	case ARROW_TIMESTAMP:
		put_timestamp(text, arrow_signed(values, 64, at), type->unit, type->zone);
		break;
	case ARROW_DURATION:
		put_duration(text, arrow_signed(values, 64, at), type->unit);
		break;
	default: /* no scalar */
		break;
	}
}

/* Literals as constants: exactly, or refused; floating-point numbers are rounded as everywhere. */
#include "predicate_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/macros.h"
#include "util/text.h"

#define HALF_MAX     65504.0
#define EXPONENT_MAX 1000
#define FAR          100000L /* an exponent beyond all */
#define NUMBER_MAX   400u    /* characters */

/* A number as it is written: digits * 10^-scale. */
struct written {
	struct wide digits;
	int scale;
};

static int
refuse(const struct expression *literal, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "at %u: %s%.*s: %s", literal->place,
		literal->literal == LITERAL_NUMBER && literal->negated ? "-" : "",
		FIELD_TEXT(literal->text), what);
}

static int
refuse_type(
	const struct expression *literal, const struct value_type *type, struct lancet_error *err)
{
	static const char *const names[] = { "null", "true or false", "a number", "text", "binary",
		"a date", "a time", "a timestamp" };

	return lancet_fail(err, LANCET_INVALID, "at %u: %s where %s is needed", literal->place,
		names[literal->literal], type_name(type));
}

static bool
put_digit(struct written *number, char digit)
{
	return wide_scale(number->digits, 1, &number->digits) &&
	       wide_add(number->digits, wide_of(digit - '0'), &number->digits) &&
	       wide_has_digits(number->digits, WIDE_DIGITS);
}

/* Zeros at the end of a fraction say nothing. */
static size_t
without_zeros(struct slice text)
{
	size_t size = 0, point;

	while (size < text.size && (isdigit(text.data[size]) || text.data[size] == '.'))
		size++;
	point = size;
	while (point > 0 && text.data[point - 1] == '0')
		point--;
	return memchr(text.data, '.', size) != NULL ? point : size;
}

static bool
read_number(const struct expression *literal, struct written *ret_number)
{
	struct slice text = literal->text;
	struct written number = { 0 };
	const char *exponent = memchr(text.data, 'e', text.size);
	bool is_fraction = false;
	size_t size = without_zeros(text);

	if (exponent == NULL)
		exponent = memchr(text.data, 'E', text.size);
	for (size_t i = 0; i < size; i++) {
		if (text.data[i] == '.')
			is_fraction = true;
		else if (!put_digit(&number, (char)text.data[i]))
			return false;
		else
			number.scale += is_fraction;
	}
	if (exponent != NULL) {
		long value = strtol(exponent + 1, NULL, 10);

		if (value > EXPONENT_MAX || value < -EXPONENT_MAX)
			return false;
		number.scale -= (int)value;
	}
	if (number.scale < 0) {
		if (!wide_scale(number.digits, (unsigned)-number.scale, &number.digits) ||
			!wide_has_digits(number.digits, WIDE_DIGITS))
			return false;
		number.scale = 0;
	}
	if (literal->negated)
		(void)wide_subtract(wide_of(0), number.digits, &number.digits);
	*ret_number = number;
	return true;
}

/* A copy that is a constant. */
static int
make(struct predicate *predicate, const struct expression *literal, struct expression **ret_made,
	struct lancet_error *err)
{
	struct expression *made = arena_alloc(&predicate->arena, sizeof(*made));

	if (made == NULL)
		return predicate_out_of_memory(err);
	*made = *literal;
	made->kind = EXPRESSION_CONSTANT;
	made->is_null = literal->literal == LITERAL_NULL;
	*ret_made = made;
	return LANCET_OK;
}

/* Halves go to the even one. */
static double
round_half(double size)
{
	double step, whole;
	int exponent;

	(void)frexp(size, &exponent); /* size in [2^(exponent - 1), 2^exponent) */
	step = ldexp(1, exponent - 11 < -24 ? -24 : exponent - 11);
	size /= step; /* exact, and at most 2^11 */
	whole = (double)(int64_t)size;
	if (size - whole > 0.5 || (size - whole == 0.5 && (int64_t)whole % 2 != 0))
		whole += 1;
	return whole * step > HALF_MAX ? INFINITY : whole * step;
}

double
round_to_bits(double value, unsigned bits)
{
	if (bits == 32)
		return (double)(float)value;
	if (bits != 16 || !isfinite(value) || value == 0)
		return value;
	if (fabs(value) >= 2 * HALF_MAX)
		return copysign(INFINITY, value);
	return copysign(round_half(fabs(value)), value);
}

/* strtod gets digits and an exponent without a point, which depends on the locale. */
static int
read_float(const struct expression *literal, double *ret_value, struct lancet_error *err)
{
	char text[NUMBER_MAX + 32];
	size_t size = 0;
	long exponent = 0;
	bool is_fraction = false;

	if (literal->text.size > NUMBER_MAX)
		return refuse(literal, "too long for a floating-point number", err);
	for (size_t i = 0; i < literal->text.size; i++) {
		char byte = (char)literal->text.data[i];

		if (byte == 'e' || byte == 'E') {
			exponent += strtol((const char *)literal->text.data + i + 1, NULL, 10);
			break;
		}
		exponent -= is_fraction && byte != '.';
		is_fraction = is_fraction || byte == '.';
		if (byte != '.')
			text[size++] = byte;
	}
	exponent = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
	(void)snprintf(text + size, 32, "e%ld", exponent);
	*ret_value = strtod(text, NULL);
	if (isfinite(*ret_value))
		return LANCET_OK;
	return refuse(literal, "too large for a floating-point number", err);
}

static int
set_float(struct expression *made, unsigned bits, struct lancet_error *err)
{
	double value;

	TRY(read_float(made, &value, err));
	made->type = (struct value_type){ .class = VALUE_FLOAT, .bits = bits };
	made->value.real = round_to_bits(made->negated ? -value : value, bits);
	if (isinf(made->value.real))
		return refuse(made, "too large for the column", err);
	return LANCET_OK;
}

/* Whole numbers as such, others as decimals. */
static int
set_exact(struct expression *made, bool prefers_unsigned, struct lancet_error *err)
{
	struct written number;
	uint64_t size;

	if (!read_number(made, &number))
		return refuse(made, "more digits than a decimal has", err);
	if (number.scale == 0 && prefers_unsigned && wide_to_u64(number.digits, &size)) {
		made->type = (struct value_type){ .class = VALUE_UINT };
		made->value.number = (int64_t)size;
	} else if (number.scale == 0 && wide_to_i64(number.digits, &made->value.number)) {
		made->type = (struct value_type){ .class = VALUE_INT };
	} else if (number.scale == 0 && wide_to_u64(number.digits, &size)) {
		made->type = (struct value_type){ .class = VALUE_UINT };
		made->value.number = (int64_t)size;
	} else {
		made->type = (struct value_type){ .class = VALUE_DECIMAL, .scale = number.scale };
		made->value.wide = number.digits;
	}
	return LANCET_OK;
}

static int
set_number(struct expression *made, const struct value_type *type, bool exact_numbers,
	struct lancet_error *err)
{
	bool is_whole = memchr(made->text.data, '.', made->text.size) == NULL &&
			memchr(made->text.data, 'e', made->text.size) == NULL &&
			memchr(made->text.data, 'E', made->text.size) == NULL;

	if (type->class == VALUE_FLOAT)
		return set_float(made, type->bits, err);
	if (type->class == VALUE_DECIMAL)
		return set_exact(made, false, err);
	if (is_whole || (exact_numbers && type->class != VALUE_NULL))
		return set_exact(made, type->class == VALUE_UINT, err);
	return set_float(made, 64, err);
}

static bool
has_zone(struct slice text)
{
	for (size_t i = 10; i < text.size; i++) {
		if (memchr("Zz+-", text.data[i], 4) != NULL)
			return true;
	}
	return false;
}

/* Into whole units of the other side: what is finer has no answer that all would give. */
static int
set_instant(struct expression *made, const struct value_type *type, int64_t seconds, int32_t nanos,
	struct lancet_error *err)
{
	__int128 value = (__int128)seconds * UNIT_SECOND + nanos;
	int64_t unit = type->unit;

	if (type->class != VALUE_INSTANT)
		unit = nanos != 0 ? 1 : UNIT_SECOND;
	else if (unit == UNIT_DAY && value % UNIT_DAY != 0) /* a date compared with a time of day */
		unit = nanos != 0 ? 1 : UNIT_SECOND;
	if (value % unit != 0)
		return refuse(made, "finer than the unit of the column", err);
	value /= unit;
	if (value > INT64_MAX || value < INT64_MIN)
		return refuse(made, "beyond what the column can hold", err);
	made->type = (struct value_type){ .class = VALUE_INSTANT, .unit = unit, .zone = "utc" };
	if (type->class == VALUE_INSTANT)
		made->type.zone = type->zone;
	made->value.number = (int64_t)value;
	return LANCET_OK;
}

static int
set_timestamp(struct expression *made, const struct value_type *type, struct lancet_error *err)
{
	int64_t seconds, offset = 0;
	int32_t nanos;

	if (!text_to_timestamp(made->text, &seconds, &nanos))
		return refuse(made,
			"no date like '2026-01-31' or timestamp like "
			"'2026-01-31T12:00:00.5'",
			err);
	if (made->literal == LITERAL_DATE && made->text.size != 10)
		return refuse(made, "no date like '2026-01-31'", err);
	if (type->class == VALUE_INSTANT && !has_zone(made->text) &&
		!zone_offset(type->zone, &offset))
		return refuse(made, "the column has a zone: end it with Z or an offset", err);
	return set_instant(made, type, seconds - offset, nanos, err);
}

static int
set_time(struct expression *made, const struct value_type *type, struct lancet_error *err)
{
	char text[64] = "1970-01-01T";
	size_t size = made->text.size;
	int64_t seconds = 0, unit = type->class == VALUE_TIME ? type->unit : 1;
	int32_t nanos = 0;

	if (size > 20 || memchr(made->text.data, 'Z', size) != NULL ||
		memchr(made->text.data, '-', size) != NULL ||
		memchr(made->text.data, '+', size) != NULL)
		return refuse(made, "no time like '12:00:00.5'", err);
	memcpy(text + 11, made->text.data, size);
	if (!text_to_timestamp(slice_of(text, 11 + size), &seconds, &nanos))
		return refuse(made, "no time like '12:00:00.5'", err);
	if ((seconds * UNIT_SECOND + nanos) % unit != 0)
		return refuse(made, "finer than the unit of the column", err);
	made->type = (struct value_type){ .class = VALUE_TIME, .unit = unit };
	made->value.number = (seconds * UNIT_SECOND + nanos) / unit;
	return LANCET_OK;
}

static int
set_text(struct expression *made, const struct value_type *type, struct lancet_error *err)
{
	if (type->class == VALUE_INSTANT)
		return set_timestamp(made, type, err);
	if (type->class == VALUE_TIME)
		return set_time(made, type, err);
	if (type->class != VALUE_TEXT && type->class != VALUE_NULL)
		return refuse_type(made, type, err);
	made->type = (struct value_type){ .class = VALUE_TEXT };
	made->value.bytes = made->text;
	return LANCET_OK;
}

static int
set_value(struct expression *made, const struct value_type *type, bool exact_numbers,
	struct lancet_error *err)
{
	bool any = type->class == VALUE_NULL;

	switch (made->literal) {
	case LITERAL_NULL:
		made->type = *type;
		return LANCET_OK;
	case LITERAL_BOOL:
		if (!any && type->class != VALUE_BOOL)
			return refuse_type(made, type, err);
		made->type = (struct value_type){ .class = VALUE_BOOL };
		made->value.number = made->text.size == 4; /* "true" */
		return LANCET_OK;
	case LITERAL_NUMBER:
		if (!any && !type_is_number(type))
			return refuse_type(made, type, err);
		return set_number(made, type, exact_numbers, err);
	case LITERAL_TEXT:
		return set_text(made, type, err);
	case LITERAL_BYTES:
		if (!any && type->class != VALUE_BINARY)
			return refuse_type(made, type, err);
		made->type = (struct value_type){ .class = VALUE_BINARY };
		made->value.bytes = made->text;
		return LANCET_OK;
	case LITERAL_TIME:
		if (!any && type->class != VALUE_TIME)
			return refuse_type(made, type, err);
		return set_time(made, type, err);
	default:
		if (!any && type->class != VALUE_INSTANT)
			return refuse_type(made, type, err);
		return set_timestamp(made, type, err);
	}
}

int
literal_as(struct predicate *predicate, struct expression **literal, const struct value_type *type,
	bool exact_numbers, struct lancet_error *err)
{
	struct expression *made = NULL;

	TRY(make(predicate, *literal, &made, err));
	TRY(set_value(made, type, exact_numbers, err));
	*literal = made;
	return LANCET_OK;
}

int
literal_natural(struct predicate *predicate, struct expression **literal, struct lancet_error *err)
{
	static const struct value_type none = { .class = VALUE_NULL };

	return literal_as(predicate, literal, &none, false, err);
}

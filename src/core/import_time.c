/* Dates, times and durations from text; see import_number.h.
 *
 * The forms are those of ISO 8601, with a blank or T between date and time. A fraction may have
 * more digits than the unit of the column only when they are zeros.
 */
#include "import_number.h"

#include "util/macros.h"
#include "util/text.h"

#define NO_VALUE     "is no"
#define OUT_OF_RANGE "is out of range for"
#define TOO_FINE     "is too fine for"
#define DAY_SECONDS  86400
#define NANOS        1000000000
#define YEAR_MAX     INT64_C(1000000000000) /* beyond what any column can store */

static const int64_t unit_per_second[] = {
	[ARROW_SECOND] = 1,
	[ARROW_MILLI] = 1000,
	[ARROW_MICRO] = 1000000,
	[ARROW_NANO] = 1000000000,
};

/* Text that is taken from its front. */
static bool
take(struct slice *text, char byte)
{
	if (text->size == 0 || text->data[0] != (uint8_t)byte)
		return false;
	*text = slice_of(text->data + 1, text->size - 1);
	return true;
}

static bool
is_digit(struct slice text, size_t at)
{
	return at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Exactly so many digits. */
static bool
take_number(struct slice *text, size_t digits, int64_t max, int64_t *ret_value)
{
	int64_t value = 0;

	for (size_t i = 0; i < digits; i++) {
		if (!is_digit(*text, i))
			return false;
		value = value * 10 + (text->data[i] - '0');
	}
	*text = slice_of(text->data + digits, text->size - digits);
	*ret_value = value;
	return value <= max;
}

/* As many digits as there are, 1 to 19 of them. */
static bool
take_digits(struct slice *text, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t count = 0;

	for (; is_digit(*text, count) && count < 20; count++)
		value = value * 10 + (text->data[count] - '0');
	*text = slice_of(text->data + count, text->size - count);
	*ret_value = value;
	return count > 0 && count < 20;
}

/* A point and digits; no more than nine that are no zeros. False: malformed. */
static bool
take_fraction(struct slice *text, int64_t *ret_nanos, bool *ret_too_fine)
{
	int64_t nanos = 0, worth = NANOS / 10;
	size_t count = 0;

	*ret_nanos = 0;
	if (!take(text, '.'))
		return true;
	for (; is_digit(*text, count); count++, worth /= 10) {
		nanos += worth * (text->data[count] - '0');
		*ret_too_fine |= worth == 0 && text->data[count] != '0';
	}
	*text = slice_of(text->data + count, text->size - count);
	*ret_nanos = nanos;
	return count > 0;
}

/* Years of four digits, or with a sign of any number of them from four up. */
static bool
take_date(struct slice *text, int64_t *ret_days)
{
	bool negative = take(text, '-'), is_signed = negative || take(text, '+');
	size_t digits = 0;
	int64_t year, month, day;

	while (is_digit(*text, digits))
		digits++;
	if (digits < 4 || digits > (is_signed ? 13 : 4) ||
		!take_number(text, digits, YEAR_MAX, &year) || !take(text, '-') ||
		!take_number(text, 2, 12, &month) || !take(text, '-') ||
		!take_number(text, 2, 31, &day))
		return false;
	return text_to_day(negative ? -year : year, (int)month, (int)day, ret_days);
}

/* HH:MM, HH:MM:SS, with or without a fraction. */
static bool
take_clock(struct slice *text, int64_t *ret_seconds, int64_t *ret_nanos, bool *ret_too_fine)
{
	int64_t hour, minute, second = 0;

	*ret_nanos = 0;
	if (!take_number(text, 2, 23, &hour) || !take(text, ':') ||
		!take_number(text, 2, 59, &minute))
		return false;
	if (take(text, ':') && (!take_number(text, 2, 59, &second) ||
				       !take_fraction(text, ret_nanos, ret_too_fine)))
		return false;
	*ret_seconds = hour * 3600 + minute * 60 + second;
	return true;
}

/* Z, +HH, +HHMM or +HH:MM, which is all of the text. */
static bool
take_zone(struct slice text, int64_t *ret_offset)
{
	bool west;
	int64_t hours, minutes = 0;

	*ret_offset = 0;
	if (take(&text, 'Z') || take(&text, 'z'))
		return text.size == 0;
	west = take(&text, '-');
	if ((!west && !take(&text, '+')) || !take_number(&text, 2, 23, &hours))
		return false;
	if (text.size > 0) {
		(void)take(&text, ':');
		if (!take_number(&text, 2, 59, &minutes))
			return false;
	}
	*ret_offset = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
	return text.size == 0;
}

/* seconds and nanos in units; the sum is that of a time that may be any. */
static const char *
put_units(__int128 seconds, int64_t nanos, const struct arrow_type *type,
	uint8_t into[IMPORT_SCALAR_MAX])
{
	int64_t per_second = unit_per_second[type->unit], value;
	int64_t unit_nanos = NANOS / per_second;
	__int128 units = seconds * per_second + nanos / unit_nanos;

	if (nanos % unit_nanos != 0)
		return TOO_FINE;
	if (units > INT64_MAX || units < INT64_MIN)
		return OUT_OF_RANGE;
	value = (int64_t)units;
	memcpy(into, &value, sizeof(value));
	return NULL;
}

static bool
take_between(struct slice *text)
{
	return take(text, 'T') || take(text, ' ') || take(text, 't');
}

const char *
import_parse_date(const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	const struct arrow_type milli = { .unit = ARROW_MILLI };
	int64_t days, seconds = 0, nanos = 0;
	bool too_fine = false;

	if (!take_date(&text, &days) ||
		(text.size > 0 && (!take_between(&text) ||
					  !take_clock(&text, &seconds, &nanos, &too_fine))) ||
		text.size > 0)
		return NO_VALUE;
	if (too_fine || (type->bits == 32 && (seconds != 0 || nanos != 0)))
		return TOO_FINE;
	if (type->bits == 64)
		return put_units((__int128)days * DAY_SECONDS + seconds, nanos, &milli, into);
	if (days < INT32_MIN || days > INT32_MAX)
		return OUT_OF_RANGE;
	memcpy(into, &days, sizeof(days));
	return NULL;
}

/* What is no time of a day is written as the number that it is. */
static const char *
put_stored_time(const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	const struct arrow_type number = { .bits = type->bits, .is_signed = true };
	const char *wrong = import_parse_int(&number, text, into);
	int64_t value;

	if (wrong != NULL)
		return NO_VALUE;
	memcpy(&value, into, sizeof(value));
	return value < 0 || value >= DAY_SECONDS * unit_per_second[type->unit] ? NULL : NO_VALUE;
}

const char *
import_parse_time(const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	struct slice all = text;
	int64_t seconds, nanos;
	bool too_fine = false;

	if (!take_clock(&text, &seconds, &nanos, &too_fine) || text.size > 0)
		return put_stored_time(type, all, into);
	return too_fine ? TOO_FINE : put_units(seconds, nanos, type, into);
}

const char *
import_parse_timestamp(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	int64_t days, seconds = 0, nanos = 0, offset = 0;
	bool too_fine = false, zoned = type->zone[0] != '\0';

	if (!take_date(&text, &days))
		return NO_VALUE;
	if (text.size > 0 &&
		(!take_between(&text) || !take_clock(&text, &seconds, &nanos, &too_fine)))
		return NO_VALUE;
	if (zoned && text.size == 0)
		return "has no offset from UTC, which is needed for";
	if (text.size > 0 && !take_zone(text, &offset))
		return NO_VALUE;
	if (text.size > 0 && !zoned)
		return "has an offset from UTC, which there is none in";
	if (too_fine)
		return TOO_FINE;
	return put_units((__int128)days * DAY_SECONDS + seconds - offset, nanos, type, into);
}

static const struct {
	char letter;
	bool timed; /* it stands behind the T */
	int64_t seconds;
} parts[] = { { 'W', false, 7 * DAY_SECONDS }, { 'D', false, DAY_SECONDS }, { 'H', true, 3600 },
	{ 'M', true, 60 }, { 'S', true, 1 } };

/* One part of a duration, such as 15M, that comes not before parts[*at]; only seconds have a
 * fraction. */
static bool
take_part(struct slice *text, bool timed, size_t *at, __int128 *seconds, int64_t *ret_nanos,
	bool *ret_too_fine)
{
	uint64_t value;

	if (!take_digits(text, &value) || !take_fraction(text, ret_nanos, ret_too_fine))
		return false;
	for (; *at < ARRAY_SIZE(parts); ++*at) {
		if (parts[*at].timed == timed && take(text, parts[*at].letter)) {
			*seconds += (__int128)value * parts[*at].seconds;
			return (parts[*at].letter == 'S' || *ret_nanos == 0) && ++*at > 0;
		}
	}
	return false;
}

/* nWnDTnHnMn.nS with any of the parts, but at least one. */
static bool
take_parts(struct slice text, __int128 *ret_seconds, int64_t *ret_nanos, bool *ret_too_fine)
{
	bool timed = false;
	size_t at = 0;

	*ret_seconds = *ret_nanos = 0;
	do {
		timed = timed || take(&text, 'T');
		if (!take_part(&text, timed, &at, ret_seconds, ret_nanos, ret_too_fine))
			return false;
	} while (text.size > 0);
	return true;
}

const char *
import_parse_duration(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	bool negative = take(&text, '-'), too_fine = false;
	__int128 seconds;
	int64_t nanos;

	if (!take(&text, 'P') || !take_parts(text, &seconds, &nanos, &too_fine))
		return NO_VALUE;
	if (too_fine)
		return TOO_FINE;
	return put_units(negative ? -seconds : seconds, negative ? -nanos : nanos, type, into);
}

/* Numbers, times, cells, file names and hashes; see text.h for each form.
 *
 * None of this depends on the locale or the time zone, so the same bytes come out everywhere. Dates
 * are proleptic Gregorian: eras of 400 years, years that begin in March so that the leap day comes
 * last.
 */
#include "text.h"

#include <assert.h>

#define DIGITS_MAX      20u
#define DAY_SECONDS     86400
#define ERA_DAYS        146097
#define DAYS_TO_EPOCH   719468 /* from 0000-03-01 to 1970-01-01 */
#define HASH_PREFIX_MAX 200u   /* bytes of a hashed name before its mark */
#define FNV_PRIME       0x100000001b3u

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
				  "2021222324252627282930313233343536373839"
				  "4041424344454647484950515253545556575859"
				  "6061626364656667686970717273747576777879"
				  "8081828384858687888990919293949596979899";

bool
text_to_u64(struct slice text, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (text.size == 0 || text.size > DIGITS_MAX || (text.size > 1 && text.data[0] == '0'))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		unsigned digit = (unsigned)text.data[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret_value = value;
	return true;
}

/* Writes the digits so that they end before `end`; returns the first one. */
static uint8_t *
put_digits(uint8_t *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + value * 2, 2);
		return end;
	}
	*--end = (uint8_t)('0' + value);
	return end;
}

void
text_put_u64(uint8_t *into, unsigned width, uint64_t value)
{
	uint8_t digits[DIGITS_MAX];
	uint8_t *first;
	size_t count;

	if (width >= DIGITS_MAX) {
		first = put_digits(into + width, value);
		memset(into, ' ', (size_t)(first - into));
		return;
	}
	first = put_digits(digits + DIGITS_MAX, value);
	count = (size_t)(digits + DIGITS_MAX - first);
	assert(count <= width);
	memset(into, ' ', width - count);
	memcpy(into + width - count, first, count);
}

void
buf_put_u64(struct buf *b, unsigned width, uint64_t value)
{
	uint8_t digits[DIGITS_MAX];
	uint8_t *first = put_digits(digits + DIGITS_MAX, value);
	size_t count = (size_t)(digits + DIGITS_MAX - first);
	size_t padding = width > count ? width - count : 0;

	if (!buf_reserve(b, padding + count))
		return;
	memset(b->data + b->size, ' ', padding);
	memcpy(b->data + b->size + padding, first, count);
	b->size += padding + count;
}

void
buf_put_i64(struct buf *b, int64_t value)
{
	if (value < 0)
		buf_put_byte(b, '-');
	buf_put_u64(b, 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The letter behind the backslash, or 0 for a byte that stands for itself in a cell. */
static char
cell_escape(uint8_t byte)
{
	switch (byte) {
	case '\t':
		return 't';
	case '\n':
		return 'n';
	case '\\':
		return '\\';
	default:
		return 0;
	}
}

size_t
text_cell_size(struct slice text)
{
	size_t size = text.size;

	for (size_t i = 0; i < text.size; i++)
		size += cell_escape(text.data[i]) != 0;
	return size;
}

void
buf_put_cell(struct buf *b, unsigned width, struct slice text)
{
	size_t size = text_cell_size(text);

	if (width > size)
		buf_fill(b, ' ', width - size);
	if (size == text.size) {
		buf_put_slice(b, text);
		return;
	}
	for (size_t i = 0; i < text.size; i++) {
		char escape = cell_escape(text.data[i]);

		if (escape != 0)
			buf_put_byte(b, '\\');
		buf_put_byte(b, escape != 0 ? (uint8_t)escape : text.data[i]);
	}
}

/* Days since 1970-01-01 of a date with month 1-12. */
static int64_t
days_from_date(int64_t year, int month, int day)
{
	int64_t march_year = year - (month <= 2);
	int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
	int64_t year_of_era = march_year - era * 400;
	int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - DAYS_TO_EPOCH;
}

static int
days_of_month(int64_t year, int month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

bool
text_to_day(int64_t year, int month, int day, int64_t *ret_days)
{
	if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
		return false;
	*ret_days = days_from_date(year, month, day);
	return true;
}

void
text_date(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t since = days + DAYS_TO_EPOCH;
	int64_t era = (since >= 0 ? since : since - (ERA_DAYS - 1)) / ERA_DAYS;
	int64_t day = since - era * ERA_DAYS;
	/* each leap day before this one would make the plain quotient a little too large */
	int64_t year = (day - day / 1460 + day / 36524 - day / (ERA_DAYS - 1)) / 365;
	int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
	int64_t march_month = (5 * day_of_year + 2) / 153;

	*ret_day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
	*ret_month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
	*ret_year = year + era * 400 + (*ret_month <= 2);
}

static char *
put_pair(char *to, unsigned value, char after)
{
	memcpy(to, digit_pairs + value * 2, 2);
	to[2] = after;
	return to + 3;
}

bool
text_timestamp(int64_t seconds, int64_t nanos, char into[31])
{
	int64_t days = seconds / DAY_SECONDS - (seconds % DAY_SECONDS < 0);
	unsigned second = (unsigned)(seconds - days * DAY_SECONDS);
	int64_t year;
	int month, day;
	char *to = into;

	if (days < days_from_date(0, 1, 1) || days > days_from_date(9999, 12, 31) || nanos < 0 ||
	    nanos >= 1000000000)
		return false;
	text_date(days, &year, &month, &day);
	memcpy(to, digit_pairs + year / 100 * 2, 2);
	to = put_pair(to + 2, (unsigned)year % 100, '-');
	to = put_pair(to, (unsigned)month, '-');
	to = put_pair(to, (unsigned)day, 'T');
	to = put_pair(to, second / 3600, ':');
	to = put_pair(to, second / 60 % 60, ':');
	to = put_pair(to, second % 60, '.');
	for (int i = 8; i >= 0; i--, nanos /= 10)
		to[i] = (char)('0' + nanos % 10);
	memcpy(to + 9, "Z", 2);
	return true;
}

/* Takes `digits` decimal digits off the front of *text, then `after` unless that is 0. */
static bool
take_number(struct slice *text, unsigned digits, char after, int max, int *ret_value)
{
	int value = 0;

	if (text->size < digits + (after != 0))
		return false;
	for (unsigned i = 0; i < digits; i++) {
		if (text->data[i] < '0' || text->data[i] > '9')
			return false;
		value = value * 10 + (text->data[i] - '0');
	}
	if (value > max || (after != 0 && text->data[digits] != after))
		return false;
	text->data += digits + (after != 0);
	text->size -= digits + (after != 0);
	*ret_value = value;
	return true;
}

static bool
take_fraction(struct slice *text, int32_t *ret_nanos)
{
	int32_t nanos = 0;
	size_t digits = 0;

	if (text->size == 0 || text->data[0] != '.')
		return true;
	while (1 + digits < text->size && text->data[1 + digits] >= '0' &&
	       text->data[1 + digits] <= '9') {
		if (++digits > 9)
			return false;
		nanos = nanos * 10 + (text->data[digits] - '0');
	}
	if (digits == 0)
		return false;
	*text = slice_of(text->data + 1 + digits, text->size - 1 - digits);
	for (; digits < 9; digits++)
		nanos *= 10;
	*ret_nanos = nanos;
	return true;
}

/* All of the rest must be a zone, or nothing. */
static bool
take_zone(struct slice text, int64_t *ret_seconds)
{
	int64_t sign;
	int hours, minutes;

	if (text.size == 0 || (text.size == 1 && (text.data[0] == 'Z' || text.data[0] == 'z')))
		return true;
	if (text.data[0] != '+' && text.data[0] != '-')
		return false;
	sign = text.data[0] == '+' ? 1 : -1;
	text = slice_of(text.data + 1, text.size - 1);
	if (!take_number(&text, 2, ':', 23, &hours) || !take_number(&text, 2, 0, 59, &minutes) ||
	    text.size != 0)
		return false;
	*ret_seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool
text_to_timestamp(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos)
{
	int year, month, day, hour = 0, minute = 0, second = 0;
	int64_t days, zone = 0;
	int32_t nanos = 0;

	if (!take_number(&text, 4, '-', 9999, &year) || !take_number(&text, 2, '-', 12, &month) ||
	    !take_number(&text, 2, 0, 31, &day) || !text_to_day(year, month, day, &days))
		return false;
	if (text.size != 0) {
		if (text.data[0] != 'T' && text.data[0] != 't' && text.data[0] != ' ')
			return false;
		text = slice_of(text.data + 1, text.size - 1);
		if (!take_number(&text, 2, ':', 23, &hour) ||
		    !take_number(&text, 2, ':', 59, &minute) ||
		    !take_number(&text, 2, 0, 59, &second) || !take_fraction(&text, &nanos) ||
		    !take_zone(text, &zone))
			return false;
	}
	*ret_seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second - zone;
	*ret_nanos = nanos;
	return true;
}

/* The length of the sequence that starts at text.data[at], or 0 when it is not UTF-8. */
static size_t
utf8_sequence(struct slice text, size_t at)
{
	uint8_t lead = text.data[at];
	size_t left = text.size - at;
	uint8_t low = 0x80, high = 0xbf; /* of the second byte: no overlong forms, no surrogates */
	size_t size;

	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (size > left)
		return 0;
	low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : low;
	high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : high;
	if (text.data[at + 1] < low || text.data[at + 1] > high)
		return 0;
	for (size_t i = 2; i < size; i++) {
		if ((text.data[at + i] & 0xc0) != 0x80)
			return 0;
	}
	return size;
}

bool
text_is_utf8(struct slice text)
{
	size_t at = 0;

	while (at < text.size) {
		uint64_t word;
		size_t size;

		if (text.size - at >= sizeof(word)) {
			memcpy(&word, text.data + at, sizeof(word));
			if ((word & 0x8080808080808080u) == 0) {
				at += sizeof(word);
				continue;
			}
		}
		size = utf8_sequence(text, at);
		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

static uint64_t
hash_bytes(uint64_t state, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		state = (state ^ data[i]) * FNV_PRIME;
	return state;
}

/* FNV-1a leaves the last bytes' differences in the low bits; this spreads them over all. */
static uint64_t
hash_finish(uint64_t state)
{
	state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
	state = (state ^ state >> 27) * 0x94d049bb133111ebu;
	return state ^ state >> 31;
}

uint64_t
text_hash(uint64_t seed, struct slice bytes)
{
	return hash_finish(hash_bytes(seed, bytes.data, bytes.size));
}

static bool
name_escapes(uint8_t byte, size_t at)
{
	return byte == '/' || byte == '\0' || byte == '%' || (byte == '.' && at == 0);
}

static void
put_hex(char *to, uint64_t value, unsigned digits, const char *alphabet)
{
	while (digits > 0) {
		to[--digits] = alphabet[value & 15];
		value >>= 4;
	}
}

size_t
text_name_encode(struct slice name, char into[TEXT_NAME_MAX + 1])
{
	uint64_t hash = TEXT_HASH_SEED; /* of all that is encoded, whether it is kept or not */
	size_t size = 0;                /* of what is kept */
	size_t prefix = 0;              /* whole units within HASH_PREFIX_MAX */
	bool cut = false;

	if (name.size == 0) {
		memcpy(into, "%", 2);
		return 1;
	}
	for (size_t i = 0; i < name.size; i++) {
		char unit[3] = { (char)name.data[i] };
		size_t unit_size = 1;

		if (name_escapes(name.data[i], i)) {
			unit[0] = '%';
			put_hex(unit + 1, name.data[i], 2, "0123456789ABCDEF");
			unit_size = 3;
		}
		hash = hash_bytes(hash, (const uint8_t *)unit, unit_size);
		cut = cut || unit_size > TEXT_NAME_MAX - size;
		if (cut)
			continue;
		memcpy(into + size, unit, unit_size);
		size += unit_size;
		if (size <= HASH_PREFIX_MAX)
			prefix = size;
	}
	if (cut) {
		memcpy(into + prefix, "%~", 2);
		put_hex(into + prefix + 2, hash_finish(hash), 16, "0123456789abcdef");
		size = prefix + 18;
	}
	into[size] = '\0';
	return size;
}

static int
hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

bool
text_name_decode(struct slice name, struct buf *into)
{
	uint8_t plain[TEXT_NAME_MAX];
	size_t size = 0;

	if (name.size == 0 || name.size > TEXT_NAME_MAX)
		return false;
	if (name.size == 1 && name.data[0] == '%')
		return true;
	for (size_t i = 0; i < name.size; i++) {
		uint8_t byte = name.data[i];

		if (byte == '%') {
			int high = i + 2 < name.size ? hex_digit(name.data[i + 1]) : -1;
			int low = i + 2 < name.size ? hex_digit(name.data[i + 2]) : -1;

			if (high < 0 || low < 0 || !name_escapes((uint8_t)(high << 4 | low), size))
				return false;
			byte = (uint8_t)(high << 4 | low);
			i += 2;
		} else if (name_escapes(byte, size)) {
			return false;
		}
		plain[size++] = byte;
	}
	buf_put(into, plain, size);
	return true;
}

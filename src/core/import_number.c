/* Whole numbers and decimals from text; see import_number.h. */
#include "import_number.h"

#define NO_VALUE     "is no"
#define LIMBS        4  /* 64-bit words of the widest decimal */
#define CHUNK_MAX    18 /* digits that are added at a time */
#define EXPONENT_MAX 100000000

static bool
is_word(struct slice text, const char *word)
{
	return slice_equal(text, slice_text(word));
}

/* The spellings that Arrow's CSV reader knows. */
const char *
import_parse_bool(const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	(void)type;
	if (is_word(text, "true") || is_word(text, "True") || is_word(text, "TRUE") ||
		is_word(text, "1"))
		into[0] = 1;
	else if (is_word(text, "false") || is_word(text, "False") || is_word(text, "FALSE") ||
		 is_word(text, "0"))
		into[0] = 0;
	else
		return NO_VALUE;
	return NULL;
}

/* A point and zeros, or nothing. */
static bool
is_whole_end(struct slice text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] != (i == 0 ? '.' : '0'))
			return false;
	}
	return true;
}

const char *
import_parse_int(const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	size_t negative = text.size > 0 && text.data[0] == '-', at = negative;
	uint64_t value = 0, max = UINT64_MAX >> (64 - type->bits + type->is_signed);
	bool fits = true;

	for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++)
		fits &= !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
			!__builtin_add_overflow(value, (uint64_t)(text.data[at] - '0'), &value);
	if (at == negative || !is_whole_end(slice_of(text.data + at, text.size - at)))
		return NO_VALUE;
	if (!fits || value > max + (negative && type->is_signed) ||
		(negative && !type->is_signed && value > 0))
		return "is out of range for";
	value = negative ? 0 - value : value;
	memcpy(into, &value, sizeof(value));
	return NULL;
}

static struct slice
take_digits(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *from = *at;

	while (*at < end && **at >= '0' && **at <= '9')
		++*at;
	return slice_of(from, (size_t)(*at - from));
}

static bool
take_exponent(struct slice text, int32_t *ret_exponent)
{
	size_t sign = text.size > 1 && (text.data[1] == '-' || text.data[1] == '+');
	int32_t exponent = 0;

	if (text.size < 2 + sign || (text.data[0] | 0x20) != 'e')
		return false;
	for (size_t i = 1 + sign; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		if (exponent < EXPONENT_MAX / 10)
			exponent = exponent * 10 + (text.data[i] - '0');
	}
	*ret_exponent = text.data[1] == '-' ? -exponent : exponent;
	return true;
}

bool
import_digits_take(struct slice text, struct import_digits *ret_digits)
{
	struct import_digits digits = { .negative = text.size > 0 && text.data[0] == '-' };
	const uint8_t *at = text.data + digits.negative, *end = text.data + text.size;

	digits.whole = take_digits(&at, end);
	digits.fraction = slice_of(at, 0);
	if (at < end && *at == '.') {
		at++;
		digits.fraction = take_digits(&at, end);
	}
	if (digits.whole.size == 0 && digits.fraction.size == 0)
		return false;
	if (at < end && !take_exponent(slice_of(at, (size_t)(end - at)), &digits.exponent))
		return false;
	*ret_digits = digits;
	return true;
}

/* limbs * 10^(digits of the chunk) + chunk; the caller has counted that it fits. */
static void
add_chunk(uint64_t limbs[LIMBS], uint64_t chunk, unsigned digits)
{
	uint64_t by = 1;
	unsigned __int128 carry = chunk;

	for (unsigned i = 0; i < digits; i++)
		by *= 10;
	for (int i = 0; i < LIMBS; i++) {
		carry += (unsigned __int128)limbs[i] * by;
		limbs[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

/* Digit `i` of the number, whose digits are followed by zeros. */
static unsigned
digit_at(const struct import_digits *digits, size_t i)
{
	if (i < digits->whole.size)
		return digits->whole.data[i] - '0';
	i -= digits->whole.size;
	return i < digits->fraction.size ? digits->fraction.data[i] - '0' : 0;
}

/* The first `count` digits as a number. */
static void
put_digits(const struct import_digits *digits, size_t first, size_t count, uint64_t limbs[LIMBS])
{
	uint64_t chunk = 0;
	unsigned size = 0;

	for (size_t i = first; i < first + count; i++) {
		chunk = chunk * 10 + digit_at(digits, i);
		if (++size == CHUNK_MAX || i + 1 == first + count) {
			add_chunk(limbs, chunk, size);
			chunk = size = 0;
		}
	}
}

static void
negate(uint64_t limbs[LIMBS])
{
	uint64_t carry = 1;

	for (int i = 0; i < LIMBS; i++) {
		limbs[i] = ~limbs[i] + carry;
		carry = carry && limbs[i] == 0;
	}
}

/* The digits are all before the last decimal that the type has, but for zeros. */
const char *
import_parse_decimal(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX])
{
	uint64_t limbs[LIMBS] = { 0 };
	struct import_digits digits;
	size_t all, first = 0;
	int64_t kept;

	if (!import_digits_take(text, &digits))
		return NO_VALUE;
	all = digits.whole.size + digits.fraction.size;
	while (first < all && digit_at(&digits, first) == 0)
		first++;
	kept = (int64_t)digits.whole.size + digits.exponent + type->scale;
	for (size_t i = first; i < all; i++) {
		if ((int64_t)i >= kept && digit_at(&digits, i) != 0)
			return "has too many decimals for";
	}
	if (first < all && kept - (int64_t)first > type->precision)
		return "has too many digits for";
	if (first < all)
		put_digits(&digits, first, (size_t)(kept - (int64_t)first), limbs);
	if (digits.negative)
		negate(limbs);
	memcpy(into, limbs, sizeof(limbs));
	return NULL;
}

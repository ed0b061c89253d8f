/* Arithmetic on 256 bits: sizes are worked on, signs are put on afterwards. */
#include "wide.h"

#include <string.h>

#define LIMBS 4

typedef unsigned __int128 pair; /* what two limbs make */

struct wide
wide_of(int64_t value)
{
	uint64_t sign = value < 0 ? UINT64_MAX : 0;

	return (struct wide){ { (uint64_t)value, sign, sign, sign } };
}

struct wide
wide_of_unsigned(uint64_t value)
{
	return (struct wide){ { value, 0, 0, 0 } };
}

struct wide
wide_load(const uint8_t *bytes, unsigned bits)
{
	struct wide value;

	memset(&value, bytes[bits / 8 - 1] >> 7 ? 0xff : 0, sizeof(value));
	memcpy(value.limbs, bytes, bits / 8);
	return value;
}

bool
wide_store(struct wide value, unsigned bits, uint8_t *bytes)
{
	uint64_t sign = wide_is_negative(value) ? UINT64_MAX : 0;

	if (bits == 128 && (value.limbs[2] != sign || value.limbs[3] != sign ||
				   (value.limbs[1] ^ sign) >> 63 != 0))
		return false;
	memcpy(bytes, value.limbs, bits / 8);
	return true;
}

bool
wide_is_negative(struct wide value)
{
	return value.limbs[LIMBS - 1] >> 63;
}

bool
wide_is_zero(struct wide value)
{
	return (value.limbs[0] | value.limbs[1] | value.limbs[2] | value.limbs[3]) == 0;
}

static int
compare_sizes(struct wide a, struct wide b)
{
	for (int i = LIMBS - 1; i >= 0; i--) {
		if (a.limbs[i] != b.limbs[i])
			return a.limbs[i] < b.limbs[i] ? -1 : 1;
	}
	return 0;
}

int
wide_compare(struct wide a, struct wide b)
{
	if (wide_is_negative(a) != wide_is_negative(b))
		return wide_is_negative(a) ? -1 : 1;
	return compare_sizes(a, b);
}

static struct wide
add_limbs(struct wide a, struct wide b)
{
	struct wide sum;
	pair carry = 0;

	for (int i = 0; i < LIMBS; i++) {
		carry += (pair)a.limbs[i] + b.limbs[i];
		sum.limbs[i] = (uint64_t)carry;
		carry >>= 64;
	}
	return sum;
}

static struct wide
negate(struct wide value)
{
	for (int i = 0; i < LIMBS; i++)
		value.limbs[i] = ~value.limbs[i];
	return add_limbs(value, wide_of(1));
}

/* Without sign: 2^255 for the smallest number of all. */
static struct wide
size_of(struct wide value)
{
	return wide_is_negative(value) ? negate(value) : value;
}

/* The number of this size, which is below 2^255 or, for a negative one, just that. */
static bool
with_sign(struct wide size, bool negative, struct wide *ret_value)
{
	struct wide value = negative ? negate(size) : size;

	if (!wide_is_zero(size) && wide_is_negative(value) != negative)
		return false;
	*ret_value = value;
	return true;
}

bool
wide_add(struct wide a, struct wide b, struct wide *ret_result)
{
	struct wide sum = add_limbs(a, b);

	if (wide_is_negative(a) == wide_is_negative(b) &&
		wide_is_negative(sum) != wide_is_negative(a))
		return false;
	*ret_result = sum;
	return true;
}

bool
wide_subtract(struct wide a, struct wide b, struct wide *ret_result)
{
	struct wide difference = add_limbs(a, negate(b));

	if (wide_is_negative(a) != wide_is_negative(b) &&
		wide_is_negative(difference) != wide_is_negative(a))
		return false;
	*ret_result = difference;
	return true;
}

static bool
multiply_sizes(struct wide a, struct wide b, struct wide *ret_product)
{
	uint64_t product[2 * LIMBS] = { 0 };

	for (int i = 0; i < LIMBS; i++) {
		pair carry = 0;

		for (int j = 0; j < LIMBS; j++) {
			carry += (pair)a.limbs[i] * b.limbs[j] + product[i + j];
			product[i + j] = (uint64_t)carry;
			carry >>= 64;
		}
		product[i + LIMBS] = (uint64_t)carry;
	}
	for (int i = LIMBS; i < 2 * LIMBS; i++) {
		if (product[i] != 0)
			return false;
	}
	memcpy(ret_product->limbs, product, sizeof(ret_product->limbs));
	return true;
}

bool
wide_multiply(struct wide a, struct wide b, struct wide *ret_result)
{
	struct wide size;

	return multiply_sizes(size_of(a), size_of(b), &size) &&
	       with_sign(size, wide_is_negative(a) != wide_is_negative(b), ret_result);
}

static struct wide
divide_short(struct wide a, uint64_t by, struct wide *ret_rest)
{
	pair rest = 0;

	for (int i = LIMBS - 1; i >= 0; i--) {
		rest = rest << 64 | a.limbs[i];
		a.limbs[i] = (uint64_t)(rest / by);
		rest %= by;
	}
	*ret_rest = wide_of_unsigned((uint64_t)rest);
	return a;
}

/* Bit by bit; the rest stays below 2 * b, and b is at most 2^255. */
static struct wide
divide_sizes(struct wide a, struct wide b, struct wide *ret_rest)
{
	struct wide rest = { { 0 } }, quotient = { { 0 } };

	if ((b.limbs[1] | b.limbs[2] | b.limbs[3]) == 0)
		return divide_short(a, b.limbs[0], ret_rest);
	for (int i = 255; i >= 0; i--) {
		rest = add_limbs(rest, rest);
		rest.limbs[0] |= a.limbs[i / 64] >> (i % 64) & 1;
		if (compare_sizes(rest, b) < 0)
			continue;
		rest = add_limbs(rest, negate(b));
		quotient.limbs[i / 64] |= UINT64_C(1) << (i % 64);
	}
	*ret_rest = rest;
	return quotient;
}

bool
wide_divide(struct wide a, struct wide b, struct wide *ret_result, struct wide *ret_rest)
{
	struct wide rest;
	struct wide size = divide_sizes(size_of(a), size_of(b), &rest);

	return with_sign(rest, wide_is_negative(a), ret_rest) &&
	       with_sign(size, wide_is_negative(a) != wide_is_negative(b), ret_result);
}

bool
wide_scale(struct wide value, unsigned digits, struct wide *ret_result)
{
	const struct wide ten = wide_of(10);

	if (wide_is_zero(value))
		digits = 0;
	for (; digits >= 18; digits -= 18) {
		if (!wide_multiply(value, wide_of(INT64_C(1000000000000000000)), &value))
			return false;
	}
	for (; digits > 0; digits--) {
		if (!wide_multiply(value, ten, &value))
			return false;
	}
	*ret_result = value;
	return true;
}

struct wide
wide_round(struct wide value, unsigned digits, bool *ret_exact)
{
	bool negative = wide_is_negative(value), exact = true;
	struct wide size = size_of(value), rest = { { 0 } };

	for (; digits > 1 && !wide_is_zero(size); digits--) {
		size = divide_short(size, 10, &rest);
		exact = exact && wide_is_zero(rest);
	}
	if (digits == 1) {
		size = divide_short(size, 10, &rest);
		exact = exact && wide_is_zero(rest);
		if (rest.limbs[0] >= 5)
			size = add_limbs(size, wide_of(1));
	}
	if (ret_exact != NULL)
		*ret_exact = exact;
	(void)with_sign(size, negative, &value);
	return value;
}

bool
wide_has_digits(struct wide value, unsigned digits)
{
	struct wide limit;

	return !wide_scale(wide_of(1), digits, &limit) || compare_sizes(size_of(value), limit) < 0;
}

bool
wide_to_i64(struct wide value, int64_t *ret_value)
{
	struct wide back = wide_of((int64_t)value.limbs[0]);

	if (compare_sizes(back, value) != 0)
		return false;
	*ret_value = (int64_t)value.limbs[0];
	return true;
}

bool
wide_to_u64(struct wide value, uint64_t *ret_value)
{
	if ((value.limbs[1] | value.limbs[2] | value.limbs[3]) != 0)
		return false;
	*ret_value = value.limbs[0];
	return true;
}

double
wide_to_double(struct wide value)
{
	struct wide size = size_of(value);
	double number = 0;

	for (int i = LIMBS - 1; i >= 0; i--)
		number = number * 0x1p64 + (double)size.limbs[i];
	return wide_is_negative(value) ? -number : number;
}

/* Whole numbers of 256 bits, for decimals: two's complement, every overflow is told. */
#ifndef UTIL_WIDE_H
#define UTIL_WIDE_H

#include <stdbool.h>
#include <stdint.h>

struct wide {
	uint64_t limbs[4]; /* least significant first */
};

#define WIDE_DIGITS 76 /* that always fit */

struct wide wide_of(int64_t value);
struct wide wide_of_unsigned(uint64_t value);
/* `bits` is 128 or 256; the bytes are little-endian and not aligned. */
struct wide wide_load(const uint8_t *bytes, unsigned bits);
/* False when it does not fit into the bits. */
bool wide_store(struct wide value, unsigned bits, uint8_t *bytes);
bool wide_is_negative(struct wide value);
bool wide_is_zero(struct wide value);
int wide_compare(struct wide a, struct wide b); /* -1, 0, 1 */

/* False when the result needs more than 256 bits; *ret_result is untouched then. */
bool wide_add(struct wide a, struct wide b, struct wide *ret_result);
bool wide_subtract(struct wide a, struct wide b, struct wide *ret_result);
bool wide_multiply(struct wide a, struct wide b, struct wide *ret_result);
/* Rounded towards zero; the rest has the sign of `a`. `b` is not 0. */
bool wide_divide(struct wide a, struct wide b, struct wide *ret_result, struct wide *ret_rest);
/* Times 10^digits. */
bool wide_scale(struct wide value, unsigned digits, struct wide *ret_result);
/* Divided by 10^digits, halves rounded away from zero; *ret_exact (may be NULL): nothing was cut
 * off. */
struct wide wide_round(struct wide value, unsigned digits, bool *ret_exact);
/* Whether its size has at most so many decimal digits. */
bool wide_has_digits(struct wide value, unsigned digits);
bool wide_to_i64(struct wide value, int64_t *ret_value);
bool wide_to_u64(struct wide value, uint64_t *ret_value);
double wide_to_double(struct wide value); /* rounded */

#endif

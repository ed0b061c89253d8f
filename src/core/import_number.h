/* Text of numbers, dates and times as values of the types that fields have: what row_scalar.c
 * writes, and the usual other spellings of the same.
 *
 * Nothing is rounded but floating-point numbers, which become the nearest value of their type, ties
 * to even. None of it depends on locale or time zone.
 */
#ifndef CORE_IMPORT_NUMBER_H
#define CORE_IMPORT_NUMBER_H

#include "arrow_type.h"

#define IMPORT_SCALAR_MAX 32u /* bytes of the widest value: decimals of 256 bits */

/* Puts the value of `text`, which has type->bits, into `into`. NULL, or what is wrong: words that
 * go behind the text, such as "is no number". */
typedef const char *import_parse(
	const struct arrow_type *type, struct slice text, uint8_t into[IMPORT_SCALAR_MAX]);

import_parse import_parse_bool; /* into[0] is 0 or 1 */
import_parse import_parse_int;  /* "5", "-5"; "5.0" too, which others write where there are nulls */
import_parse import_parse_float; /* of IEEE 754, 16 to 64 bits */
import_parse import_parse_bfloat16;
import_parse import_parse_decimal;
import_parse import_parse_date;
import_parse import_parse_time;
import_parse import_parse_timestamp;
import_parse import_parse_duration;

/* A number with digits, as the bits of the nearest double; false: none, or beyond doubles. */
bool import_double(struct slice text, uint64_t *ret_bits);

/* For those above: a number taken apart. */
struct import_digits {
	bool negative;
	struct slice whole, fraction; /* digits; one of them may be empty */
	int32_t exponent;             /* at most 10^8 in size */
};
bool import_digits_take(struct slice text, struct import_digits *ret_digits);

#endif

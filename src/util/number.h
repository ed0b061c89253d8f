/* Floating-point numbers as decimal text, the same in every locale.
 *
 * The digits are the fewest, or nearly so, that read back as the same value of the same width. A
 * point or an exponent is always there, so that the text stays a floating-point number for those
 * who guess types; all of it is valid JSON. Values must be finite.
 */
#ifndef UTIL_NUMBER_H
#define UTIL_NUMBER_H

#include "buf.h"

void buf_put_double(struct buf *b, double value);
void buf_put_float(struct buf *b, float value);
/* The bits of an IEEE half. */
void buf_put_half(struct buf *b, uint16_t bits);
/* What the bits of a half mean; exact. */
double number_of_half(uint16_t bits);

#endif

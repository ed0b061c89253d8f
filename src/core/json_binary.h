/* JSON text as the binary form that JSON columns store (JSONB): what json_text.h reads.
 *
 * The bytes are those of the reference: keys sorted by their bytes, whole numbers of up to 64 bits
 * as short as they go, every other number as a double. The reference's parser takes more than JSON
 * (words without quotes, hexadecimal numbers, missing items) and loses what is too large for a
 * double; here that is refused.
 */
#ifndef CORE_JSON_BINARY_H
#define CORE_JSON_BINARY_H

#include "util/jsonpull.h"

#define JSON_BINARY_DEPTH_MAX 1024u

/* Appends the next value to `into`. INVALID: not JSON, a key twice in an object, a number beyond
 * doubles; LIMIT: nested deeper than JSON_BINARY_DEPTH_MAX, or larger than the form can tell. After
 * an error `into` has a part of the value. */
int json_binary_take(struct jsonpull *from, struct buf *into, struct lancet_error *err);
/* A whole text, which is checked to be UTF-8. */
int json_binary_put(struct slice text, struct buf *into, struct lancet_error *err);

#endif

/* Numbers of JSONB: a byte for the kind, then the value, big-endian, as short as it goes. */
#ifndef CORE_JSON_NUMBER_H
#define CORE_JSON_NUMBER_H

#include <lancet/error.h>
#include "util/buf.h"

/* The number as the reference spells it: digits that read back as the same value, as few as there
 * can be, with an exponent from 1e16 up and below 1e-5. What JSON has no number for is null.
 * CORRUPT: a kind or size that there is not; UNSUPPORTED: decimals. */
int json_number_put(struct slice value, struct buf *into, struct lancet_error *err);

#endif

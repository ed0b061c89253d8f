/* Base64 (RFC 4648, the usual alphabet) back to bytes; jsonw.h writes it. */
#ifndef UTIL_BASE64_H
#define UTIL_BASE64_H

#include "slice.h"

/* The one spelling that bytes have: padded, nothing between, no bits left over. `into` has room for
 * 3 bytes for every 4 characters, and is part written when it fails. */
bool base64_decode(struct slice text, uint8_t *into, size_t *ret_size);

#endif

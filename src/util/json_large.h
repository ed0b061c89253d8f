/* Documents that users write or edit: larger than those of json.h, and held to what json-c alone
 * passes over.
 *
 * A key that is repeated in an object is refused; whole numbers are exact up to UINT64_MAX; half a
 * surrogate pair is an error and no replacement character; keys may hold NUL; and memory is bounded
 * by what the text looks like before anything is built, since `{}` costs hundreds of times its
 * size.
 */
#ifndef UTIL_JSON_LARGE_H
#define UTIL_JSON_LARGE_H

#include "buf.h"
#include "json.h"

/* CORRUPT: not one object in strict JSON, a repeated key, nested deeper than depth_max, with the
 * byte where that is known; LIMIT: longer than size_max (< 2 GiB), or it would take too much
 * memory. The caller frees *ret_root with json_free. */
LANCET_MUST_CHECK int json_parse_large(struct slice text, size_t size_max, int depth_max,
	struct json_object **ret_root, struct lancet_error *err);

/* A key of json-c's as it was written: NUL does not get through json-c, so json_parse_large hides
 * it. Appended to `into`. */
void json_key_put(const char *key, struct buf *into);

#endif

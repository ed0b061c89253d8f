/* Strict reading of small JSON documents: one object, UTF-8, bounded depth and size, exact
 * integers.
 *
 * Of a key that is repeated the last value counts. Numbers are never rounded: what does not fit
 * into 64 unsigned bits, has a fraction or an exponent, or is UINT64_MAX (where the parser
 * saturates) is refused. Text may hold NUL (\u0000).
 */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include "slice.h"
#include <lancet/error.h>

#define JSON_DEPTH_MAX 16
#define JSON_SIZE_MAX  (1u << 20) /* bytes */

struct json_object;

/* CORRUPT: not one object in strict JSON, nested deeper than JSON_DEPTH_MAX; LIMIT: longer than
 * JSON_SIZE_MAX. The caller frees *ret_root with json_free. */
LANCET_MUST_CHECK int json_parse(struct slice text, struct json_object **ret_root,
                                 struct lancet_error *err);
/* The step of it that is json-c's: strict, but no limit of size (< 2 GiB), and none of the checks
 * for what json-c passes over. The text is not empty and does not end in a blank. */
LANCET_MUST_CHECK int json_parse_depth(struct slice text, int depth_max,
	struct json_object **ret_root, struct lancet_error *err);
void json_free(struct json_object *root);

/* Whether the object has the key with a value other than null. */
bool json_has(struct json_object *object, const char *key);
/* CORRUPT when the key is absent or its value is of another kind. Text belongs to the object. */
LANCET_MUST_CHECK int json_get_u64(struct json_object *object, const char *key,
                                   uint64_t *ret_value, struct lancet_error *err);
LANCET_MUST_CHECK int json_get_text(struct json_object *object, const char *key,
                                    struct slice *ret_text, struct lancet_error *err);

#endif

/* JSON columns: stored in a binary form (JSONB), read as text, as the reference reads them.
 *
 * A field of extension type lance.json becomes one of arrow.json, wherever it is in the tree. The
 * text is that of the reference: keys in stored order, no spaces, numbers in its spelling. */
#ifndef CORE_JSON_TEXT_H
#define CORE_JSON_TEXT_H

#include "file/array.h"

#define EXTENSION_KEY  "ARROW:extension:name"
#define JSON_STORED_AS "lance.json"
#define JSON_READ_AS   "arrow.json"
#define JSON_DEPTH_MAX 65536u

/* The field itself is JSON. */
bool json_text_is_for(const struct field *field);
/* The field or one below it is. */
bool json_text_is_in(const struct field *field);
/* Replaces all JSON values of the tree by arrays of text, within the budget of the array: an array
 * that was JSON then belongs to field_bytes(false). CORRUPT: bytes that are no JSONB; UNSUPPORTED:
 * kinds of values that no writer of JSON makes, by name; LIMIT: deeper than JSON_DEPTH_MAX, or more
 * text than the budget has. */
int json_text_convert(struct array *array, struct lancet_error *err);
/* One value. */
int json_text_put(struct slice jsonb, struct buf *into, struct lancet_error *err);

#endif

/* Protobuf messages as JSON, by their descriptors. SPEC section 4.
 *
 * Keys are the field names of the .proto files. Text is a string, other bytes base64, an enum its
 * name, a map an object, a UUID hyphenated text, a time RFC 3339; 64-bit integers are decimal text
 * but for counts, sizes and fragment ids. What has its default and no presence of its own is left
 * out. Fields that we don't know are kept: {"unknown": {"900": [values]}}, a varint as
 * decimal text, bytes as base64, others as {"fixed64": "1"} or {"fixed32": "1"}, and bytes whose
 * base64 would be a number as {"base64": "1234"}. pbfromjson.h is the way back.
 */
#ifndef CORE_PBJSON_H
#define CORE_PBJSON_H

#include <protobuf-c/protobuf-c.h>

#include "pbjson_parts.h"

struct Google__Protobuf__Any;

int pbjson_message(struct jsondoc *doc, const char *key, const ProtobufCMessage *message,
                   struct lancet_error *err);
/* {"type_url", "value"} and, when the type is known, "decoded": null when it can't be decoded. */
int pbjson_any(struct jsondoc *doc, const char *key, const struct Google__Protobuf__Any *any,
               struct lancet_error *err);

#endif

/* What JSON has to know of protobuf fields beyond their types.
 *
 * Counts, sizes and fragment ids are JSON numbers, other 64-bit values decimal text. A few fields
 * are shown even when they are 0: they name what the rest of their message is about.
 */
#ifndef CORE_PBJSON_FIELDS_H
#define CORE_PBJSON_FIELDS_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "util/slice.h"

struct pbjson_rule {
	const char *message; /* full name */
	const char *field;   /* as in the .proto file */
	const char *key;     /* NULL: the field's name */
	bool number;         /* a 64-bit integer that is a JSON number */
	bool always;         /* shown when it has its default too */
};

/* Sorted by message, then field, with strcmp. */
extern const struct pbjson_rule pbjson_rules[];
extern const size_t pbjson_rule_count;

/* NULL when nothing special is known of the field. */
const struct pbjson_rule *pbjson_rule_find(const char *message, const char *field);
/* True for a bytes field that holds text. */
bool pbjson_is_text(const char *message, const char *field);
/* The type of what an Any with this URL holds, by the last part of its name; NULL when unknown. */
const ProtobufCMessageDescriptor *pbjson_any_type(struct slice type_url);
/* Bytes that one value takes in the struct of its message. */
size_t pbjson_value_size(ProtobufCType type);

#endif

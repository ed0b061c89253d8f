/* Logical types: the strings that say in schemas what a field is.
 *
 * Most are one word with parameters behind colons. Three hold text that may have colons itself: the
 * zone of a timestamp, the items of a fixed-size list, the values of a dictionary; these are told
 * apart from the end that is safe. Format facts: logical types.
 */
#ifndef FILE_FIELD_LOGICAL_H
#define FILE_FIELD_LOGICAL_H

#include "field.h"

struct logical_type {
	enum field_kind kind;
	const char *format; /* of Arrow, in the arena or static */
	uint32_t bits;
	uint64_t dimension;
	bool large, is_signed;
	bool is_bfloat16; /* FIXED: an item of this name, an extension over 2 bytes */
	struct slice
		inner; /* the type of the items of a FIXED_LIST, of the values of a DICTIONARY */
};

/* CORRUPT: parameters that are missing or out of range; UNSUPPORTED: an unknown type, by name. */
int logical_parse(struct slice text, struct arena *arena, struct logical_type *ret_type,
	struct lancet_error *err);

#endif

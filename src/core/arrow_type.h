/* What the schema of a batch says: format strings of the Arrow C Data Interface taken apart, and
 * its encoded metadata.
 *
 * All types that data files can hold are here; those that Arrow has beyond (unions, views, run
 * ends, intervals) are UNSUPPORTED, by name.
 */
#ifndef CORE_ARROW_TYPE_H
#define CORE_ARROW_TYPE_H

#include <lancet/arrow.h>
#include <lancet/error.h>
#include "util/slice.h"

#define ARROW_DEPTH_MAX 128u /* of nested types, deeper than any that is read */

enum arrow_kind {
	ARROW_NULL,
	ARROW_BOOL,
	ARROW_INT,
	ARROW_FLOAT,
	ARROW_DECIMAL,
	ARROW_TEXT,
	ARROW_BINARY,
	ARROW_FIXED_BINARY,
	ARROW_DATE,
	ARROW_TIME,
	ARROW_TIMESTAMP,
	ARROW_DURATION,
	ARROW_LIST,
	ARROW_FIXED_LIST,
	ARROW_STRUCT,
	ARROW_MAP,
};

enum arrow_unit { ARROW_SECOND, ARROW_MILLI, ARROW_MICRO, ARROW_NANO };

struct arrow_type {
	enum arrow_kind kind;
	uint32_t bits; /* of a value in the second buffer; 0 where it holds offsets or is none */
	bool is_signed;
	bool large;           /* 64-bit offsets: TEXT, BINARY, LIST */
	enum arrow_unit unit; /* TIME, TIMESTAMP, DURATION */
	int32_t precision, scale;
	int32_t size;     /* FIXED_LIST: items of a value; FIXED_BINARY: bytes */
	const char *zone; /* TIMESTAMP: borrowed, "" when it has none */
};

/* INVALID: no format string, or the children that the type needs are not there. */
int arrow_type_of(
	const struct ArrowSchema *schema, struct arrow_type *ret_type, struct lancet_error *err);
/* Buffers that an array of the type has. */
unsigned arrow_type_buffers(const struct arrow_type *type);

/* Entries of schema->metadata, in order. */
struct arrow_metadata {
	const char *at;
	int32_t left;
};

struct arrow_metadata arrow_metadata_begin(const struct ArrowSchema *schema);
bool arrow_metadata_next(
	struct arrow_metadata *metadata, struct slice *ret_key, struct slice *ret_value);
/* Whether ARROW:extension:name is `name`. */
bool arrow_has_extension(const struct ArrowSchema *schema, const char *name);

/* Values of an array; `index` counts from its offset. */
static inline bool
arrow_bit(const void *bitmap, int64_t index)
{
	return ((const uint8_t *)bitmap)[index / 8] >> (index % 8) & 1;
}

static inline bool
arrow_is_valid(const struct ArrowArray *array, int64_t index)
{
	return array->n_buffers == 0 || array->buffers[0] == NULL ||
	       arrow_bit(array->buffers[0], array->offset + index);
}

/* The integer at `index` of a buffer of values of 8 to 64 bits, not sign extended. */
static inline uint64_t
arrow_unsigned(const void *values, uint32_t bits, int64_t index)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)values + index * (bits / 8), bits / 8);
	return value;
}

static inline int64_t
arrow_signed(const void *values, uint32_t bits, int64_t index)
{
	return (int64_t)(arrow_unsigned(values, bits, index) << (64 - bits)) >> (64 - bits);
}

/* Offset `index` of the second buffer. */
static inline int64_t
arrow_offset(const struct ArrowArray *array, bool large, int64_t index)
{
	return large ? ((const int64_t *)array->buffers[1])[index]
		     : ((const int32_t *)array->buffers[1])[index];
}

#endif

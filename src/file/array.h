/* Decoded values in the layout of Arrow, growable at the end: what every decoder writes to.
 *
 * An array follows the tree of its field. Validity has no bits while everything is valid; value
 * slots exist under nulls (zeroed). `budget` bounds what hostile input can make us hold: all arrays
 * of one read share it. Failed appends leave an array that may only be reset or released.
 */
#ifndef FILE_ARRAY_H
#define FILE_ARRAY_H

#include <assert.h>
#include <string.h>

#include "field.h"
#include "util/bits.h"
#include "util/buf.h"

struct array_budget {
	size_t used;  /* bytes of capacity */
	size_t limit; /* bytes; beyond it appends fail with LANCET_LIMIT */
};

struct array {
	const struct field *field;
	struct array_budget *budget;
	uint64_t length; /* values */
	uint64_t null_count;
	struct buf validity; /* bitmap, LSB first, 1 = valid; empty while null_count is 0 */
	struct buf
		offsets; /* VARIABLE, LIST, MAP: length + 1 of them, 32 or 64 bits (field->large) */
	struct buf
		data; /* FIXED: values, or a bitmap for bits 1; DICTIONARY: keys; VARIABLE: bytes */
	void *lookup; /* DICTIONARY: of array_dictionary_key */
	struct array *children; /* by the field's children; of a FIXED_LIST length x dimension
				   values, of a DICTIONARY the values */
	size_t child_count;
};

/* Makes an empty array with all children. `budget` and `field` outlive it. */
int array_init(struct array *array, const struct field *field, struct array_budget *budget,
	struct lancet_error *err);
void array_release(struct array *array);
/* Empty again; memory is kept. */
void array_reset(struct array *array);

/* FIXED and DICTIONARY (keys). `bits` must be the field's or it is CORRUPT ("values of 32 bits, 64
 * expected"). All new values are valid. */
int array_append_fixed(struct array *array, uint32_t bits, const uint8_t *values, uint64_t count,
	struct lancet_error *err);
/* The same for bits == 1, from bit `first_bit` of a bitmap. */
int array_append_bits(struct array *array, const uint8_t *bitmap, uint64_t first_bit,
	uint64_t count, struct lancet_error *err);
/* FIXED or DICTIONARY with bits >= 8: room for `count` values that the caller fills at
 * *ret_place at once. */
int array_extend_fixed(struct array *array, uint32_t bits, uint64_t count, uint8_t **ret_place,
	struct lancet_error *err);
/* VARIABLE: one value. */
int array_append_bytes(struct array *array, struct slice value, struct lancet_error *err);
/* VARIABLE: `count` values, value i = bytes[offsets[i], offsets[i + 1]); offsets are `width` bytes
 * (4 or 8) little-endian and not aligned; they are checked: ascending, the last <= bytes.size. */
int array_append_offsets(struct array *array, const uint8_t *offsets, unsigned width,
	uint64_t count, struct slice bytes, struct lancet_error *err);
/* VARIABLE: values that lie anywhere. */
int array_append_slices(struct array *array, const struct slice *values, size_t count,
	struct lancet_error *err);
/* VARIABLE: `count` values whose bytes the caller puts at *ret_bytes at once, one behind the other;
 * value i ends at ends[i + 1], ends[0] is 0, and they ascend. */
int array_extend_variable(struct array *array, const uint32_t *ends, uint64_t count,
	uint8_t **ret_bytes, struct lancet_error *err);
/* LIST, MAP: a value whose items are the next `items` of the child (appended before or after). */
int array_append_list(struct array *array, uint64_t items, struct lancet_error *err);
/* LIST, MAP: `count` values, of bounds[i + 1] - bounds[i] items; the bounds ascend. */
int array_append_lists(
	struct array *array, const uint32_t *bounds, uint64_t count, struct lancet_error *err);
/* Lengthens a STRUCT or FIXED_LIST or NULL by `count` values; its children are appended by the
 * caller. */
int array_extend(struct array *array, uint64_t count, struct lancet_error *err);
/* Null values of any kind, with whatever slots they need below (recursively). A DICTIONARY gets key
 * 0. */
int array_append_nulls(struct array *array, uint64_t count, struct lancet_error *err);
/* Only the first `length` values stay, at most what there are; also after an append that failed, if
 * the array was whole when it had them. A DICTIONARY keeps the values that it has. */
void array_truncate(struct array *array, uint64_t length);
/* One value many times: `value` is an array of the same field with length 1. */
int array_append_repeated(
	struct array *array, const struct array *value, uint64_t count, struct lancet_error *err);
/* Values [first, first + count) of an array of an equal field, nulls and children included. The
 * keys of a DICTIONARY are translated. */
int array_append_range(struct array *array, const struct array *from, uint64_t first,
	uint64_t count, struct lancet_error *err);
/* Values from[indices[i]] of an array of an equal field; the indices are below its length. */
int array_append_gather(struct array *array, const struct array *from, const uint32_t *indices,
	uint64_t count, struct lancet_error *err);

/* DICTIONARY: the key of the value equal to items[index], which is added to array's values when it
 * is not there yet (pages have dictionaries of their own, an array has one). LIMIT when the key
 * type has no room for another one. */
int array_dictionary_key(struct array *array, const struct array *items, uint64_t index,
	uint64_t *ret_key, struct lancet_error *err);
/* How many of the values the dictionary has not; a null is one. */
int array_dictionary_missing(struct array *array, const struct array *items, uint64_t *ret_missing,
	struct lancet_error *err);

/* Makes value `index` null; it keeps its slots. */
int array_set_null(struct array *array, uint64_t index, struct lancet_error *err);
/* Validity of the last `count` values: bit i of the bitmap, from first_bit, is 0 for null. */
int array_set_validity(struct array *array, uint64_t count, const uint8_t *bitmap,
	uint64_t first_bit, struct lancet_error *err);
/* How many of values [first, first + count) are null. */
uint64_t array_nulls(const struct array *array, uint64_t first, uint64_t count);

/* Accessors; index < length. The integer of a FIXED or DICTIONARY slot of 8 to 64 bits, not sign
 * extended. */
uint64_t array_unsigned(const struct array *array, uint64_t index);
struct slice array_bytes(const struct array *array, uint64_t index); /* VARIABLE */
bool array_bit(const struct array *array, uint64_t index);           /* FIXED, bits 1 */

static inline bool
array_is_valid(const struct array *array, uint64_t index)
{
	assert(index < array->length);
	return array->validity.size == 0 || bits_get(array->validity.data, index);
}

/* VARIABLE, LIST, MAP; index <= length. */
static inline uint64_t
array_offset(const struct array *array, uint64_t index)
{
	uint64_t wide;
	uint32_t narrow;

	assert(array->offsets.size > 0 && index <= array->length);
	if (array->field->large) {
		memcpy(&wide, array->offsets.data + index * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&narrow, array->offsets.data + index * sizeof(narrow), sizeof(narrow));
	return narrow;
}

#endif

/* Inside of encode: the slots of a page as the encodings of values see them.
 *
 * What is of a fixed size lies one behind the other, whatever its type: numbers, keys, all items of
 * a fixed-size list, the children of a packed struct. Under nulls there is the value before, so
 * that they neither widen nor break up what is around them.
 */
#ifndef FILE_ENCODE_COLUMN_H
#define FILE_ENCODE_COLUMN_H

#include "encode.h"
#include "util/bits.h"

#define ENCODE_LISTS_MAX 7u /* fixed-size lists inside of each other */

/* The items of one fixed-size list around the leaves. */
struct encode_items {
	uint64_t dimension, per_value; /* items of a list, of a slot */
	const struct array *array;
	bool has_nulls;
};

struct encode_column {
	struct encode_values values;
	bool has_nulls;
	bool is_number;      /* a number or key of 8, 16, 32 or 64 bits */
	bool is_lineage;     /* of row ids or versions, which are read whole more than by rows */
	bool is_dense;       /* of variable size: what is null has no bytes */
	uint64_t bytes;      /* of variable size: of all slots that are not null */
	const uint8_t *data; /* of a fixed size: the first slot's; bit `bit` of it when bits is 1 */
	uint64_t bit;
	uint64_t bits;   /* of a leaf; 0: of variable size */
	size_t width;    /* bytes of a slot; 0 when those of a slot are no whole number */
	uint64_t leaves; /* of a slot */
	struct encode_items items[ENCODE_LISTS_MAX];
	size_t item_count;
	const uint64_t *widths; /* of a packed struct's children, in bytes; else NULL */
	struct buf made, made_widths;
};

/* UNSUPPORTED: kinds of values that have no encoding here, by name. */
int encode_column_open(const struct encode_values *values, struct encode_column *ret_column,
	struct lancet_error *err);
void encode_column_release(struct encode_column *column);
/* The encoding that packs nothing: Flat, fixed-size lists around it, PackedStruct; of variable size
 * Variable. */
void encode_column_message(const struct encode_column *column, struct buf *into);
static inline bool
encode_column_is_null(const struct encode_column *column, uint64_t index)
{
	return column->has_nulls &&
	       !bits_get(column->values.array->validity.data, column->values.first + index);
}

/* A slot of variable size: empty when it is null. */
static inline struct slice
encode_column_bytes(const struct encode_column *column, uint64_t index)
{
	const struct array *array = column->values.array;
	uint64_t slot = column->values.first + index, start;

	if (!column->is_dense && encode_column_is_null(column, index))
		return (struct slice){ 0 };
	start = array_offset(array, slot);
	return slice_of(array->data.data + start, array_offset(array, slot + 1) - start);
}

/* The first slot that is valid; `count` when there is none. */
uint64_t encode_column_first_valid(const struct encode_column *column);
/* Slots of a fixed size as they are, without the validity of items. */
void encode_column_put(
	const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into);
/* The validity of all items that the slots have in one of the lists. */
void encode_items_put_validity(const struct encode_column *column, const struct encode_items *items,
	uint64_t first, uint64_t count, struct buf *into);

/* Bytes of a value of the field when it can be part of a packed row: whole bytes, always as many;
 * else 0. */
uint64_t encode_row_width(const struct field *field);

#endif

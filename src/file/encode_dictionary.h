/* Page dictionaries: items as a block, and the indices of a page. */
#ifndef FILE_ENCODE_DICTIONARY_H
#define FILE_ENCODE_DICTIONARY_H

#include "encode_mini.h"

#define VALUE_SET_BLOCK 32u /* slots that are looked up at once, at most */

struct value_slot {
	uint64_t hash;   /* of a number up to a word: one that no other has */
	uint32_t number; /* + 1; 0 is free */
};

/* Where different values are found: each has a number, in the order of their first occurrence. */
struct value_set {
	const struct encode_column *column;
	struct value_slot *slots; /* of a hash table */
	unsigned shift;           /* of a hash: its upper bits are the place */
	uint32_t mask;
	struct buf firsts; /* uint32_t: the slot of the column where each value was first */
	uint32_t count, limit;
	uint32_t null_number; /* + 1; 0 as long as there is none */
	uint64_t bytes;       /* of all different values */
};

/* Holds up to `limit` values, and those of a block that are too many. */
int value_set_init(struct value_set *set, const struct encode_column *column, uint32_t limit,
	struct lancet_error *err);
void value_set_release(struct value_set *set);
/* The numbers of the values at [index, index + count) of the column, each of which may be a new
 * one: then the set's count is larger. count is up to VALUE_SET_BLOCK. Null text is a value of its
 * own, at DICTIONARY_NOTHING; null numbers are the value before. */
int value_set_add(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers,
	struct lancet_error *err);
/* False when the value was not added. */
bool value_set_find(const struct value_set *set, uint64_t index, uint32_t *ret_number);
/* Looks at some slots: false when there are surely more than `limit` different values, or when
 * indices can't come below `worth` bytes. */
int value_set_promises(const struct encode_column *column, uint64_t limit, uint64_t worth,
	bool *ret_promises, struct lancet_error *err);

#define DICTIONARY_NOTHING UINT32_MAX
/* Items of an array, FIXED or VARIABLE, as the block of a dictionary and its message. UNSUPPORTED
 * by name: other types. The index DICTIONARY_NOTHING stands for a text without bytes. */
int dictionary_items_put(enum file_version version, const struct array *items,
	const uint32_t *indices, uint64_t count, struct buf *message, struct buf *block,
	struct lancet_error *err);

#endif

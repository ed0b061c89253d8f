/* A hash table of the different values of a page; see encode_dictionary.h. */
#include "encode_dictionary.h"

#include <assert.h>
#include <stdlib.h>

#include "util/macros.h"

#define LOAD_MAX 2u /* slots for each value, at least */

static struct slice
value_at(const struct encode_column *column, uint64_t index)
{
	if (column->bits == 0)
		return encode_column_bytes(column, index);
	return slice_of(column->data + index * column->width, column->width);
}

static inline uint64_t
mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t
hash_of(struct slice value)
{
	uint64_t hash = value.size, word;

	for (; value.size >= sizeof(word); value.data += sizeof(word), value.size -= sizeof(word)) {
		memcpy(&word, value.data, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	if (value.size > 0)
		memcpy(&word, value.data, value.size);
	hash = mix(hash, word);
	return hash ^ hash >> 32;
}

/* As hash_of, of 8 bytes at once; different words have different hashes. */
static inline uint64_t
hash_of_word(uint64_t word)
{
	uint64_t hash = mix(sizeof(word), word);

	return hash ^ hash >> 32;
}

int
value_set_init(struct value_set *set, const struct encode_column *column, uint32_t limit,
	struct lancet_error *err)
{
	uint32_t slots = 16;

	while (slots / LOAD_MAX <= limit + VALUE_SET_BLOCK)
		slots *= 2;
	*set = (struct value_set){ .column = column, .limit = limit, .mask = slots - 1 };
	set->slots = calloc(slots, sizeof(*set->slots));
	if (set->slots == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values of a page");
	return LANCET_OK;
}

void
value_set_release(struct value_set *set)
{
	free(set->slots);
	buf_release(&set->firsts);
	*set = (struct value_set){ 0 };
}

/* Numbers that fit a word are told by their hashes. */
static bool
is_word(const struct encode_column *column)
{
	return column->bits != 0 && column->width <= sizeof(uint64_t);
}

static inline uint64_t
load_word(const struct encode_column *column, uint64_t index)
{
	uint64_t word = 0;

	if (column->width == sizeof(word))
		memcpy(&word, column->data + index * sizeof(word), sizeof(word));
	else if (column->width == sizeof(uint32_t))
		memcpy(&word, column->data + index * sizeof(uint32_t), sizeof(uint32_t));
	else
		memcpy(&word, column->data + index * column->width, column->width);
	return word;
}

static uint64_t
hash_at(const struct encode_column *column, uint64_t index)
{
	return is_word(column) ? hash_of_word(load_word(column, index))
			       : hash_of(value_at(column, index));
}

/* Of a value that is no word: whether it is the one of that number. */
static bool
is_numbered(const struct value_set *set, uint64_t index, uint32_t number)
{
	const uint32_t *firsts = (const uint32_t *)(const void *)set->firsts.data;

	return slice_equal(value_at(set->column, index), value_at(set->column, firsts[number]));
}

/* Where the value is or would be: the place in the table. */
static inline uint32_t
look_up(const struct value_set *set, uint64_t index, uint64_t hash, bool word)
{
	uint32_t at = (uint32_t)hash & set->mask;

	while (set->slots[at].number != 0 &&
		(set->slots[at].hash != hash ||
			(!word && !is_numbered(set, index, set->slots[at].number - 1))))
		at = (at + 1) & set->mask;
	return at;
}

bool
value_set_find(const struct value_set *set, uint64_t index, uint32_t *ret_number)
{
	uint32_t at = look_up(set, index, hash_at(set->column, index), is_word(set->column));

	if (set->slots[at].number == 0)
		return false;
	*ret_number = set->slots[at].number - 1;
	return true;
}

static uint32_t
add_first(struct value_set *set, uint32_t first, uint64_t bytes)
{
	buf_put(&set->firsts, &first, sizeof(first));
	set->bytes += bytes;
	return ++set->count;
}

static inline uint32_t
add_one(struct value_set *set, uint64_t index, uint64_t hash, bool word)
{
	struct value_slot *slot = &set->slots[look_up(set, index, hash, word)];

	if (slot->number == 0) {
		slot->hash = hash;
		slot->number = add_first(set, (uint32_t)index,
			word ? set->column->width : value_at(set->column, index).size);
	}
	return slot->number - 1;
}

/* What has the hash of a value, but is none. */
static uint32_t
number_null(struct value_set *set)
{
	if (set->column->bits != 0)
		return set->newest;
	if (set->null_number == 0)
		set->null_number = add_first(set, DICTIONARY_NOTHING, 0);
	return set->null_number - 1;
}

static inline __attribute__((always_inline)) void
add_block(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers, bool word)
{
	const struct encode_column *column = set->column;
	uint64_t hashes[VALUE_SET_BLOCK];

	for (unsigned i = 0; i < count; i++) {
		hashes[i] = word ? hash_of_word(load_word(column, index + i))
				 : hash_of(value_at(column, index + i));
		__builtin_prefetch(&set->slots[(uint32_t)hashes[i] & set->mask]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (column->has_nulls && encode_column_is_null(column, index + i))
			numbers[i] = number_null(set);
		else
			numbers[i] = set->newest = add_one(set, index + i, hashes[i], word);
	}
}

int
value_set_add(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers,
	struct lancet_error *err)
{
	assert(count <= VALUE_SET_BLOCK && set->count <= set->limit);
	if (is_word(set->column))
		add_block(set, index, count, numbers, true);
	else
		add_block(set, index, count, numbers, false);
	return buf_check(&set->firsts, "values of a page", err);
}

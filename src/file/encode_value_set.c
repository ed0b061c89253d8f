/* A hash table of the different values of a page; see encode_dictionary.h. */
#include "encode_dictionary.h"

#include <assert.h>
#include <stdlib.h>

#include "util/macros.h"

#define LOAD_MAX    2u /* slots for each value, at least */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

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
	hash = (hash ^ word) * HASH_FACTOR;
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
	for (size_t i = value.size; i-- > 0;)
		word = word << 8 | value.data[i];
	return mix(hash, word) * HASH_FACTOR;
}

static inline __attribute__((always_inline)) uint64_t
hash_of_word(const uint8_t *from, size_t width)
{
	uint64_t word = 0;

	memcpy(&word, from, width);
	return word * HASH_FACTOR;
}

static bool
is_word(const struct encode_column *column)
{
	return column->bits != 0 && column->width <= sizeof(uint64_t);
}

static uint64_t
hash_at(const struct encode_column *column, uint64_t index)
{
	if (is_word(column))
		return hash_of_word(column->data + index * column->width, column->width);
	return hash_of(value_at(column, index));
}

/* Whether it is the value of that number; of words the hash has told it. */
static bool
is_numbered(const struct value_set *set, uint64_t index, uint32_t number)
{
	const uint32_t *firsts = (const uint32_t *)(const void *)set->firsts.data;

	return is_word(set->column) ||
	       slice_equal(value_at(set->column, index), value_at(set->column, firsts[number]));
}

/* Where the value is or would be: the place in the table. */
static inline uint32_t
look_up(const struct value_set *set, uint64_t index, uint64_t hash)
{
	uint32_t at = (uint32_t)(hash >> set->shift);

	while (set->slots[at].number != 0 &&
		(set->slots[at].hash != hash ||
			!is_numbered(set, index, set->slots[at].number - 1)))
		at = (at + 1) & set->mask;
	return at;
}

static uint32_t
add_first(struct value_set *set, uint32_t first, uint64_t bytes)
{
	buf_put(&set->firsts, &first, sizeof(first));
	set->bytes += bytes;
	return ++set->count;
}

static uint32_t
add_one(struct value_set *set, uint64_t index, uint64_t hash)
{
	struct value_slot *slot = &set->slots[look_up(set, index, hash)];

	if (slot->number == 0) {
		slot->hash = hash;
		slot->number = add_first(set, (uint32_t)index, value_at(set->column, index).size);
	}
	return slot->number - 1;
}

/* Null numbers stand for the value before, which is where it was first; those at the start for the
 * first that there is. */
int
value_set_init(struct value_set *set, const struct encode_column *column, uint32_t limit,
	struct lancet_error *err)
{
	unsigned log2 = 4;
	uint64_t first;

	while ((UINT32_C(1) << log2) / LOAD_MAX <= limit + VALUE_SET_BLOCK)
		log2++;
	*set = (struct value_set){ .column = column,
		.limit = limit,
		.shift = 64 - log2,
		.mask = (UINT32_C(1) << log2) - 1 };
	set->slots = calloc((size_t)set->mask + 1, sizeof(*set->slots));
	if (set->slots == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values of a page");
	if (!column->has_nulls || column->bits == 0)
		return LANCET_OK;
	first = encode_column_first_valid(column);
	if (first < column->values.count)
		add_one(set, first, hash_at(column, first));
	return buf_check(&set->firsts, "values of a page", err);
}

void
value_set_release(struct value_set *set)
{
	free(set->slots);
	buf_release(&set->firsts);
	*set = (struct value_set){ 0 };
}

bool
value_set_find(const struct value_set *set, uint64_t index, uint32_t *ret_number)
{
	uint32_t at = look_up(set, index, hash_at(set->column, index));

	if (set->slots[at].number == 0)
		return false;
	*ret_number = set->slots[at].number - 1;
	return true;
}

/* Of a table that is larger than caches the places are fetched ahead. */
static inline __attribute__((always_inline)) void
add_words(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers, size_t width)
{
	const uint8_t *values = set->column->data + index * width;
	const struct value_slot *slots = set->slots;
	const unsigned shift = set->shift;
	uint64_t hashes[VALUE_SET_BLOCK];

	for (unsigned i = 0; i < count; i++) {
		hashes[i] = hash_of_word(values + i * width, width);
		__builtin_prefetch(&slots[hashes[i] >> shift]);
	}
	for (unsigned i = 0; i < count; i++) {
		const struct value_slot *slot = &slots[hashes[i] >> shift];

		if (slot->hash == hashes[i] && slot->number != 0)
			numbers[i] = slot->number - 1;
		else
			numbers[i] = add_one(set, index + i, hashes[i]);
	}
}

static void
add_values(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers)
{
	const struct encode_column *column = set->column;
	uint64_t hashes[VALUE_SET_BLOCK];

	for (unsigned i = 0; i < count; i++) {
		hashes[i] = hash_of(value_at(column, index + i));
		__builtin_prefetch(&set->slots[hashes[i] >> set->shift]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (column->bits != 0 || !encode_column_is_null(column, index + i)) {
			numbers[i] = add_one(set, index + i, hashes[i]);
			continue;
		}
		if (set->null_number == 0)
			set->null_number = add_first(set, DICTIONARY_NOTHING, 0);
		numbers[i] = set->null_number - 1;
	}
}

int
value_set_add(struct value_set *set, uint64_t index, unsigned count, uint32_t *numbers,
	struct lancet_error *err)
{
	assert(count <= VALUE_SET_BLOCK && set->count <= set->limit);
	if (set->column->bits == 64)
		add_words(set, index, count, numbers, 8);
	else if (set->column->bits == 32)
		add_words(set, index, count, numbers, 4);
	else if (is_word(set->column))
		add_words(set, index, count, numbers, set->column->width);
	else
		add_values(set, index, count, numbers);
	return buf_check(&set->firsts, "values of a page", err);
}

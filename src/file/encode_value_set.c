/* A hash table of the different values of a page; see encode_dictionary.h. */
#include "encode_dictionary.h"

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

int
value_set_init(struct value_set *set, const struct encode_column *column, uint32_t limit,
	struct lancet_error *err)
{
	uint32_t slots = 16;

	while (slots / LOAD_MAX <= limit)
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

/* Where the value is or would be: the place in the table. */
static uint32_t
look_up(const struct value_set *set, struct slice value)
{
	const uint32_t *firsts = (const uint32_t *)(const void *)set->firsts.data;
	uint32_t at = (uint32_t)hash_of(value) & set->mask;

	while (set->slots[at] != 0 &&
		!slice_equal(value, value_at(set->column, firsts[set->slots[at] - 1])))
		at = (at + 1) & set->mask;
	return at;
}

bool
value_set_find(const struct value_set *set, uint64_t index, uint32_t *ret_number)
{
	uint32_t at = look_up(set, value_at(set->column, index));

	if (set->slots[at] == 0)
		return false;
	*ret_number = set->slots[at] - 1;
	return true;
}

int
value_set_add(struct value_set *set, uint64_t index, uint32_t *ret_number, struct lancet_error *err)
{
	struct slice value = value_at(set->column, index);
	uint32_t at = look_up(set, value), first = (uint32_t)index;

	if (set->slots[at] == 0) {
		buf_put(&set->firsts, &first, sizeof(first));
		set->slots[at] = ++set->count;
		set->bytes += value.size;
	}
	*ret_number = set->slots[at] - 1;
	return buf_check(&set->firsts, "values of a page", err);
}

/* One dictionary for values that come from the dictionaries of many pages.
 *
 * Values are found again by a hash of their bytes, in an open-addressing table of keys. The hash is
 * seeded anew for each table, so that a file can't be made to collide.
 */
#include "array_dictionary.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "array_grow.h"
#include "util/bits.h"
#include "util/macros.h"

#define SLOTS_MIN 64u

struct dictionary_lookup {
	uint64_t seed;
	uint64_t *slots;   /* key + 1; 0 is free */
	size_t slot_count; /* a power of two, at least twice `used` */
	size_t used;
};

void
dictionary_lookup_free(void *lookup)
{
	struct dictionary_lookup *l = lookup;

	if (l == NULL)
		return;
	free(l->slots);
	free(l);
}

static uint64_t
fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t
hash_bytes(uint64_t seed, struct slice value)
{
	uint64_t hash = fold(seed ^ value.size, UINT64_C(0x9e3779b97f4a7c15));
	size_t at = 0;
	uint64_t word;

	for (; value.size - at >= 8; at += 8) {
		memcpy(&word, value.data + at, 8);
		hash = fold(hash ^ word, seed | 1);
	}
	word = 0;
	memcpy(&word, value.data + at, value.size - at);
	return fold(hash ^ word, UINT64_C(0xd6e8feb86659fd93)) ^ hash;
}

/* The bytes of a value; those of a bit are static. False for nested values. */
static bool
value_bytes(const struct array *items, uint64_t index, struct slice *ret_bytes)
{
	static const uint8_t bits[2] = { 0, 1 };
	const struct field *field = items->field;

	if (field->kind == FIELD_VARIABLE)
		*ret_bytes = array_bytes(items, index);
	else if (field->kind == FIELD_FIXED && field->bits == 1)
		*ret_bytes = slice_of(&bits[array_bit(items, index)], 1);
	else if (field->kind == FIELD_FIXED)
		*ret_bytes =
			slice_of(items->data.data + index * (field->bits / 8), field->bits / 8);
	else
		return false;
	return true;
}

static uint64_t *
find_slot(const struct dictionary_lookup *lookup, const struct array *values, struct slice value)
{
	size_t at = hash_bytes(lookup->seed, value) & (lookup->slot_count - 1);
	struct slice there;

	for (;; at = (at + 1) & (lookup->slot_count - 1)) {
		uint64_t *slot = &lookup->slots[at];

		if (*slot == 0 ||
			(value_bytes(values, *slot - 1, &there) && slice_equal(there, value)))
			return slot;
	}
}

/* Twice the room, and all values of the array in it. */
static int
rebuild(struct dictionary_lookup *lookup, const struct array *values, struct lancet_error *err)
{
	size_t count = lookup->slot_count == 0 ? SLOTS_MIN : lookup->slot_count * 2;
	uint64_t *slots;
	struct slice value;

	/* A dictionary may have been taken over as a whole before anything was looked up. */
	while (count / 2 <= values->length)
		count *= 2;
	slots = calloc(count, sizeof(*slots));
	if (slots == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "dictionary");
	free(lookup->slots);
	lookup->slots = slots;
	lookup->slot_count = count;
	lookup->used = 0;
	for (uint64_t i = 0; i < values->length; i++) {
		if (value_bytes(values, i, &value)) {
			*find_slot(lookup, values, value) = i + 1;
			lookup->used++;
		}
	}
	return LANCET_OK;
}

static int
make_lookup(struct array *array, struct lancet_error *err)
{
	struct dictionary_lookup *lookup = calloc(1, sizeof(*lookup));

	if (lookup == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "dictionary");
	if (getrandom(&lookup->seed, sizeof(lookup->seed), GRND_NONBLOCK) < 0)
		lookup->seed = (uint64_t)(uintptr_t)lookup;
	array->lookup = lookup;
	return rebuild(lookup, &array->children[0], err);
}

/* There is a table, with room for one more value. */
static int
need_lookup(struct array *array, struct lancet_error *err)
{
	struct dictionary_lookup *lookup;

	if (array->lookup == NULL)
		TRY(make_lookup(array, err));
	lookup = array->lookup;
	if (lookup->used >= lookup->slot_count / 2)
		TRY(rebuild(lookup, &array->children[0], err));
	return LANCET_OK;
}

int
array_dictionary_missing(struct array *array, const struct array *items, uint64_t *ret_missing,
	struct lancet_error *err)
{
	struct slice value;

	assert(array->field->kind == FIELD_DICTIONARY);
	TRY(need_lookup(array, err));
	*ret_missing = 0;
	for (uint64_t i = 0; i < items->length; i++) {
		if (!value_bytes(items, i, &value) ||
			*find_slot(array->lookup, &array->children[0], value) == 0)
			++*ret_missing;
	}
	return LANCET_OK;
}

static int
check_key(const struct array *array, uint64_t key, struct lancet_error *err)
{
	unsigned bits = array->field->bits - (array->field->is_signed ? 1 : 0);

	if (bits < 64 && key >> bits != 0)
		return lancet_fail(err, LANCET_LIMIT,
			"more distinct values than keys of %" PRIu32
			" bits can tell: ask for fewer rows",
			array->field->bits);
	return LANCET_OK;
}

int
array_dictionary_key(struct array *array, const struct array *items, uint64_t index,
	uint64_t *ret_key, struct lancet_error *err)
{
	struct array *values = &array->children[0];
	struct dictionary_lookup *lookup;
	struct slice value;
	uint64_t *slot;

	assert(array->field->kind == FIELD_DICTIONARY);
	if (index >= items->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"key %" PRIu64 " of a dictionary of %" PRIu64 " values", index,
			items->length);
	if (!value_bytes(items, index, &value))
		return lancet_fail(err, LANCET_UNSUPPORTED, "dictionary of nested values");
	TRY(need_lookup(array, err));
	lookup = array->lookup;
	slot = find_slot(lookup, values, value);
	if (*slot == 0) {
		TRY(check_key(array, values->length, err));
		TRY(array_append_range(values, items, index, 1, err));
		*slot = values->length;
		lookup->used++;
	}
	*ret_key = *slot - 1;
	return LANCET_OK;
}

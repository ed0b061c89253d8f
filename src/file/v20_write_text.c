/* Text of few distinct values in 2.0 pages: keys of one byte, 0 is null and k the value k - 1.
 *
 * Format facts: v2.0 page encodings, Dictionary.
 */
#include <inttypes.h>

#include "encode_message.h"
#include "lance/encodings.pb-c.h"
#include "util/macros.h"
#include "v20_write.h"

#define CASE(name)   ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)
#define DISTINCT_MAX 255u
#define SLOTS        1024u
#define ROWS_MIN     64u

struct distinct {
	const struct array *values;
	unsigned count;
	uint64_t first[DISTINCT_MAX]; /* where each value is first */
	uint8_t slots[SLOTS];         /* key, 0 is free */
};

static uint32_t
hash(struct slice text)
{
	uint32_t value = UINT32_C(2166136261);

	for (size_t i = 0; i < text.size; i++)
		value = (value ^ text.data[i]) * UINT32_C(16777619);
	return value ^ value >> 15;
}

/* The key of value `index`, which may be new; 0 when there is none left. */
static uint8_t
key_of(struct distinct *distinct, uint64_t index)
{
	struct slice text = array_bytes(distinct->values, index);
	size_t at = hash(text) % SLOTS;

	for (;; at = (at + 1) % SLOTS) {
		uint8_t key = distinct->slots[at];

		if (key == 0)
			break;
		if (slice_equal(array_bytes(distinct->values, distinct->first[key - 1]), text))
			return key;
	}
	if (distinct->count == DISTINCT_MAX)
		return 0;
	distinct->first[distinct->count++] = index;
	distinct->slots[at] = (uint8_t)distinct->count;
	return (uint8_t)distinct->count;
}

/* False when there are more distinct values than keys; size is that of the distinct ones. */
static bool
find_keys(const struct v20_values *values, struct distinct *distinct, struct buf *keys)
{
	distinct->values = values->array;
	for (uint64_t i = values->first; i < values->first + values->count; i++) {
		bool valid = array_is_valid(values->array, i);
		uint8_t key = valid ? key_of(distinct, i) : 0;

		if (valid && key == 0)
			return false;
		buf_put_byte(keys, key);
	}
	return true;
}

static int
put_dictionary(struct page_out *page, const struct distinct *distinct, struct buf *found,
	struct buf *into, struct lancet_error *err)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	struct buf flat = { 0 }, keys = { 0 }, binary = { 0 }, dictionary = { 0 };
	struct array items;
	struct v20_values all = { &items, 0, distinct->count };
	unsigned index;
	bool done;
	struct buf *buffer = v20_new_buffer(page, &index, err);
	int rc = buffer == NULL ? LANCET_LIMIT
				: array_init(&items, distinct->values->field, &budget, err);

	if (rc != LANCET_OK)
		return rc;
	buf_release(buffer);
	*buffer = *found;
	*found = (struct buf){ 0 };
	v20_message_flat(&flat, 8, index, NULL);
	v20_message_no_nulls(&keys, &flat);
	for (unsigned i = 0; rc == LANCET_OK && i < distinct->count; i++)
		rc = array_append_range(&items, distinct->values, distinct->first[i], 1, err);
	if (rc == LANCET_OK)
		rc = v20_put_binary(page, &all, UINT64_MAX, &binary, &done, err);
	v20_message(&dictionary, 1, &keys);
	v20_message(&dictionary, 2, &binary);
	message_put_number(&dictionary, 3, distinct->count);
	v20_message(into, CASE(DICTIONARY), &dictionary);
	array_release(&items);
	buf_release(&flat);
	buf_release(&keys);
	buf_release(&binary);
	buf_release(&dictionary);
	return rc;
}

int
v20_put_text_dictionary(struct page_out *page, const struct v20_values *values, struct buf *into,
	bool *ret_done, struct lancet_error *err)
{
	struct distinct distinct = { 0 };
	struct buf keys = { 0 };
	int rc = LANCET_OK;

	*ret_done = false;
	/* Readers take the values of any such dictionary for text with 32-bit offsets. */
	if (strcmp(values->array->field->format, "u") != 0)
		return LANCET_OK;
	if (values->count >= ROWS_MIN && find_keys(values, &distinct, &keys) &&
		distinct.count <= values->count / 2) {
		rc = buf_check(&keys, "keys", err);
		if (rc == LANCET_OK)
			rc = put_dictionary(page, &distinct, &keys, into, err);
		*ret_done = true;
	}
	buf_release(&keys);
	return rc;
}

/* Dictionaries of 2.0 pages. What readers take as null is a value that is null: keys are never, nor
 * do readers look for a validity beside them. Format facts: v2.0 page encodings, Dictionary.
 */
#include <inttypes.h>

#include "encode_message.h"
#include "lance/encodings.pb-c.h"
#include "util/macros.h"
#include "v20_write.h"

#define CASE(name) ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)

bool
v20_has_null_key(const struct v20_values *values)
{
	const struct field *field = values->array->field;
	unsigned bits = field->bits - (field->is_signed ? 1 : 0);

	return bits >= 63 || v20_nulls(values) == 0 ||
	       values->array->children[0].length < UINT64_C(1) << bits;
}

/* Nullable { no_nulls { Flat } } */
static int
put_keys(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	const struct array *array = values->array;
	uint64_t null_key = array->children[0].length;
	size_t width = array->field->bits / 8;
	struct buf flat = { 0 };
	unsigned index;
	struct buf *keys = v20_new_buffer(page, &index, err);

	if (keys == NULL)
		return LANCET_LIMIT;
	buf_put(keys, array->data.data + values->first * width, (size_t)values->count * width);
	TRY(buf_check(keys, "keys", err));
	for (uint64_t i = 0; i < values->count; i++) {
		if (!array_is_valid(array, values->first + i))
			memcpy(keys->data + i * width, &null_key, width);
	}
	v20_message_flat(&flat, array->field->bits, index, NULL);
	v20_message_no_nulls(into, &flat);
	buf_release(&flat);
	return LANCET_OK;
}

static int
put_items(struct page_out *page, const struct v20_values *values, uint64_t *ret_count,
	struct buf *into, struct lancet_error *err)
{
	const struct array *from = &values->array->children[0];
	struct array_budget budget = { .limit = SIZE_MAX };
	struct array items;
	struct v20_values all = { &items, 0, 0 };
	int rc = array_init(&items, from->field, &budget, err);

	if (rc != LANCET_OK)
		return rc;
	rc = array_append_range(&items, from, 0, from->length, err);
	if (rc == LANCET_OK && v20_nulls(values) > 0)
		rc = array_append_nulls(&items, 1, err);
	*ret_count = all.count = items.length;
	if (rc == LANCET_OK)
		rc = v20_put_values(page, &all, into, err);
	array_release(&items);
	return rc;
}

int
v20_put_dictionary(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	struct buf keys = { 0 }, items = { 0 }, dictionary = { 0 };
	uint64_t count = 0;
	int rc = put_keys(page, values, &keys, err);

	if (rc == LANCET_OK)
		rc = put_items(page, values, &count, &items, err);
	v20_message(&dictionary, 1, &keys);
	v20_message(&dictionary, 2, &items);
	message_put_number(&dictionary, 3, count);
	v20_message(into, CASE(DICTIONARY), &dictionary);
	buf_release(&keys);
	buf_release(&items);
	buf_release(&dictionary);
	return rc;
}

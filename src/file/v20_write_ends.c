/* Values of variable size and lists of 2.0: where each one ends, with nulls told by the ends.
 * Format facts: v2.0 page encodings, Binary and List.
 */
#include <inttypes.h>

#include "encode_message.h"
#include "lance/encodings.pb-c.h"
#include "util/macros.h"
#include "v20_write.h"
#include "v20_write_bytes.h"

#define CASE(name) ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)

/* Nullable { no_nulls { Flat 64 } } of the ends of values; null ones have none of it and are told
 * by an end that is larger by *ret_adjustment. */
static int
put_ends(struct page_out *page, const struct v20_values *values, struct buf *into,
	uint64_t *ret_adjustment, struct lancet_error *err)
{
	const struct array *array = values->array;
	uint64_t end = 0, start = array_offset(array, values->first);
	uint64_t adjustment = array_offset(array, values->first + values->count) - start + 1;
	struct buf flat = { 0 };
	unsigned index;
	struct buf *ends = v20_new_buffer(page, &index, err);

	if (ends == NULL)
		return LANCET_LIMIT;
	if (!buf_reserve(ends, (size_t)values->count * sizeof(end)))
		return buf_check(ends, "ends of values", err);
	for (uint64_t i = values->first; i < values->first + values->count; i++) {
		end = array_offset(array, i + 1) - start;
		if (!array_is_valid(array, i))
			end += adjustment;
		buf_put(ends, &end, sizeof(end));
	}
	v20_message_flat(&flat, 64, index, NULL);
	v20_message_no_nulls(into, &flat);
	buf_release(&flat);
	*ret_adjustment = adjustment;
	return LANCET_OK;
}

int
v20_put_lists(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	struct buf ends = { 0 }, list = { 0 };
	uint64_t adjustment = 1;
	int rc = put_ends(page, values, &ends, &adjustment, err);

	v20_message(&list, 1, &ends);
	message_put_number(&list, 2, adjustment);
	message_put_number(&list, 3, adjustment - 1);
	v20_message(into, CASE(LIST), &list);
	buf_release(&ends);
	buf_release(&list);
	return rc;
}

int
v20_put_binary(struct page_out *page, const struct v20_values *values, uint64_t others,
	struct buf *into, bool *ret_done, struct lancet_error *err)
{
	const struct array *array = values->array;
	uint64_t start = array_offset(array, values->first);
	struct slice all = slice_of("", 0);
	struct buf ends = { 0 }, bytes = { 0 }, binary = { 0 };
	uint64_t adjustment = 1;
	size_t buffers = page->buffer_count;
	int rc = put_ends(page, values, &ends, &adjustment, err);

	*ret_done = true;
	if (adjustment > 1)
		all = slice_of(array->data.data + start, (size_t)(adjustment - 1));
	if (rc == LANCET_OK && others < all.size)
		rc = v20_try_zstd(page, array->field, 8, all, others, &bytes, ret_done, err);
	else if (rc == LANCET_OK)
		rc = v20_put_bytes(page, array->field, 8, all, &bytes, err);
	v20_message(&binary, 1, &ends);
	v20_message(&binary, 2, &bytes);
	message_put_number(&binary, 3, adjustment);
	if (*ret_done)
		v20_message(into, CASE(BINARY), &binary);
	else
		while (page->buffer_count > buffers)
			page->buffers[--page->buffer_count].size = 0;
	buf_release(&ends);
	buf_release(&bytes);
	buf_release(&binary);
	return rc;
}

int
v20_put_variable(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	bool done = false;

	TRY(v20_put_text_dictionary(page, values, into, &done, err));
	if (!done)
		TRY(v20_put_symbols(page, values, into, &done, err));
	return done ? LANCET_OK : v20_put_binary(page, values, UINT64_MAX, into, &done, err);
}

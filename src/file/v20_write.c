/* Pages of 2.0 columns: which values a column has, and its nodes; see v20_write.h. */
#include "v20_write.h"

#include <inttypes.h>

#include "encode_message.h"
#include "lance/encodings.pb-c.h"
#include "util/bits.h"
#include "util/macros.h"

#define CASE(name) ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)

struct buf *
v20_new_buffer(struct page_out *page, unsigned *ret_index, struct lancet_error *err)
{
	if (page->buffer_count == PAGE_BUFFERS_MAX) {
		(void)lancet_fail(
			err, LANCET_LIMIT, "a page of more than %u buffers", PAGE_BUFFERS_MAX);
		return NULL;
	}
	*ret_index = (unsigned)page->buffer_count;
	return &page->buffers[page->buffer_count++];
}

void
v20_message(struct buf *into, unsigned encoding, const struct buf *content)
{
	if (content->failed != LANCET_OK)
		into->failed = content->failed;
	message_put_bytes(into, encoding, buf_slice(content));
}

/* Flat { bits, buffer, compression } */
void
v20_message_flat(struct buf *into, uint64_t bits, unsigned buffer, const char *scheme)
{
	struct buf flat = { 0 }, part = { 0 };

	message_put_number(&flat, 1, bits);
	message_put_number(&part, 1, buffer);
	message_put_bytes(&flat, 2, buf_slice(&part));
	part.size = 0;
	if (scheme != NULL) {
		message_put_bytes(&part, 1, slice_text(scheme));
		message_put_bytes(&flat, 3, buf_slice(&part));
	}
	if (part.failed != LANCET_OK)
		flat.failed = part.failed;
	v20_message(into, CASE(FLAT), &flat);
	buf_release(&flat);
	buf_release(&part);
}

void
v20_message_no_nulls(struct buf *into, const struct buf *values)
{
	struct buf nullable = { 0 }, inner = { 0 };

	v20_message(&inner, 1, values);
	v20_message(&nullable, 1, &inner);
	v20_message(into, CASE(NULLABLE), &nullable);
	buf_release(&nullable);
	buf_release(&inner);
}

static void
message_all_nulls(struct buf *into)
{
	struct buf nullable = { 0 };

	message_put_bytes(&nullable, 3, slice_text(""));
	v20_message(into, CASE(NULLABLE), &nullable);
	buf_release(&nullable);
}

/* The bitmap of the values as a buffer. */
static int
put_validity(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	unsigned index;
	struct buf *bitmap = v20_new_buffer(page, &index, err);

	if (bitmap == NULL)
		return LANCET_LIMIT;
	buf_fill(bitmap, 0, (size_t)bits_size(values->count));
	TRY(buf_check(bitmap, "validity", err));
	bits_copy(bitmap->data, 0, values->array->validity.data, values->first, values->count);
	v20_message_flat(into, 1, index, NULL);
	return LANCET_OK;
}

uint64_t
v20_nulls(const struct v20_values *values)
{
	return array_nulls(values->array, values->first, values->count);
}

static int
put_fixed_list(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	uint64_t dimension = values->array->field->dimension;
	struct v20_values items = {
		&values->array->children[0],
		values->first * dimension,
		values->count * dimension,
	};
	struct buf list = { 0 }, inner = { 0 };
	int rc = v20_put_values(page, &items, &inner, err);

	message_put_number(&list, 1, dimension);
	v20_message(&list, 2, &inner);
	v20_message(into, CASE(FIXED_SIZE_LIST), &list);
	buf_release(&list);
	buf_release(&inner);
	return rc;
}

/* Values whose validity is not their own business. */
static int
put_plain(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	if (values->array->field->kind == FIELD_FIXED_LIST)
		return put_fixed_list(page, values, into, err);
	return v20_put_fixed(page, values, into, err);
}

/* Nullable { some_nulls { validity, values } } */
static int
put_nullable(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	struct buf validity = { 0 }, plain = { 0 }, some = { 0 }, nullable = { 0 };
	int rc = LANCET_OK;

	if (v20_nulls(values) == 0) {
		rc = put_plain(page, values, &plain, err);
		v20_message_no_nulls(into, &plain);
	} else {
		rc = put_validity(page, values, &validity, err);
		if (rc == LANCET_OK)
			rc = put_plain(page, values, &plain, err);
		v20_message(&some, 1, &validity);
		v20_message(&some, 2, &plain);
		v20_message(&nullable, 2, &some);
		v20_message(into, CASE(NULLABLE), &nullable);
	}
	buf_release(&validity);
	buf_release(&plain);
	buf_release(&some);
	buf_release(&nullable);
	return rc;
}

int
v20_put_values(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	const struct field *field = values->array->field;

	if (field->kind == FIELD_STRUCT)
		return v20_put_packed(page, values, into, err);
	if (field->kind == FIELD_DICTIONARY)
		return v20_put_dictionary(page, values, into, err);
	if (field->kind == FIELD_NULL ||
		(values->count > 0 && v20_nulls(values) == values->count)) {
		message_all_nulls(into);
		return LANCET_OK;
	}
	switch (field->kind) {
	case FIELD_VARIABLE:
		return v20_put_variable(page, values, into, err);
	default:
		return put_nullable(page, values, into, err);
	}
}

/* The values that a field's column has for rows of the top-level field. */
static struct v20_values
values_of(const struct array *root, const struct field *field, uint64_t first, uint64_t count)
{
	struct v20_values above, values = { root, first, count };

	if (field == root->field)
		return values;
	above = values_of(root, field->parent, first, count);
	values = above;
	values.array = &above.array->children[field - field->parent->children];
	if (above.array->field->kind == FIELD_LIST) {
		values.first = array_offset(above.array, above.first);
		values.count = array_offset(above.array, above.first + above.count) - values.first;
	}
	return values;
}

uint64_t
v20_write_length(
	const struct array *root, const struct field *field, uint64_t first, uint64_t count)
{
	return values_of(root, field, first, count).count;
}

static int
write_page(const struct v20_values *values, struct page_sink sink, struct lancet_error *err)
{
	struct page_out page = { .length = values->count };
	int rc;

	if (values->array->field->kind == FIELD_LIST)
		rc = v20_put_lists(&page, values, &page.encoding, err);
	else
		rc = v20_put_values(&page, values, &page.encoding, err);
	if (rc == LANCET_OK)
		rc = page_out_check(&page, err);
	if (rc == LANCET_OK)
		rc = sink.put(sink.context, &page, err);
	page_out_release(&page);
	return rc;
}

/* Half of the values, or fewer, have fewer distinct ones: then there is a key for null. */
static int
write_fewer_keys(const struct v20_values *values, uint64_t first, uint64_t count,
	struct page_sink sink, struct lancet_error *err)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	struct array part;
	struct v20_values inside = { &part, 0, count };
	int rc = array_init(&part, values->array->field, &budget, err);

	if (rc != LANCET_OK)
		return rc;
	rc = array_append_range(&part, values->array, values->first + first, count, err);
	if (rc == LANCET_OK && v20_has_null_key(&inside))
		rc = write_page(&inside, sink, err);
	else if (rc == LANCET_OK) {
		rc = write_fewer_keys(&inside, 0, count / 2, sink, err);
		if (rc == LANCET_OK)
			rc = write_fewer_keys(&inside, count / 2, count - count / 2, sink, err);
	}
	array_release(&part);
	return rc;
}

int
v20_write_field(const struct array *root, const struct field *field, uint64_t first, uint64_t count,
	struct page_sink sink, struct lancet_error *err)
{
	struct v20_values values = values_of(root, field, first, count);

	if (values.count == 0)
		return LANCET_OK;
	if (field->kind == FIELD_DICTIONARY && !v20_has_null_key(&values))
		return write_fewer_keys(&values, 0, values.count, sink, err);
	return write_page(&values, sink, err);
}

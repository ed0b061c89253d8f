/* Values of a width in 2.0 pages: one behind the other, or only the bits that are used. Format
 * facts: v2.0 page encodings, Flat and PackedStruct.
 */
#include <inttypes.h>

#include "encode_message.h"
#include "lance/encodings.pb-c.h"
#include "util/bits.h"
#include "util/macros.h"
#include "v20_write.h"
#include "v20_write_bytes.h"

#define CASE(name) ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)

static int
put_bitmap(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	unsigned index;
	struct buf *buffer = v20_new_buffer(page, &index, err);

	if (buffer == NULL)
		return LANCET_LIMIT;
	buf_fill(buffer, 0, (size_t)bits_size(values->count));
	TRY(buf_check(buffer, "values", err));
	bits_copy(buffer->data, 0, values->array->data.data, values->first, values->count);
	v20_message_flat(into, 1, index, NULL);
	return LANCET_OK;
}

/* Bitpacked { compressed bits, bits, buffer, signed } */
static int
put_packed_bits(struct page_out *page, const struct v20_values *values, unsigned bits,
	bool is_signed, struct buf *into, struct lancet_error *err)
{
	struct buf packed = { 0 }, part = { 0 };
	unsigned index;
	struct buf *buffer = v20_new_buffer(page, &index, err);

	if (buffer == NULL)
		return LANCET_LIMIT;
	v20_pack_bits(values, bits, buffer);
	message_put_number(&part, 1, index);
	message_put_number(&packed, 1, bits);
	message_put_number(&packed, 2, values->array->field->bits);
	message_put_bytes(&packed, 3, buf_slice(&part));
	message_put_number(&packed, 4, is_signed);
	v20_message(into, CASE(BITPACKED), &packed);
	buf_release(&packed);
	buf_release(&part);
	return buf_check(buffer, "values", err);
}

static bool
is_integer_width(uint32_t bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

int
v20_put_fixed(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	const struct field *field = values->array->field;
	uint64_t width = field->bits / 8;
	struct slice bytes = slice_of("", 0);
	bool is_signed = false, done;
	unsigned bits = field->bits;

	if (bits == 1)
		return put_bitmap(page, values, into, err);
	if (values->count > 0)
		bytes = slice_of(values->array->data.data + values->first * width,
			(size_t)(values->count * width));
	if (is_integer_width(bits))
		bits = v20_bits_needed(values, &is_signed);
	/* Whole bytes are read faster: an eighth less is the least. */
	if (bits > field->bits - field->bits / 8 || values->count == 0)
		return v20_put_bytes(page, field, field->bits, bytes, into, err);
	TRY(v20_try_zstd(page, field, field->bits, bytes, bits_size(values->count * bits), into,
		&done, err));
	return done ? LANCET_OK : put_packed_bits(page, values, bits, is_signed, into, err);
}

/* The innermost items of a child, and how many bytes one row has of them. */
static const struct array *
innermost(const struct array *child, uint64_t *ret_width)
{
	uint64_t items = 1;

	for (; child->field->kind == FIELD_FIXED_LIST; child = &child->children[0])
		items *= child->field->dimension;
	*ret_width = items * (child->field->bits / 8);
	return child;
}

/* What a child would be by itself; the buffer is that of the struct. */
static void
put_child(const struct field *field, struct buf *into)
{
	struct buf list = { 0 }, inner = { 0 }, plain = { 0 };

	if (field->kind == FIELD_FIXED_LIST) {
		put_child(&field->children[0], &inner);
		message_put_number(&list, 1, field->dimension);
		v20_message(&list, 2, &inner);
		v20_message(&plain, CASE(FIXED_SIZE_LIST), &list);
	} else {
		v20_message_flat(&plain, field->bits, 0, NULL);
	}
	v20_message_no_nulls(into, &plain);
	buf_release(&list);
	buf_release(&inner);
	buf_release(&plain);
}

int
v20_put_packed(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err)
{
	const struct array *array = values->array;
	struct buf packed = { 0 }, part = { 0 };
	uint64_t row = 0, at = 0, width;
	unsigned index;
	struct buf *buffer = v20_new_buffer(page, &index, err);

	if (buffer == NULL)
		return LANCET_LIMIT;
	for (size_t i = 0; i < array->child_count; i++) {
		(void)innermost(&array->children[i], &width);
		row += width;
	}
	buf_fill(buffer, 0, (size_t)(values->count * row));
	TRY(buf_check(buffer, "rows of a packed struct", err));
	for (size_t i = 0; i < array->child_count; i++, at += width) {
		const struct array *child = innermost(&array->children[i], &width);

		for (uint64_t j = 0; j < values->count; j++)
			memcpy(buffer->data + j * row + at,
				child->data.data + (values->first + j) * width, (size_t)width);
		part.size = 0;
		put_child(array->children[i].field, &part);
		v20_message(&packed, 1, &part);
	}
	part.size = 0;
	message_put_number(&part, 1, index);
	message_put_bytes(&packed, 2, buf_slice(&part));
	v20_message(into, CASE(PACKED_STRUCT), &packed);
	buf_release(&packed);
	buf_release(&part);
	return LANCET_OK;
}

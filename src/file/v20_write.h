/* Pages of version 2.0: trees of ArrayEncoding messages, from values to buffers.
 *
 * A node appends its message to `into`, and its buffers to the page in the order in which they are
 * named. Of encodings that can hold the values the smallest one is taken, with a bias towards those
 * that can be read from the middle. Format facts: v2.0 page encodings.
 */
#ifndef FILE_V20_WRITE_H
#define FILE_V20_WRITE_H

#include "page_out.h"

/* Values of `field`, of root's tree, in rows [first, first + count) of root. */
uint64_t v20_write_length(
	const struct array *root, const struct field *field, uint64_t first, uint64_t count);

/* What the files behind v20_write_field share. The values are [first, first + count) of array. */
struct v20_values {
	const struct array *array;
	uint64_t first, count;
};

/* Any values but lists and structs with headers. */
int v20_put_values(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);
/* Values of a width, without their validity. */
int v20_put_fixed(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);
/* VARIABLE, not all null: nulls are told by the ends. */
int v20_put_variable(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);
/* As ends and bytes. `others` is what the best other way makes of the bytes: with less than that
 * they have to be compressed to be worth it, and *ret_done is false if they are not. */
int v20_put_binary(struct page_out *page, const struct v20_values *values, uint64_t others,
	struct buf *into, bool *ret_done, struct lancet_error *err);
/* Text or bytes as symbols of a table, when that is much smaller. */
int v20_put_symbols(struct page_out *page, const struct v20_values *values, struct buf *into,
	bool *ret_done, struct lancet_error *err);
/* Ends of lists and their nulls; *ret_items is how many items they have. */
int v20_put_lists(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);
/* A packed struct without nulls. */
int v20_put_packed(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);

/* Of a logical dictionary type: keys without nulls, the last of which may be that of null. */
int v20_put_dictionary(struct page_out *page, const struct v20_values *values, struct buf *into,
	struct lancet_error *err);
/* False when there are nulls, and no key is left for them. */
bool v20_has_null_key(const struct v20_values *values);

uint64_t v20_nulls(const struct v20_values *values);
/* Text of few distinct values; *ret_done is false when it has more. */
int v20_put_text_dictionary(struct page_out *page, const struct v20_values *values,
	struct buf *into, bool *ret_done, struct lancet_error *err);
/* Bits of the widest integer among the values; *ret_signed: the highest of them is a sign. */
unsigned v20_bits_needed(const struct v20_values *values, bool *ret_signed);
/* Appends `bits` of each value, from the lowest bit of a byte upwards. */
void v20_pack_bits(const struct v20_values *values, unsigned bits, struct buf *into);
/* The next buffer of the page; NULL when there are too many. */
struct buf *v20_new_buffer(struct page_out *page, unsigned *ret_index, struct lancet_error *err);

/* Messages, as fields of an ArrayEncoding each. */
void v20_message(struct buf *into, unsigned encoding, const struct buf *content);
void v20_message_flat(struct buf *into, uint64_t bits, unsigned buffer, const char *scheme);
/* Nullable { no_nulls { values } } */
void v20_message_no_nulls(struct buf *into, const struct buf *values);

#endif

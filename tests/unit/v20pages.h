/* Pages of 2.0 files made by hand: a message told in words, buffers in hex, and what comes out.
 *
 * Words are what follows; @N is buffer N of the page, other numbers are in the order of the
 * message:
 *
 *     flat BITS @N [zstd|lz4|…]      no_nulls(E)  nullable(VALIDITY, E)  all_null
 *     fsl DIMENSION(E)               list ADJUSTMENT ITEMS(E)            struct
 *     binary ADJUSTMENT(E, E)        dict ITEMS(E, E)                    fsst(E) TABLE-HEX
 *     packed @N(E, …)                bits PACKED BITS @N [signed]        nonneg PACKED BITS @N
 *     fsb WIDTH(E)                   constant
 *
 * Values come out in hex, text in quotes, "-" for null, [lists] and {structs}.
 */
#ifndef TESTS_V20PAGES_H
#define TESTS_V20PAGES_H

#include "counted.h"
#include "encode.h"
#include "file/v20.h"
#include "unit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#define V20_BUFFERS_MAX 4

/* ---- messages from words ---- */

struct words {
	const char *at;
};

static inline void
skip_blanks(struct words *w)
{
	while (*w->at == ' ')
		w->at++;
}

static inline bool
take_word(struct words *w, const char *word)
{
	size_t size = strlen(word);

	skip_blanks(w);
	if (strncmp(w->at, word, size) != 0 || isalnum((unsigned char)w->at[size]) ||
		w->at[size] == '_')
		return false;
	w->at += size;
	return true;
}

static inline bool
take_mark(struct words *w, char mark)
{
	skip_blanks(w);
	if (*w->at != mark)
		return false;
	w->at++;
	return true;
}

static inline uint64_t
take_number(struct words *w)
{
	char *end;
	uint64_t number;

	skip_blanks(w);
	number = strtoull(w->at, &end, 10);
	ck_assert_msg(end != w->at, "a number is missing: %s", w->at);
	w->at = end;
	return number;
}

/* Buffer { buffer_index #1 }; "@column N", "@file N" for others, nothing for none at all */
static inline void
put_buffer(struct buf *b, unsigned field, struct words *w)
{
	struct buf name = { 0 };
	unsigned type;

	if (!take_mark(w, '@'))
		return;
	type = take_word(w, "column") ? 1 : take_word(w, "file") ? 2 : 0;
	put_number(&name, 1, take_number(w));
	if (type > 0)
		put_number(&name, 2, type);
	put_message(b, field, &name);
}

static inline struct buf encode(struct words *w);

/* The next nested encoding, behind '(' or ','. */
static inline void
put_inner(struct buf *b, unsigned field, struct words *w)
{
	struct buf inner;

	ck_assert_msg(take_mark(w, '(') || take_mark(w, ','), "an encoding is missing: %s", w->at);
	inner = encode(w);
	put_message(b, field, &inner);
}

static inline void
encode_flat(struct buf *b, struct words *w)
{
	static const char *const schemes[] = { "zstd", "lz4", "none", "snappy" };
	struct buf compression = { 0 };

	put_number(b, 1, take_number(w));
	put_buffer(b, 2, w);
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (!take_word(w, schemes[i]))
			continue;
		put_head(&compression, 1, strlen(schemes[i]));
		buf_put_text(&compression, schemes[i]);
		put_message(b, 3, &compression);
	}
}

static inline void
encode_bits(struct buf *b, struct words *w, bool is_non_neg)
{
	put_number(b, 1, take_number(w));
	put_number(b, 2, take_number(w));
	put_buffer(b, 3, w);
	if (!is_non_neg && take_word(w, "signed"))
		put_number(b, 4, 1);
}

static inline void
encode_table(struct buf *b, struct words *w)
{
	struct buf table = { 0 };
	char pair[3] = { 0 };

	skip_blanks(w);
	for (; isxdigit((unsigned char)w->at[0]) && isxdigit((unsigned char)w->at[1]); w->at += 2) {
		memcpy(pair, w->at, 2);
		buf_put_byte(&table, (uint8_t)strtoul(pair, NULL, 16));
	}
	put_message(b, 2, &table);
}

/* One level: fills the body, returns the field of ArrayEncoding, or 0. */
static inline unsigned
encode_body(struct buf *b, struct words *w)
{
	struct buf some = { 0 };

	if (take_word(w, "flat")) {
		encode_flat(b, w);
		return 1;
	}
	if (take_word(w, "no_nulls") || take_word(w, "nullable")) {
		bool is_some = w->at[-1] == 'e';

		put_inner(&some, 1, w);
		if (is_some)
			put_inner(&some, 2, w);
		put_message(b, is_some ? 2 : 1, &some);
	} else if (take_word(w, "all_null")) {
		put_message(b, 3, &some);
		return 2;
	} else if (take_word(w, "unsaid")) { /* Nullable without a case */
		return 2;
	} else {
		return 0;
	}
	ck_assert(take_mark(w, ')'));
	return 2;
}

static inline unsigned
encode_list(struct buf *b, struct words *w)
{
	unsigned field;

	if (take_word(w, "fsl")) {
		field = 3;
		put_number(b, 1, take_number(w));
		put_inner(b, 2, w);
	} else if (take_word(w, "list")) {
		uint64_t adjustment = take_number(w), items = take_number(w);

		field = 4;
		put_inner(b, 1, w);
		put_number(b, 2, adjustment);
		put_number(b, 3, items);
	} else if (take_word(w, "binary")) {
		uint64_t adjustment = take_number(w);

		field = 6;
		put_inner(b, 1, w);
		put_inner(b, 2, w);
		put_number(b, 3, adjustment);
	} else if (take_word(w, "dict")) {
		uint64_t items = take_number(w);

		field = 7;
		put_inner(b, 1, w);
		put_inner(b, 2, w);
		put_number(b, 3, items);
	} else {
		return 0;
	}
	ck_assert(take_mark(w, ')'));
	return field;
}

static inline unsigned
encode_rare(struct buf *b, struct words *w)
{
	struct buf name = { 0 };
	uint64_t width;

	if (take_word(w, "struct"))
		return 5;
	if (take_word(w, "fsst")) {
		put_inner(b, 1, w);
		ck_assert(take_mark(w, ')'));
		encode_table(b, w);
		return 8;
	}
	if (take_word(w, "packed")) {
		put_buffer(&name, 2, w);
		while (*w->at == '(' || *w->at == ',')
			put_inner(b, 1, w);
		ck_assert(take_mark(w, ')'));
		buf_put(b, name.data, name.size);
		buf_release(&name);
		return 9;
	}
	if (take_word(w, "bits")) {
		encode_bits(b, w, false);
		return 10;
	}
	if (take_word(w, "fsb")) {
		width = take_number(w);
		put_inner(b, 1, w);
		put_number(b, 2, width);
		ck_assert(take_mark(w, ')'));
		return 11;
	}
	if (take_word(w, "nonneg")) {
		encode_bits(b, w, true);
		return 12;
	}
	return take_word(w, "constant") ? 13 : 0;
}

/* ArrayEncoding; "nothing" for a message without a case. */
static inline struct buf
encode(struct words *w)
{
	struct buf message = { 0 }, body = { 0 };
	unsigned field = encode_body(&body, w);

	if (field == 0)
		field = encode_list(&body, w);
	if (field == 0)
		field = encode_rare(&body, w);
	if (field == 0)
		ck_assert_msg(take_word(w, "nothing"), "no encoding: %s", w->at);
	else
		put_message(&message, field, &body);
	return message;
}

static inline struct buf
encode_words(const char *words)
{
	struct words w = { words };

	return encode(&w);
}

/* ---- values as text ---- */

static inline void
show_value(const struct array *array, uint64_t index, struct buf *out)
{
	const struct field *field = array->field;
	uint64_t first = index, count = 1;

	if (field->kind == FIELD_NULL || !array_is_valid(array, index)) {
		buf_put_byte(out, '-');
		return;
	}
	switch (field->kind) {
	case FIELD_FIXED:
		if (field->bits <= 64)
			buf_printf(out, "%" PRIx64,
				field->bits == 1 ? (uint64_t)array_bit(array, index)
						 : array_unsigned(array, index));
		for (size_t i = 0; field->bits > 64 && i < field->bits / 8; i++)
			buf_printf(out, "%02x", array->data.data[index * (field->bits / 8) + i]);
		return;
	case FIELD_VARIABLE:
		buf_put_byte(out, '\'');
		buf_put_slice(out, array_bytes(array, index));
		buf_put_byte(out, '\'');
		return;
	case FIELD_DICTIONARY:
		show_value(&array->children[0], array_unsigned(array, index), out);
		return;
	case FIELD_STRUCT:
		buf_put_byte(out, '{');
		for (size_t i = 0; i < array->child_count; i++) {
			buf_put_text(out, i == 0 ? "" : " ");
			show_value(&array->children[i], index, out);
		}
		buf_put_byte(out, '}');
		return;
	case FIELD_LIST:
		first = array_offset(array, index);
		count = array_offset(array, index + 1) - first;
		break;
	default:
		first = index * field->dimension;
		count = field->dimension;
	}
	buf_put_byte(out, '[');
	for (uint64_t i = 0; i < count; i++) {
		buf_put_text(out, i == 0 ? "" : " ");
		show_value(&array->children[0], first + i, out);
	}
	buf_put_byte(out, ']');
}

static inline void
show_array(const struct array *array, struct buf *out)
{
	for (uint64_t i = 0; i < array->length; i++) {
		buf_put_text(out, i == 0 ? "" : " ");
		show_value(array, i, out);
	}
}

/* ---- one page ---- */

struct page_rig {
	struct counted_source *source;
	struct buf bytes;
	struct buf message;
	struct page_buffer places[V20_BUFFERS_MAX];
	struct page page;
	struct scratch scratch;
	struct v20_page opened;
	struct array_budget budget;
	struct array out;
	struct lancet_error err;
};

/* Takes the buffers; they lie unaligned, as old writers have them, and end with the file. */
static inline int
rig_open(struct page_rig *rig, const char *words, const struct field *field, uint64_t length,
	struct buf *buffers, size_t count)
{
	*rig = (struct page_rig){ .budget.limit = (size_t)16 << 20 };
	rig->message = encode_words(words);
	for (size_t i = 0; i < count; i++) {
		buf_put_byte(&rig->bytes, 0xee);
		rig->places[i] = (struct page_buffer){ rig->bytes.size, buffers[i].size };
		buf_put(&rig->bytes, buffers[i].data, buffers[i].size);
		buf_release(&buffers[i]);
	}
	rig->source = counted_new(buf_slice(&rig->bytes));
	rig->page = (struct page){
		.length = length,
		.buffers = rig->places,
		.buffer_count = count,
		.type = slice_text("lance.encodings.ArrayEncoding"),
		.encoding = buf_slice(&rig->message),
	};
	ck_assert_int_eq(array_init(&rig->out, field, &rig->budget, NULL), LANCET_OK);
	return v20_page_open(&rig->opened, &rig->source->base, NULL, &rig->page, field,
		&rig->scratch, &rig->err);
}

static inline int
rig_read(struct page_rig *rig, const struct row_range *ranges, size_t count)
{
	array_reset(&rig->out);
	return v20_page_read(&rig->opened, ranges, count, &rig->out, &rig->err);
}

static inline void
rig_free(struct page_rig *rig)
{
	ck_assert_uint_eq(rig->scratch.used, 0);
	v20_page_release(&rig->opened);
	array_release(&rig->out);
	ck_assert_uint_eq(rig->budget.used, 0);
	scratch_release(&rig->scratch);
	source_unref(&rig->source->base);
	buf_release(&rig->bytes);
	buf_release(&rig->message);
}

/* What is read of the ranges, which are values [first, first + count) of `all`, one blank apart. */
static inline void
expect_rows(struct page_rig *rig, const char *label, const struct row_range *ranges, size_t count,
	const char *want)
{
	struct buf text = { 0 };
	int rc = rig_read(rig, ranges, count);

	ck_assert_msg(rc == LANCET_OK, "%s: %s", label, rig->err.text);
	show_array(&rig->out, &text);
	buf_put_byte(&text, '\0');
	ck_assert_msg(strcmp((const char *)text.data, want) == 0, "%s: %s", label,
		(const char *)text.data);
	buf_release(&text);
}

#endif

/* Pages of 2.0 files made by hand: a message told in words, buffers, and what comes out. */
#ifndef TESTS_V20PAGES_H
#define TESTS_V20PAGES_H

#include "counted.h"
#include "file/v20.h"
#include "shown.h"
#include "v20words.h"

#define V20_BUFFERS_MAX 4

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

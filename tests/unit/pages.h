/* Single pages made by hand: buffers in a file that has nothing else, the message of the page, and
 * what comes out of it as text.
 *
 * Values are in hex as stored or text, "-" is a null; a list is its number of items, a struct or
 * fixed-size list "v" with its parts, when they are here. Leaf and ancestors are told apart with
 * "|", from the leaf outwards.
 */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include "file/layout.h"
#include "pagefile.h"
#include "pagetext.h"
#include "sources.h"

#define PAGE_BUFFERS_MAX 4

struct page_rig {
	struct buf bytes;
	struct test_source *source; /* counts */
	struct datafile *file;
	struct page page;
	struct page_buffer places[PAGE_BUFFERS_MAX];
	struct scratch scratch;
	struct page_reader reader;
	struct array_budget budget;
	struct leaf_out out;
	struct lancet_error err;
	struct buf message, text;
};

static inline uint8_t
no_byte(uint64_t at)
{
	(void)at;
	return 0;
}

/* Takes the message and the buffers. Returns what opening says; free the rig in any case. */
static inline int
page_rig_open(struct page_rig *rig, unsigned minor, const struct field *leaf, uint64_t length,
	struct buf message, struct buf *buffers, size_t count)
{
	*rig = (struct page_rig){ .budget.limit = 64 << 20, .message = message };
	for (size_t i = 0; i < count; i++) {
		rig->places[i] = put_page_buffer(&rig->bytes, &buffers[i]);
		buf_release(&buffers[i]);
	}
	end_page_file(&rig->bytes, minor, NULL, 0);
	rig->source = test_source_new(buf_slice(&rig->bytes), 0, no_byte);
	ck_assert_msg(datafile_open(&rig->source->base, &rig->file, &rig->err) == LANCET_OK, "%s",
		rig->err.text);
	rig->page = (struct page){ .length = length,
		.buffers = rig->places,
		.buffer_count = count,
		.type = slice_text(minor == 3 ? "lance.encodings23.PlanarLayout"
					      : "lance.encodings21.PageLayout"),
		.encoding = buf_slice(&rig->message) };
	ck_assert_int_eq(leaf_out_init(&rig->out, leaf, &rig->budget, &rig->err), LANCET_OK);
	rig->source->reads = rig->source->read_bytes = 0;
	return page_reader_open(
		&rig->reader, rig->file, &rig->page, leaf, &rig->scratch, &rig->err);
}

static inline int
page_rig_read(struct page_rig *rig, const struct row_range *ranges, size_t count)
{
	leaf_out_reset(&rig->out);
	TRY(page_reader_read(&rig->reader, ranges, count, &rig->out, &rig->err));
	render_leaf_out(&rig->out, &rig->text);
	return LANCET_OK;
}

static inline void
page_rig_free(struct page_rig *rig)
{
	page_reader_release(&rig->reader);
	leaf_out_release(&rig->out);
	ck_assert_uint_eq(rig->budget.used, 0);
	scratch_release(&rig->scratch);
	datafile_unref(rig->file);
	source_unref(&rig->source->base);
	buf_release(&rig->bytes);
	buf_release(&rig->message);
	buf_release(&rig->text);
}

/* A page that is written down: its message and buffers in hex, and what comes out of all rows. */
struct page_row {
	const char *label;
	unsigned minor;
	const struct field *leaf;
	uint64_t length;
	const char *message;
	const char *buffers[PAGE_BUFFERS_MAX];
	enum lancet_code want;
	const char *text; /* of all rows, or a part of the error's */
};

static inline int
open_page_row(struct page_rig *rig, const struct page_row *row)
{
	struct buf buffers[PAGE_BUFFERS_MAX];
	size_t count = 0;

	for (; count < PAGE_BUFFERS_MAX && row->buffers[count] != NULL; count++)
		buffers[count] = page_hex(row->buffers[count]);
	return page_rig_open(
		rig, row->minor, row->leaf, row->length, page_hex(row->message), buffers, count);
}

/* All rows, and each row by itself: the same comes out. */
static inline void
check_page_row(const struct page_row *row)
{
	struct page_rig rig;
	struct row_range all = { 0, row->length };
	int rc = open_page_row(&rig, row);

	if (rc == LANCET_OK)
		rc = page_rig_read(&rig, &all, row->length > 0 ? 1 : 0);
	ck_assert_msg(rc == (int)row->want, "%s: %d %s", row->label, rc, rig.err.text);
	if (row->want == LANCET_OK)
		ck_assert_msg(strcmp((const char *)rig.text.data, row->text) == 0, "%s: %s",
			row->label, (const char *)rig.text.data);
	else
		ck_assert_msg(strstr(rig.err.text, row->text) != NULL, "%s: %s", row->label,
			rig.err.text);
	if (row->want == LANCET_OK && row->length > 1) {
		struct row_range *each = calloc((size_t)row->length, sizeof(*each));

		for (uint64_t i = 0; i < row->length; i++)
			each[i] = (struct row_range){ i, 1 };
		ck_assert_int_eq(page_rig_read(&rig, each, (size_t)row->length), LANCET_OK);
		ck_assert_msg(strcmp((const char *)rig.text.data, row->text) == 0, "%s: %s",
			row->label, (const char *)rig.text.data);
		free(each);
	}
	page_rig_free(&rig);
}

#endif

/* One page of 2.1, 2.2 or 2.3 over any bytes: its layout, levels or layers, and values.
 *
 * The input says the version, the field of the leaf, how many rows the page has and which are read,
 * then brings the message and the buffers of the page. They are put into a file that has nothing
 * else. What comes out has to be as many rows as were asked for.
 */
#include "fuzz.h"

#include "file/layout.h"
#include "util/buf.h"
#include "util/cursor.h"
#include "util/macros.h"

#define BUDGET      ((size_t)1 << 20)
#define MEMORY_MAX  ((size_t)1 << 30) /* positions and levels are kept for a page */
#define BUFFERS_MAX 8u
#define RANGES_MAX  4u
#define ROWS_MAX    4096u

#define U8         .kind = FIELD_FIXED, .bits = 8, .format = "C"
#define U32        .kind = FIELD_FIXED, .bits = 32, .format = "I"
#define TEXT       .kind = FIELD_VARIABLE, .format = "u"
#define LIST(of)   .kind = FIELD_LIST, .format = "+l", .children = of, .child_count = 1
#define STRUCT(of) .kind = FIELD_STRUCT, .format = "+s", .children = of, .child_count = 1
#define FIXED(of)                                                                                  \
	.kind = FIELD_FIXED_LIST, .dimension = 2, .format = "+w:2", .children = of, .child_count = 1

static struct field key_values[] = { { TEXT } };
static struct field vector_items[] = { { U8 } };
static struct field packed_parts[] = { { U8 }, { TEXT } };
static struct field list_u32[] = { { LIST(&list_u32[1]) }, { U32, .parent = &list_u32[0] } };
static struct field list_text[] = { { LIST(&list_text[1]) }, { TEXT, .parent = &list_text[0] } };
static struct field lists[] = {
	{ LIST(&lists[1]) },
	{ LIST(&lists[2]), .parent = &lists[0] },
	{ U8, .parent = &lists[1] },
};
static struct field structs[] = {
	{ LIST(&structs[1]) },
	{ STRUCT(&structs[2]), .parent = &structs[0] },
	{ TEXT, .parent = &structs[1] },
};
static struct field pairs[] = {
	{ FIXED(&pairs[1]) },
	{ STRUCT(&pairs[2]), .parent = &pairs[0] },
	{ U8, .parent = &pairs[1] },
};
static struct field part[] = { { STRUCT(&part[1]) }, { TEXT, .parent = &part[0] } };
static const struct field u8 = { U8 }, u32 = { U32 }, text = { TEXT },
			  bit = { .kind = FIELD_FIXED, .bits = 1, .format = "b" },
			  null = { .kind = FIELD_NULL, .format = "n" },
			  empty = { .kind = FIELD_STRUCT, .format = "+s" },
			  keyed = { .kind = FIELD_DICTIONARY,
				  .bits = 8,
				  .format = "C",
				  .children = key_values,
				  .child_count = 1 },
			  vector = { FIXED(vector_items) },
			  packed = { .kind = FIELD_STRUCT,
				  .packed = true,
				  .format = "+s",
				  .children = packed_parts,
				  .child_count = 2 };

static const struct field *const leaves[] = { &u8, &u32, &text, &bit, &null, &empty, &keyed,
	&vector, &packed, &list_u32[1], &list_text[1], &lists[2], &structs[2], &pairs[2],
	&part[1] };

struct input {
	unsigned minor;
	const struct field *leaf;
	struct slice message;
	struct page page;
	struct page_buffer places[BUFFERS_MAX];
	struct row_range ranges[RANGES_MAX];
	size_t range_count;
};

static void
put_number(struct buf *out, uint64_t value, size_t width)
{
	buf_put(out, &value, width);
}

/* A file of these buffers, without columns. */
static void
end_file(struct buf *file, unsigned minor)
{
	uint64_t descriptor = file->size;

	buf_put(file, "\x0a", 2);
	for (unsigned i = 0; i < 3; i++) /* columns, their table, global buffers: behind it */
		put_number(file, 0, 0);
	put_number(file, descriptor, 8);
	put_number(file, 2, 8);
	put_number(file, descriptor + 2, 8);
	put_number(file, descriptor + 2, 8);
	put_number(file, descriptor + 2, 8);
	put_number(file, 1, 4);
	put_number(file, 0, 4);
	put_number(file, 2, 2);
	put_number(file, minor, 2);
	buf_put_text(file, "LANC");
}

/* Ascending ranges of a few rows, of which a byte each tells the distance and the number. */
static void
read_ranges(struct cursor *c, struct input *input)
{
	uint64_t row = 0;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		uint64_t skip = cursor_u8(c), count = cursor_u8(c);

		row += skip;
		if (count == 0 || row >= input->page.length)
			continue;
		if (count > input->page.length - row)
			count = input->page.length - row;
		input->ranges[input->range_count++] = (struct row_range){ row, count };
		row += count;
	}
}

/* u8 version and field, u8 bits that the length moves, u16 length, ranges, u16 and message, u16 and
 * buffer … */
static bool
read_input(struct slice data, struct input *input, struct buf *file)
{
	struct cursor c = { .in = data };
	uint8_t what = cursor_u8(&c), shift = cursor_u8(&c);

	input->minor = 1 + what % 3;
	input->leaf = leaves[what / 3 % ARRAY_SIZE(leaves)];
	input->page.length = (uint64_t)cursor_u16(&c) << shift % 48;
	read_ranges(&c, input);
	input->message = cursor_take(&c, cursor_u16(&c));
	for (size_t i = 0; !c.bad && cursor_left(&c) >= 2 && i < BUFFERS_MAX; i++) {
		uint64_t size = cursor_u16(&c);

		size = size < cursor_left(&c) ? size : cursor_left(&c);
		input->places[i] = (struct page_buffer){ file->size, size };
		buf_put_slice(file, cursor_take(&c, size));
		buf_fill(file, 0, (64 - file->size % 64) % 64);
		input->page.buffer_count++;
	}
	end_file(file, input->minor);
	input->page.buffers = input->places;
	input->page.type = slice_text(input->minor == 3 ? "lance.encodings23.PlanarLayout"
							: "lance.encodings21.PageLayout");
	input->page.encoding = input->message;
	return !c.bad && file->failed == LANCET_OK;
}

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_OK || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY || rc == LANCET_INVALID);
	fuzz_expect(rc == LANCET_OK || err->text[0] != '\0');
}

/* page_reader_read itself compares the rows. */
static int
read_page(struct page_reader *reader, const struct input *input, struct leaf_out *out,
	struct lancet_error *err)
{
	const struct row_range all = { 0, input->page.length };
	struct buf words = { 0 };
	uint64_t nulls;

	reader->layout->describe(reader, &words);
	buf_release(&words);
	if (reader->layout->null_count != NULL)
		(void)reader->layout->null_count(reader, &nulls);
	TRY(page_reader_read(reader, input->ranges, input->range_count, out, err));
	leaf_out_reset(out);
	if (all.count == 0 || all.count > ROWS_MAX)
		return LANCET_OK;
	return page_reader_read(reader, &all, 1, out, err);
}

static void
run(struct datafile *file, const struct input *input, const struct fuzz_guard *guard)
{
	struct array_budget budget = { .limit = BUDGET };
	struct lancet_error err = { 0 };
	struct scratch scratch = { 0 };
	struct page_reader reader;
	struct leaf_out out;
	int rc;

	if (leaf_out_init(&out, input->leaf, &budget, &err) != LANCET_OK)
		return;
	rc = page_reader_open(&reader, file, &input->page, input->leaf, &scratch, &err);
	if (rc == LANCET_OK) {
		rc = read_page(&reader, input, &out, &err);
		fuzz_check(guard);
		page_reader_release(&reader);
	}
	expect_reason(rc, &err);
	fuzz_expect(scratch.used == 0);
	leaf_out_release(&out);
	fuzz_expect(budget.used == 0);
	scratch_release(&scratch);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(MEMORY_MAX + 64 * size);
	struct input input = { 0 };
	struct buf bytes_of_file = { 0 };
	struct source *source;
	struct datafile *file;

	if (read_input(slice_of(data, size), &input, &bytes_of_file)) {
		source = source_memory_new(buf_slice(&bytes_of_file), NULL);
		if (source != NULL && datafile_open(source, &file, NULL) == LANCET_OK) {
			run(file, &input, &guard);
			datafile_unref(file);
		}
		if (source != NULL)
			source_unref(source);
	}
	buf_release(&bytes_of_file);
	fuzz_end(&guard);
	return 0;
}

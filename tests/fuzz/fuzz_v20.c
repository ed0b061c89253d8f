/* One page of a 2.0 file: any message, any buffers, for one of many types.
 *
 * The input says what type the values are of and how many, brings the message and the buffers. What
 * is read, whole and in parts, has to be an array whose parts agree, and the parts have to be those
 * of the whole.
 */
#include "fuzz.h"

#include "../helpers/arraycheck.h"
#include "file/v20.h"
#include "util/cursor.h"
#include "util/macros.h"

#define BUDGET      ((size_t)1 << 20)
#define KEPT_MAX    ((size_t)1 << 20)
#define MEMORY_MAX  ((size_t)32 << 20)
#define BUFFERS_MAX 8u
#define RANGES_MAX  16u

#define FIXED(width, arrow)                                                                        \
	{                                                                                          \
		.kind = FIELD_FIXED, .bits = width, .format = arrow                                \
	}
#define TEXT(is_large, arrow)                                                                      \
	{                                                                                          \
		.kind = FIELD_VARIABLE, .large = is_large, .format = arrow                         \
	}
#define PARENT(what, parts, arrow)                                                                 \
	{                                                                                          \
		.kind = what, .dimension = 3, .format = arrow, .children = parts,                  \
		.child_count = ARRAY_SIZE(parts)                                                   \
	}
#define CODED(width, values, arrow)                                                                \
	{                                                                                          \
		.kind = FIELD_DICTIONARY, .bits = width, .format = arrow, .children = values,      \
		.child_count = 1                                                                   \
	}

static struct field byte_item[] = { FIXED(8, "C") };
static struct field bit_item[] = { FIXED(1, "b") };
static struct field text_item[] = { TEXT(false, "u") };
static struct field list_item[] = { PARENT(FIELD_FIXED_LIST, byte_item, "+w:3") };
static struct field packed_parts[] = {
	FIXED(32, "I"),
	PARENT(FIELD_FIXED_LIST, byte_item, "+w:3"),
};
static struct field blob_parts[] = { FIXED(64, "L"), FIXED(64, "L") };

static const struct field fields[] = {
	FIXED(1, "b"),
	FIXED(8, "C"),
	FIXED(16, "S"),
	FIXED(32, "I"),
	FIXED(64, "L"),
	FIXED(128, "d:38,0"),
	TEXT(false, "u"),
	TEXT(true, "U"),
	PARENT(FIELD_FIXED_LIST, byte_item, "+w:3"),
	PARENT(FIELD_FIXED_LIST, bit_item, "+w:3"),
	PARENT(FIELD_FIXED_LIST, list_item, "+w:3"),
	PARENT(FIELD_STRUCT, packed_parts, "+s"),
	PARENT(FIELD_STRUCT, blob_parts, "+s"),
	PARENT(FIELD_LIST, byte_item, "+l"),
	CODED(8, text_item, "C"),
	CODED(64, text_item, "L"),
	CODED(16, byte_item, "S"),
	{ .kind = FIELD_NULL, .format = "n" },
};

struct input {
	const struct field *field;
	struct slice message, file;
	struct page_buffer buffers[BUFFERS_MAX];
	struct page page;
};

/* u8: field, u8: of "count is of terabytes" and number of buffers; u16: count; u16 and bytes:
 * message; u16 for each buffer: size; the rest are the buffers, the last of which may be cut. */
static bool
read_input(struct slice bytes, struct input *input)
{
	struct cursor c = { .in = bytes };
	uint8_t what = cursor_u8(&c), how = cursor_u8(&c);
	uint64_t at = 0;

	input->field = &fields[what % ARRAY_SIZE(fields)];
	input->page = (struct page){
		.length = cursor_u16(&c),
		.buffers = input->buffers,
		.buffer_count = how % (BUFFERS_MAX + 1),
		.type = slice_text("lance.encodings.ArrayEncoding"),
	};
	if (how & 0x80)
		input->page.length <<= 40;
	input->page.encoding = cursor_take(&c, cursor_u16(&c));
	for (size_t i = 0; i < input->page.buffer_count; i++)
		input->buffers[i].size = cursor_u16(&c);
	input->file = cursor_take(&c, cursor_left(&c));
	for (size_t i = 0; i < input->page.buffer_count; i++) {
		struct page_buffer *buffer = &input->buffers[i];

		if (buffer->size > input->file.size - at)
			buffer->size = input->file.size - at;
		buffer->offset = at;
		at += buffer->size;
	}
	return !c.bad;
}

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_OK || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc == LANCET_OK || err->text[0] != '\0');
}

static int
read_ranges(struct v20_page *page, const struct row_range *ranges, size_t count, struct array *out,
	struct lancet_error *err)
{
	struct buf items = { 0 };
	int rc;

	array_reset(out);
	if (out->field->kind == FIELD_LIST) {
		rc = v20_page_read_lists(page, ranges, count, out, &items, err);
		buf_release(&items);
		return rc;
	}
	rc = v20_page_read(page, ranges, count, out, err);
	fuzz_expect(rc != LANCET_OK || arraycheck(out));
	return rc;
}

/* Reading in parts fails when reading the whole does not, only for want of memory. */
static void
read_page(struct v20_page *page, uint64_t length, struct array *out)
{
	const struct row_range all = { 0, length };
	struct row_range some[RANGES_MAX];
	struct lancet_error err = { 0 };
	uint64_t step = length / RANGES_MAX + 1, nulls, total = 0;
	size_t count = 0;
	bool is_sound;
	int rc = read_ranges(page, &all, length > 0 ? 1 : 0, out, &err);

	expect_reason(rc, &err);
	is_sound = rc == LANCET_OK;
	fuzz_expect(!is_sound || out->length == length);
	nulls = out->null_count;
	for (uint64_t first = 0; count < RANGES_MAX && first < length; first += step) {
		some[count].first = first;
		some[count].count = 1 + (step - 1) / 2;
		if (some[count].count > length - first)
			some[count].count = length - first;
		total += some[count++].count;
	}
	rc = read_ranges(page, some, count, out, &err);
	expect_reason(rc, &err);
	fuzz_expect(!is_sound || rc == LANCET_OK || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc != LANCET_OK || (out->length == total));
	fuzz_expect(!is_sound || rc != LANCET_OK || out->null_count <= nulls);
}

static void
describe_page(const struct page *page)
{
	struct lancet_error err = { 0 };
	struct buf words = { 0 };
	uint64_t number;

	expect_reason(v20_describe(page, &words, &err), &err);
	buf_release(&words);
	expect_reason(v20_list_items(page, &number, &err), &err);
	expect_reason(v20_check_header(page, &err), &err);
	(void)v20_null_count(page, &number);
}

static void
run(const struct input *input, struct source *src, const struct fuzz_guard *guard)
{
	struct array_budget budget = { .limit = BUDGET };
	struct lancet_error err = { 0 };
	struct scratch scratch = { 0 };
	struct v20_page page;
	struct array out;
	int rc = v20_page_open(&page, src, NULL, &input->page, input->field, &scratch, &err);

	expect_reason(rc, &err);
	if (rc != LANCET_OK)
		return;
	page.values_max = page.inflated_max = KEPT_MAX;
	if (array_init(&out, input->field, &budget, &err) == LANCET_OK) {
		read_page(&page, input->page.length, &out);
		fuzz_check(guard);
		fuzz_expect(scratch.used == 0);
		array_release(&out);
		fuzz_expect(budget.used == 0);
	}
	v20_page_release(&page);
	scratch_release(&scratch);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(MEMORY_MAX);
	struct input input = { 0 };
	struct source *src;

	if (!read_input(slice_of(data, size), &input))
		return 0;
	src = source_memory_new(input.file, NULL);
	if (src == NULL)
		return 0;
	describe_page(&input.page);
	run(&input, src, &guard);
	source_unref(src);
	fuzz_end(&guard);
	return 0;
}

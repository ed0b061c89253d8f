/* Fields of a legacy file: any pages, at any places the page table may tell.
 *
 * The input says of what type a field is, brings the batches, the table and the bytes of the pages;
 * what is around them is made here, so that inputs get as far as the values.
 */
#include "fuzz.h"

#include "../helpers/arraycheck.h"
#include "file/reader.h"
#include "util/buf.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/source.h"

#define BUDGET      ((size_t)1 << 20)
#define MEMORY_MAX  ((size_t)8 << 20)
#define BATCHES_MAX 4u
#define FIELDS      3u /* ids 0, 1 and 2: the field and what is below it */

static struct field byte_item[] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .id = FIELD_NO_ID, .bits = 8, .format = "C" },
};
static struct field text_values[] = {
	{ .kind = FIELD_VARIABLE,
		.ordinal = 1,
		.id = FIELD_NO_ID,
		.format = "u",
		.nullable = true },
};
static struct field text_item[] = {
	{ .kind = FIELD_VARIABLE, .ordinal = 1, .format = "u", .nullable = true },
};
static struct field bit_item[] = {
	{ .kind = FIELD_FIXED, .ordinal = 2, .bits = 1, .format = "b" },
};
static struct field inner_list[] = {
	{ .kind = FIELD_LIST,
		.ordinal = 1,
		.format = "+l",
		.children = bit_item,
		.child_count = 1 },
};
static struct field members[] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .bits = 16, .format = "S" },
	{ .kind = FIELD_VARIABLE, .ordinal = 2, .large = true, .format = "U" },
};

static const struct field fields[] = {
	{ .kind = FIELD_FIXED, .bits = 1, .format = "b" },
	{ .kind = FIELD_FIXED, .bits = 64, .format = "L" },
	{ .kind = FIELD_FIXED, .bits = 128, .format = "d:38,0" },
	{ .kind = FIELD_NULL, .format = "n" },
	{ .kind = FIELD_VARIABLE, .format = "u", .nullable = true },
	{ .kind = FIELD_VARIABLE, .large = true, .format = "Z" },
	{ .kind = FIELD_FIXED_LIST,
		.dimension = 3,
		.format = "+w:3",
		.children = byte_item,
		.child_count = 1 },
	{ .kind = FIELD_DICTIONARY,
		.bits = 8,
		.format = "C",
		.children = text_values,
		.child_count = 1 },
	{ .kind = FIELD_DICTIONARY,
		.bits = 32,
		.format = "I",
		.children = byte_item,
		.child_count = 1 },
	{ .kind = FIELD_LIST, .format = "+l", .children = text_item, .child_count = 1 },
	{ .kind = FIELD_LIST,
		.large = true,
		.format = "+L",
		.children = inner_list,
		.child_count = 1 },
	{ .kind = FIELD_STRUCT, .format = "+s", .children = members, .child_count = 2 },
};

struct input {
	const struct field *field;
	size_t batches;
	uint64_t offsets[BATCHES_MAX + 1];
	uint64_t pages[FIELDS * BATCHES_MAX][2]; /* position, length */
	uint64_t dictionary[2];
	struct slice bytes;
};

/* u8: field; u8: batches; u8 for each: rows; for each page, and for the dictionary: u16 position,
 * u16 length, the highest bit of which stands for the highest of 64. The rest are the pages. */
static bool
read_input(struct slice bytes, struct input *input)
{
	struct cursor c = { .in = bytes };
	uint64_t *pairs = &input->pages[0][0];

	input->field = &fields[cursor_u8(&c) % ARRAY_SIZE(fields)];
	input->batches = cursor_u8(&c) % (BATCHES_MAX + 1);
	for (size_t i = 0; i < input->batches; i++)
		input->offsets[i + 1] = input->offsets[i] + cursor_u8(&c);
	for (size_t i = 0; i < FIELDS * input->batches * 2; i++) {
		pairs[i] = cursor_u16(&c);
		if (pairs[i] & 0x8000)
			pairs[i] = (pairs[i] & 0x7fff) | UINT64_C(1) << 63;
	}
	for (size_t i = 0; i < 2; i++)
		input->dictionary[i] = cursor_u16(&c);
	input->bytes = cursor_take(&c, cursor_left(&c));
	return !c.bad;
}

static void
put_number(struct buf *b, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* Always of ten bytes, so that lengths are known beforehand. */
static void
put_varint(struct buf *b, uint64_t value)
{
	for (unsigned i = 0; i < 9; i++)
		buf_put_byte(b, (uint8_t)(value >> 7 * i | 0x80));
	buf_put_byte(b, (uint8_t)(value >> 63));
}

/* LegacyManifest { repeated Field fields #1 { id #3, logical_type #5, dictionary #8 { offset #1,
 * length #2 } } } of three fields. */
static void
put_manifest(struct buf *file, const struct input *input)
{
	put_number(file, FIELDS * (2 + 11 + 2 + 2 + 22), 4);
	for (uint64_t id = 0; id < FIELDS; id++) {
		buf_put(file, "\x0a\x25\x18", 3);
		put_varint(file, id);
		buf_put(file, "\x2a\x00\x42\x16\x08", 5);
		put_varint(file, input->dictionary[0]);
		buf_put_byte(file, 0x10);
		put_varint(file, input->dictionary[1]);
	}
}

static struct buf
make_file(const struct input *input)
{
	struct buf file = { 0 };
	uint64_t table, manifest, metadata;

	buf_put_slice(&file, input->bytes);
	table = file.size;
	for (size_t i = 0; i < FIELDS * input->batches; i++) {
		put_number(&file, input->pages[i][0], 8);
		put_number(&file, input->pages[i][1], 8);
	}
	manifest = file.size;
	put_manifest(&file, input);
	metadata = file.size;
	put_number(&file, 11 + 11 + (input->batches + 1) * 11, 4);
	buf_put_byte(&file, 0x08);
	put_varint(&file, manifest);
	for (size_t i = 0; i <= input->batches; i++) {
		buf_put_byte(&file, 0x10);
		put_varint(&file, input->offsets[i]);
	}
	buf_put_byte(&file, 0x18);
	put_varint(&file, table);
	put_number(&file, metadata, 8);
	buf_put(&file, "\0\0\2\0LANC", 8);
	return file;
}

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_OK || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc == LANCET_OK || err->text[0] != '\0');
}

static void
read_rows(void *reader, uint64_t rows, struct array *out)
{
	const struct row_range all = { 0, rows }, some[] = { { 0, 1 }, { rows / 2, 1 } };
	struct lancet_error err = { 0 };
	bool is_sound;
	int rc = legacy_reader_ops.read(reader, &all, rows > 0 ? 1 : 0, out, &err);

	expect_reason(rc, &err);
	is_sound = rc == LANCET_OK;
	fuzz_expect(!is_sound || (out->length == rows && arraycheck(out)));
	if (rows < 2)
		return;
	array_reset(out);
	rc = legacy_reader_ops.read(reader, some, 2, out, &err);
	expect_reason(rc, &err);
	fuzz_expect(!is_sound || rc == LANCET_OK || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc != LANCET_OK || (out->length == 2 && arraycheck(out)));
}

static void
run(const struct input *input, struct datafile *file, const struct fuzz_guard *guard)
{
	struct column_place places[FIELDS];
	uint64_t rows = input->offsets[input->batches];
	struct array_budget budget = { .limit = BUDGET };
	struct lancet_error err = { 0 };
	struct scratch scratch = { 0 };
	struct array out;
	void *reader;
	int rc;

	for (uint32_t i = 0; i < FIELDS; i++)
		places[i] = (struct column_place){ file, i };
	rc = legacy_reader_ops.open(input->field, places, rows, &scratch, &reader, &err);
	expect_reason(rc, &err);
	if (rc != LANCET_OK)
		return;
	if (array_init(&out, input->field, &budget, &err) == LANCET_OK) {
		read_rows(reader, rows, &out);
		fuzz_check(guard);
		fuzz_expect(scratch.used == 0);
		array_release(&out);
	}
	legacy_reader_ops.free(reader);
	scratch_release(&scratch);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(MEMORY_MAX);
	struct input input = { 0 };
	struct datafile *file;
	struct source *src;
	struct buf bytes;

	if (!read_input(slice_of(data, size), &input))
		return 0;
	bytes = make_file(&input);
	src = bytes.failed != LANCET_OK ? NULL : source_memory_new(buf_slice(&bytes), NULL);
	if (src != NULL && datafile_open(src, &file, NULL) == LANCET_OK) {
		run(&input, file, &guard);
		datafile_unref(file);
	}
	source_unref(src);
	buf_release(&bytes);
	fuzz_end(&guard);
	return 0;
}

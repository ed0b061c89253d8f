/* Fields of 2.0 files over all their columns: pages that split anywhere, nesting, missing columns,
 * blobs, and files whose parts contradict each other.
 */
#include "datafiles.h"
#include "file/reader.h"
#include "v20pages.h"

#define COLUMNS_MAX 4
#define PAGES_MAX   4

struct page_made {
	const char *words;
	uint64_t length;
	const char *buffers[3]; /* hex */
};

struct column_made {
	struct page_made pages[PAGES_MAX]; /* up to one without words */
	bool is_blob;
};

static struct field u8 = { .kind = FIELD_FIXED, .bits = 8, .format = "C", .nullable = true };


/* struct { a: uint8, l: list<string> } */
static struct field list_item[1] = {
	{ .kind = FIELD_VARIABLE, .ordinal = 3, .format = "u", .nullable = true },
};
static struct field members[2] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .bits = 8, .format = "C" },
	{ .kind = FIELD_LIST,
		.ordinal = 2,
		.format = "+l",
		.children = list_item,
		.child_count = 1 },
};
static struct field pair = {
	.kind = FIELD_STRUCT, .format = "+s", .children = members, .child_count = 2
};
/* list<list<uint8>> */
static struct field inner_item[1] = {
	{ .kind = FIELD_FIXED, .ordinal = 2, .bits = 8, .format = "C" },
};
static struct field inner_list[1] = {
	{ .kind = FIELD_LIST,
		.ordinal = 1,
		.format = "+l",
		.children = inner_item,
		.child_count = 1 },
};
static struct field lists = {
	.kind = FIELD_LIST, .format = "+l", .children = inner_list, .child_count = 1
};
static struct field places_of_blob[2] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .id = FIELD_NO_ID, .bits = 64, .format = "L" },
	{ .kind = FIELD_FIXED, .ordinal = 2, .id = FIELD_NO_ID, .bits = 64, .format = "L" },
};
static struct field description = { .kind = FIELD_STRUCT,
	.packed = true,
	.blob = FIELD_BLOB_V1,
	.format = "+s",
	.children = places_of_blob,
	.child_count = 2 };
static struct field blob = {
	.kind = FIELD_VARIABLE, .blob = FIELD_BLOB_V1, .large = true, .format = "Z"
};
static struct field no_blob = { .kind = FIELD_STRUCT, .blob = FIELD_BLOB_V2, .format = "+s" };
static struct field map = { .kind = FIELD_MAP, .format = "+m" };
static struct field triple = { .kind = FIELD_FIXED_LIST,
	.dimension = 3,
	.format = "+w:3",
	.children = &pair,
	.child_count = 1 };

static void
put_made_page(struct buf *file, struct buf *column, const struct page_made *page)
{
	struct buf offsets = { 0 }, sizes = { 0 }, body = { 0 };
	struct buf message = encode_words(page->words);

	for (size_t i = 0; i < ARRAY_SIZE(page->buffers) && page->buffers[i] != NULL; i++) {
		struct buf bytes = from_hex(page->buffers[i]);

		put_varint(&offsets, file->size);
		put_varint(&sizes, bytes.size);
		buf_put(file, bytes.data, bytes.size);
		buf_release(&bytes);
	}
	put_message(&body, 1, &offsets);
	put_message(&body, 2, &sizes);
	put_number(&body, 3, page->length);
	put_encoding(&body, 4, "lance.encodings.ArrayEncoding", &message);
	put_message(column, 2, &body);
}

/* Pages back to back, descriptor, columns, their table, that of the descriptor, footer. */
static struct buf
make_columns(const struct column_made *made, uint32_t count)
{
	struct buf file = { 0 }, columns[COLUMNS_MAX] = { { 0 } };
	uint64_t descriptor, at, table;

	buf_put_text(&file, "0123456789"); /* what blobs are of */
	for (uint32_t i = 0; i < count; i++) {
		struct buf values = from_hex(made[i].is_blob ? "1a040a020a00" : "0a00");

		put_encoding(&columns[i], 1, "lance.encodings.ColumnEncoding", &values);
		for (size_t j = 0; j < PAGES_MAX && made[i].pages[j].words != NULL; j++)
			put_made_page(&file, &columns[i], &made[i].pages[j]);
	}
	descriptor = file.size;
	buf_put(&file, "\x0a\x00", 2); /* FileDescriptor { Schema schema #1 } */
	at = file.size;
	for (uint32_t i = 0; i < count; i++)
		buf_put(&file, columns[i].data, columns[i].size);
	table = file.size;
	for (uint32_t i = 0, start = (uint32_t)at; i < count; i++) {
		put_le(&file, start, 8);
		put_le(&file, columns[i].size, 8);
		start += (uint32_t)columns[i].size;
		buf_release(&columns[i]);
	}
	put_le(&file, descriptor, 8);
	put_le(&file, 2, 8);
	put_le(&file, at, 8);
	put_le(&file, table, 8);
	put_le(&file, table + 16ul * count, 8);
	put_le(&file, 1, 4);
	put_le(&file, count, 4);
	put_le(&file, 0, 2);
	put_le(&file, 3, 2);
	buf_put_text(&file, "LANC");
	return file;
}

struct rig {
	struct buf bytes;
	struct datafile *file;
	struct scratch scratch;
	struct array_budget budget;
	struct array out;
	void *reader;
	struct lancet_error err;
};

/* columns[i] is that of the field with ordinal i; -1 = none. */
static int
open_made(struct rig *rig, const struct column_made *made, uint32_t count,
	const struct field *field, const int *columns, uint64_t rows)
{
	struct column_place places[COLUMNS_MAX] = { { 0 } };

	*rig = (struct rig){ .budget.limit = 1 << 20 };
	rig->bytes = make_columns(made, count);
	ck_assert_msg(open_bytes(buf_slice(&rig->bytes), &rig->file, &rig->err) == LANCET_OK, "%s",
		rig->err.text);
	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		if (columns[i] >= 0)
			places[i] = (struct column_place){ rig->file, (uint32_t)columns[i] };
	}
	ck_assert_int_eq(array_init(&rig->out, field, &rig->budget, NULL), LANCET_OK);
	return v20_reader_ops.open(field, places, rows, &rig->scratch, &rig->reader, &rig->err);
}

static void
close_made(struct rig *rig)
{
	v20_reader_ops.free(rig->reader);
	array_release(&rig->out);
	scratch_release(&rig->scratch);
	datafile_unref(rig->file);
	buf_release(&rig->bytes);
}

static void
expect_read(struct rig *rig, const struct row_range *ranges, size_t count, const char *want)
{
	struct buf shown = { 0 };

	array_reset(&rig->out);
	ck_assert_msg(
		v20_reader_ops.read(rig->reader, ranges, count, &rig->out, &rig->err) == LANCET_OK,
		"%s", rig->err.text);
	show_array(&rig->out, &shown);
	buf_put_byte(&shown, '\0');
	ck_assert_str_eq((const char *)shown.data, want);
	buf_release(&shown);
}

#define ZERO  "0000000000000000"
#define ONE   "0100000000000000"
#define TWO   "0200000000000000"
#define THREE "0300000000000000"
#define FOUR  "0400000000000000"
#define FIVE  "0500000000000000"
#define SIX   "0600000000000000"

/* Rows {1 ['a' 'b']} {2 -} | {3 [- 'd']} {4 []}: null is 2 + 3 in the first page of lists. */
static const struct column_made structs[4] = {
	{ { { "struct", 4, { NULL } } }, false },
	{ { { "flat 8 @0", 1, { "01" } }, { "flat 8 @0", 3, { "020304" } } }, false },
	{ { { "list 3 2(flat 64 @0)", 2, { TWO FIVE } },
		  { "list 3 2(no_nulls(flat 64 @0))", 2, { TWO TWO } } },
		false },
	{ { { "binary 2(flat 64 @0, flat 8 @1)", 1, { ONE, "61" } },
		  { "binary 3(flat 64 @0, flat 8 @1)", 3,
			  { ONE "0400000000000000" TWO, "6264" } } },
		false },
};

START_TEST(structs_and_lists_are_put_together)
{
	const struct row_range all = { 0, 4 }, second = { 1, 1 };
	const struct row_range outer[] = { { 0, 1 }, { 2, 1 } }, joined[] = { { 1, 1 }, { 2, 2 } };
	static const int columns[COLUMNS_MAX] = { 0, 1, 2, 3 };
	struct rig rig;

	ck_assert_msg(
		open_made(&rig, structs, 4, &pair, columns, 4) == LANCET_OK, "%s", rig.err.text);
	expect_read(&rig, &all, 1, "{1 ['a' 'b']} {2 -} {3 [- 'd']} {4 []}");
	expect_read(&rig, &second, 1, "{2 -}");
	expect_read(&rig, outer, 2, "{1 ['a' 'b']} {3 [- 'd']}");
	expect_read(&rig, joined, 2, "{2 -} {3 [- 'd']} {4 []}");
	expect_read(&rig, &all, 0, "");
	close_made(&rig);
}
END_TEST

START_TEST(missing_columns_are_null)
{
	static const struct {
		int columns[COLUMNS_MAX];
		const char *want;
	} rows[] = {
		{ { 0, 1, -1, -1 }, "{1 -} {2 -} {3 -} {4 -}" },
		{ { -1, 1, -1, -1 }, "{1 -} {2 -} {3 -} {4 -}" },
		{ { 0, -1, -1, -1 }, "{- -} {- -} {- -} {- -}" },
		{ { 0, 1, 2, -1 }, "{1 [- -]} {2 -} {3 [- -]} {4 []}" },
		{ { 0, 1, -1, 3 }, "{1 -} {2 -} {3 -} {4 -}" },
		{ { -1, -1, -1, -1 }, "- - - -" },
	};
	const struct row_range all = { 0, 4 };
	struct rig rig;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_msg(open_made(&rig, structs, 4, &pair, rows[i].columns, 4) == LANCET_OK,
			"%s", rig.err.text);
		expect_read(&rig, &all, 1, rows[i].want);
		close_made(&rig);
	}
}
END_TEST

/* [[] [1 2]] [] | - [[3]], the inner lists as [] | [1 2] [3]; an empty page is stepped over. */
static const struct column_made nested[3] = {
	{ { { "list 3 2(flat 64 @0)", 2, { TWO TWO } }, { "list 1 0(flat 64 @0)", 0, { "" } },
		  { "list 2 1(flat 64 @0)", 2, { TWO ONE } } },
		false },
	{ { { "list 1 0(flat 64 @0)", 1, { ZERO } }, { "list 4 3(flat 64 @0)", 2, { TWO THREE } } },
		false },
	{ { { "flat 8 @0", 3, { "010203" } } }, false },
};

START_TEST(lists_of_lists_count_their_items_over_pages)
{
	const struct row_range all = { 0, 4 }, last = { 3, 1 };
	const struct row_range outer[] = { { 0, 1 }, { 3, 1 } };
	static const int columns[COLUMNS_MAX] = { 0, 1, 2, -1 };
	struct rig rig;

	ck_assert_msg(
		open_made(&rig, nested, 3, &lists, columns, 4) == LANCET_OK, "%s", rig.err.text);
	expect_read(&rig, &all, 1, "[[] [1 2]] [] - [[3]]");
	expect_read(&rig, &last, 1, "[[3]]");
	expect_read(&rig, outer, 2, "[[] [1 2]] [[3]]");
	close_made(&rig);
}
END_TEST

/* '234', '', null, '789': the file begins with ten digits. */
static const struct column_made blobs[1] = {
	{ { { "packed @0(flat 64, flat 64)", 4,
		  { TWO THREE ZERO ZERO ONE ZERO "0700000000000000" THREE } } },
		true },
};

START_TEST(blobs_are_read_as_bytes_or_places)
{
	const struct row_range all = { 0, 4 }, ends[] = { { 0, 1 }, { 2, 2 } };
	static const int columns[COLUMNS_MAX] = { 0, -1, -1, -1 };
	struct rig rig;

	ck_assert_int_eq(open_made(&rig, blobs, 1, &blob, columns, 4), LANCET_OK);
	expect_read(&rig, &all, 1, "'234' '' - '789'");
	expect_read(&rig, ends, 2, "'234' - '789'");
	close_made(&rig);
	ck_assert_int_eq(open_made(&rig, blobs, 1, &description, columns, 4), LANCET_OK);
	expect_read(&rig, &all, 1, "{2 3} {0 0} {1 0} {7 3}");
	close_made(&rig);
	/* marked as a blob by the schema, but not by the file */
	ck_assert_int_eq(open_made(&rig, structs + 3, 1, &blob, columns, 4), LANCET_OK);
	expect_read(&rig, &all, 1, "'a' 'b' - 'd'");
	close_made(&rig);
}
END_TEST

static const struct bad_file {
	const char *label;
	struct column_made columns[COLUMNS_MAX];
	const struct field *field;
	uint64_t rows;
	enum lancet_code code;
	const char *want;
} bad_files[] = {
	{ "too few rows", { { { { "flat 8 @0", 2, { "0102" } } }, false } }, &u8, 3, LANCET_CORRUPT,
		"column 0: 2 values, 3 expected" },
	{ "no pages", { { { { NULL, 0, { NULL } } }, false } }, &u8, 3, LANCET_CORRUPT,
		"column 0: 0 values, 3 expected" },
	{ "a damaged page",
		{ { { { "flat 8 @0", 1, { "01" } }, { "flat 64 @0", 2, { ZERO ZERO } } }, false } },
		&u8, 3, LANCET_CORRUPT, "column 0: page 1: flat" },
	{ "another encoding than the type's", { { { { "struct", 1, { NULL } } }, false } }, &u8, 1,
		LANCET_CORRUPT, "struct" },
	{ "a struct without a header",
		{ { { { "flat 8 @0", 4, { "01020304" } } }, false },
			{ { { "flat 8 @0", 4, { "01020304" } } }, false } },
		&pair, 4, LANCET_CORRUPT, "column 0: page 0: encoding flat where the header" },
	{ "a header of other rows", { { { { "struct", 3, { NULL } } }, false } }, &pair, 4,
		LANCET_CORRUPT, "column 0: 3 values, 4 expected" },
	{ "children of other rows",
		{ { { { "struct", 4, { NULL } } }, false },
			{ { { "flat 8 @0", 3, { "010203" } } }, false } },
		&pair, 4, LANCET_CORRUPT, "column 1: 3 values, 4 expected" },
	{ "no lists", { { { { "flat 8 @0", 1, { "01" } } }, false } }, &lists, 1, LANCET_CORRUPT,
		"column 0: page 0: encoding flat where lists" },
	{ "lists of more items than there are",
		{ { { { "list 5 4(flat 64 @0)", 1, { FOUR } } }, false },
			{ { { "list 1 0(flat 64 @0)", 3, { ZERO ZERO ZERO } } }, false } },
		&lists, 1, LANCET_CORRUPT, "column 1: 3 values, 4 expected" },
	{ "lists that end behind their items",
		{ { { { "list 6 1(flat 64 @0)", 1, { FIVE } } }, false },
			{ { { "list 1 0(flat 64 @0)", 1, { ZERO } } }, false },
			{ { { NULL, 0, { NULL } } }, false } },
		&lists, 1, LANCET_CORRUPT, "from 0 to 5 of 1" },
	{ "lists whose ends pass the adjustment",
		{ { { { "list 3 2(flat 64 @0)", 1, { SIX } } }, false },
			{ { { "list 1 0(flat 64 @0)", 2, { ZERO ZERO } } }, false },
			{ { { NULL, 0, { NULL } } }, false } },
		&lists, 1, LANCET_CORRUPT, "list" },
	{ "items beyond counting",
		{ { { { "list 3 9223372036854775807(flat 64 @0)", 1, { ONE } },
			    { "list 3 2(flat 64 @0)", 1, { ONE } } },
			false } },
		&lists, 2, LANCET_CORRUPT, "column 0: page 1: lists of 2 items" },
	{ "a blob behind the end",
		{ { { { "packed @0(flat 64, flat 64)", 1, { "ffffff0000000000" ONE } } }, true } },
		&blob, 1, LANCET_CORRUPT, "blob: 1 bytes at 16777215" },
	{ "a blob of plain values",
		{ { { { "binary 2(flat 64 @0, flat 8 @1)", 1, { ONE, "61" } } }, false } },
		&description, 1, LANCET_CORRUPT, "binary" },
	{ "plain values as places of blobs",
		{ { { { "binary 2(flat 64 @0, flat 8 @1)", 1, { ONE, "61" } } }, true } }, &blob, 1,
		LANCET_CORRUPT, "binary" },
	{ "blob v2", { { { { NULL, 0, { NULL } } }, false } }, &no_blob, 0, LANCET_UNSUPPORTED,
		"blob v2" },
	{ "a map", { { { { NULL, 0, { NULL } } }, false } }, &map, 0, LANCET_UNSUPPORTED, "a map" },
	{ "lists of structs of a fixed size", { { { { NULL, 0, { NULL } } }, false } }, &triple, 0,
		LANCET_UNSUPPORTED, "fixed-size list of structs" },
};

START_TEST(contradictions_are_told)
{
	const struct bad_file *bad = &bad_files[_i];
	const struct row_range all = { 0, bad->rows };
	static const int columns[COLUMNS_MAX] = { 0, 1, 2, -1 };
	struct rig rig;
	int rc = open_made(&rig, bad->columns, 3, bad->field, columns, bad->rows);

	if (rc == LANCET_OK)
		rc = v20_reader_ops.read(rig.reader, &all, 1, &rig.out, &rig.err);
	ck_assert_msg(rc == (int)bad->code, "%s: %d %s", bad->label, rc, rig.err.text);
	ck_assert_msg(strstr(rig.err.text, bad->want) != NULL, "%s: %s", bad->label, rig.err.text);
	close_made(&rig);
}
END_TEST

START_TEST(rows_that_are_not_there_are_invalid)
{
	static const struct row_range asks[][2] = {
		{ { 4, 1 }, { 5, 0 } },
		{ { 0, 5 }, { 5, 0 } },
		{ { 2, 1 }, { 1, 1 } },
		{ { 2, 2 }, { 3, 1 } },
		{ { UINT64_MAX, 2 }, { 0, 1 } },
		{ { 1, UINT64_MAX }, { 0, 1 } },
	};
	static const int columns[COLUMNS_MAX] = { 0, 1, 2, 3 };
	struct rig rig;

	ck_assert_int_eq(open_made(&rig, structs, 4, &pair, columns, 4), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++)
		ck_assert_int_eq(v20_reader_ops.read(rig.reader, asks[i], 2, &rig.out, &rig.err),
			LANCET_INVALID);
	close_made(&rig);
}
END_TEST

/* Too small a budget is told as such, and the reader is fit for smaller demands. */
START_TEST(less_may_be_asked_for_after_too_much)
{
	const struct row_range all = { 0, 4 }, one = { 2, 1 };
	static const int columns[COLUMNS_MAX] = { 0, 1, 2, 3 };
	struct rig rig;

	ck_assert_int_eq(open_made(&rig, structs, 4, &pair, columns, 4), LANCET_OK);
	rig.budget.limit = rig.budget.used;
	ck_assert_int_eq(
		v20_reader_ops.read(rig.reader, &all, 1, &rig.out, &rig.err), LANCET_LIMIT);
	rig.budget.limit = 1 << 20;
	expect_read(&rig, &one, 1, "{3 [- 'd']}");
	close_made(&rig);
}
END_TEST

/* A complete file of 270 bytes from the format facts: id, uint64 not null, 1000, 1001, 1005. */
static const char tiny[] =
	"e803000000000000e903000000000000ed03000000000000"
	"0000000000000000000000000000000000000000000000000000000000000000"
	"0000000000000000"
	"0a190a171202696420ffffffffffffffffff012a0675696e7436341003"
	"0a2912270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e456e636f64696e6712020a00"
	"123c0a01001201181803223212300a2e0a1e2f6c616e63652e656e636f64696e67732e4172726179456e636f"
	"64696e67120c120a0a080a060a0408401200"
	"5d000000000000006900000000000000"
	"40000000000000001d00000000000000"
	"5d00000000000000c600000000000000d600000000000000010000000100000000000300"
	"4c414e43";

START_TEST(a_file_from_the_facts_is_read)
{
	const struct row_range all = { 0, 3 };
	struct rig rig = { .budget.limit = 1 << 20, .bytes = from_hex(tiny) };
	struct column_place place = { 0 };
	struct field_tree tree;
	uint64_t rows;

	ck_assert_uint_eq(rig.bytes.size, 270);
	ck_assert_int_eq(open_bytes(buf_slice(&rig.bytes), &rig.file, &rig.err), LANCET_OK);
	ck_assert_int_eq(
		datafile_schema(rig.file, FIELD_BLOB_BYTES, &tree, &rows, &rig.err), LANCET_OK);
	ck_assert_uint_eq(rows, 3);
	place.file = rig.file;
	ck_assert_int_eq(array_init(&rig.out, tree.roots, &rig.budget, NULL), LANCET_OK);
	ck_assert_msg(v20_reader_ops.open(tree.roots, &place, rows, &rig.scratch, &rig.reader,
			      &rig.err) == LANCET_OK,
		"%s", rig.err.text);
	expect_read(&rig, &all, 1, "3e8 3e9 3ed");
	close_made(&rig);
	field_tree_release(&tree);
}
END_TEST

UNIT_MAIN("v20_reader", UNIT_TEST(structs_and_lists_are_put_together),
	UNIT_TEST(missing_columns_are_null), UNIT_TEST(lists_of_lists_count_their_items_over_pages),
	UNIT_TEST(blobs_are_read_as_bytes_or_places), UNIT_LOOP(contradictions_are_told, bad_files),
	UNIT_TEST(rows_that_are_not_there_are_invalid),
	UNIT_TEST(less_may_be_asked_for_after_too_much), UNIT_TEST(a_file_from_the_facts_is_read))

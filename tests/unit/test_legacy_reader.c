/* Fields of legacy files, made by hand from the format facts: batches, what null is, and damage. */
#include "datafiles.h"
#include "file/reader.h"
#include "shown.h"
#include "unit.h"

#define FIELDS_MAX  6
#define BATCHES_MAX 2
#define NOWHERE     UINT64_MAX /* a page that lies behind the end of the file */

static struct field u16 = { .kind = FIELD_FIXED, .bits = 16, .format = "S", .nullable = true };
static struct field flag = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static struct field none = { .kind = FIELD_NULL, .format = "n", .nullable = true };
static struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field null_text = { .kind = FIELD_VARIABLE, .format = "u", .nullable = true };
static struct field pair_item[1] = {
	{ .kind = FIELD_FIXED, .id = FIELD_NO_ID, .ordinal = 1, .bits = 8, .format = "C" },
};
static struct field pairs = { .kind = FIELD_FIXED_LIST,
	.dimension = 2,
	.format = "+w:2",
	.children = pair_item,
	.child_count = 1 };
static struct field bit_item[1] = {
	{ .kind = FIELD_FIXED, .id = FIELD_NO_ID, .ordinal = 1, .bits = 1, .format = "b" },
};
static struct field bit_pairs = { .kind = FIELD_FIXED_LIST,
	.dimension = 2,
	.format = "+w:2",
	.children = bit_item,
	.child_count = 1 };
static struct field dictionary_values[1] = {
	{ .kind = FIELD_VARIABLE,
		.id = FIELD_NO_ID,
		.ordinal = 1,
		.format = "u",
		.nullable = true },
};
static struct field coded = { .kind = FIELD_DICTIONARY,
	.bits = 8,
	.is_signed = true,
	.format = "c",
	.children = dictionary_values,
	.child_count = 1 };
static struct field item[1] = {
	{ .kind = FIELD_VARIABLE, .ordinal = 1, .format = "u", .nullable = true },
};
static struct field list = {
	.kind = FIELD_LIST, .format = "+l", .children = item, .child_count = 1
};
static struct field large_list = {
	.kind = FIELD_LIST, .large = true, .format = "+L", .children = item, .child_count = 1
};
static struct field members[2] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .bits = 16, .format = "S" },
	{ .kind = FIELD_VARIABLE, .ordinal = 2, .format = "u", .nullable = true },
};
static struct field both = {
	.kind = FIELD_STRUCT, .format = "+s", .children = members, .child_count = 2
};
static struct field map = { .kind = FIELD_MAP, .format = "+m" };
static struct field blob = { .kind = FIELD_VARIABLE, .blob = FIELD_BLOB_V1, .format = "z" };

/* A page in hex: "text:" is followed by values with commas between, whose bytes and offsets into
 * the file are made from them. */
struct page_made {
	const char *content;
	uint64_t length;
};

struct file_made {
	int32_t offsets[BATCHES_MAX + 1];
	size_t batches;
	/* by field id from 7 on, then by batch */
	struct page_made pages[FIELDS_MAX][BATCHES_MAX];
	size_t fields;
	const char *dictionary; /* of the first field: values with commas between */
	uint64_t table_shift;   /* added to the place of the page table */
};

#define FIRST_ID 7

/* The bytes, then count + 1 offsets of eight bytes; returns where the offsets are. */
static uint64_t
put_texts(struct buf *file, const char *values, uint64_t count)
{
	struct buf offsets = { 0 };
	uint64_t place;

	put_le(&offsets, file->size, 8);
	for (uint64_t i = 0; i < count; i++) {
		size_t size = strcspn(values, ",");

		buf_put(file, values, size);
		put_le(&offsets, file->size, 8);
		values += size + (values[size] == ',');
	}
	place = file->size;
	buf_put(file, offsets.data, offsets.size);
	buf_release(&offsets);
	return place;
}

static uint64_t
put_made_page(struct buf *file, const struct page_made *page)
{
	uint64_t place = file->size;
	struct buf bytes;

	if (page->content == NULL)
		return 0;
	if (strcmp(page->content, "nowhere") == 0)
		return NOWHERE;
	if (strncmp(page->content, "text:", 5) == 0)
		return put_texts(file, page->content + 5, page->length);
	bytes = from_hex(page->content);
	buf_put(file, bytes.data, bytes.size);
	buf_release(&bytes);
	return place;
}

/* LegacyManifest { repeated Field fields #1 { name #2, id #3, parent_id #4, logical_type #5,
 * dictionary #8 { offset #1, length #2 } } } */
static void
put_manifest(struct buf *file, const struct file_made *made, uint64_t dictionary, uint64_t items)
{
	struct buf manifest = { 0 };

	for (size_t i = 0; i < made->fields; i++) {
		struct buf field = { 0 }, place = { 0 };

		put_head(&field, 2, 1);
		buf_put_byte(&field, (uint8_t)('a' + i));
		put_number(&field, 3, FIRST_ID + i);
		put_number(&field, 4, UINT64_MAX);
		put_head(&field, 5, 5);
		buf_put_text(&field, "int32");
		if (i == 0 && made->dictionary != NULL) {
			put_number(&place, 1, dictionary);
			put_number(&place, 2, items);
			put_message(&field, 8, &place);
		}
		put_message(&manifest, 1, &field);
	}
	put_le(file, manifest.size, 4);
	buf_put(file, manifest.data, manifest.size);
	buf_release(&manifest);
}

static uint64_t
count_values(const char *values)
{
	uint64_t count = values[0] != '\0';

	for (; *values != '\0'; values++)
		count += *values == ',';
	return count;
}

static struct buf
make_file_of(const struct file_made *made)
{
	struct buf file = { 0 }, table = { 0 }, metadata = { 0 }, offsets = { 0 };
	uint64_t dictionary = 0, items = 0, table_at, manifest_at, metadata_at;

	buf_put_byte(&file, 0xee); /* nothing is aligned */
	for (size_t i = 0; i < made->fields; i++) {
		for (size_t batch = 0; batch < made->batches; batch++) {
			put_le(&table, put_made_page(&file, &made->pages[i][batch]), 8);
			put_le(&table, made->pages[i][batch].length, 8);
		}
	}
	if (made->dictionary != NULL) {
		items = count_values(made->dictionary);
		dictionary = put_texts(&file, made->dictionary, items);
	}
	table_at = file.size;
	buf_put(&file, table.data, table.size);
	buf_release(&table);
	manifest_at = file.size;
	put_manifest(&file, made, dictionary, items);
	metadata_at = file.size;
	for (size_t i = 0; i <= made->batches; i++)
		put_varint(&offsets, (uint64_t)made->offsets[i]);
	put_number(&metadata, 1, manifest_at);
	put_message(&metadata, 2, &offsets);
	put_number(&metadata, 3, table_at + made->table_shift);
	put_le(&file, metadata.size, 4);
	buf_put(&file, metadata.data, metadata.size);
	buf_release(&metadata);
	put_le(&file, metadata_at, 8);
	put_le(&file, 0, 2);
	put_le(&file, 2, 2);
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

/* `ids` by ordinal, 0 = none. */
static int
open_made(struct rig *rig, const struct file_made *made, const struct field *field, const int *ids,
	uint64_t rows)
{
	struct column_place places[3] = { { 0 } };

	*rig = (struct rig){ .budget.limit = 1 << 20 };
	rig->bytes = make_file_of(made);
	ck_assert_msg(open_bytes(buf_slice(&rig->bytes), &rig->file, &rig->err) == LANCET_OK, "%s",
		rig->err.text);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (ids[i] != 0)
			places[i] = (struct column_place){ rig->file, (uint32_t)ids[i] };
	}
	ck_assert_int_eq(array_init(&rig->out, field, &rig->budget, NULL), LANCET_OK);
	return legacy_reader_ops.open(field, places, rows, &rig->scratch, &rig->reader, &rig->err);
}

static void
close_made(struct rig *rig)
{
	ck_assert_uint_eq(rig->scratch.used, 0);
	legacy_reader_ops.free(rig->reader);
	array_release(&rig->out);
	scratch_release(&rig->scratch);
	datafile_unref(rig->file);
	buf_release(&rig->bytes);
}

static void
expect_read(struct rig *rig, const struct row_range *ranges, size_t count, const char *label,
	const char *want)
{
	struct buf shown = { 0 };

	array_reset(&rig->out);
	ck_assert_msg(legacy_reader_ops.read(rig->reader, ranges, count, &rig->out, &rig->err) ==
			      LANCET_OK,
		"%s: %s", label, rig->err.text);
	show_array(&rig->out, &shown);
	buf_put_byte(&shown, '\0');
	ck_assert_msg(strcmp((const char *)shown.data, want) == 0, "%s: %s", label,
		(const char *)shown.data);
	buf_release(&shown);
}

/* Five rows in batches of three and two; `middle` are rows 1 to 3, over the border. */
#define FIVE { 0, 3, 5 }, 2

static const struct good_file {
	const char *label;
	struct file_made file;
	const struct field *field;
	int ids[3];
	const char *want, *middle;
} good[] = {
	{ "numbers", { FIVE, { { { "010002000300", 3 }, { "04000000", 2 } } }, 2, NULL, 0 }, &u16,
		{ 7 }, "1 2 3 4 0", "2 3 4" },
	{ "bits", { FIVE, { { { "05", 3 }, { "02", 2 } } }, 2, NULL, 0 }, &flag, { 7 }, "1 0 1 0 1",
		"0 1 0" },
	{ "null", { FIVE, { { { NULL, 3 }, { NULL, 2 } } }, 2, NULL, 0 }, &none, { 7 }, "- - - - -",
		"- - -" },
	{ "text", { FIVE, { { { "text:ab,,c", 3 }, { "text:,d", 2 } } }, 2, NULL, 0 }, &text, { 7 },
		"'ab' '' 'c' '' 'd'", "'' 'c' ''" },
	{ "nullable text", { FIVE, { { { "text:ab,,c", 3 }, { "text:,d", 2 } } }, 2, NULL, 0 },
		&null_text, { 7 }, "'ab' - 'c' - 'd'", "- 'c' -" },
	{ "the second field",
		{ FIVE, { { { NULL, 0 } }, { { "010002000300", 3 }, { "04000000", 2 } } }, 2, NULL,
			0 },
		&u16, { 8 }, "1 2 3 4 0", "2 3 4" },
	{ "pairs", { FIVE, { { { "010203040506", 3 }, { "0708090a", 2 } } }, 2, NULL, 0 }, &pairs,
		{ 7 }, "[1 2] [3 4] [5 6] [7 8] [9 a]", "[3 4] [5 6] [7 8]" },
	{ "pairs of bits", { FIVE, { { { "2d", 3 }, { "02", 2 } } }, 2, NULL, 0 }, &bit_pairs,
		{ 7 }, "[1 0] [1 1] [0 1] [0 1] [0 0]", "[1 1] [0 1] [0 1]" },
	{ "dictionary", { FIVE, { { { "010002", 3 }, { "0201", 2 } } }, 2, "one,two,", 0 }, &coded,
		{ 7 }, "'two' 'one' - - 'two'", "'one' - -" },
	{ "lists",
		{ FIVE,
			{ { { "00000000020000000200000003000000", 4 },
				  { "000000000000000001000000", 3 } },
				{ { "text:a,,b", 3 }, { "text:c", 1 } } },
			2, NULL, 0 },
		&list, { 7, 8 }, "['a' -] [] ['b'] [] ['c']", "[] ['b'] []" },
	{ "large lists",
		{ FIVE,
			{ { { "0000000000000000020000000000000002000000000000000300000000000000",
				    4 },
				  { "000000000000000000000000000000000100000000000000", 3 } },
				{ { "text:a,,b", 3 }, { "text:c", 1 } } },
			2, NULL, 0 },
		&large_list, { 7, 8 }, "['a' -] [] ['b'] [] ['c']", "[] ['b'] []" },
	{ "lists without their items",
		{ FIVE,
			{ { { "00000000020000000200000003000000", 4 },
				{ "000000000000000001000000", 3 } } },
			2, NULL, 0 },
		&list, { 7 }, "[- -] [] [-] [] [-]", "[] [-] []" },
	{ "a struct",
		{ FIVE,
			{ { { "010002000300", 3 }, { "04000000", 2 } },
				{ { "text:ab,,c", 3 }, { "text:,d", 2 } } },
			2, NULL, 0 },
		&both, { 8, 7, 8 }, "{1 'ab'} {2 -} {3 'c'} {4 -} {0 'd'}", "{2 -} {3 'c'} {4 -}" },
	{ "a struct that is not listed, of one child",
		{ FIVE, { { { "010002000300", 3 }, { "04000000", 2 } } }, 2, NULL, 0 }, &both,
		{ 0, 7, 0 }, "{1 -} {2 -} {3 -} {4 -} {0 -}", "{2 -} {3 -} {4 -}" },
	{ "nothing", { FIVE, { { { NULL, 0 } } }, 2, NULL, 0 }, &both, { 0, 0, 0 }, "- - - - -",
		"- - -" },
};

START_TEST(batches_are_read_whole_and_in_parts)
{
	const struct good_file *row = &good[_i];
	const struct row_range all = { 0, 5 }, middle = { 1, 3 };
	const struct row_range each[] = { { 1, 1 }, { 2, 1 }, { 3, 1 } };
	struct rig rig;

	ck_assert_msg(open_made(&rig, &row->file, row->field, row->ids, 5) == LANCET_OK, "%s: %s",
		row->label, rig.err.text);
	expect_read(&rig, &all, 1, row->label, row->want);
	expect_read(&rig, &middle, 1, row->label, row->middle);
	expect_read(&rig, each, 3, row->label, row->middle);
	close_made(&rig);
}
END_TEST

static const struct bad_file {
	const char *label;
	struct file_made file;
	const struct field *field;
	int ids[3];
	uint64_t rows;
	enum lancet_code code;
	const char *want;
} bad[] = {
	{ "other rows", { FIVE, { { { "01", 3 } } }, 2, NULL, 0 }, &u16, { 7 }, 6, LANCET_CORRUPT,
		"5 rows in a file, 6 expected" },
	{ "no such field", { FIVE, { { { NULL, 0 } } }, 2, NULL, 0 }, &u16, { 9 }, 5,
		LANCET_CORRUPT, "no field 9" },
	{ "a table behind the end", { FIVE, { { { NULL, 0 } } }, 2, NULL, 1u << 20 }, &u16, { 7 },
		5, LANCET_CORRUPT, "page table" },
	{ "a page behind the end", { FIVE, { { { "nowhere", 3 } } }, 2, NULL, 0 }, &u16, { 7 }, 5,
		LANCET_CORRUPT, "batch 0: page at" },
	{ "too short a page", { FIVE, { { { "01000200", 2 } } }, 2, NULL, 0 }, &u16, { 7 }, 5,
		LANCET_CORRUPT, "2 values, 3 expected" },
	{ "bits behind the end", { FIVE, { { { "nowhere", 3 } } }, 2, NULL, 0 }, &flag, { 7 }, 5,
		LANCET_CORRUPT, "pass the end" },
	{ "items behind the end", { FIVE, { { { "nowhere", 3 } } }, 2, NULL, 0 }, &pairs, { 7 }, 5,
		LANCET_CORRUPT, "pass the end" },
	{ "text offsets behind the end", { FIVE, { { { "nowhere", 3 } } }, 2, NULL, 0 }, &text,
		{ 7 }, 5, LANCET_CORRUPT, "pass the end" },
	{ "text behind the end",
		{ FIVE,
			{ { { "0100000000000000010000000000000001000000000000000000010000000000",
				3 } } },
			2, NULL, 0 },
		&text, { 7 }, 5, LANCET_CORRUPT, "values from 1 to 65536" },
	{ "text that descends",
		{ FIVE,
			{ { { "0100000000000000030000000000000002000000000000000300000000000000",
				3 } } },
			2, NULL, 0 },
		&text, { 7 }, 5, LANCET_CORRUPT, "descend" },
	{ "lists that descend",
		{ FIVE, { { { "00000000020000000100000003000000", 4 } } }, 2, NULL, 0 }, &list,
		{ 7, 8 }, 5, LANCET_CORRUPT, "descend" },
	{ "large lists that are too large",
		{ FIVE,
			{ { { "000000000000000000000000000000000000000000000000ffffffffff000000",
				4 } } },
			2, NULL, 0 },
		&large_list, { 7, 8 }, 5, LANCET_CORRUPT, "descend" },
	{ "more items than there are",
		{ FIVE, { { { "00000000020000000200000004000000", 4 } }, { { "text:a,b,c", 3 } } },
			2, NULL, 0 },
		&list, { 7, 8 }, 5, LANCET_CORRUPT, "3 values, 4 expected" },
	{ "lists without a last bound",
		{ FIVE, { { { "000000000200000002000000", 3 } } }, 2, NULL, 0 }, &list, { 7, 8 }, 5,
		LANCET_CORRUPT, "3 values, 4 expected" },
	{ "no dictionary", { FIVE, { { { "010002", 3 } } }, 2, NULL, 0 }, &coded, { 7 }, 5,
		LANCET_CORRUPT, "field 7 has no dictionary" },
	{ "keys without values", { FIVE, { { { "010003", 3 } } }, 2, "one,two", 0 }, &coded, { 7 },
		5, LANCET_CORRUPT, "item 3 of a dictionary of 2" },
	{ "a map", { FIVE, { { { NULL, 0 } } }, 2, NULL, 0 }, &map, { 7 }, 5, LANCET_UNSUPPORTED,
		"a map" },
	{ "a blob", { FIVE, { { { NULL, 0 } } }, 2, NULL, 0 }, &blob, { 7 }, 5, LANCET_UNSUPPORTED,
		"a blob" },
};

START_TEST(damage_is_told)
{
	const struct bad_file *row = &bad[_i];
	const struct row_range first = { 0, 3 };
	struct rig rig;
	int rc = open_made(&rig, &row->file, row->field, row->ids, row->rows);

	if (rc == LANCET_OK)
		rc = legacy_reader_ops.read(rig.reader, &first, 1, &rig.out, &rig.err);
	ck_assert_msg(rc == (int)row->code, "%s: %d %s", row->label, rc, rig.err.text);
	ck_assert_msg(strstr(rig.err.text, row->want) != NULL, "%s: %s", row->label, rig.err.text);
	close_made(&rig);
}
END_TEST

START_TEST(rows_that_are_not_there_are_invalid)
{
	static const struct row_range asks[] = { { 5, 1 }, { 0, 6 }, { UINT64_MAX, 1 },
		{ 1, UINT64_MAX } };
	struct rig rig;

	ck_assert_int_eq(open_made(&rig, &good[0].file, &u16, good[0].ids, 5), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++)
		ck_assert_int_eq(
			legacy_reader_ops.read(rig.reader, &asks[i], 1, &rig.out, &rig.err),
			LANCET_INVALID);
	close_made(&rig);
}
END_TEST

UNIT_MAIN("legacy_reader", UNIT_LOOP(batches_are_read_whole_and_in_parts, good),
	UNIT_LOOP(damage_is_told, bad), UNIT_TEST(rows_that_are_not_there_are_invalid))

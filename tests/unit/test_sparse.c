/* Sparse pages written down from the format facts: layers of each kind, each kind of values, what
 * the reference refuses, and how little huge pages cost. */
#include "pages.h"

#include "file/layout_sparse.h"

#define LAYERS_MAX 3

/* Of CompressiveEncoding. */
#define NONE   "1a00"
#define FLAT   "0a020840"
#define FROM_1 "7206 0840 1001 1802" /* 1, 3, 5 … */
#define ALL    "7204 0840 1801"      /* 0, 1, 2 … */
#define ONES   "1a0a 0a08 0100000000000000"
#define TWOS   "1a0a 0a08 0200000000000000"
#define COUNTS "7206 0840 1001 1801" /* 1, 2, 3 … */

enum meaning { NULLS = 1, VALID = 2 };

struct layer_spec {
	enum meaning meaning; /* 0: there is no such layer */
	const char *marked;
	uint64_t marks;
	uint64_t children; /* lists: this and what follows */
	const char *filled;
	uint64_t fills;
	const char *counts;
	uint64_t dimension; /* fixed-size lists */
};

#define SLOTS(of, runs, count)                                                                     \
	{                                                                                          \
		.meaning = of, .marked = runs, .marks = count                                      \
	}
#define LISTS(of, runs, count, items, full, full_count, each)                                      \
	{                                                                                          \
		.meaning = of, .marked = runs, .marks = count, .children = items, .filled = full,  \
		.fills = full_count, .counts = each                                                \
	}
#define VECTORS(size, of, runs, count)                                                             \
	{                                                                                          \
		.meaning = of, .marked = runs, .marks = count, .dimension = size                   \
	}
#define NO_NULLS SLOTS(NULLS, NONE, 0)

struct sparse_row {
	const char *label;
	const struct field *leaf;
	uint64_t length;
	struct layer_spec layers[LAYERS_MAX];
	const char *values; /* Values */
	const char *buffers[PAGE_BUFFERS_MAX];
	enum lancet_code want;
	const char *text;
};

static struct buf
make_set(const struct layer_spec *spec)
{
	struct buf set = { 0 }, run = page_hex(spec->marked);

	put_number(&set, 1, spec->meaning);
	put_message(&set, 2, &run);
	put_number(&set, 3, spec->marks);
	return set;
}

/* SparseLayer { validity #1 | list #2 | fixed_size_list #3 } */
static struct buf
make_layer(const struct layer_spec *spec)
{
	struct buf layer = { 0 }, inner = { 0 }, set = make_set(spec), run;

	if (spec->filled != NULL) {
		put_number(&inner, 1, spec->children);
		run = page_hex(spec->filled);
		put_message(&inner, 2, &run);
		put_number(&inner, 3, spec->fills);
		run = page_hex(spec->counts);
		put_message(&inner, 4, &run);
		put_message(&inner, 5, &set);
		put_message(&layer, 2, &inner);
	} else if (spec->dimension > 0) {
		put_number(&inner, 1, spec->dimension);
		put_message(&inner, 2, &set);
		put_message(&layer, 3, &inner);
	} else {
		put_message(&layer, 1, &set);
	}
	return layer;
}

/* PlanarLayout { structure #1 { sparse #2 { repeated layers #1 } }, values #2 } */
static struct buf
make_message(const struct sparse_row *row)
{
	struct buf message = { 0 }, structure = { 0 }, sparse = { 0 },
		   values = page_hex(row->values);

	for (size_t i = 0; i < LAYERS_MAX && row->layers[i].meaning != 0; i++) {
		struct buf layer = make_layer(&row->layers[i]);

		put_message(&sparse, 1, &layer);
	}
	put_message(&structure, 2, &sparse);
	put_message(&message, 1, &structure);
	put_message(&message, 2, &values);
	return message;
}

static int
open_row(struct page_rig *rig, const struct sparse_row *row)
{
	struct buf buffers[PAGE_BUFFERS_MAX];
	size_t count = 0;

	for (; count < PAGE_BUFFERS_MAX && row->buffers[count] != NULL; count++)
		buffers[count] = page_hex(row->buffers[count]);
	return page_rig_open(rig, 3, row->leaf, row->length, make_message(row), buffers, count);
}

static const struct field u8 = { .kind = FIELD_FIXED, .bits = 8, .format = "C" };
static const struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static const struct field null = { .kind = FIELD_NULL, .format = "n" };
static const struct field empty = { .kind = FIELD_STRUCT, .format = "+s" };
static struct field key_values[] = { { .kind = FIELD_VARIABLE, .format = "u" } };
static const struct field keyed = {
	.kind = FIELD_DICTIONARY, .bits = 8, .format = "C", .children = key_values, .child_count = 1
};
static struct field list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &list[1], .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C", .parent = &list[0] },
};
static struct field text_list[2] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &text_list[1], .child_count = 1 },
	{ .kind = FIELD_VARIABLE, .format = "u", .parent = &text_list[0] },
};
static struct field parts[2] = {
	{ .kind = FIELD_STRUCT, .format = "+s", .children = &parts[1], .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C", .parent = &parts[0] },
};
/* list<struct<u8>> and fixed_size_list<struct<u8>, 2> */
static struct field structs[3] = {
	{ .kind = FIELD_LIST, .format = "+l", .children = &structs[1], .child_count = 1 },
	{ .kind = FIELD_STRUCT,
		.format = "+s",
		.children = &structs[2],
		.child_count = 1,
		.parent = &structs[0] },
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C", .parent = &structs[1] },
};
static struct field fixed[3] = {
	{ .kind = FIELD_FIXED_LIST,
		.dimension = 2,
		.format = "+w:2",
		.children = &fixed[1],
		.child_count = 1 },
	{ .kind = FIELD_STRUCT,
		.format = "+s",
		.children = &fixed[2],
		.child_count = 1,
		.parent = &fixed[0] },
	{ .kind = FIELD_FIXED, .bits = 8, .format = "C", .parent = &fixed[1] },
};

/* Values. Chunks of one byte each value: one chunk of 16 bytes. */
#define CHUNKED    "0a08 0a04 0a020808 2801"
#define WORDS      "10000000"
#define CHUNK(b)   "0000 08000000 fefe " b
#define FIVES      "1a03 0a0105"
#define NO_VALUES  "2200"
#define TEXTS      "1210 0a08 1206 0a04 0a020820 2020 2803 3003" /* Zipped, 3 items */
#define TEXT_BYTES "02000000 6161 01000000 62 03000000 636363"
#define TEXT_INDEX "00 06 0b 12"
#define NARROW     "120c 0a04 0a020808 1808 2803 3003" /* Zipped, 3 items of a byte */
/* Indexed { indices #1: Flat 32, items #2 } */
#define INDEXED  "2a18 0a04 0a020820 1210 0a08 1206 0a04 0a020820 2020 2803 3003"
#define ALWAYS_2 "2a1c 0a08 1a06 0a04 02000000 1210 0a08 1206 0a04 0a020820 2020 2803 3003"

#define Q(byte) byte "00000000000000 "
#define D(byte) byte "000000 "

static const struct sparse_row pages[] = {
	{ "nulls", &u8, 5, { SLOTS(NULLS, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("01") Q("04") }, 0, "1 - 3 4 -" },
	{ "valid ones", &u8, 5, { SLOTS(VALID, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("01") Q("04") }, 0, "- 2 - - 5" },
	{ "positions without a buffer", &u8, 5, { SLOTS(NULLS, FROM_1, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, 0, "1 - 3 - 5" },
	{ "no nulls", &u8, 3, { NO_NULLS }, CHUNKED, { WORDS, CHUNK("0102030405060708") }, 0,
		"1 2 3" },
	{ "nothing but nulls", &u8, 3, { SLOTS(VALID, NONE, 0) }, NO_VALUES, { NULL }, 0, "- - -" },
	{ "of the null type", &null, 2, { SLOTS(VALID, NONE, 0) }, NO_VALUES, { NULL }, 0, "- -" },
	{ "structs of nothing", &empty, 3, { SLOTS(NULLS, FROM_1, 1) }, NO_VALUES, { NULL }, 0,
		"v - v" },
	{ "a constant", &u8, 3, { SLOTS(NULLS, FROM_1, 1) }, FIVES, { NULL }, 0, "5 - 5" },
	{ "text of valid slots", &text, 5, { SLOTS(VALID, FLAT, 3) }, TEXTS,
		{ TEXT_BYTES, TEXT_INDEX, Q("01") Q("02") Q("04") }, 0, "- 'aa' 'b' - 'ccc'" },
	{ "text of slots that are not null", &text, 5, { SLOTS(NULLS, FROM_1, 2) }, TEXTS,
		{ TEXT_BYTES, TEXT_INDEX }, 0, "'aa' - 'b' - 'ccc'" },
	{ "text in a row", &text, 3, { NO_NULLS }, TEXTS, { TEXT_BYTES, TEXT_INDEX }, 0,
		"'aa' 'b' 'ccc'" },
	{ "text in a row, by key", &keyed, 3, { NO_NULLS }, TEXTS, { TEXT_BYTES, TEXT_INDEX }, 0,
		"'aa' 'b' 'ccc'" },
	{ "bytes of valid slots", &u8, 5, { SLOTS(NULLS, FROM_1, 2) }, NARROW, { "070809" }, 0,
		"7 - 8 - 9" },
	{ "text by number", &text, 5, { SLOTS(NULLS, FROM_1, 1) }, INDEXED,
		{ D("02") D("63") D("00") D("02") D("00"), TEXT_BYTES, TEXT_INDEX }, 0,
		"'ccc' - 'aa' 'ccc' 'aa'" },
	{ "text by one number", &text, 2, { NO_NULLS }, ALWAYS_2, { "", TEXT_BYTES, TEXT_INDEX }, 0,
		"'ccc' 'ccc'" },
	{ "text by number, by key", &keyed, 3, { NO_NULLS }, INDEXED,
		{ D("02") D("00") D("02"), TEXT_BYTES, TEXT_INDEX }, 0, "'ccc' 'aa' 'ccc'" },
	{ "no rows", &u8, 0, { NO_NULLS }, NO_VALUES, { NULL }, 0, "" },

	{ "lists", &list[1], 4,
		{ LISTS(NULLS, FROM_1, 1, 3, FLAT, 2, FLAT), SLOTS(NULLS, FROM_1, 1) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") Q("03"), Q("01") Q("02") }, 0,
		"1 - 3 | 1 - 0 2" },
	{ "lists of one length", &list[1], 3,
		{ LISTS(NULLS, NONE, 0, 4, "7204 0840 1802", 2, TWOS), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, 0, "1 2 3 4 | 2 0 2" },
	{ "lists of growing length", &list[1], 3,
		{ LISTS(NULLS, NONE, 0, 6, ALL, 3, COUNTS), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, 0, "1 2 3 4 5 6 | 1 2 3" },
	{ "lists of nothing", &list[1], 3, { LISTS(NULLS, FROM_1, 1, 0, NONE, 0, NONE), NO_NULLS },
		NO_VALUES, { NULL }, 0, " | 0 - 0" },
	{ "lists of text", &text_list[1], 3,
		{ LISTS(NULLS, FROM_1, 1, 5, "7204 0840 1802", 2, FLAT), SLOTS(NULLS, FROM_1, 2) },
		TEXTS, { TEXT_BYTES, TEXT_INDEX, Q("02") Q("03") }, 0,
		"'aa' - 'b' - 'ccc' | 2 - 3" },
	{ "structs", &parts[1], 4, { SLOTS(NULLS, FROM_1, 2), SLOTS(NULLS, FLAT, 1) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") }, 0, "- - 3 - | v - v -" },
	{ "a struct's nulls hide values", &parts[1], 5, { SLOTS(NULLS, FROM_1, 2), NO_NULLS },
		NARROW, { "070809" }, 0, "7 - 8 - 9 | v - v - v" },
	{ "lists of structs", &structs[2], 3,
		{ LISTS(NULLS, FROM_1, 1, 3, FLAT, 2, FLAT), SLOTS(NULLS, FROM_1, 1), NO_NULLS },
		CHUNKED, { WORDS, CHUNK("0102030405060708"), Q("00") Q("02"), Q("02") Q("01") }, 0,
		"1 - 3 | v - v | 2 - 1" },
	{ "fixed-size lists of structs", &fixed[2], 6,
		{ VECTORS(2, NULLS, FROM_1, 1), SLOTS(NULLS, FLAT, 1), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("05") }, 0,
		"1 2 - - 5 - | v v v v v - | v - v" },
	{ "their nulls hide values", &fixed[2], 4,
		{ VECTORS(2, NULLS, FROM_1, 1), NO_NULLS, NO_NULLS },
		"120c 0a04 0a020808 1808 2802 3002", { "0708" }, 0, "7 8 - - | v v v v | v -" },

	{ "positions that repeat", &u8, 5, { SLOTS(NULLS, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("01") Q("01") }, LANCET_CORRUPT,
		"positions do not ascend" },
	{ "positions on the spot", &u8, 5, { SLOTS(NULLS, ONES, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, LANCET_CORRUPT, "positions do not ascend" },
	{ "positions beyond the rows", &u8, 5, { SLOTS(NULLS, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("01") Q("05") }, LANCET_CORRUPT,
		"position 5 among 5 slots" },
	{ "more positions than rows", &u8, 1, { SLOTS(NULLS, ALL, 2) }, NO_VALUES, { NULL },
		LANCET_CORRUPT, "2 positions among 1 slots" },
	{ "positions that wrap", &u8, UINT64_C(1) << 62,
		{ SLOTS(NULLS, "720c 0840 18ffffffffffffffff7f", 8) }, NO_VALUES, { NULL },
		LANCET_CORRUPT, "8 numbers from 0 by 9223372036854775807" },
	{ "positions of no meaning", &u8, 1, { SLOTS(3, ALL, 1) }, NO_VALUES, { NULL },
		LANCET_CORRUPT, "unknown meaning" },
	{ "positions cut", &u8, 5, { SLOTS(NULLS, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("01") "04" }, LANCET_CORRUPT,
		"flat: 9 bytes for 2 numbers" },
	{ "a buffer short", &u8, 5, { SLOTS(NULLS, FLAT, 2) }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, LANCET_CORRUPT, "3 are needed" },
	{ "a buffer too many", &u8, 5, { SLOTS(NULLS, FROM_1, 2) }, FIVES, { Q("01") },
		LANCET_CORRUPT, "page of 1 buffers, 0 are needed" },
	{ "values where none are", &u8, 2, { SLOTS(NULLS, FROM_1, 1) }, NO_VALUES, { NULL },
		LANCET_CORRUPT, "no values for slots that are not null" },
	{ "too many values", &text, 5, { SLOTS(NULLS, FROM_1, 1) }, TEXTS,
		{ TEXT_BYTES, TEXT_INDEX }, LANCET_CORRUPT, "3 values for 4 slots" },
	{ "too few values below lists", &text_list[1], 2,
		{ LISTS(NULLS, NONE, 0, 4, ALL, 2, TWOS), SLOTS(NULLS, FROM_1, 2) }, TEXTS,
		{ TEXT_BYTES, TEXT_INDEX }, LANCET_CORRUPT, "3 values for 2 slots" },
	{ "a number beyond the items", &text, 2, { NO_NULLS }, INDEXED,
		{ D("02") D("03"), TEXT_BYTES, TEXT_INDEX }, LANCET_CORRUPT, "value 3 of 3" },
	{ "numbers cut", &text, 2, { NO_NULLS }, INDEXED, { D("02"), TEXT_BYTES, TEXT_INDEX },
		LANCET_CORRUPT, "flat: 4 bytes for 2 numbers" },
	{ "no items", &text, 2, { NO_NULLS }, "2a06 0a04 0a020820", { D("02") D("02") },
		LANCET_CORRUPT, "indexed: no items" },
	{ "values with levels", &text, 3, { NO_NULLS },
		"1212 0a08 1206 0a04 0a020820 1200 2020 2803 3003", { TEXT_BYTES, TEXT_INDEX },
		LANCET_CORRUPT, "levels where positions tell structure" },
	{ "chunks with levels", &u8, 3, { NO_NULLS }, "0a0a 0a04 0a020808 1200 2801",
		{ WORDS, CHUNK("0102030405060708") }, LANCET_CORRUPT, "levels where positions" },
	{ "chunks that count", &u8, 3, { NO_NULLS }, "0a0a 0a04 0a020808 2801 3003",
		{ WORDS, CHUNK("0102030405060708") }, LANCET_CORRUPT, "levels where positions" },
	{ "values of no size", &text, 3, { NO_NULLS }, "120e 0a08 1206 0a04 0a020820 2803 3003",
		{ TEXT_BYTES, TEXT_INDEX }, LANCET_CORRUPT, "values of no size" },
	{ "values of no kind", &u8, 3, { NO_NULLS }, "", { NULL }, LANCET_CORRUPT,
		"values of an unknown kind" },
	{ "a constant of another width", &u8, 3, { NO_NULLS }, "1a04 0a020500", { NULL },
		LANCET_CORRUPT, "constant" },

	{ "lists that sum up to less", &list[1], 4,
		{ LISTS(NULLS, FROM_1, 1, 3, FLAT, 2, FLAT), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") Q("03"), Q("01") Q("01") },
		LANCET_CORRUPT, "lists of 2 items, 3 expected" },
	{ "lists that sum up to less, all alike", &list[1], 4,
		{ LISTS(NULLS, NONE, 0, 3, ALL, 2, ONES), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708") }, LANCET_CORRUPT,
		"lists of 2 items, 3 expected" },
	{ "counts that wrap", &list[1], 4, { LISTS(NULLS, NONE, 0, 3, FLAT, 2, FLAT), NO_NULLS },
		CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") Q("03"), "ffffffffffffffff" Q("04") },
		LANCET_CORRUPT, "3 expected" },
	{ "lists filled with nothing", &list[1], 4,
		{ LISTS(NULLS, FROM_1, 1, 3, FLAT, 2, FLAT), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") Q("03"), Q("00") Q("03") },
		LANCET_CORRUPT, "some empty" },
	{ "null lists with items", &list[1], 4,
		{ LISTS(NULLS, FROM_1, 2, 3, FLAT, 2, FLAT), NO_NULLS }, CHUNKED,
		{ WORDS, CHUNK("0102030405060708"), Q("00") Q("03"), Q("01") Q("02") },
		LANCET_CORRUPT, "a null list has items" },
	{ "more lists than slots", &list[1], 1,
		{ LISTS(NULLS, NONE, 0, 3, ALL, 2, TWOS), NO_NULLS }, NO_VALUES, { NULL },
		LANCET_CORRUPT, "3 items in 2 of 1 lists" },
	{ "2^40 items", &list[1], 1,
		{ LISTS(NULLS, NONE, 0, UINT64_C(1) << 40, ALL, 1, ONES), NO_NULLS }, NO_VALUES,
		{ NULL }, LANCET_CORRUPT, "1099511627776 items" },
	{ "a layer too many", &u8, 3, { NO_NULLS, NO_NULLS }, FIVES, { NULL }, LANCET_CORRUPT,
		"2 layers are too many" },
	{ "a layer too few", &parts[1], 3, { NO_NULLS }, FIVES, { NULL }, LANCET_CORRUPT,
		"1 layers are too few" },
	{ "no layers", &u8, 3, { SLOTS(0, NONE, 0) }, FIVES, { NULL }, LANCET_CORRUPT,
		"0 layers are too few" },
	{ "a struct where the type has lists", &list[1], 3, { NO_NULLS, NO_NULLS }, FIVES, { NULL },
		LANCET_CORRUPT, "another kind than the type's" },
	{ "lists where the type has structs", &parts[1], 3,
		{ LISTS(NULLS, NONE, 0, 3, ALL, 3, ONES), NO_NULLS }, FIVES, { NULL },
		LANCET_CORRUPT, "another kind than the type's" },
	{ "another dimension", &fixed[2], 6, { VECTORS(3, NULLS, NONE, 0), NO_NULLS, NO_NULLS },
		FIVES, { NULL }, LANCET_CORRUPT, "lists of 3 items, 2 expected" },
};

static int
read_rows(struct page_rig *rig, const struct field *leaf, uint64_t length, bool each)
{
	uint64_t dimension = leaf == &fixed[2] ? 2 : 1;
	uint64_t count = length / dimension;
	struct row_range *ranges = calloc(each ? (size_t)count + 1 : 1, sizeof(*ranges));
	int rc;

	ranges[0] = (struct row_range){ 0, length };
	for (uint64_t i = 0; each && i < count; i++)
		ranges[i] = (struct row_range){ i * dimension, dimension };
	rc = page_rig_read(rig, ranges, length == 0 ? 0 : each ? (size_t)count : 1);
	free(ranges);
	return rc;
}

START_TEST(pages_are_read_or_refused)
{
	const struct sparse_row *row = &pages[_i];
	struct page_rig rig;
	int rc = open_row(&rig, row);

	if (rc == LANCET_OK)
		rc = read_rows(&rig, row->leaf, row->length, false);
	ck_assert_msg(rc == (int)row->want, "%s: %d %s", row->label, rc, rig.err.text);
	if (row->want != LANCET_OK) {
		ck_assert_msg(strstr(rig.err.text, row->text) != NULL, "%s: %s", row->label,
			rig.err.text);
		ck_assert(rig.reader.layout == NULL ||
			  read_rows(&rig, row->leaf, row->length, false) == rc); /* once more */
	} else {
		ck_assert_msg(strcmp((const char *)rig.text.data, row->text) == 0, "%s: %s",
			row->label, (const char *)rig.text.data);
		ck_assert_int_eq(read_rows(&rig, row->leaf, row->length, true), LANCET_OK);
		ck_assert_msg(strcmp((const char *)rig.text.data, row->text) == 0, "%s: %s",
			row->label, (const char *)rig.text.data);
	}
	page_rig_free(&rig);
}
END_TEST

/* Positions in equal steps are not kept, however many there are. */
START_TEST(huge_pages_cost_what_is_read)
{
	const struct sparse_row row = { "huge", &list[1], UINT64_C(1) << 40,
		{ LISTS(NULLS, "7206 0840 1001 1804", UINT64_C(1) << 29, UINT64_C(1) << 31,
			  "7204 0840 1802", UINT64_C(1) << 30, TWOS),
			SLOTS(NULLS, FROM_1, UINT64_C(1) << 29) },
		FIVES, { NULL }, 0, "" };
	const struct row_range ranges[] = { { 0, 2 }, { (UINT64_C(1) << 30) + 4, 3 } };
	struct page_rig rig;

	ck_assert_int_eq(open_row(&rig, &row), LANCET_OK);
	ck_assert_int_eq(page_rig_read(&rig, ranges, 2), LANCET_OK);
	ck_assert_str_eq((const char *)rig.text.data, "5 - 5 5 5 5 | 2 - 2 - 2");
	ck_assert_uint_eq(rig.source->reads, 0);
	page_rig_free(&rig);
}
END_TEST

START_TEST(positions_are_read_once)
{
	const struct row_range row = { 2, 1 };
	struct page_rig rig;

	ck_assert_int_eq(open_row(&rig, &pages[0]), LANCET_OK);
	ck_assert_int_eq(page_rig_read(&rig, &row, 1), LANCET_OK);
	rig.source->reads = 0;
	ck_assert_int_eq(page_rig_read(&rig, &row, 1), LANCET_OK);
	ck_assert_uint_le(rig.source->reads, 1); /* the chunk */
	page_rig_free(&rig);
}
END_TEST

/* Bitmaps over a page of text below lists have a limit. */
START_TEST(what_would_cost_too_much_is_refused)
{
	const struct sparse_row row = { "wide", &text_list[1], UINT64_C(1) << 40,
		{ LISTS(NULLS, FROM_1, 1, 3, "7204 0840 1802", 3, ONES), NO_NULLS }, TEXTS,
		{ TEXT_BYTES, TEXT_INDEX }, 0, "" };
	const struct row_range first = { 0, 1 };
	struct page_rig rig;

	ck_assert_int_eq(open_row(&rig, &row), LANCET_OK);
	ck_assert_int_eq(page_rig_read(&rig, &first, 1), LANCET_LIMIT);
	page_rig_free(&rig);
}
END_TEST

static const struct {
	size_t page;
	const char *words;
	bool has_nulls;
	uint64_t nulls;
} described[] = {
	{ 0, "sparse(chunked, flat 8)", true, 2 },
	{ 1, "sparse(chunked, flat 8)", true, 3 },
	{ 4, "sparse(none)", true, 3 },
	{ 7, "sparse(constant)", true, 1 },
	{ 8, "sparse(zipped, variable(32))", true, 2 },
	{ 13, "sparse(indexed, variable(32))", true, 1 },
	{ 17, "sparse(chunked, flat 8)", false, 0 },
};

START_TEST(pages_are_described)
{
	struct page_rig rig;
	struct buf words = { 0 };
	uint64_t nulls = 0;

	ck_assert_int_eq(open_row(&rig, &pages[described[_i].page]), LANCET_OK);
	rig.reader.layout->describe(&rig.reader, &words);
	buf_put_byte(&words, '\0');
	ck_assert_str_eq((const char *)words.data, described[_i].words);
	ck_assert_int_eq(
		rig.reader.layout->null_count(&rig.reader, &nulls), described[_i].has_nulls);
	ck_assert_uint_eq(nulls, described[_i].nulls);
	ck_assert_uint_le(rig.source->reads, 1); /* chunk words */
	buf_release(&words);
	page_rig_free(&rig);
}
END_TEST

UNIT_MAIN("sparse", UNIT_LOOP(pages_are_read_or_refused, pages),
	UNIT_TEST(huge_pages_cost_what_is_read), UNIT_TEST(positions_are_read_once),
	UNIT_TEST(what_would_cost_too_much_is_refused), UNIT_LOOP(pages_are_described, described))

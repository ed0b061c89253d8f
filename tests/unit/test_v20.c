/* Page encodings of 2.0: what each one gives for whole pages and for single rows, and how damage is
 * told. Messages and bytes are written by hand from the format facts.
 */
#include "v20pages.h"

#include "lance/encodings.pb-c.h"

#define U32_1 "01000000"
#define U32_2 "02000000"
#define U64_1 "0100000000000000"
#define U64_2 "0200000000000000"
#define U64_3 "0300000000000000"

static struct field u8 = { .kind = FIELD_FIXED, .bits = 8, .format = "C" };
static struct field u32 = { .kind = FIELD_FIXED, .bits = 32, .format = "I" };
static struct field u64 = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };
static struct field wide = { .kind = FIELD_FIXED, .bits = 128, .format = "d:20,2" };
static struct field flag = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static struct field text = { .kind = FIELD_VARIABLE, .format = "u" };
static struct field large = { .kind = FIELD_VARIABLE, .large = true, .format = "U" };
static struct field none = { .kind = FIELD_NULL, .format = "n" };
#define FSL(n, of)                                                                                 \
	{                                                                                          \
		.kind = FIELD_FIXED_LIST, .dimension = n, .format = "+w", .children = of,          \
		.child_count = 1                                                                   \
	}
static struct field triple = FSL(3, &u32);
static struct field pair = FSL(2, &u8);
static struct field flags = FSL(2, &flag);
static struct field pairs = FSL(2, &pair);
static struct field list = {
	.kind = FIELD_LIST, .format = "+l", .children = &u8, .child_count = 1
};
static struct field coded = { .kind = FIELD_DICTIONARY,
	.bits = 8,
	.is_signed = true,
	.format = "c",
	.children = &text,
	.child_count = 1 };
static struct field parts[2] = {
	{ .kind = FIELD_FIXED, .bits = 32, .format = "I" },
	FSL(2, &u8),
};
static struct field packed = {
	.kind = FIELD_STRUCT, .packed = true, .format = "+s", .children = parts, .child_count = 2
};

struct page_row {
	const char *words;
	const struct field *field;
	uint64_t length;
	const char *buffers[V20_BUFFERS_MAX]; /* hex */
	const char *want;                     /* values, or a part of the error */
	enum lancet_code code;
};

/* 'ab', null, '', 'cde': ends 2, 2 + 6, 2, 5 with an adjustment of 6 */
#define ENDS  "0200000000000000 0800000000000000 0200000000000000 0500000000000000"
#define BYTES "6162636465"
/* The same bytes as one raw block of a zstd frame, and as literals of an lz4 block. */
#define FRAME "28b52ffd 20 05 290000 6162636465"
/* 'a', 'bc' */
#define ITEM_ENDS "0100000000000000 0300000000000000"
#define ITEMS(n)  "binary 4(flat 64 @" #n ", flat 8 @"

static const struct page_row good[] = {
	{ "flat 64 @0", &u64, 3, { "e803000000000000 e903000000000000 ed03000000000000" },
		"3e8 3e9 3ed", LANCET_OK },
	{ "no_nulls(flat 32 @1)", &u32, 2, { "", U32_1 U32_2 }, "1 2", LANCET_OK },
	{ "flat 128 @0", &wide, 2,
		{ "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f" },
		"000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f", LANCET_OK },
	{ "flat 1 @0", &flag, 10, { "b502" }, "1 0 1 0 1 1 0 1 0 1", LANCET_OK },
	{ "nullable(flat 1 @0, flat 8 @1)", &u8, 3, { "05", "01ff03" }, "1 - 3", LANCET_OK },
	{ "nullable(flat 1 @0, flat 8 @1)", &u8, 2, { "03", "0102" }, "1 2", LANCET_OK },
	{ "all_null", &u32, 3, { 0 }, "- - -", LANCET_OK },
	{ "all_null", &text, 2, { 0 }, "- -", LANCET_OK },
	{ "all_null", &none, 2, { 0 }, "- -", LANCET_OK },
	{ "all_null", &triple, 2, { 0 }, "- -", LANCET_OK },
	{ "fsl 3(no_nulls(flat 32 @0))", &triple, 2,
		{ "01000000 02000000 03000000 04000000 05000000 06000000" }, "[1 2 3] [4 5 6]",
		LANCET_OK },
	{ "nullable(flat 1 @0, fsl 2(nullable(flat 1 @1, flat 8 @2)))", &pair, 3,
		{ "05", "3d", "010203040506" }, "[1 -] - [5 6]", LANCET_OK },
	{ "fsl 2(flat 1 @0)", &flags, 3, { "2d" }, "[1 0] [1 1] [0 1]", LANCET_OK },
	{ "fsl 2(fsl 2(flat 8 @0))", &pairs, 2, { "0102030405060708" },
		"[[1 2] [3 4]] [[5 6] [7 8]]", LANCET_OK },
	{ "binary 6(flat 64 @0, flat 8 @1)", &text, 4, { ENDS, BYTES }, "'ab' - '' 'cde'",
		LANCET_OK },
	{ "binary 6(no_nulls(flat 64 @0), no_nulls(flat 8 @1))", &large, 4, { ENDS, BYTES },
		"'ab' - '' 'cde'", LANCET_OK },
	{ "nullable(flat 1 @2, binary 6(flat 64 @0, flat 8 @1))", &text, 4, { ENDS, BYTES, "0e" },
		"- - '' 'cde'", LANCET_OK },
	{ "binary 6(flat 64 @0, flat 8 @1 zstd)", &text, 4, { ENDS, "0500000000000000" FRAME },
		"'ab' - '' 'cde'", LANCET_OK },
	{ "binary 6(flat 64 @0, flat 8 @1 zstd)", &text, 4, { ENDS, FRAME }, "'ab' - '' 'cde'",
		LANCET_OK },
	{ "binary 6(flat 64 @0, flat 8 @1 lz4)", &text, 4, { ENDS, "05000000 50" BYTES },
		"'ab' - '' 'cde'", LANCET_OK },
	{ "binary 6(flat 64 @0, flat 8 @1 none)", &text, 4, { ENDS, BYTES }, "'ab' - '' 'cde'",
		LANCET_OK },
	{ "binary 1(flat 64 @0, flat 8 @1 zstd)", &text, 2,
		{ "00000000000000000100000000000000", "" }, "'' -", LANCET_OK },
	{ "flat 32 @0 zstd", &u32, 2,
		{ "0800000000000000 28b52ffd 20 08 410000 01000000 02000000" }, "1 2", LANCET_OK },
	{ "flat 1 @0 lz4", &flag, 3, { "01000000 10 05" }, "1 0 1", LANCET_OK },
	{ "dict 2(no_nulls(flat 8 @0), " ITEMS(1) "2))", &text, 4,
		{ "01000202", ITEM_ENDS, "616263" }, "'a' - 'bc' 'bc'", LANCET_OK },
	{ "dict 2(nullable(flat 1 @0, flat 8 @1), " ITEMS(2) "3))", &text, 4,
		{ "0b", "01026302", ITEM_ENDS, "616263" }, "'a' 'bc' - 'bc'", LANCET_OK },
	{ "dict 0(flat 8 @0, all_null)", &text, 2, { "0000" }, "- -", LANCET_OK },
	{ "dict 2(nullable(flat 1 @0, flat 8 @1), " ITEMS(2) "3))", &coded, 3,
		{ "03", "01007f", ITEM_ENDS, "616263" }, "'bc' 'a' -", LANCET_OK },
	{ "dict 2(flat 8 @0, binary 2(flat 64 @1, flat 8 @2))", &coded, 3,
		{ "010001", "0100000000000000 0300000000000000", "61" }, "- 'a' -", LANCET_OK },
	{ "packed @0(flat 32, fsl 2(no_nulls(flat 8)))", &packed, 2, { U32_1 "0a0b" U32_2 "0c0d" },
		"{1 [a b]} {2 [c d]}", LANCET_OK },
	{ "bits 3 8 @0", &u8, 3, { "d501" }, "5 2 7", LANCET_OK },
	{ "bits 3 8 @0 signed", &u8, 3, { "d501" }, "fd 2 ff", LANCET_OK },
	{ "bits 64 64 @0", &u64, 2, { U64_1 "ffffffffffffffff" }, "1 ffffffffffffffff", LANCET_OK },
	{ "bits 0 32 @0", &u32, 2, { "" }, "0 0", LANCET_OK },
	{ "nonneg 0 32 @0", &u32, 2, { "" }, "0 0", LANCET_OK },
	{ "fsb 2(flat 8 @0)", &text, 3, { "616263646566" }, "'ab' 'cd' 'ef'", LANCET_OK },
	{ "fsb 2(no_nulls(flat 8 @0))", &large, 3, { "616263646566" }, "'ab' 'cd' 'ef'",
		LANCET_OK },
	{ "flat 64 @0", &u64, 0, { "" }, "", LANCET_OK },
};

static struct buf *
buffers_of(const struct page_row *row, struct buf *buffers, size_t *ret_count)
{
	size_t count = 0;

	for (; count < V20_BUFFERS_MAX && row->buffers[count] != NULL; count++) {
		char hex[512];
		size_t size = 0;

		for (const char *at = row->buffers[count]; *at != '\0'; at++) {
			if (*at != ' ')
				hex[size++] = *at;
			ck_assert_uint_lt(size, sizeof(hex));
		}
		hex[size] = '\0';
		buffers[count] = from_hex(hex);
	}
	*ret_count = count;
	return buffers;
}

/* The values of every second row, as the whole page has them. */
static void
every_second(const struct array *all, struct buf *out)
{
	for (uint64_t i = 1; i < all->length; i += 2) {
		buf_put_text(out, i == 1 ? "" : " ");
		show_value(all, i, out);
	}
	buf_put_byte(out, '\0');
}

START_TEST(pages_are_read_whole_row_by_row_and_in_parts)
{
	const struct page_row *row = &good[_i];
	struct row_range all = { 0, row->length }, each[16], second[8];
	struct buf buffers[V20_BUFFERS_MAX], half = { 0 };
	struct page_rig rig;
	size_t count;
	int rc;

	ck_assert_uint_le(row->length, ARRAY_SIZE(each));
	buffers_of(row, buffers, &count);
	rc = rig_open(&rig, row->words, row->field, row->length, buffers, count);
	ck_assert_msg(rc == LANCET_OK, "%s: %s", row->words, rig.err.text);
	expect_rows(&rig, row->words, &all, row->length > 0 ? 1 : 0, row->want);
	every_second(&rig.out, &half);
	for (uint64_t i = 0; i < row->length; i++) {
		each[i] = (struct row_range){ i, 1 };
		second[i / 2] = (struct row_range){ i, 1 };
	}
	expect_rows(&rig, row->words, each, (size_t)row->length, row->want);
	expect_rows(&rig, row->words, second, (size_t)row->length / 2, (const char *)half.data);
	buf_release(&half);
	rig_free(&rig);
}
END_TEST

static const struct page_row bad[] = {
	{ "nothing", &u8, 1, { "00" }, "none is told", LANCET_CORRUPT },
	{ "constant", &u8, 1, { "00" }, "constant", LANCET_UNSUPPORTED },
	{ "unsaid", &u8, 1, { "00" }, "nullable", LANCET_CORRUPT },
	{ "flat 0 @0", &u8, 1, { "00" }, "values of 0 bits", LANCET_CORRUPT },
	{ "flat 12 @0", &u8, 1, { "0000" }, "values of 12 bits", LANCET_CORRUPT },
	{ "flat 64 @0", &u32, 1, { U64_1 }, "64 bits for a field of 32", LANCET_CORRUPT },
	{ "flat 8 @0", &text, 1, { "00" }, "8 bits for a field of 0", LANCET_CORRUPT },
	{ "flat 8", &u8, 1, { "00" }, "names no buffer", LANCET_CORRUPT },
	{ "flat 8 @1", &u8, 1, { "00" }, "buffer 1 of a page that has 1", LANCET_CORRUPT },
	{ "flat 8 @column 0", &u8, 1, { "00" }, "buffer of the column", LANCET_UNSUPPORTED },
	{ "flat 8 @file 3", &u8, 1, { "00" }, "global buffer 3", LANCET_CORRUPT },
	{ "flat 64 @0", &u64, 2, { U64_1 "00" }, "2 values of 64 bits in 9", LANCET_CORRUPT },
	{ "flat 64 @0", &u64, UINT64_C(1) << 61, { U64_1 }, "in 8 bytes", LANCET_CORRUPT },
	{ "flat 1 @0", &flag, 9, { "ff" }, "9 values of 1 bits in 1", LANCET_CORRUPT },
	{ "flat 8 @0 snappy", &u8, 1, { "00" }, "compression snappy", LANCET_UNSUPPORTED },
	{ "flat 32 @0 zstd", &u32, 3,
		{ "0800000000000000 28b52ffd 20 08 410000 01000000 02000000" },
		"3 values of 32 bits in 8 bytes", LANCET_CORRUPT },
	{ "flat 8 @0 zstd", &u8, 1, { "0600000000000000" FRAME }, "flat", LANCET_CORRUPT },
	{ "flat 8 @0 zstd", &u8, 1, { "ffffffffffffff7f" FRAME }, "flat", LANCET_CORRUPT },
	{ "flat 8 @0 lz4", &u8, 1, { "ffffff7f 50" BYTES }, "flat", LANCET_CORRUPT },
	{ "flat 8 @0 lz4", &u8, 1, { "050000" }, "flat", LANCET_CORRUPT },
	{ "flat 8 @0 zstd", &u8, 1, { "" }, "1 values of 8 bits in 0 bytes", LANCET_CORRUPT },
	{ "nullable(flat 1 @0, flat 8 @1)", &u8, 9, { "ff", "000000000000000000" },
		"9 values of 1 bits", LANCET_CORRUPT },
	{ "nullable(flat 8 @0, flat 8 @1)", &u8, 1, { "01", "00" }, "field of 1", LANCET_CORRUPT },
	{ "nullable(flat 1 @0, list 1 0(flat 64 @1))", &list, 1, { "01", U64_1 },
		"list inside another", LANCET_CORRUPT },
	{ "no_nulls(struct)", &packed, 1, { 0 }, "struct inside another", LANCET_CORRUPT },
	{ "list 1 0(flat 64 @0)", &list, 1, { "0000000000000000" },
		"list where values are expected", LANCET_CORRUPT },
	{ "list 1 0(flat 64 @0)", &u8, 1, { "0000000000000000" }, "list: for a field",
		LANCET_CORRUPT },
	{ "struct", &u8, 1, { 0 }, "struct: for a field", LANCET_CORRUPT },
	{ "all_null", &u64, UINT64_C(1) << 60, { 0 }, "ask for fewer rows", LANCET_LIMIT },
	{ "fsl 0(flat 8 @0)", &pair, 1, { "0102" }, "of no items", LANCET_CORRUPT },
	{ "fsl 3(flat 8 @0)", &pair, 1, { "010203" }, "of 3 items for a field of 2",
		LANCET_CORRUPT },
	{ "fsl 2(flat 8 @0)", &u8, 1, { "0102" }, "for a field of 0", LANCET_CORRUPT },
	{ "fsl 2(flat 8 @0)", &pair, 2, { "010203" }, "4 values of 8 bits", LANCET_CORRUPT },
	{ "fsl 2(flat 8 @0)", &pair, UINT64_C(1) << 63, { "01" }, "fixed_size_list",
		LANCET_CORRUPT },
	{ "binary 0(flat 64 @0, flat 8 @1)", &text, 4, { ENDS, BYTES }, "adjustment of 0",
		LANCET_CORRUPT },
	{ "binary 6(flat 64 @0, flat 8 @1)", &u8, 4, { ENDS, BYTES }, "of one size",
		LANCET_CORRUPT },
	{ "binary 6(flat 32 @0, flat 8 @1)", &text, 1, { U32_1, BYTES },
		"32 bits for a field of 64", LANCET_CORRUPT },
	{ "binary 6(flat 64 @0, flat 16 @1)", &text, 4, { ENDS, BYTES }, "bytes in encoding flat",
		LANCET_CORRUPT },
	{ "binary 6(flat 64 @0, nullable(flat 1 @1, flat 8 @1))", &text, 4, { ENDS, BYTES },
		"bytes in encoding nullable", LANCET_CORRUPT },
	{ "binary 6(all_null, flat 8 @1)", &text, 4, { ENDS, BYTES }, "that are null",
		LANCET_CORRUPT },
	{ "binary 6(flat 64 @0, flat 8 @1)", &text, 4, { ENDS, "61626364" }, "to 5 of 4",
		LANCET_CORRUPT },
	{ "binary 9(flat 64 @0, flat 8 @1)", &text, 3, { U64_2 U64_1 U64_3, BYTES }, "descend",
		LANCET_CORRUPT },
	{ "binary 9(flat 64 @0, flat 8 @1)", &text, 2, { U64_2 U64_1, BYTES }, "descend",
		LANCET_CORRUPT },
	{ "binary 1(flat 64 @0, flat 8 @1)", &text, 1, { U64_2, BYTES }, "pass the adjustment",
		LANCET_CORRUPT },
	{ "dict 2(flat 8 @0, " ITEMS(1) "2))", &text, 2, { "0103", ITEM_ENDS, "616263" },
		"item 2 of a dictionary of 2", LANCET_CORRUPT },
	{ "dict 2(flat 8 @0, " ITEMS(1) "2))", &coded, 2, { "0102", ITEM_ENDS, "616263" },
		"item 2 of a dictionary of 2", LANCET_CORRUPT },
	{ "dict 3(flat 8 @0, " ITEMS(1) "2))", &coded, 2, { "0102", ITEM_ENDS, "616263" },
		"3 values of 64 bits", LANCET_CORRUPT },
	{ "dict 0(flat 8 @0, all_null)", &coded, 1, { "00" }, "values of an empty dictionary",
		LANCET_CORRUPT },
	{ "dict 2(flat 8 @0, flat 8 @1)", &u8, 1, { "00", "00" }, "neither keys nor strings",
		LANCET_CORRUPT },
	{ "fsst(binary 6(flat 64 @0, flat 8 @1)) 00", &text, 4, { ENDS, BYTES }, "fsst",
		LANCET_CORRUPT },
	{ "packed @0(flat 32)", &packed, 1, { U32_1 "0a0b" }, "1 parts for a field of 2 children",
		LANCET_CORRUPT },
	{ "packed @0(flat 32, flat 8)", &packed, 1, { U32_1 "0a0b" }, "for a list of 2 items",
		LANCET_CORRUPT },
	{ "packed @0(flat 64, fsl 2(flat 8))", &packed, 1, { U64_1 "0a0b" }, "another type",
		LANCET_CORRUPT },
	{ "packed @0(all_null, fsl 2(flat 8))", &packed, 1, { U64_1 "0a0b" }, "another type",
		LANCET_CORRUPT },
	{ "packed @0(flat 32, fsl 2(flat 8))", &packed, 2, { U32_1 "0a0b" },
		"2 values of 48 bits in 6", LANCET_CORRUPT },
	{ "packed @0(flat 32, fsl 2(flat 8))", &u8, 1, { U32_1 "0a0b" }, "2 parts",
		LANCET_CORRUPT },
	{ "bits 9 8 @0", &u8, 1, { "0000" }, "values of 8 bits in 9", LANCET_CORRUPT },
	{ "bits 4 12 @0", &u8, 1, { "0000" }, "values of 12 bits in 4", LANCET_CORRUPT },
	{ "bits 4 8 @0", &u8, 3, { "00" }, "3 values of 4 bits", LANCET_CORRUPT },
	{ "bits 4 8 @0", &u32, 1, { "00" }, "8 bits for a field of 32", LANCET_CORRUPT },
	{ "nonneg 8 8 @0", &u8, 3, { "000000" }, "1024 values of 8 bits in 3", LANCET_CORRUPT },
	{ "nonneg 1 8 @0", &u8, UINT64_MAX - 1, { "00" }, "bitpacked_for_non_neg", LANCET_CORRUPT },
	{ "fsb 0(flat 8 @0)", &text, 1, { "61" }, "of no bytes", LANCET_CORRUPT },
	{ "fsb 2(flat 8 @0)", &u8, 1, { "6162" }, "have no bytes", LANCET_CORRUPT },
	{ "fsb 2(flat 8 @0)", &text, 2, { "616263" }, "4 values of 8 bits", LANCET_CORRUPT },
	{ "fsb 2(flat 8 @0)", &text, UINT64_C(1) << 63, { "61" }, "fixed_size_binary",
		LANCET_CORRUPT },
	{ "no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls("
	  "no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(no_nulls(flat 8 "
	  "@0)))))))))))))))))",
		&u8, 1, { "00" }, "nested deeper than 16", LANCET_CORRUPT },
};

START_TEST(damage_is_told_in_words)
{
	const struct page_row *row = &bad[_i];
	struct row_range all = { 0, row->length };
	struct buf buffers[V20_BUFFERS_MAX];
	struct page_rig rig;
	size_t count;
	int rc;

	buffers_of(row, buffers, &count);
	rc = rig_open(&rig, row->words, row->field, row->length, buffers, count);
	if (rc == LANCET_OK)
		rc = rig_read(&rig, &all, 1);
	ck_assert_msg(rc == (int)row->code, "%s: %d %s", row->words, rc, rig.err.text);
	ck_assert_msg(strstr(rig.err.text, row->want) != NULL, "%s: %s", row->words, rig.err.text);
	rig_free(&rig);
}
END_TEST

/* Whole messages of pages as the reference writes them. */
static const struct {
	const char *hex, *words;
	bool is_known;
	uint64_t nulls;
} messages[] = {
	{ "120a0a080a060a0408401200", "flat 64", true, 0 },
	{ "121412120a060a040801120012080a06084012020801", "nullable(flat 64)", false, 0 },
	{ "12021a00", "all_null", true, 7 },
	{ "2a00", "struct", true, 0 },
	{ "321b0a0c120a0a080a060a040840120012080a06080812020801 18b424", "binary(flat 64, flat 8)",
		false, 0 },
	{ "22140a0c120a0a080a060a040840120010b42418b324", "list(flat 64)", false, 0 },
	{ "12160a140a121a100803120c120a0a080a060a0408201200", "fixed_size_list(3, flat 32)", true,
		0 },
	{ "32240a0c120a0a080a060a040840120012100a0e0808120208011a060a047a7374641897ee03",
		"binary(flat 64, general(zstd, flat 8))", false, 0 },
	{ "4a1e0a0c120a0a080a060a04084012000a0c120a0a080a060a04084012001200",
		"packed_struct(flat 64, flat 64)", true, 0 },
};

START_TEST(messages_of_the_reference_are_described)
{
	struct lancet_error err = { 0 };
	struct buf words = { 0 }, message = { 0 };
	uint64_t nulls = 0;
	struct page page = { .length = 7, .type = slice_text("lance.encodings.ArrayEncoding") };

	for (const char *at = messages[_i].hex; *at != '\0'; at += at[0] == ' ' ? 1 : 2) {
		const char pair_of[3] = { at[0], at[1], '\0' };

		if (at[0] != ' ')
			buf_put_byte(&message, (uint8_t)strtoul(pair_of, NULL, 16));
	}
	page.encoding = buf_slice(&message);
	ck_assert_msg(v20_describe(&page, &words, &err) == LANCET_OK, "%s", err.text);
	buf_put_byte(&words, '\0');
	ck_assert_str_eq((const char *)words.data, messages[_i].words);
	ck_assert_int_eq(v20_null_count(&page, &nulls), messages[_i].is_known);
	ck_assert_uint_eq(nulls, messages[_i].nulls);
	page.type = slice_text("lance.encodings21.PageLayout");
	ck_assert_int_eq(v20_describe(&page, &words, &err), LANCET_CORRUPT);
	buf_release(&words);
	buf_release(&message);
}
END_TEST

/* The rest of the words: what the reference no longer writes. */
static const struct {
	const char *message, *words;
} described[] = {
	{ "dict 2(flat 8 @0, binary 2(flat 64 @1, flat 8 @2))",
		"dictionary(2, flat 8, binary(flat 64, flat 8))" },
	{ "fsst(binary 2(flat 64 @1, flat 8 @2)) 00", "fsst(binary(flat 64, flat 8))" },
	{ "bits 3 8 @0", "bitpacked(8 in 3)" },
	{ "nonneg 11 32 @0", "bitpacked_for_non_neg(32 in 11)" },
	{ "fsb 6(flat 8 @0)", "fixed_size_binary(6, flat 8)" },
	{ "flat 8 @0 lz4", "general(lz4, flat 8)" },
};

START_TEST(encodings_are_described)
{
	struct buf words = { 0 }, message = encode_words(described[_i].message);
	struct page page = {
		.type = slice_text("lance.encodings.ArrayEncoding"),
		.encoding = buf_slice(&message),
	};

	ck_assert_int_eq(v20_describe(&page, &words, NULL), LANCET_OK);
	buf_put_byte(&words, '\0');
	ck_assert_str_eq((const char *)words.data, described[_i].words);
	buf_release(&words);
	buf_release(&message);
}
END_TEST

static bool
is_decoded(int pb_case)
{
	for (size_t i = 0; i < v20_encodings_count; i++) {
		if (v20_encodings[i]->pb_case == pb_case)
			return true;
	}
	return false;
}

static bool
is_refused(int pb_case)
{
	for (size_t i = 0; i < v20_refused_count; i++) {
		if (v20_refused[i].pb_case == pb_case)
			return v20_refused[i].name[0] != '\0' && v20_refused[i].why[0] != '\0';
	}
	return false;
}

START_TEST(every_case_is_decoded_or_refused_by_name)
{
	const ProtobufCMessageDescriptor *type = &lance__encodings__array_encoding__descriptor;

	for (unsigned i = 0; i < type->n_fields; i++) {
		int pb_case = (int)type->fields[i].id;

		ck_assert_msg(
			is_decoded(pb_case) != is_refused(pb_case), "%s", type->fields[i].name);
	}
	ck_assert_uint_eq(v20_encodings_count + v20_refused_count, type->n_fields);
	for (size_t i = 0; i < v20_encodings_count; i++)
		ck_assert(v20_encodings[i]->whole == (v20_encodings[i]->read == NULL));
}
END_TEST

UNIT_MAIN("v20", UNIT_LOOP(pages_are_read_whole_row_by_row_and_in_parts, good),
	UNIT_LOOP(damage_is_told_in_words, bad),
	UNIT_LOOP(messages_of_the_reference_are_described, messages),
	UNIT_LOOP(encodings_are_described, described),
	UNIT_TEST(every_case_is_decoded_or_refused_by_name))

/* Layouts by message: no case of a page message is without a row, and the message is the one of the
 * file's version; pages of a column, and ranges that span them. */
#include "pages.h"

#include "file/layout_cases.h"

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

static const struct {
	const ProtobufCMessageDescriptor *message;
	const char *oneof;
	const struct layout_case *cases;
	const size_t *count;
} tables[] = {
	{ &lance__encodings21__page_layout__descriptor, "layout", page_layout_cases,
		&page_layout_cases_count },
	{ &lance__encodings23__structure__descriptor, "structure", planar_structure_cases,
		&planar_structure_cases_count },
	{ &lance__encodings23__values__descriptor, "values", planar_dense_cases,
		&planar_dense_cases_count },
};

START_TEST(every_case_of_a_message_has_a_row)
{
	const ProtobufCMessageDescriptor *message = tables[_i].message;
	size_t found = 0;

	for (unsigned i = 0; i < message->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->fields[i];
		size_t rows = 0;

		if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0)
			continue;
		for (size_t at = 0; at < *tables[_i].count; at++)
			rows += tables[_i].cases[at].pb_case == (int)field->id;
		ck_assert_msg(rows == 1, "%s.%s: %zu rows", message->name, field->name, rows);
		found++;
	}
	ck_assert_uint_eq(found, *tables[_i].count);
}
END_TEST

static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };

#define VALUES_3   "0000 18000000 fefe e803000000000000 e903000000000000 ed03000000000000"
#define MINI_BLOCK "0a0f 1a04 0a020840 320101 3801 4803 5001"
#define PLANAR     "0a05 0a030a0101 120e 0a0c 0a04 0a020840 1200 2801 3003"

static const struct page_row pages[] = {
	{ "2.2", 2, &u64, 3, MINI_BLOCK, { "30000000", VALUES_3 }, 0, "3e8 3e9 3ed" },
	{ "2.3", 3, &u64, 3, PLANAR, { "30000000", VALUES_3 }, 0, "3e8 3e9 3ed" },
	{ "no layout", 2, &u64, 3, "", { "30000000", VALUES_3 }, LANCET_CORRUPT, "unknown kind" },
	{ "a layout that is not known", 2, &u64, 3, "7a00", { "30000000", VALUES_3 },
		LANCET_CORRUPT, "unknown kind" },
	{ "no message", 2, &u64, 3, "0aff", { "30000000", VALUES_3 }, LANCET_CORRUPT,
		"not decodable" },
	{ "no structure", 3, &u64, 3, "120e 0a0c 0a04 0a020840 1200 2801 3003",
		{ "30000000", VALUES_3 }, LANCET_CORRUPT, "without structure" },
	{ "no values", 3, &u64, 3, "0a05 0a030a0101", { "30000000", VALUES_3 }, LANCET_CORRUPT,
		"without structure or values" },
	{ "values of no kind", 3, &u64, 3, "0a05 0a030a0101 1200", { "30000000", VALUES_3 },
		LANCET_CORRUPT, "unknown kind" },
	{ "a structure of no kind", 3, &u64, 3, "0a00 120e 0a0c 0a04 0a020840 1200 2801 3003",
		{ "30000000", VALUES_3 }, LANCET_CORRUPT, "unknown kind" },
	{ "indexed values in a dense page", 3, &u64, 3, "0a05 0a030a0101 1202 2a00",
		{ "30000000", VALUES_3 }, LANCET_CORRUPT, "by index in a dense page" },
};

START_TEST(pages_are_opened_by_their_message)
{
	check_page_row(&pages[_i]);
}
END_TEST

START_TEST(the_message_is_that_of_the_version)
{
	struct buf buffers[2] = { page_hex("30000000"), page_hex(VALUES_3) };
	struct page_rig rig;
	struct page_reader reader;

	ck_assert_int_eq(
		page_rig_open(&rig, 2, &u64, 3, page_hex(MINI_BLOCK), buffers, 2), LANCET_OK);
	rig.page.type = slice_text("lance.encodings23.PlanarLayout");
	ck_assert_int_eq(
		page_reader_open(&reader, rig.file, &rig.page, &u64, &rig.scratch, &rig.err),
		LANCET_CORRUPT);
	ck_assert_msg(
		strstr(rig.err.text, "PlanarLayout in a file of 2.2") != NULL, "%s", rig.err.text);
	page_rig_free(&rig);
}
END_TEST

START_TEST(pages_are_described)
{
	struct buf buffers[2] = { page_hex("30000000"), page_hex(VALUES_3) };
	struct page_rig rig;
	uint64_t nulls = 7;

	ck_assert_int_eq(
		page_rig_open(&rig, 2, &u64, 3, page_hex(MINI_BLOCK), buffers, 2), LANCET_OK);
	rig.reader.layout->describe(&rig.reader, &rig.text);
	buf_put_byte(&rig.text, '\0');
	ck_assert_str_eq((const char *)rig.text.data, "mini_block(flat 64)");
	ck_assert(rig.reader.layout->null_count(&rig.reader, &nulls));
	ck_assert_uint_eq(nulls, 0);
	page_rig_free(&rig);
}
END_TEST

#define COLUMN_PAGES 3u

/* Pages of 3, 0 and 3 rows that have the same bytes. */
static const struct {
	const char *label;
	struct row_range ranges[3];
	size_t count;
	enum lancet_code want;
	const char *text;
} asked[] = {
	{ "all", { { 0, 6 } }, 1, 0, "3e8 3e9 3ed 3e8 3e9 3ed" },
	{ "across pages", { { 2, 2 } }, 1, 0, "3ed 3e8" },
	{ "one of each", { { 1, 1 }, { 4, 1 } }, 2, 0, "3e9 3e9" },
	{ "the last", { { 5, 1 } }, 1, 0, "3ed" },
	{ "beyond the last", { { 5, 2 } }, 1, LANCET_CORRUPT, "a column of 6" },
	{ "far beyond the last", { { UINT64_MAX, 2 } }, 1, LANCET_CORRUPT, "a column of 6" },
};

START_TEST(ranges_are_split_at_pages)
{
	struct buf buffers[2] = { page_hex("30000000"), page_hex(VALUES_3) };
	struct page_rig rig;
	struct page column_pages[COLUMN_PAGES];
	struct file_column column = { .pages = column_pages, .page_count = 3, .length = 6 };
	struct leaf_reader reader = { .scale = 1, .page_index = SIZE_MAX, .leaf = &u64 };
	int rc;

	ck_assert_int_eq(
		page_rig_open(&rig, 2, &u64, 3, page_hex(MINI_BLOCK), buffers, 2), LANCET_OK);
	for (size_t i = 0; i < COLUMN_PAGES; i++) {
		column_pages[i] = rig.page;
		column_pages[i].first = i == 0 ? 0 : 3;
		column_pages[i].length = i == 1 ? 0 : 3;
	}
	reader.file = rig.file;
	reader.column = &column;
	reader.scratch = &rig.scratch;
	ck_assert_uint_eq(leaf_reader_rows(&reader), 6);
	for (int again = 0; again < 2; again++) {
		leaf_out_reset(&rig.out);
		rc = leaf_reader_read(
			&reader, asked[_i].ranges, asked[_i].count, &rig.out, &rig.err);
		ck_assert_msg(rc == (int)asked[_i].want, "%s: %s", asked[_i].label, rig.err.text);
		render_leaf_out(&rig.out, &rig.text);
		if (rc == LANCET_OK)
			ck_assert_str_eq((const char *)rig.text.data, asked[_i].text);
		else
			ck_assert(strstr(rig.err.text, asked[_i].text) != NULL);
	}
	leaf_reader_release(&reader);
	page_rig_free(&rig);
}
END_TEST

UNIT_MAIN("layout", UNIT_LOOP(every_case_of_a_message_has_a_row, tables),
	UNIT_LOOP(pages_are_opened_by_their_message, pages),
	UNIT_TEST(the_message_is_that_of_the_version), UNIT_TEST(pages_are_described),
	UNIT_LOOP(ranges_are_split_at_pages, asked))

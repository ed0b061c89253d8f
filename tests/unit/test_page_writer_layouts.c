/* Which layout a page gets, and where pages are cut: messages as the format facts have them, and
 * levels that are too many for a chunk. */
#include <inttypes.h>

#include "arraytext.h"
#include "encode.h"
#include "pagewrite.h"

#include <stdio.h>

#define DEPTH_MAX 6

enum { MINI = 1 << 1, CONSTANT = 1 << 2, ZIP = 1 << 3 };

/* A field of its own with an array, and what its first page said. */
struct rig {
	struct field fields[DEPTH_MAX];
	const struct field *leaf;
	struct array_budget budget;
	struct array array;
	struct page_written written;
	struct buf encoding;
	struct lancet_error err;
};

static void
rig_init(struct rig *rig, const char *fields)
{
	*rig = (struct rig){ .budget.limit = SIZE_MAX };
	rig->leaf = field_chain(rig->fields, fields);
	ck_assert_int_eq(array_init(&rig->array, rig->fields, &rig->budget, NULL), LANCET_OK);
}

static void
rig_free(struct rig *rig)
{
	page_written_release(&rig->written);
	buf_release(&rig->encoding);
	array_release(&rig->array);
	ck_assert_uint_eq(rig->budget.used, 0);
}

static int
keep_encoding(void *context, struct page_out *page, struct lancet_error *err)
{
	struct rig *rig = context;

	if (rig->encoding.size == 0)
		buf_put_slice(&rig->encoding, buf_slice(&page->encoding));
	return page_written_put(&rig->written, page, err);
}

static int
rig_write(struct rig *rig, enum file_version version)
{
	const struct page_sink sink = { keep_encoding, rig };

	rig->written.columns = 1;
	return page_write_leaf(
		version, &rig->array, rig->leaf, 0, rig->array.length, sink, &rig->err);
}

/* All rows come back, and single ones. */
static void
rig_check(struct rig *rig, enum file_version version, const char *label)
{
	uint64_t rows = rig->array.length;
	const struct row_range ranges[] = { { 0, rows }, { rows - 1, 1 }, { rows / 2, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct array out;

		ck_assert_int_eq(array_init(&out, rig->fields, &rig->budget, NULL), LANCET_OK);
		ck_assert_msg(page_written_read(&rig->written, version, rig->fields, rows,
				      &ranges[i], 1, &out, &rig->err) == LANCET_OK,
			"%s: %s", label, rig->err.text);
		for (uint64_t row = 0; row < ranges[i].count; row++)
			if (!same_value(&rig->array, ranges[i].first + row, &out, row))
				ck_abort_msg("%s: row %" PRIu64, label, ranges[i].first + row);
		array_release(&out);
	}
}

static const struct {
	const char *label, *fields, *values;
	enum file_version version;
	unsigned layouts;
	const char *encoding; /* hex, or NULL */
} layouts[] = {
	{ "all null", "i", "- - -", FILE_2_1, CONSTANT, "12032a0103" },
	{ "all null", "i", "- - -", FILE_2_2, CONSTANT, "12032a0103" },
	{ "the type of nulls", "n", "- - -", FILE_2_2, CONSTANT, "12032a0103" },
	{ "one value", "i", "17 17 17", FILE_2_2, CONSTANT, "12092a0101320411000000" },
	{ "one value", "i", "17 17 17", FILE_2_1, MINI, NULL },
	{ "one value and nulls", "i", "17 - 17", FILE_2_2, CONSTANT, "12092a0103320411000000" },
	{ "texts", "t", "'a' - 'bc'", FILE_2_1, MINI,
		"0a1712040a0208101a0812060a040a02082032010338014803" },
	{ "texts", "t", "'a' - 'bc'", FILE_2_2, MINI,
		"0a1912040a0208101a0812060a040a020820320103380148035001" },
	{ "numbers", "i", "1 70000 4000000000", FILE_2_1, MINI, "0a0d1a040a02082032010138014803" },
	{ "numbers", "i", "1 70000 4000000000", FILE_2_2, MINI,
		"0a0f1a040a020820320101380148035001" },
	{ "lists", "li", "[1 70000] - [] [4000000000]", FILE_2_1, MINI,
		"0a1c0a040a02081012040a0208101a040a0208203202010638014001"
		"4803" },
	{ "lists without items", "li", "[] - []", FILE_2_1, CONSTANT, "12042a020106" },
	{ "lists of nulls", "li", "[-] - [- -]", FILE_2_2, CONSTANT, NULL },
	{ "lists of nulls", "li", "[-] - [- -]", FILE_2_1, MINI, NULL },
	{ "lists of the type of nulls", "ln", "[-] - [- -]", FILE_2_1, CONSTANT, "12042a020304" },
	{ "null structs", "si", "- -", FILE_2_2, CONSTANT, NULL },
};

static void
hex_of(const struct buf *bytes, char *text)
{
	for (size_t i = 0; i < bytes->size; i++)
		text += sprintf(text, "%02x", bytes->data[i]);
}

START_TEST(layouts_fit_the_values)
{
	char text[200] = "";
	struct rig rig;

	rig_init(&rig, layouts[_i].fields);
	array_put_text(&rig.array, layouts[_i].values);
	ck_assert_msg(rig_write(&rig, layouts[_i].version) == LANCET_OK, "%s: %s",
		layouts[_i].label, rig.err.text);
	ck_assert_uint_lt(rig.encoding.size, sizeof(text) / 2);
	hex_of(&rig.encoding, text);
	ck_assert_msg(
		rig.written.layouts == layouts[_i].layouts, "%s: %s", layouts[_i].label, text);
	if (layouts[_i].encoding != NULL)
		ck_assert_msg(
			strcmp(text, layouts[_i].encoding) == 0, "%s: %s", layouts[_i].label, text);
	rig_check(&rig, layouts[_i].version, layouts[_i].label);
	rig_free(&rig);
}
END_TEST

static void
put_lists(struct array *array, uint64_t count, uint64_t items)
{
	int rc = LANCET_OK;

	for (uint64_t i = 0; i < count; i++)
		rc |= array_append_list(array, items, NULL);
	ck_assert_int_eq(rc, LANCET_OK);
}

/* Numbers that no encoding makes smaller. */
static void
random_numbers(struct array *array, uint64_t count)
{
	uint64_t random = 88172645463325252u;
	int rc = LANCET_OK;

	for (uint64_t i = 0; i < count; i++) {
		next_random(&random);
		rc |= array_append_fixed(
			array, array->field->bits, (const uint8_t *)&random, 1, NULL);
	}
	ck_assert_int_eq(rc, LANCET_OK);
}

static void
empty_rows(struct array *array)
{
	put_lists(array, 200000, 0);
}

static void
items_at_both_ends(struct array *array)
{
	put_lists(array, 1, 1);
	put_lists(array, 300000, 0);
	put_lists(array, 2, 2);
	random_numbers(&array->children[0], 5);
}

static void
item_first(struct array *array)
{
	put_lists(array, 1, 3);
	put_lists(array, 200000, 0);
	random_numbers(&array->children[0], 3);
}

static void
item_last(struct array *array)
{
	put_lists(array, 200000, 0);
	put_lists(array, 1, 3);
	random_numbers(&array->children[0], 3);
}

static void
few_items(struct array *array)
{
	for (int i = 0; i < 8; i++) {
		put_lists(array, 40000, 0);
		put_lists(array, 1, 1);
	}
	random_numbers(&array->children[0], 8);
}

/* A single row of lists, which can't be cut. */
static void
many_empty_in_a_row(struct array *array)
{
	put_lists(array, 1, 200002);
	put_lists(&array->children[0], 1, 1);
	put_lists(&array->children[0], 200000, 0);
	put_lists(&array->children[0], 1, 2);
	random_numbers(&array->children[0].children[0], 3);
}

static void
one_row_among_others(struct array *array)
{
	put_lists(array, 1, 1);
	put_lists(array, 1, 100001);
	put_lists(array, 1, 1);
	put_lists(&array->children[0], 1, 2);
	put_lists(&array->children[0], 100000, 0);
	put_lists(&array->children[0], 2, 3);
	random_numbers(&array->children[0].children[0], 8);
}

static void
more_entries_than_a_page(struct array *array)
{
	put_lists(array, 3, 0);
	put_lists(array, 5000, 1000);
	random_numbers(&array->children[0], 5000 * 1000);
}

static void
many_nulls(struct array *array)
{
	random_numbers(array, 70000);
	ck_assert_int_eq(array_append_nulls(array, 5000000, NULL), LANCET_OK);
	random_numbers(array, 3);
}

static void
put_wide(struct array *array, uint64_t count, uint64_t different)
{
	char text[400];
	int rc = LANCET_OK;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t random = i % different + 1;

		for (size_t at = 0; at < sizeof(text); at++)
			text[at] = (char)next_random(&random);
		rc |= array_append_bytes(array, slice_of(text, sizeof(text)), NULL);
		if (i % 3 == 0)
			rc |= array_append_nulls(array, 1, NULL);
	}
	ck_assert_int_eq(rc, LANCET_OK);
}

static void
few_wide_texts(struct array *array)
{
	put_wide(array, 3000, 7);
}

static void
one_wide_text(struct array *array)
{
	put_wide(array, 3000, 1);
}

static void
other_wide_texts(struct array *array)
{
	put_wide(array, 3000, 3000);
}

static const struct {
	const char *label, *fields;
	void (*fill)(struct array *array);
	unsigned layouts;
	uint64_t least_pages, most_pages;
} cuts[] = {
	{ "only empty lists", "li", empty_rows, CONSTANT, 1, 1 },
	{ "items at both ends", "li", items_at_both_ends, MINI | CONSTANT, 2, 20 },
	{ "an item first", "li", item_first, MINI | CONSTANT, 2, 10 },
	{ "an item last", "li", item_last, MINI | CONSTANT, 2, 10 },
	{ "items between many", "li", few_items, MINI, 2, 40 },
	{ "many in a row", "lli", many_empty_in_a_row, ZIP, 1, 1 },
	{ "a long row among others", "lli", one_row_among_others, MINI | ZIP, 2, 3 },
	{ "more entries than a page takes", "li", more_entries_than_a_page, MINI, 2, 4 },
	{ "few wide texts", "t", few_wide_texts, MINI, 1, 1 },
	{ "one wide text", "t", one_wide_text, MINI, 1, 1 },
	{ "wide texts", "t", other_wide_texts, ZIP, 1, 1 },
	{ "more nulls than a page takes", "i", many_nulls, MINI | CONSTANT, 2, 4 },
};

START_TEST(pages_are_cut_at_rows)
{
	const enum file_version versions[] = { FILE_2_1, FILE_2_2 };

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct rig rig;
		unsigned seen;

		rig_init(&rig, cuts[_i].fields);
		cuts[_i].fill(&rig.array);
		ck_assert_msg(rig_write(&rig, versions[i]) == LANCET_OK, "%s: %s", cuts[_i].label,
			rig.err.text);
		seen = rig.written.layouts;
		ck_assert_msg(
			(seen & ~cuts[_i].layouts) == 0, "%s: layouts %x", cuts[_i].label, seen);
		ck_assert_msg(rig.written.page_counts[0] >= cuts[_i].least_pages &&
				      rig.written.page_counts[0] <= cuts[_i].most_pages,
			"%s: %" PRIu64 " pages", cuts[_i].label, rig.written.page_counts[0]);
		ck_assert_uint_eq(rig.written.lengths[0], rig.array.length);
		rig_check(&rig, versions[i], cuts[_i].label);
		rig_free(&rig);
	}
}
END_TEST

UNIT_MAIN("page_writer_layouts", UNIT_LOOP(layouts_fit_the_values, layouts),
	UNIT_LOOP(pages_are_cut_at_rows, cuts))

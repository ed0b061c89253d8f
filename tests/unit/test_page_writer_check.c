/* What pages of 2.1 and 2.2 can't hold is refused by name, before or while it is written. */
#include "arraytext.h"
#include "file/page_out.h"

#define DEPTH_MAX 6

static const struct {
	const char *fields;
	const char *refused_21, *refused_22; /* NULL: it can be held */
} checks[] = {
	{ "i", NULL, NULL },
	{ "lsi", NULL, NULL },
	{ "fi", NULL, NULL },
	{ "lfi", NULL, NULL },
	{ "ffi", NULL, NULL },
	{ "msi", "maps", NULL },
	{ "lmsi", "maps", NULL },
	{ "fsi", "fixed-size lists of structs", NULL },
	{ "sfsi", "fixed-size lists of structs", NULL },
	{ "ffsi", "fixed-size lists of structs", NULL },
	{ "lfsi", "fixed-size lists of structs", "inside of lists" },
	{ "lsfsi", "fixed-size lists of structs", "inside of lists" },
	{ "fsli", "fixed-size lists of structs", "lists inside of fixed-size" },
	{ "fsmsi", "fixed-size lists of structs", "lists inside of fixed-size" },
	{ "Fi", "no items", "no items" },
	{ "e", NULL, NULL },
	{ "se", "without fields inside", "without fields inside" },
	{ "le", "without fields inside", "without fields inside" },
	{ "z", "no bytes", "no bytes" },
	{ "pi", NULL, NULL },
	{ "lpi", NULL, NULL },
	{ "pt", "such values in packed structs", NULL },
	{ "pfi", "such values in packed structs", NULL },
	{ "pfb", "such values in packed structs", "such values in packed structs" },
	{ "pb", "such values in packed structs", "such values in packed structs" },
	{ "psi", "such values in packed structs", "such values in packed structs" },
	{ "pli", "such values in packed structs", "such values in packed structs" },
	{ "ppi", "such values in packed structs", "such values in packed structs" },
};

START_TEST(fields_are_refused_by_name)
{
	const char *const wants[] = { checks[_i].refused_21, checks[_i].refused_22 };
	const enum file_version versions[] = { FILE_2_1, FILE_2_2 };
	struct field fields[DEPTH_MAX];

	field_chain(fields, checks[_i].fields);
	fields[0].name = slice_text("top");
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct lancet_error err = { 0 };
		int rc = page_write_check(versions[i], fields, &err);

		if (wants[i] == NULL) {
			ck_assert_msg(rc == LANCET_OK, "%s: %s", checks[_i].fields, err.text);
			continue;
		}
		ck_assert_msg(rc == LANCET_UNSUPPORTED, "%s: %d", checks[_i].fields, rc);
		ck_assert_msg(
			strstr(err.text, wants[i]) != NULL, "%s: %s", checks[_i].fields, err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "column top"));
		ck_assert_ptr_nonnull(strstr(err.text, i == 0 ? "version 2.1" : "version 2.2"));
	}
}
END_TEST

/* The reference counts stored rows by the first field of a struct. */
START_TEST(fields_of_a_struct_have_as_many_rows)
{
	struct field fields[6], parts[2];
	struct lancet_error err = { 0 };

	field_chain(fields, "sfsi");
	parts[0] = fields[1];
	parts[0].children[0].parent = &parts[0];
	parts[1] = (struct field){ .kind = FIELD_FIXED, .bits = 8, .parent = &fields[0] };
	fields[0].children = parts;
	fields[0].child_count = 2;
	ck_assert_int_eq(page_write_check(FILE_2_2, fields, &err), LANCET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "beside fields without"));
	parts[1] = parts[0];
	ck_assert_int_eq(page_write_check(FILE_2_2, fields, &err), LANCET_OK);
	parts[1].dimension = 3;
	ck_assert_int_eq(page_write_check(FILE_2_2, fields, &err), LANCET_UNSUPPORTED);
}
END_TEST

static const struct {
	const char *fields, *values;
	enum lancet_code want;
	const char *text;
} contents[] = {
	{ "pi", "{1} {2}", LANCET_OK, "" },
	{ "pi", "{1} {-}", LANCET_UNSUPPORTED, "nulls inside of packed structs" },
	{ "pi", "{1} (-) -", LANCET_OK, "" },
	{ "lpi", "[{1} (-)] - [] <{-}>", LANCET_OK, "" },
	{ "lpi", "[{1} (-)] - [] [{-}]", LANCET_UNSUPPORTED, "nulls inside of packed structs" },
	{ "e", "{} {}", LANCET_OK, "" },
	{ "e", "{} -", LANCET_UNSUPPORTED, "nulls among structs without fields" },
};

static int
count_pages(void *context, struct page_out *page, struct lancet_error *err)
{
	(void)page;
	(void)err;
	++*(int *)context;
	return LANCET_OK;
}

START_TEST(values_are_refused)
{
	const enum file_version versions[] = { FILE_2_1, FILE_2_2 };
	struct field fields[DEPTH_MAX];
	const struct field *leaf = field_chain(fields, contents[_i].fields);
	struct array_budget budget = { .limit = 1 << 20 };
	struct array array;

	while (leaf->parent != NULL && leaf->parent->packed)
		leaf = leaf->parent;
	ck_assert_int_eq(array_init(&array, fields, &budget, NULL), LANCET_OK);
	array_put_text(&array, contents[_i].values);
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct lancet_error err = { 0 };
		int pages = 0;
		const struct page_sink sink = { count_pages, &pages };
		int rc = page_write_leaf(versions[i], &array, leaf, 0, array.length, sink, &err);

		ck_assert_msg(
			rc == (int)contents[_i].want, "%s: %s", contents[_i].values, err.text);
		ck_assert_int_eq(pages, rc == LANCET_OK ? 1 : 0);
		if (rc != LANCET_OK)
			ck_assert_msg(strstr(err.text, contents[_i].text) != NULL, "%s", err.text);
	}
	array_release(&array);
}
END_TEST

/* A sink's refusal is handed on, and no rows make no pages. */
static int
refuse_page(void *context, struct page_out *page, struct lancet_error *err)
{
	(void)context;
	(void)page;
	return lancet_fail(err, LANCET_CANCELLED, "enough");
}

START_TEST(the_sink_has_the_last_word)
{
	const struct page_sink sink = { refuse_page, NULL };
	struct field fields[DEPTH_MAX];
	const struct field *leaf = field_chain(fields, "li");
	struct array_budget budget = { .limit = 1 << 20 };
	struct lancet_error err = { 0 };
	struct array array;

	ck_assert_int_eq(array_init(&array, fields, &budget, NULL), LANCET_OK);
	array_put_text(&array, "[1] [2 3]");
	ck_assert_int_eq(
		page_write_leaf(FILE_2_2, &array, leaf, 0, 2, sink, &err), LANCET_CANCELLED);
	ck_assert_int_eq(page_write_leaf(FILE_2_2, &array, leaf, 1, 0, sink, &err), LANCET_OK);
	array_release(&array);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

UNIT_MAIN("page_writer_check", UNIT_LOOP(fields_are_refused_by_name, checks),
	UNIT_TEST(fields_of_a_struct_have_as_many_rows), UNIT_LOOP(values_are_refused, contents),
	UNIT_TEST(the_sink_has_the_last_word))

/* Pages taken over from other files: what they hold, what the metadata says of them, and what can't
 * be taken over.
 */
#include "fileread.h"

#include "arraytext.h"

#define ROOT(type)                                                                                 \
	{                                                                                          \
		{ 0, -1, "c", type, true, NULL },                                                  \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static const struct {
	struct written_field fields[7];
	const char *values[2]; /* of two files */
} kinds[] = {
	{ ROOT("int32"), { "1 - 3 70000", "- - 5" } },
	{ ROOT("string"), { "'a' 'b' - ''", "'x'" } },
	{ ROOT("fixed_size_list:float:3"), { "[1 2 3] -", "[4 - 6]" } },
	{ { { 0, -1, "c", "list", true, NULL }, { 1, 0, "item", "list", true, NULL },
		  { 2, 1, "item", "string", true, NULL }, { 0 } },
		{ "[['a' -] [] -] - [['q']]", "[] [[]] [['z']]" } },
	{ { { 0, -1, "c", "list", true, NULL }, { 1, 0, "item", "struct", false, NULL },
		  { 2, 1, "x", "int64", true, NULL }, { 3, 1, "y", "string", true, NULL }, { 0 } },
		{ "[{1 'a'} {- -}] - []", "[{2 ''}]" } },
	{ { { 0, -1, "c", "struct", false, NULL }, { 1, 0, "x", "int64", true, NULL },
		  { 2, 0, "s", "struct", false, NULL }, { 3, 2, "y", "list", true, NULL },
		  { 4, 3, "item", "bool", true, NULL }, { 0 } },
		{ "{1 {[1 0]}} {- {-}}", "{3 {[]}}" } },
	{ ROOT("null"), { "- - -", "-" } },
	{ { { 0, -1, "c", "struct", false, "lance-encoding:packed" },
		  { 1, 0, "x", "uint8", false, NULL }, { 2, 0, "y", "int64", false, NULL }, { 0 } },
		{ "{1 2} {3 4}", "{5 6}" } },
};

/* Values as often as asked for, put at once. */
static void
put_text(struct written *written, const char *values, unsigned times, struct buf *shown)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	const struct field *root = &file_writer_tree(written->writer)->roots[0];
	struct lancet_error err = { 0 };
	struct array array;

	ck_assert_int_eq(array_init(&array, root, &budget, NULL), LANCET_OK);
	while (times-- > 0)
		array_put_text(&array, values);
	ck_assert_msg(
		file_writer_put(written->writer, 0, &array, 0, array.length, &err) == LANCET_OK,
		"%s", err.text);
	if (shown != NULL)
		show_values(&array, shown);
	array_release(&array);
}

static void
open_writer(struct written *written, const struct written_field *fields, enum file_version version,
	size_t page_bytes)
{
	struct lancet_error err = { 0 };

	*written = (struct written){ 0 };
	ck_assert_msg(written_open_writer(written, fields, version, page_bytes, &err) == LANCET_OK,
		"%s", err.text);
}

/* Pages lie where they may, in order, and say which row they begin with. */
static void
check_pages(const struct written *written, enum file_version version)
{
	for (uint32_t i = 0; i < written->end.columns; i++) {
		const struct file_column *column;

		ck_assert_int_eq(datafile_column(written->file, i, &column, NULL), LANCET_OK);
		for (size_t j = 0; j < column->page_count; j++) {
			const struct page *page = &column->pages[j];

			ck_assert_uint_eq(page->priority, version == FILE_2_0 ? 0 : page->first);
			for (size_t k = 0; k < page->buffer_count; k++)
				ck_assert_uint_eq(page->buffers[k].offset % 64, 0);
		}
	}
}

START_TEST(files_are_put_together)
{
	enum file_version version = FILE_2_0 + _i % 3;
	size_t kind = (size_t)_i / 3;
	struct written from[2], to;
	struct buf want = { 0 }, got;

	open_writer(&to, kinds[kind].fields, version, 0);
	for (unsigned i = 0; i < 2; i++) {
		struct lancet_error err = { 0 };

		open_writer(&from[i], kinds[kind].fields, version, 100);
		put_text(&from[i], kinds[kind].values[i], 60, &want);
		written_end(&from[i]);
		ck_assert(file_writer_can_copy(to.writer, 0, from[i].places));
		ck_assert_msg(file_writer_copy(to.writer, 0, from[i].places, from[i].rows, &err) ==
				      LANCET_OK,
			"%s", err.text);
		/* values between copies, and behind them */
		put_text(&to, kinds[kind].values[0], 2, &want);
	}
	written_end(&to);
	check_pages(&to, version);
	got = written_show(&to, 0);
	ck_assert_uint_eq(want.size, got.size);
	ck_assert_mem_eq(want.data, got.data, got.size);
	buf_release(&want);
	buf_release(&got);
	for (unsigned i = 0; i < 2; i++)
		written_free(&from[i]);
	written_free(&to);
}
END_TEST

START_TEST(a_header_of_structs_stays_one_page)
{
	const struct file_column *column;
	struct written from, to;

	open_writer(&from, kinds[4].fields, FILE_2_0, 50);
	put_text(&from, kinds[4].values[0], 50, NULL);
	written_end(&from);
	open_writer(&to, kinds[4].fields, FILE_2_0, 50);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
			file_writer_copy(to.writer, 0, from.places, from.rows, NULL), LANCET_OK);
	written_end(&to);
	ck_assert_int_eq(datafile_column(to.file, 1, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(column->page_count, 1);
	ck_assert_uint_eq(column->length, 3 * 50 * 2);
	ck_assert_uint_eq(column->pages[0].buffer_count, 0);
	ck_assert_int_eq(datafile_column(to.file, 2, &column, NULL), LANCET_OK);
	ck_assert_uint_gt(column->page_count, 3);
	written_free(&from);
	written_free(&to);
}
END_TEST

/* Columns that are written, but not taken over. */
static const struct {
	const char *label;
	struct written_field fields[5];
	enum file_version from, to;
	const char *values;
	const char *patch[2]; /* bytes in the file, and what they become; as long as each other */
	size_t patch_size;
} kept_out[] = {
	{ "another version", ROOT("int32"), FILE_2_1, FILE_2_2, "1 -", { NULL }, 0 },
	{ "another version", ROOT("int32"), FILE_2_1, FILE_2_0, "1 -", { NULL }, 0 },
	{ "blobs", { { 0, -1, "b", "binary", true, "lance-encoding:blob" }, { 0 } }, FILE_2_0,
		FILE_2_0, "'x'", { NULL }, 0 },
	{ "blobs", { { 0, -1, "b", "binary", true, "lance-encoding:blob" }, { 0 } }, FILE_2_2,
		FILE_2_2, "'x'", { NULL }, 0 },
	{ "structs above lists",
		{ { 0, -1, "c", "struct", true, NULL }, { 1, 0, "y", "list", true, NULL },
			{ 2, 1, "item", "bool", true, NULL }, { 0 } },
		FILE_2_1, FILE_2_1, "{[1]} -", { NULL }, 0 },
	{ "fixed-size lists of structs",
		{ { 0, -1, "c", "fixed_size_list:struct:2", true, NULL },
			{ 1, 0, "item", "struct", true, NULL }, { 2, 1, "x", "int32", true, NULL },
			{ 0 } },
		FILE_2_2, FILE_2_2, "[{1} -] -", { NULL }, 0 },
	{ "a buffer of the file, not of the page", ROOT("double"), FILE_2_0, FILE_2_0,
		"4611686018427387905 - 1", { "\x08\x40\x12\2\x08\1", "\x08\x40\x12\2\x10\2" }, 6 },
	{ "a buffer of the column", ROOT("double"), FILE_2_0, FILE_2_0, "4611686018427387905 - 1",
		{ "\x08\x40\x12\2\x08\1", "\x08\x40\x12\2\x10\1" }, 6 },
};

static void
patch_file(struct written *written, const char *const *patch, size_t size)
{
	uint8_t *place =
		size == 0 ? NULL : memmem(written->bytes.data, written->bytes.size, patch[0], size);

	if (size == 0)
		return;
	ck_assert_ptr_nonnull(place);
	memcpy(place, patch[1], size);
	written_close(written);
	written_open(written);
}

START_TEST(what_refers_elsewhere_is_not_taken_over)
{
	struct written from, to;

	open_writer(&from, kept_out[_i].fields, kept_out[_i].from, 0);
	put_text(&from, kept_out[_i].values, 1, NULL);
	written_end(&from);
	patch_file(&from, kept_out[_i].patch, kept_out[_i].patch_size);
	open_writer(&to, kept_out[_i].fields, kept_out[_i].to, 0);
	ck_assert_msg(!file_writer_can_copy(to.writer, 0, from.places), "%s", kept_out[_i].label);
	from.places[0].file = NULL;
	ck_assert(!file_writer_can_copy(to.writer, 0, from.places));
	written_free(&from);
	written_free(&to);
}
END_TEST

START_TEST(columns_of_another_length_are_corrupt)
{
	struct lancet_error err = { 0 };
	struct written from, to;

	open_writer(&from, kinds[3].fields, FILE_2_0 + _i, 0);
	put_text(&from, kinds[3].values[0], 10, NULL);
	written_end(&from);
	open_writer(&to, kinds[3].fields, FILE_2_0 + _i, 0);
	ck_assert_int_eq(
		file_writer_copy(to.writer, 0, from.places, from.rows + 1, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, ": 30 values, 31 expected"));
	written_free(&from);
	written_free(&to);
}
END_TEST

static const char each_kind[3 * ARRAY_SIZE(kinds)];
static const char each_version[3];

UNIT_MAIN("file_writer_copy", UNIT_LOOP(files_are_put_together, each_kind),
	UNIT_TEST(a_header_of_structs_stays_one_page),
	UNIT_LOOP(what_refers_elsewhere_is_not_taken_over, kept_out),
	UNIT_LOOP(columns_of_another_length_are_corrupt, each_version))

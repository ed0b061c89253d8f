/* Readers of fields: who reads which file, rows that are asked for, and columns that are nowhere.
 */
#include "counted.h"
#include "datafiles.h"
#include "file/reader.h"
#include "tinyfiles.h"
#include "unit.h"

#include "lance/file.pb-c.h"

#include <inttypes.h>

struct opened {
	struct buf bytes;
	struct counted_source *src;
	struct datafile *file;
	struct field_tree tree;
	uint64_t rows;
};

static void
open_tiny(struct opened *opened, enum file_version version)
{
	opened->bytes = version == FILE_2_0 ? tiny_file_20() : tiny_file_22();
	opened->src = counted_new(buf_slice(&opened->bytes));
	ck_assert_int_eq(datafile_open(&opened->src->base, &opened->file, NULL), LANCET_OK);
	ck_assert_int_eq(
		datafile_schema(opened->file, FIELD_BLOB_BYTES, &opened->tree, &opened->rows, NULL),
		LANCET_OK);
}

static void
close_tiny(struct opened *opened)
{
	field_tree_release(&opened->tree);
	datafile_unref(opened->file);
	source_unref(&opened->src->base);
	buf_release(&opened->bytes);
}

static const enum file_version versions[] = { FILE_2_0, FILE_2_2 };

START_TEST(rows_are_read_back_and_forth)
{
	static const struct {
		size_t count;
		struct row_range ranges[2];
		size_t values;
		uint64_t wanted[3];
	} reads[] = {
		{ 1, { { 0, 3 } }, 3, { 1000, 1001, 1005 } },
		{ 1, { { 2, 1 } }, 1, { 1005 } },
		{ 2, { { 0, 1 }, { 2, 1 } }, 2, { 1000, 1005 } },
		{ 2, { { 0, 1 }, { 1, 1 } }, 2, { 1000, 1001 } },
		{ 0, { { 0, 0 } }, 0, { 0 } },
	};
	struct array_budget budget = { .limit = 1 << 20 };
	struct opened tiny;
	struct column_place place;
	struct field_reader *reader;
	struct array array;

	open_tiny(&tiny, versions[_i]);
	place = (struct column_place){ tiny.file, 0 };
	ck_assert_int_eq(field_reader_open(tiny.tree.roots, &place, 3, &reader, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&array, tiny.tree.roots, &budget, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++) {
		array_reset(&array);
		ck_assert_int_eq(
			field_reader_read(reader, reads[i].ranges, reads[i].count, &array, NULL),
			LANCET_OK);
		ck_assert_uint_eq(array.length, reads[i].values);
		ck_assert_uint_eq(array.null_count, 0);
		for (size_t j = 0; j < reads[i].values; j++)
			ck_assert_uint_eq(array_unsigned(&array, j), reads[i].wanted[j]);
	}
	array_release(&array);
	field_reader_free(reader);
	close_tiny(&tiny);
}
END_TEST

START_TEST(files_stay_open_for_their_readers)
{
	struct array_budget budget = { .limit = 1 << 20 };
	const struct row_range all = { 0, 3 };
	struct opened tiny;
	struct column_place place;
	struct field_reader *reader;
	struct array array;

	open_tiny(&tiny, versions[_i]);
	place = (struct column_place){ datafile_ref(tiny.file), 0 };
	ck_assert_int_eq(field_reader_open(tiny.tree.roots, &place, 3, &reader, NULL), LANCET_OK);
	datafile_unref(place.file);
	place.file = NULL;
	ck_assert_int_eq(array_init(&array, tiny.tree.roots, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(field_reader_read(reader, &all, 1, &array, NULL), LANCET_OK);
	ck_assert_uint_eq(array_unsigned(&array, 2), 1005);
	array_release(&array);
	field_reader_free(reader);
	close_tiny(&tiny);
}
END_TEST

static const struct {
	size_t count;
	struct row_range ranges[2];
} bad_asks[] = {
	{ 1, { { 0, 4 } } },
	{ 1, { { 3, 1 } } },
	{ 1, { { 0, 0 } } },
	{ 1, { { 1, UINT64_MAX } } },
	{ 1, { { UINT64_MAX, 1 } } },
	{ 2, { { 0, 2 }, { 1, 1 } } },
	{ 2, { { 1, 1 }, { 0, 1 } } },
};

START_TEST(rows_that_are_not_there_are_no_damage)
{
	struct array_budget budget = { .limit = 1 << 20 };
	struct lancet_error err = { 0 };
	struct opened tiny;
	struct column_place place;
	struct field_reader *reader;
	struct array array;

	open_tiny(&tiny, FILE_2_2);
	place = (struct column_place){ tiny.file, 0 };
	ck_assert_int_eq(field_reader_open(tiny.tree.roots, &place, 3, &reader, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&array, tiny.tree.roots, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(
		field_reader_read(reader, bad_asks[_i].ranges, bad_asks[_i].count, &array, &err),
		LANCET_INVALID);
	ck_assert_str_ne(err.text, "");
	ck_assert_uint_eq(array.length, 0);
	array_release(&array);
	field_reader_free(reader);
	close_tiny(&tiny);
}
END_TEST

START_TEST(columns_have_the_rows_of_the_fragment)
{
	static const uint64_t others[] = { 0, 2, 4, UINT64_MAX };
	struct opened tiny;
	struct column_place place;
	struct field_reader *reader = NULL;

	open_tiny(&tiny, versions[_i]);
	place = (struct column_place){ tiny.file, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct lancet_error err = { 0 };

		ck_assert_int_eq(
			field_reader_open(tiny.tree.roots, &place, others[i], &reader, &err),
			LANCET_CORRUPT);
		ck_assert(strncmp(err.text, "field id: ", 10) == 0);
	}
	ck_assert_ptr_null(reader);
	close_tiny(&tiny);
}
END_TEST

/* struct { a, b } whose columns lie where the caller says. */
static void
make_struct(struct field_tree *tree)
{
	static char names[][2] = { "s", "a", "b" };
	static char types[][8] = { "struct", "uint64", "uint64" };
	Lance__File__Field fields[3], *places[3];

	for (size_t i = 0; i < 3; i++) {
		lance__file__field__init(&fields[i]);
		fields[i].id = (int32_t)i;
		fields[i].parent_id = i == 0 ? -1 : 0;
		fields[i].name = (ProtobufCBinaryData){ 1, (uint8_t *)names[i] };
		fields[i].logical_type = (ProtobufCBinaryData){ 6, (uint8_t *)types[i] };
		places[i] = &fields[i];
	}
	ck_assert_int_eq(field_tree_init(tree, places, 3, FIELD_BLOB_BYTES, NULL), LANCET_OK);
}

START_TEST(columns_that_are_nowhere_are_null)
{
	const struct column_place places[3] = { { NULL, 0 } };
	struct array_budget budget = { .limit = 1 << 20 };
	const struct row_range ranges[] = { { 5, 2 }, { 9, 1 } };
	struct field_tree tree;
	struct field_reader *reader;
	struct array array;

	make_struct(&tree);
	ck_assert_int_eq(field_reader_open(tree.roots, places, 10, &reader, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&array, tree.roots, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(field_reader_read(reader, ranges, 2, &array, NULL), LANCET_OK);
	ck_assert_uint_eq(array.length, 3);
	ck_assert_uint_eq(array.null_count, 3);
	ck_assert_uint_eq(array.children[1].length, 3);
	ck_assert_uint_eq(field_reader_decoded(reader), 0);
	array_release(&array);
	field_reader_free(reader);
	field_tree_release(&tree);
}
END_TEST

START_TEST(one_field_is_of_one_family_of_formats)
{
	struct lancet_error err = { 0 };
	struct opened old, new;
	struct column_place places[3] = { { NULL, 0 } };
	struct field_tree tree;
	struct field_reader *reader;

	make_struct(&tree);
	open_tiny(&old, FILE_2_0);
	open_tiny(&new, FILE_2_2);
	places[1] = (struct column_place){ old.file, 0 };
	places[2] = (struct column_place){ new.file, 0 };
	ck_assert_int_eq(
		field_reader_open(tree.roots, places, 3, &reader, &err), LANCET_UNSUPPORTED);
	ck_assert(strstr(err.text, "2.0") != NULL && strstr(err.text, "2.2") != NULL);
	places[1].file = new.file;
	ck_assert_int_eq(field_reader_open(tree.roots, places, 3, &reader, NULL), LANCET_OK);
	field_reader_free(reader);
	close_tiny(&old);
	close_tiny(&new);
	field_tree_release(&tree);
}
END_TEST

START_TEST(columns_are_described_in_words)
{
	static const char *const words[] = { "flat 64", "mini_block(flat 64)" };
	struct column_description description;
	struct buf text = { 0 };
	struct opened tiny;

	open_tiny(&tiny, versions[_i]);
	ck_assert_int_eq(column_describe(tiny.file, 0, tiny.tree.roots, &description, &text, NULL),
		LANCET_OK);
	ck_assert_uint_eq(description.pages, 1);
	ck_assert_uint_eq(description.bytes, versions[_i] == FILE_2_0 ? 24 : 36);
	ck_assert(description.has_null_count);
	ck_assert_uint_eq(description.null_count, 0);
	ck_assert(slice_equal(buf_slice(&text), slice_text(words[_i])));
	ck_assert_int_eq(column_describe(tiny.file, 1, tiny.tree.roots, &description, &text, NULL),
		LANCET_INVALID);
	buf_release(&text);
	close_tiny(&tiny);
}
END_TEST

/* Tail, then what the page needs: of 2.0 just the rows, of 2.2 the words and the chunk. */
START_TEST(few_bytes_are_read_for_few_rows)
{
	struct array_budget budget = { .limit = 1 << 20 };
	const struct row_range one = { 1, 1 };
	struct opened tiny;
	struct column_place place;
	struct field_reader *reader;
	struct array array;
	uint64_t reads, bytes;

	open_tiny(&tiny, versions[_i]);
	place = (struct column_place){ tiny.file, 0 };
	reads = tiny.src->reads;
	bytes = tiny.src->bytes;
	ck_assert_int_eq(field_reader_open(tiny.tree.roots, &place, 3, &reader, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&array, tiny.tree.roots, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(field_reader_read(reader, &one, 1, &array, NULL), LANCET_OK);
	ck_assert_uint_eq(array_unsigned(&array, 0), 1001);
	ck_assert_uint_le(tiny.src->reads - reads, 2);
	ck_assert_uint_le(tiny.src->bytes - bytes, versions[_i] == FILE_2_0 ? 8 : 36);
	array_release(&array);
	field_reader_free(reader);
	close_tiny(&tiny);
}
END_TEST

UNIT_MAIN("reader", UNIT_LOOP(rows_are_read_back_and_forth, versions),
	UNIT_LOOP(files_stay_open_for_their_readers, versions),
	UNIT_LOOP(rows_that_are_not_there_are_no_damage, bad_asks),
	UNIT_LOOP(columns_have_the_rows_of_the_fragment, versions),
	UNIT_TEST(columns_that_are_nowhere_are_null),
	UNIT_TEST(one_field_is_of_one_family_of_formats),
	UNIT_LOOP(columns_are_described_in_words, versions),
	UNIT_LOOP(few_bytes_are_read_for_few_rows, versions))

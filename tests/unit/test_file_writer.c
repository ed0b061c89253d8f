/* The data file writer: bytes of whole files, what comes back of every kind of column, nulls that
 * hide something, refusals, failing sinks, columns from several threads.
 */
#include "fileread.h"

#include <pthread.h>

#include "arraytext.h"

/* The two files of the format facts, their values out of reach of packing; H for padding. */
static const struct {
	enum file_version version;
	const char *data, *page; /* buffers; metadata of the only page */
	size_t data_size, page_size;
} tiny[] = {
	{ FILE_2_0,
		"\xe8\3\0\0\0\0\0\xff\xe9\3\0\0\0\0\0\xff\xed\3\0\0\0\0\0\xff"
		"HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH",
		"\x12\x3c\x0a\x01\0\x12\x01\x18\x18\3\x22\x32\x12\x30\x0a\x2e\x0a\x1e"
		"/lance.encodings.ArrayEncoding\x12\x0c\x12\x0a\x0a\x08\x0a\6\x0a\4\x08\x40\x12\0",
		64, 62 },
	{ FILE_2_2,
		"\x30\0\0\0HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH"
		"\0\0\x18\0\0\0\xfe\xfe\xe8\3\0\0\0\0\0\xff\xe9\3\0\0\0\0\0\xff\xed\3\0\0\0\0\0\xff"
		"HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH",
		"\x12\x42\x0a\2\0\x40\x12\2\4\x20\x18\3\x22\x36\x12\x34\x0a\x32\x0a\x1d"
		"/lance.encodings21.PageLayout\x12\x11\x0a\x0f\x1a\4\x0a\2\x08\x40\x32\1\1\x38\1"
		"\x48\3\x50\1",
		128, 68 },
};

static const struct written_field id_field[] = { { 0, -1, "id", "uint64", false, NULL }, { 0 } };

static struct array
make_array(const struct file_writer *writer, size_t root, struct array_budget *budget)
{
	struct array array;

	budget->limit = SIZE_MAX;
	ck_assert_int_eq(array_init(&array, &file_writer_tree(writer)->roots[root], budget, NULL),
		LANCET_OK);
	return array;
}

static void
put_u64(struct buf *out, uint64_t value)
{
	buf_put(out, &value, sizeof(value));
}

START_TEST(tiny_files_are_those_of_the_facts)
{
	static const char descriptor[] = "\x0a\x19\x0a\x17\x12\2id\x20\xff\xff\xff\xff\xff\xff\xff"
					 "\xff\xff\1\x2a\6uint64\x10\3";
	static const char column[] = "\x0a\x29\x12\x27\x0a\x25\x0a\x1f/lance.encodings.Column"
				     "Encoding\x12\2\x0a";
	static const uint64_t values[] = { 0xff000000000003e8, 0xff000000000003e9,
		0xff000000000003ed };
	uint64_t at = tiny[_i].data_size + sizeof(descriptor) - 1;
	uint64_t size = sizeof(column) + tiny[_i].page_size;
	struct written written = { 0 };
	struct array_budget budget = { 0 };
	struct buf want = { 0 };
	struct array array;

	ck_assert_int_eq(
		written_open_writer(&written, id_field, tiny[_i].version, 0, NULL), LANCET_OK);
	array = make_array(written.writer, 0, &budget);
	ck_assert_int_eq(
		array_append_fixed(&array, 64, (const uint8_t *)values, 3, NULL), LANCET_OK);
	ck_assert_int_eq(file_writer_put(written.writer, 0, &array, 0, 3, NULL), LANCET_OK);
	written_end(&written);
	buf_put(&want, tiny[_i].data, tiny[_i].data_size);
	buf_put(&want, descriptor, sizeof(descriptor) - 1);
	buf_put(&want, column, sizeof(column));
	buf_put(&want, tiny[_i].page, tiny[_i].page_size);
	put_u64(&want, at);
	put_u64(&want, size);
	put_u64(&want, tiny[_i].data_size);
	put_u64(&want, sizeof(descriptor) - 1);
	put_u64(&want, at);
	put_u64(&want, at + size);
	put_u64(&want, at + size + 16);
	buf_put(&want, "\1\0\0\0\1\0\0\0", 8);
	buf_put(&want, tiny[_i].version == FILE_2_0 ? "\0\0\3\0LANC" : "\2\0\2\0LANC", 8);
	ck_assert_uint_eq(want.size, written.bytes.size);
	ck_assert_mem_eq(want.data, written.bytes.data, want.size);
	array_release(&array);
	buf_release(&want);
	written_free(&written);
}
END_TEST

#define ROOT(type)                                                                                 \
	{                                                                                          \
		{ 0, -1, "c", type, true, NULL },                                                  \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

/* Values in words, repeated until there are some hundred. "2" in versions: 2.0 has it, too. */
static const struct {
	struct written_field fields[6];
	bool in_v20, in_v21;
	const char *values;
} kinds[] = {
	{ ROOT("int8"), true, true, "1 - 127 128 255 0 -" },
	{ ROOT("uint16"), true, true, "1 - 65535 7 7 7" },
	{ ROOT("int32"), true, true, "1 2 3" },
	{ ROOT("double"), true, true, "1 - 4607182418800017408" },
	{ ROOT("bool"), true, true, "1 - 0 0 1 1 1 -" },
	{ ROOT("null"), true, true, "- -" },
	{ ROOT("string"), true, true, "'a' - '' 'bcd' 'a' -" },
	{ ROOT("large_binary"), true, true, "'xy' '' - 'a longer value'" },
	{ { { 0, -1, "c", "list", true, NULL }, { 1, 0, "item", "int32", true, NULL }, { 0 } },
		true, true, "[1 - 3] - [] [4] <7 8> []" },
	{ { { 0, -1, "c", "large_list", true, NULL }, { 1, 0, "item", "list", true, NULL },
		  { 2, 1, "item", "string", true, NULL }, { 0 } },
		true, true, "[['a' -] <'q'> []] - <[] ['z']> [[]] []" },
	{ { { 0, -1, "c", "list", true, NULL }, { 1, 0, "item", "int32", true, NULL }, { 0 } },
		true, true, "[] - -" },
	{ { { 0, -1, "c", "struct", true, NULL }, { 1, 0, "x", "int64", true, NULL },
		  { 2, 0, "y", "list", false, NULL }, { 3, 2, "item", "string", true, NULL },
		  { 0 } },
		true, true, "{1 ['a']} {- []} {3 ['b' -]}" },
	{ { { 0, -1, "c", "struct", true, NULL }, { 1, 0, "x", "int64", false, NULL },
		  { 2, 0, "y", "list", true, NULL }, { 3, 2, "item", "string", true, NULL },
		  { 0 } },
		false, true, "{1 ['a']} (2 ['q']) - {3 -} (- ['r' 's'])" },
	{ { { 0, -1, "c", "fixed_size_list:int16:3", true, NULL }, { 0 } }, true, true,
		"[1 2 3] - [4 - 6] <7 8 9>" },
	{ { { 0, -1, "c", "struct", false, "lance-encoding:packed" },
		  { 1, 0, "x", "uint8", false, NULL },
		  { 2, 0, "y", "fixed_size_list:float:2", false, NULL }, { 0 } },
		true, false, "{1 [2 3]} {4 [5 6]}" },
	{ { { 0, -1, "c", "large_binary", true, "lance-encoding:blob" }, { 0 } }, true, true,
		"'blob' - '' 'another one'" },
	{ { { 0, -1, "c", "struct", true, NULL },
		  { 1, 0, "b", "binary", true, "lance-encoding:blob" },
		  { 2, 0, "n", "int32", true, NULL }, { 0 } },
		false, true, "{'blob' 1} - {- 2} {'' -}" },
	{ { { 0, -1, "c", "struct", true, NULL }, { 0 } }, true, true, "{} {}" },
};

static bool
has_version(size_t kind, enum file_version version)
{
	return version == FILE_2_0 ? kinds[kind].in_v20 : kinds[kind].in_v21 || version == FILE_2_2;
}

/* Fills the array with some hundred values; returns how many. */
static uint64_t
fill(struct array *array, const char *values)
{
	while (array->length < 300)
		array_put_text(array, values);
	return array->length;
}

START_TEST(what_is_put_comes_back)
{
	static const size_t page_sizes[] = { 0, 1, 100, 2000 };
	enum file_version version = FILE_2_0 + _i % 3;
	size_t kind = (size_t)_i / 3;

	for (size_t i = 0; has_version(kind, version) && i < ARRAY_SIZE(page_sizes); i++) {
		struct written written = { 0 };
		struct array_budget budget = { 0 };
		struct lancet_error err = { 0 };
		struct buf want = { 0 }, got;
		struct array array;
		uint64_t count;

		ck_assert_msg(written_open_writer(&written, kinds[kind].fields, version,
				      page_sizes[i], &err) == LANCET_OK,
			"%s", err.text);
		array = make_array(written.writer, 0, &budget);
		count = fill(&array, kinds[kind].values);
		for (uint64_t at = 0, step = 1; at < count; at += step, step += 3) {
			step = step < count - at ? step : count - at;
			ck_assert_msg(file_writer_put(written.writer, 0, &array, at, step, &err) ==
					      LANCET_OK,
				"%s", err.text);
		}
		written_end(&written);
		show_values(&array, &want);
		got = written_show(&written, 0);
		ck_assert_uint_eq(want.size, got.size);
		ck_assert_mem_eq(want.data, got.data, got.size);
		buf_release(&want);
		buf_release(&got);
		array_release(&array);
		written_free(&written);
	}
}
END_TEST

static const struct {
	struct written_field fields[6];
	enum file_version version;
	const char *values, *error; /* no values: refused when opened */
	enum lancet_code code;
} refused[] = {
	{ ROOT("int32"), FILE_LEGACY, NULL,
		"data files of version 0.1 are not written by this build", LANCET_UNSUPPORTED },
	{ ROOT("int32"), FILE_2_3, NULL, "data files of version 2.3 are not written by this build",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "s", "struct", true, NULL }, { 1, 0, "m", "map", true, NULL },
		  { 2, 1, "entries", "struct", false, NULL }, { 3, 2, "k", "string", false, NULL },
		  { 4, 2, "v", "int32", true, NULL } },
		FILE_2_0, NULL, "column s.m: files of version 2.0 can't hold maps",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "f", "fixed_size_list:struct:2", true, NULL },
		  { 1, 0, "item", "struct", true, NULL }, { 2, 1, "x", "int8", true, NULL },
		  { 0 } },
		FILE_2_0, NULL,
		"column f: files of version 2.0 can't hold fixed-size lists of structs",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "p", "struct", true, "packed" }, { 1, 0, "t", "string", true, NULL }, { 0 } },
		FILE_2_0, NULL,
		"column p.t: files of version 2.0 can't hold such values in packed structs",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "p", "struct", true, "packed" }, { 1, 0, "t", "bool", true, NULL }, { 0 } },
		FILE_2_0, NULL,
		"column p.t: files of version 2.0 can't hold such values in packed structs",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "l", "list", true, NULL },
		  { 1, 0, "item", "binary", true, "lance-encoding:blob" }, { 0 } },
		FILE_2_2, NULL, "column l.item: lists of blobs are not written by this build",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "b", "struct", true, "lance-encoding:blob" }, { 0 } }, FILE_2_2, NULL,
		"column b: blobs of format v2 are not written by this build", LANCET_UNSUPPORTED },
	{ { { 0, -1, "n", "int32", false, NULL }, { 0 } }, FILE_2_0, "1 2 -",
		"column n: a null where there may be none", LANCET_INVALID },
	{ { { 0, -1, "l", "list", true, NULL }, { 1, 0, "item", "string", false, NULL }, { 0 } },
		FILE_2_2, "[] <- 'b'> ['a' -]", "column l.item: a null where there may be none",
		LANCET_INVALID },
	{ { { 0, -1, "s", "struct", true, NULL }, { 1, 0, "x", "int32", true, NULL }, { 0 } },
		FILE_2_0, "{1} -", "column s: files of version 2.0 can't hold null structs",
		LANCET_UNSUPPORTED },
	{ { { 0, -1, "p", "struct", true, "packed" }, { 1, 0, "x", "int32", true, NULL }, { 0 } },
		FILE_2_0, "{1} {-}",
		"column p.x: files of version 2.0 can't hold nulls in packed structs",
		LANCET_UNSUPPORTED },
};

START_TEST(what_cannot_be_held_is_refused_by_name)
{
	struct written written = { 0 };
	struct array_budget budget = { 0 };
	struct lancet_error err = { 0 };
	int rc = written_open_writer(&written, refused[_i].fields, refused[_i].version, 0, &err);

	if (refused[_i].values != NULL) {
		struct array array;

		ck_assert_int_eq(rc, LANCET_OK);
		array = make_array(written.writer, 0, &budget);
		array_put_text(&array, refused[_i].values);
		rc = file_writer_put(written.writer, 0, &array, 0, array.length, &err);
		array_release(&array);
	}
	ck_assert_int_eq(rc, refused[_i].code);
	ck_assert_str_eq(err.text, refused[_i].error);
	ck_assert_uint_eq(written.puts, 0);
	written_free(&written);
}
END_TEST

static const struct written_field two_fields[] = {
	{ 0, -1, "n", "int64", true, NULL },
	{ 1, -1, "t", "string", true, NULL },
	{ 0 },
};

/* Both columns, in pages of some hundred bytes; the first failure. */
static int
put_two(struct written *written, struct lancet_error *err)
{
	int rc = written_open_writer(written, two_fields, FILE_2_1, 300, err);

	for (size_t root = 0; rc == LANCET_OK && root < 2; root++) {
		struct array_budget budget = { 0 };
		struct array array = make_array(written->writer, root, &budget);

		fill(&array, root == 0 ? "1 - 900000000000" : "'one' - 'two'");
		rc = file_writer_put(written->writer, root, &array, 0, array.length, err);
		array_release(&array);
	}
	if (rc == LANCET_OK)
		rc = file_writer_finish(written->writer, &written->end, err);
	return rc;
}

START_TEST(the_sinks_failures_are_returned)
{
	struct written whole = { 0 };

	ck_assert_int_eq(put_two(&whole, NULL), LANCET_OK);
	ck_assert_uint_gt(whole.puts, 10);
	for (unsigned i = 1; i <= whole.puts; i++) {
		struct written written = { .puts_max = i };
		struct lancet_error err = { 0 };

		ck_assert_int_eq(put_two(&written, &err), LANCET_IO);
		ck_assert_ptr_nonnull(strstr(err.text, "no more space"));
		ck_assert_uint_eq(written.puts, i); /* and no more after it */
		written_free(&written);
	}
	written_free(&whole);
}
END_TEST

START_TEST(columns_of_different_lengths_are_no_file)
{
	struct written written = { 0 };
	struct array_budget budget = { 0 };
	struct lancet_error err = { 0 };
	struct file_written end;
	struct array array;

	ck_assert_int_eq(written_open_writer(&written, two_fields, FILE_2_0, 0, NULL), LANCET_OK);
	array = make_array(written.writer, 0, &budget);
	fill(&array, "7");
	ck_assert_int_eq(file_writer_put(written.writer, 0, &array, 0, 3, NULL), LANCET_OK);
	ck_assert_int_eq(file_writer_finish(written.writer, &end, &err), LANCET_INVALID);
	ck_assert_str_eq(err.text, "column t: 0 values, 3 in the first column");
	ck_assert_uint_eq(written.puts, 0);
	array_release(&array);
	written_free(&written);
}
END_TEST

START_TEST(buffers_and_metadata_are_found_again)
{
	struct written written = { 0 };
	struct page_buffer place;
	struct slice value;
	uint32_t first = 9, second = 9;

	ck_assert_int_eq(written_open_writer(&written, two_fields, FILE_2_2, 0, NULL), LANCET_OK);
	ck_assert_int_eq(
		file_writer_buffer(written.writer, slice_text("some"), &first, NULL), LANCET_OK);
	ck_assert_int_eq(
		file_writer_buffer(written.writer, slice_text("more"), &second, NULL), LANCET_OK);
	ck_assert_int_eq(file_writer_metadata(written.writer, "key", "value", NULL), LANCET_OK);
	written_end(&written);
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 2);
	ck_assert_int_eq(datafile_global_buffer(written.file, 2, &place, NULL), LANCET_OK);
	ck_assert_uint_eq(place.size, 4);
	ck_assert_mem_eq(written.bytes.data + place.offset, "more", 4);
	ck_assert_int_eq(
		datafile_metadata(written.file, slice_text("key"), &value, NULL), LANCET_OK);
	ck_assert(slice_equal(value, slice_text("value")));
	ck_assert_uint_eq(written.end.rows, 0);
	written_free(&written);
}
END_TEST

struct feeder {
	struct written *written;
	size_t root;
};

static void *
feed(void *user)
{
	const struct feeder *feeder = user;
	struct array_budget budget = { 0 };
	struct array array = make_array(feeder->written->writer, feeder->root, &budget);
	intptr_t rc = LANCET_OK;

	fill(&array, feeder->root == 0 ? "1 - 300" : "'a' 'bc' -");
	for (unsigned i = 0; rc == LANCET_OK && i < 100; i++)
		rc = file_writer_put(feeder->written->writer, feeder->root, &array, 0, 300, NULL);
	if (rc == LANCET_OK)
		rc = file_writer_end(feeder->written->writer, feeder->root, NULL);
	array_release(&array);
	return (void *)rc; /* NOLINT(performance-no-int-to-ptr) */
}

START_TEST(columns_come_from_several_threads)
{
	struct written written = { 0 };
	struct feeder feeders[2] = { { &written, 0 }, { &written, 1 } };
	pthread_t threads[2];
	void *rc;

	ck_assert_int_eq(written_open_writer(&written, two_fields, FILE_2_0, 700, NULL), LANCET_OK);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, feed, &feeders[i]), 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &rc), 0);
		ck_assert_ptr_null(rc);
	}
	written_end(&written);
	ck_assert_uint_eq(written.rows, 30000);
	for (size_t root = 0; root < 2; root++) {
		const char *words = root == 0 ? "1 - 12c " : "'a' 'bc' - ";
		struct buf got = written_show(&written, root);

		ck_assert_uint_eq(got.size, 10000 * strlen(words));
		for (size_t at = 0; at < got.size; at += strlen(words))
			ck_assert_mem_eq(got.data + at, words, strlen(words));
		buf_release(&got);
	}
	written_free(&written);
}
END_TEST

/* Two tests for every kind and version. */
static const char each_version[3 * ARRAY_SIZE(kinds)];

UNIT_MAIN("file_writer", UNIT_LOOP(tiny_files_are_those_of_the_facts, tiny),
	UNIT_LOOP(what_is_put_comes_back, each_version),
	UNIT_LOOP(what_cannot_be_held_is_refused_by_name, refused),
	UNIT_TEST(the_sinks_failures_are_returned),
	UNIT_TEST(columns_of_different_lengths_are_no_file),
	UNIT_TEST(buffers_and_metadata_are_found_again),
	UNIT_TEST(columns_come_from_several_threads))

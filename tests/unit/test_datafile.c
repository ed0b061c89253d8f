/* Data files: footers, column metadata, and what reading them costs. */
#include "counted.h"
#include "datafiles.h"
#include "tinyfiles.h"
#include "unit.h"

#include <pthread.h>

/* ---- opening ------------------------------------------------------------------------------- */

static const struct {
	unsigned major, minor;
	int want;
	const char *name, *type;
} versions[] = {
	{ 0, 3, LANCET_OK, "2.0", "lance.encodings.ArrayEncoding" },
	{ 2, 0, LANCET_OK, "2.0", "lance.encodings.ArrayEncoding" },
	{ 2, 1, LANCET_OK, "2.1", "lance.encodings21.PageLayout" },
	{ 2, 2, LANCET_OK, "2.2", "lance.encodings21.PageLayout" },
	{ 2, 3, LANCET_OK, "2.3", "lance.encodings23.PlanarLayout" },
	{ 2, 4, LANCET_UNSUPPORTED, NULL, "" },
	{ 3, 0, LANCET_UNSUPPORTED, NULL, "" },
	{ 1, 0, LANCET_UNSUPPORTED, NULL, "" },
	{ 0, 4, LANCET_UNSUPPORTED, NULL, "" },
};

static const struct page_spec two_pages[] = { { 0, 100, 60 }, { 128, 512, 40 } };

START_TEST(pages_of_each_version)
{
	struct file_spec spec = { versions[_i].major, versions[_i].minor, 100, 2, 2, two_pages,
		SOUND, versions[_i].type, 5, _i == 0 };
	struct buf bytes = make_file(&spec, NULL);
	const struct file_column *column, *again;
	struct datafile *file = NULL;
	uint64_t rows;

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), versions[_i].want);
	if (file == NULL) {
		buf_release(&bytes);
		return;
	}
	ck_assert_str_eq(file_version_name(datafile_version(file)), versions[_i].name);
	ck_assert_uint_eq(datafile_column_count(file), 2);
	ck_assert_int_eq(datafile_row_count(file, &rows, NULL), LANCET_OK);
	ck_assert_uint_eq(rows, 100);
	ck_assert_int_eq(datafile_column(file, 1, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(column->index, 1);
	ck_assert_int_eq(column->is_blob, spec.is_blob);
	ck_assert_uint_eq(column->page_count, 2);
	ck_assert_uint_eq(column->length, 100);
	ck_assert_uint_eq(column->pages[1].first, 60);
	ck_assert_uint_eq(column->pages[1].length, 40);
	ck_assert_uint_eq(column->pages[1].priority, 7);
	ck_assert_uint_eq(column->pages[1].buffer_count, 2);
	ck_assert_uint_eq(column->pages[1].buffers[0].offset, 128);
	ck_assert_uint_eq(column->pages[1].buffers[0].size, 512);
	ck_assert(slice_equal(column->pages[0].type, slice_text(versions[_i].type)));
	ck_assert(slice_equal(column->pages[0].encoding, slice_text("message")));
	ck_assert_int_eq(datafile_column(file, 1, &again, NULL), LANCET_OK);
	ck_assert_ptr_eq(again, column);
	ck_assert_int_eq(datafile_column(file, 2, &column, NULL), LANCET_INVALID);
	datafile_unref(datafile_ref(file));
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

/* One little-endian number of the footer is replaced. */
static const struct {
	const char *label;
	unsigned at, width;
	uint64_t value;
} footers[] = {
	{ "metadata behind its table", 0, 8, 100000 },
	{ "metadata far away", 0, 8, UINT64_MAX },
	{ "columns behind global buffers", 8, 8, 100000 },
	{ "columns before metadata", 8, 8, 0 },
	{ "global buffers behind the footer", 16, 8, UINT64_MAX - 8 },
	{ "no global buffers", 24, 4, 0 },
	{ "many global buffers", 24, 4, 2 },
	{ "very many global buffers", 24, 4, UINT32_MAX },
	{ "many columns", 28, 4, 3 },
	{ "very many columns", 28, 4, UINT32_MAX },
	{ "magic", 36, 4, 0x43434343 },
};

START_TEST(damaged_footers_are_refused)
{
	const struct file_spec spec = { 2, 2, 100, 2, 2, two_pages, SOUND, versions[3].type, 5,
		false };
	struct parts parts;
	struct buf bytes = make_file(&spec, &parts);
	struct lancet_error err = { 0 };
	struct datafile *file = NULL;

	for (unsigned i = 0; i < footers[_i].width; i++)
		bytes.data[parts.footer + footers[_i].at + i] =
			(uint8_t)(footers[_i].value >> 8 * i);
	ck_assert_msg(open_bytes(buf_slice(&bytes), &file, &err) == LANCET_CORRUPT, "%s",
		footers[_i].label);
	ck_assert(strncmp(err.text, "footer: ", 8) == 0);
	buf_release(&bytes);
}
END_TEST

static const struct {
	const char *label;
	unsigned minor;
	struct page_spec page;
	enum column_damage damage;
	int want;
} columns[] = {
	{ "sound", 2, { 64, 576, 100 }, SOUND, LANCET_OK },
	{ "a page of nothing at the end", 2, { 640, 0, 0 }, SOUND, LANCET_OK },
	{ "no encoding", 2, { 0, 1, 1 }, NO_COLUMN_ENCODING, LANCET_CORRUPT },
	{ "zone maps", 2, { 0, 1, 1 }, ZONE_MAP, LANCET_UNSUPPORTED },
	{ "a page without encoding", 2, { 0, 1, 1 }, NO_PAGE_ENCODING, LANCET_CORRUPT },
	{ "deferred", 2, { 0, 1, 1 }, DEFERRED, LANCET_UNSUPPORTED },
	{ "another type", 2, { 0, 1, 1 }, OTHER_TYPE, LANCET_CORRUPT },
	{ "fewer sizes than places", 2, { 0, 1, 1 }, SIZE_MISSING, LANCET_CORRUPT },
	{ "no message", 2, { 0, 1, 1 }, NOT_A_MESSAGE, LANCET_CORRUPT },
	{ "a buffer in the metadata", 2, { 64, 100000, 1 }, SOUND, LANCET_CORRUPT },
	{ "a buffer beyond the file", 2, { UINT64_MAX - 63, 64, 1 }, SOUND, LANCET_CORRUPT },
	{ "a size that wraps around", 2, { 64, UINT64_MAX - 32, 1 }, SOUND, LANCET_CORRUPT },
	{ "not aligned", 2, { 32, 1, 1 }, SOUND, LANCET_CORRUPT },
	{ "not aligned, and empty", 1, { 1, 0, 1 }, SOUND, LANCET_CORRUPT },
	{ "not aligned, which 2.0 may be", 0, { 3, 1, 1 }, SOUND, LANCET_OK },
	{ "rows beyond counting", 2, { 0, 1, (uint64_t)INT64_MAX + 1 }, SOUND, LANCET_CORRUPT },
};

START_TEST(damaged_columns_are_refused_alone)
{
	const struct file_spec spec = { 2, columns[_i].minor, 100, 1, 1, &columns[_i].page,
		columns[_i].damage, versions[1 + columns[_i].minor].type, 5, false };
	struct buf bytes = make_file(&spec, NULL);
	struct lancet_error err = { 0 };
	const struct file_column *column;
	struct datafile *file;
	uint64_t rows;

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	ck_assert_msg(datafile_column(file, 0, &column, &err) == columns[_i].want, "%s: %s",
		columns[_i].label, err.text);
	ck_assert(columns[_i].want == LANCET_OK || strncmp(err.text, "column 0: ", 10) == 0);
	ck_assert_int_eq(datafile_row_count(file, &rows, NULL), LANCET_OK);
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

START_TEST(rows_of_pages_together_are_counted)
{
	static const struct page_spec pages[] = { { 0, 1, INT64_MAX }, { 0, 1, 1 } };
	const struct file_spec spec = { 2, 1, 100, 1, 2, pages, SOUND, versions[2].type, 5, false };
	struct buf bytes = make_file(&spec, NULL);
	const struct file_column *column;
	struct datafile *file;

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	ck_assert_int_eq(datafile_column(file, 0, &column, NULL), LANCET_CORRUPT);
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

/* The places of column metadata: numbers of the first column's entry are replaced. */
START_TEST(column_metadata_lies_where_it_must)
{
	const struct file_spec spec = { 2, 2, 100, 2, 2, two_pages, SOUND, versions[3].type, 5,
		false };
	struct parts parts;
	struct buf bytes = make_file(&spec, &parts);
	const uint64_t bad[][2] = { { parts.metadata - 1, 1 }, { parts.columns, 1 }, { 0, 10 },
		{ parts.metadata, parts.columns - parts.metadata + 1 },
		{ parts.metadata, UINT64_MAX }, { UINT64_MAX, 2 } };
	const struct file_column *column;
	struct datafile *file;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(bytes.data + parts.columns, bad[i], 16);
		ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
		ck_assert_int_eq(datafile_column(file, 0, &column, NULL), LANCET_CORRUPT);
		ck_assert_int_eq(datafile_column(file, 1, &column, NULL), LANCET_OK);
		datafile_unref(file);
	}
	buf_release(&bytes);
}
END_TEST

START_TEST(global_buffers_are_inside_and_aligned)
{
	const struct file_spec spec = { 2, 2, 100, 0, 0, NULL, SOUND, "", 5, false };
	struct parts parts;
	struct buf bytes = make_file(&spec, &parts);
	const uint64_t bad[][2] = { { 641, 10 }, { 640, 100000 }, { UINT64_MAX - 63, 64 } };
	struct page_buffer place;
	struct datafile *file = NULL;

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	ck_assert_int_eq(datafile_global_buffer(file, 0, &place, NULL), LANCET_OK);
	ck_assert_uint_eq(place.offset, 640);
	ck_assert_int_eq(datafile_global_buffer(file, 1, &place, NULL), LANCET_CORRUPT);
	datafile_unref(file);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(bytes.data + parts.globals, bad[i], 16);
		ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_CORRUPT);
	}
	buf_release(&bytes);
}
END_TEST

/* ---- what it costs ------------------------------------------------------------------------- */

START_TEST(a_small_file_is_read_once)
{
	const struct file_spec spec = { 2, 2, 100, 2, 2, two_pages, SOUND, versions[3].type, 5,
		false };
	struct buf bytes = make_file(&spec, NULL);
	struct counted_source *src = counted_new(buf_slice(&bytes));
	const struct file_column *column;
	struct datafile *file;

	ck_assert_int_eq(datafile_open(&src->base, &file, NULL), LANCET_OK);
	ck_assert_int_eq(datafile_column(file, 0, &column, NULL), LANCET_OK);
	ck_assert_int_eq(datafile_column(file, 1, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(src->reads, 1);
	ck_assert_uint_le(src->bytes, 4096);
	datafile_unref(file);
	source_unref(&src->base);
	buf_release(&bytes);
}
END_TEST

START_TEST(of_a_large_file_one_column_is_read)
{
	const struct file_spec spec = { 2, 2, 100, 4000, 2, two_pages, SOUND, versions[3].type, 5,
		false };
	struct parts parts;
	struct buf bytes = make_file(&spec, &parts);
	struct counted_source *src = counted_new(buf_slice(&bytes));
	uint64_t metadata = (parts.columns - parts.metadata) / spec.columns;
	const struct file_column *column;
	struct datafile *file;
	uint64_t before;

	ck_assert_int_eq(datafile_open(&src->base, &file, NULL), LANCET_OK);
	ck_assert_uint_eq(src->reads, 1);
	ck_assert_uint_le(src->bytes, 4096);
	before = src->bytes;
	ck_assert_int_eq(datafile_column(file, 7, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(src->reads, 3);
	ck_assert_uint_eq(src->bytes - before, 16 + metadata);
	ck_assert_int_eq(datafile_column(file, 7, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(src->reads, 3);
	datafile_unref(file);
	source_unref(&src->base);
	buf_release(&bytes);
}
END_TEST

static void *
load_all(void *user)
{
	const struct file_column *first = NULL, *column;

	for (uint32_t i = datafile_column_count(user); i-- > 0;) {
		ck_assert_int_eq(datafile_column(user, i, &column, NULL), LANCET_OK);
		first = column;
	}
	return (void *)first;
}

START_TEST(threads_share_what_one_has_read)
{
	const struct file_spec spec = { 2, 2, 100, 300, 2, two_pages, SOUND, versions[3].type, 5,
		false };
	struct buf bytes = make_file(&spec, NULL);
	pthread_t threads[4];
	struct datafile *file;
	void *first[4];

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, load_all, file), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], &first[i]), 0);
	for (size_t i = 1; i < ARRAY_SIZE(threads); i++)
		ck_assert_ptr_eq(first[i], first[0]);
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

/* ---- files of the reference ---------------------------------------------------------------- */

START_TEST(tiny_files_of_the_facts)
{
	struct buf both[] = { tiny_file_20(), tiny_file_22() };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		const struct file_column *column;
		struct datafile *file;
		struct field_tree tree;
		uint64_t rows;

		ck_assert_int_eq(open_bytes(buf_slice(&both[i]), &file, NULL), LANCET_OK);
		ck_assert_int_eq(datafile_version(file), i == 0 ? FILE_2_0 : FILE_2_2);
		ck_assert_int_eq(
			datafile_schema(file, FIELD_BLOB_BYTES, &tree, &rows, NULL), LANCET_OK);
		ck_assert_uint_eq(rows, 3);
		ck_assert(slice_equal(tree.roots[0].name, slice_text("id")));
		ck_assert_str_eq(tree.roots[0].format, "L");
		ck_assert_int_eq(datafile_column(file, 0, &column, NULL), LANCET_OK);
		ck_assert_uint_eq(column->page_count, 1);
		ck_assert_uint_eq(column->length, 3);
		ck_assert_uint_eq(column->pages[0].buffers[0].size, i == 0 ? 24 : 4);
		ck_assert_uint_eq(column->pages[0].encoding.size, i == 0 ? 12 : 17);
		field_tree_release(&tree);
		datafile_unref(file);
		buf_release(&both[i]);
	}
}
END_TEST

UNIT_MAIN("datafile", UNIT_LOOP(pages_of_each_version, versions),
	UNIT_LOOP(damaged_footers_are_refused, footers),
	UNIT_LOOP(damaged_columns_are_refused_alone, columns),
	UNIT_TEST(rows_of_pages_together_are_counted),
	UNIT_TEST(column_metadata_lies_where_it_must),
	UNIT_TEST(global_buffers_are_inside_and_aligned), UNIT_TEST(a_small_file_is_read_once),
	UNIT_TEST(of_a_large_file_one_column_is_read), UNIT_TEST(threads_share_what_one_has_read),
	UNIT_TEST(tiny_files_of_the_facts))

/* What data files say of themselves: rows, schema, and which column a field has. */
#include "counted.h"
#include "datafiles.h"
#include "file/legacy_meta.h"
#include "unit.h"

#include "lance/file.pb-c.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct page_spec two_pages[] = { { 0, 100, 60 }, { 128, 512, 40 } };

static int
count_rows(struct slice bytes, uint64_t *ret_rows, struct lancet_error *err)
{
	struct counted_source *src = counted_new(bytes);
	struct datafile *file;
	int rc = datafile_open(&src->base, &file, err);

	if (rc == LANCET_OK) {
		rc = datafile_row_count(file, ret_rows, err);
		datafile_unref(file);
	}
	if (rc == LANCET_OK) { /* the schema was stepped over */
		ck_assert_uint_le(src->reads, 6);
		ck_assert_uint_le(src->bytes, 4096 + 512);
	}
	source_unref(&src->base);
	return rc;
}

/* ---- schemas and rows ---------------------------------------------------------------------- */

START_TEST(v2_files_say_their_rows_in_the_descriptor)
{
	const struct file_spec spec = { 2, 1, 123456789012, 0, 0, NULL, SOUND, "", 5000, false };
	struct buf bytes = make_file(&spec, NULL);
	uint64_t rows = 0;

	ck_assert_int_eq(count_rows(buf_slice(&bytes), &rows, NULL), LANCET_OK);
	ck_assert_uint_eq(rows, 123456789012);
	buf_release(&bytes);
}
END_TEST

static const struct {
	size_t count;
	int32_t offsets[4];
	int want;
	uint64_t rows;
} batches[] = {
	{ 0, { 0 }, LANCET_OK, 0 },
	{ 1, { 0 }, LANCET_OK, 0 },
	{ 4, { 0, 1024, 2048, 2500 }, LANCET_OK, 2500 },
	{ 2, { 5, 10 }, LANCET_CORRUPT, 0 },
	{ 3, { 0, 10, 9 }, LANCET_CORRUPT, 0 },
	{ 2, { 0, -1 }, LANCET_CORRUPT, 0 },
};

START_TEST(legacy_files_end_at_their_last_batch_offset)
{
	struct buf bytes = make_legacy(batches[_i].offsets, batches[_i].count);
	const struct legacy_meta *meta;
	struct datafile *file;
	uint64_t rows = 0;

	ck_assert_int_eq(count_rows(buf_slice(&bytes), &rows, NULL), batches[_i].want);
	ck_assert_uint_eq(rows, batches[_i].rows);
	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	ck_assert_int_eq(datafile_legacy(file, &meta, NULL), batches[_i].want);
	if (batches[_i].want == LANCET_OK) {
		ck_assert_uint_eq(meta->page_table, 17);
		ck_assert_uint_eq(
			meta->batch_count, batches[_i].count > 0 ? batches[_i].count - 1 : 0);
	}
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

START_TEST(files_carry_their_schema)
{
	const struct file_spec spec = { 2, 1, 9, 0, 0, NULL, SOUND, "", 0, false };
	struct buf both[] = { make_file(&spec, NULL), make_legacy((const int32_t[]){ 0, 9 }, 2) };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		struct Lance__File__Field *const *fields;
		struct field_tree tree;
		struct datafile *file;
		int32_t column = -7;
		size_t count;
		uint64_t rows;

		ck_assert_int_eq(open_bytes(buf_slice(&both[i]), &file, NULL), LANCET_OK);
		ck_assert_int_eq(
			datafile_schema(file, FIELD_BLOB_BYTES, &tree, &rows, NULL), LANCET_OK);
		ck_assert_uint_eq(rows, 9);
		ck_assert_uint_eq(tree.count, 1);
		ck_assert(slice_equal(tree.roots[0].name, slice_text("x")));
		ck_assert_int_eq(tree.roots[0].id, i == 0 ? 0 : 5);
		datafile_number_columns(datafile_version(file), &tree, &column);
		ck_assert_int_eq(column, i == 0 ? 0 : 5); /* legacy: the id */
		ck_assert_int_eq(datafile_fields(file, &fields, &count, NULL), LANCET_OK);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_eq(fields[0]->name.len, 1);
		field_tree_release(&tree);
		datafile_unref(file);
		buf_release(&both[i]);
	}
}
END_TEST

static const struct {
	bool legacy;
	const char *key, *value; /* NULL: there is none */
} metadata[] = {
	{ false, "once", "only" },
	{ false, "twice", "last" },
	{ false, "onc", NULL },
	{ true, "once", NULL },
};

START_TEST(metadata_of_a_schema_is_found_by_key)
{
	const struct file_spec spec = { 2, 1, 9, 0, 0, NULL, SOUND, "", 0, false };
	struct buf bytes = !metadata[_i].legacy ? make_file(&spec, NULL)
						: make_legacy((const int32_t[]){ 0, 9 }, 2);
	struct slice key = slice_text(metadata[_i].key), value = { 0 };
	struct datafile *file;
	int rc;

	ck_assert_int_eq(open_bytes(buf_slice(&bytes), &file, NULL), LANCET_OK);
	rc = datafile_metadata(file, key, &value, NULL);
	if (metadata[_i].value == NULL) {
		ck_assert_int_eq(rc, LANCET_NOT_FOUND);
		ck_assert_ptr_null(value.data);
	} else {
		ck_assert_int_eq(rc, LANCET_OK);
		ck_assert(slice_equal(value, slice_text(metadata[_i].value)));
	}
	datafile_unref(file);
	buf_release(&bytes);
}
END_TEST

static const bool is_legacy[] = { false, true };

/* Cut at the front the offsets are wrong, cut at the end the magic is: nothing may be believed or
 * overrun. */
START_TEST(damaged_files_are_refused)
{
	const struct file_spec spec = { 2, 1, 1000, 1, 2, two_pages, SOUND,
		"lance.encodings21.PageLayout", 5000, false };
	struct buf file = !is_legacy[_i] ? make_file(&spec, NULL)
					 : make_legacy((const int32_t[]){ 0, 1000 }, 2);

	for (size_t size = 0; size < file.size; size++) {
		uint64_t rows = 0;

		ck_assert_int_eq(
			count_rows(slice_of(file.data, size), &rows, NULL), LANCET_CORRUPT);
		if (size >= file.size - 40)
			(void)count_rows(slice_of(file.data + file.size - size, size), &rows, NULL);
	}
	for (size_t i = file.size - 120; i < file.size; i++) {
		struct field_tree tree;
		struct datafile *opened;
		uint64_t rows = 0;

		file.data[i] ^= 0xff;
		(void)count_rows(buf_slice(&file), &rows, NULL);
		if (open_bytes(buf_slice(&file), &opened, NULL) == LANCET_OK) {
			if (datafile_schema(opened, FIELD_BLOB_BYTES, &tree, &rows, NULL) ==
				LANCET_OK)
				field_tree_release(&tree);
			datafile_unref(opened);
		}
		file.data[i] ^= 0xff;
	}
	buf_release(&file);
}
END_TEST

/* ---- columns of fields --------------------------------------------------------------------- */

static const struct {
	const char *label, *wanted20, *wanted21;
	size_t count;
	struct {
		int32_t id, parent;
		const char *type, *key;
	} rows[6];
} numberings[] = {
	{ "numbers", "0 1", "0 1", 2, { { 0, -1, "int32", NULL }, { 1, -1, "string", NULL } } },
	{ "int, list, struct", "0 1 2 3 4", "0 - 1 - 2", 5,
		{ { 0, -1, "int32", NULL }, { 1, -1, "list", NULL }, { 2, 1, "int32", NULL },
			{ 3, -1, "struct", NULL }, { 4, 3, "double", NULL } } },
	{ "implied fields have none", "0 - 1 - 2", "0 - 1 - 2", 3,
		{ { 0, -1, "fixed_size_list:float:4", NULL },
			{ 1, -1, "dict:string:int8:false", NULL }, { 2, -1, "int32", NULL } } },
	{ "packed structs", "0 - - 1", "0 - - 1", 4,
		{ { 0, -1, "struct", "lance-encoding:packed" }, { 1, 0, "int32", NULL },
			{ 2, 0, "float", NULL }, { 3, -1, "int32", NULL } } },
	{ "blobs", "0 - - 1", "0 - - 1", 2,
		{ { 0, -1, "large_binary", "lance-encoding:blob" }, { 3, -1, "int32", NULL } } },
	{ "structs of nothing", "0 1", "0 1", 2,
		{ { 0, -1, "struct", NULL }, { 1, -1, "int32", NULL } } },
	{ "fixed-size lists of structs", "0 1 2 3", "- - 0 1", 4,
		{ { 0, -1, "fixed_size_list:struct:3", NULL }, { 1, 0, "struct", NULL },
			{ 2, 1, "int32", NULL }, { 3, -1, "int32", NULL } } },
	{ "maps", "0 1 2 3", "- - 0 1", 4,
		{ { 0, -1, "map", NULL }, { 1, 0, "struct", NULL }, { 2, 1, "string", NULL },
			{ 3, 1, "int32", NULL } } },
};

static void
check_numbering(enum file_version version, const struct field_tree *tree, const char *wanted)
{
	int32_t numbers[16];
	struct buf shown = { 0 };

	ck_assert_uint_le(tree->count, ARRAY_SIZE(numbers));
	datafile_number_columns(version, tree, numbers);
	for (uint32_t i = 0; i < tree->count; i++) {
		buf_put_text(&shown, i > 0 ? " " : "");
		if (numbers[i] < 0)
			buf_put_text(&shown, "-");
		else
			buf_printf(&shown, "%" PRId32, numbers[i]);
	}
	buf_put_byte(&shown, '\0');
	ck_assert_str_eq((const char *)shown.data, wanted);
	buf_release(&shown);
}

START_TEST(columns_are_counted_by_version)
{
	Lance__File__Field fields[6], *places[6];
	Lance__File__StringEntry entries[6], *entry_places[6];
	struct field_tree tree;

	for (size_t i = 0; i < numberings[_i].count; i++) {
		const char *type = numberings[_i].rows[i].type;
		const char *key = numberings[_i].rows[i].key;

		lance__file__field__init(&fields[i]);
		fields[i].id = numberings[_i].rows[i].id;
		fields[i].parent_id = numberings[_i].rows[i].parent;
		fields[i].logical_type = (ProtobufCBinaryData){ strlen(type), (uint8_t *)type };
		places[i] = &fields[i];
		if (key == NULL)
			continue;
		lance__file__string_entry__init(&entries[i]);
		entries[i].key = (ProtobufCBinaryData){ strlen(key), (uint8_t *)key };
		entry_places[i] = &entries[i];
		fields[i].n_metadata = 1;
		fields[i].metadata = &entry_places[i];
	}
	ck_assert_int_eq(
		field_tree_init(&tree, places, numberings[_i].count, FIELD_BLOB_DESCRIPTIONS, NULL),
		LANCET_OK);
	check_numbering(FILE_2_0, &tree, numberings[_i].wanted20);
	check_numbering(FILE_2_1, &tree, numberings[_i].wanted21);
	check_numbering(FILE_2_3, &tree, numberings[_i].wanted21);
	field_tree_release(&tree);
}
END_TEST

/* The rows of the sample's four data files, as the reference counts them. */
START_TEST(files_of_the_reference_have_the_rows_it_says)
{
	static const size_t want_of[] = { 48, 32, 8, 16 };
	size_t found[ARRAY_SIZE(want_of)] = { 0 };
	glob_t files;

	ck_assert_int_eq(glob(UNIT_DATA_DIR "/sample.lance/data/*.lance", 0, NULL, &files), 0);
	ck_assert_uint_eq(files.gl_pathc, ARRAY_SIZE(want_of));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		int fd = open(files.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		const struct file_column *column;
		struct datafile *file;
		struct stat st;
		struct source *src;
		uint64_t rows;

		ck_assert(fd >= 0 && fstat(fd, &st) == 0);
		src = source_fd_new(fd, (uint64_t)st.st_size);
		ck_assert_int_eq(datafile_open(src, &file, NULL), LANCET_OK);
		ck_assert_int_eq(datafile_row_count(file, &rows, NULL), LANCET_OK);
		for (uint32_t j = 0; j < datafile_column_count(file); j++) {
			ck_assert_int_eq(datafile_column(file, j, &column, NULL), LANCET_OK);
			ck_assert_uint_eq(column->length, rows);
		}
		for (size_t j = 0; j < ARRAY_SIZE(want_of); j++)
			found[j] += rows == want_of[j];
		datafile_unref(file);
		source_unref(src);
	}
	for (size_t j = 0; j < ARRAY_SIZE(want_of); j++)
		ck_assert_uint_eq(found[j], 1);
	globfree(&files);
}
END_TEST

UNIT_MAIN("datafile_schema", UNIT_TEST(v2_files_say_their_rows_in_the_descriptor),
	UNIT_LOOP(legacy_files_end_at_their_last_batch_offset, batches),
	UNIT_TEST(files_carry_their_schema),
	UNIT_LOOP(metadata_of_a_schema_is_found_by_key, metadata),
	UNIT_LOOP(damaged_files_are_refused, is_legacy),
	UNIT_LOOP(columns_are_counted_by_version, numberings),
	UNIT_TEST(files_of_the_reference_have_the_rows_it_says))

/* What an opened version says: summary, maps, base paths, sections. */
#include "unit.h"

#include "maker.h"

#include <string.h>

static void
check_text(struct lancet_bytes got, const char *want)
{
	ck_assert_uint_eq(got.size, strlen(want));
	ck_assert(got.size == 0 || memcmp(got.data, want, got.size) == 0);
}

START_TEST(the_summary_is_what_is_stored)
{
	Lance__Table__Manifest m = LANCE__TABLE__MANIFEST__INIT;
	Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
	Lance__Table__Manifest__WriterVersion writer = LANCE__TABLE__MANIFEST__WRITER_VERSION__INIT;
	Lance__Table__Manifest__DataStorageFormat format =
		LANCE__TABLE__MANIFEST__DATA_STORAGE_FORMAT__INIT;
	const struct lancet_version_info *info;
	lancet_version *version = NULL;
	struct buf file = { 0 };
	uint8_t *bytes;

	time.seconds = -62135596801;
	time.nanos = -5;
	writer.library = maker_text("lance");
	writer.version = maker_text("14.0.2");
	writer.prerelease_presence_case =
		LANCE__TABLE__MANIFEST__WRITER_VERSION__PRERELEASE_PRESENCE_PRERELEASE;
	writer.prerelease = maker_text("rc1");
	format.version = maker_text("2.1");
	m.version = UINT64_C(1) << 63 | 5;
	m.timestamp = &time;
	m.writer_version = &writer;
	m.data_format = &format;
	m.reader_feature_flags = 3;
	m.writer_feature_flags = 3 | UINT64_C(1) << 40;
	m.next_row_id = UINT64_MAX;
	m.max_fragment_id_presence_case =
		LANCE__TABLE__MANIFEST__MAX_FRAGMENT_ID_PRESENCE_MAX_FRAGMENT_ID;
	m.max_fragment_id = 0;
	m.tag = maker_text("t");
	m.transaction_file = maker_text("1-x.txn");
	m.branch_presence_case = LANCE__TABLE__MANIFEST__BRANCH_PRESENCE_BRANCH;
	m.branch = maker_text("a/b");
	m.transaction_section_deprecated_presence_case = 21; /* the field number */
	m.transaction_section_deprecated = 99;
	ck_assert_int_eq(maker_load_message(&file, &m, &version, NULL), LANCET_OK);
	info = lancet_version_info(version);
	ck_assert_uint_eq(info->number, m.version);
	ck_assert(info->has_timestamp && info->stable_row_ids && info->has_writer);
	ck_assert_int_eq(info->timestamp_seconds, time.seconds);
	ck_assert_int_eq(info->timestamp_nanos, time.nanos);
	ck_assert_uint_eq(info->reader_flags, 3);
	ck_assert_uint_eq(info->writer_flags, m.writer_feature_flags);
	ck_assert_uint_eq(info->next_row_id, UINT64_MAX);
	ck_assert(info->has_max_fragment_id && info->max_fragment_id == 0);
	check_text(info->storage_version, "2.1");
	check_text(info->writer_library, "lance");
	check_text(info->writer_version, "14.0.2");
	check_text(info->writer_prerelease, "rc1");
	check_text(info->writer_build, "");
	check_text(info->tag, "t");
	check_text(info->branch, "a/b");
	check_text(info->transaction_file, "1-x.txn");
	ck_assert(version->has_transaction_section && version->transaction_section == 99);
	ck_assert(!version->has_index_section);
	ck_assert_uint_eq(lancet_version_manifest_size(version), file.size - 20);
	bytes = malloc(file.size);
	ck_assert_int_eq(lancet_version_manifest_read(version, 0, file.size - 20, bytes, NULL),
	                 LANCET_OK);
	ck_assert_mem_eq(bytes, file.data + 4, file.size - 20);
	ck_assert_int_eq(lancet_version_manifest_read(version, 1, file.size - 20, bytes, NULL),
	                 LANCET_INVALID);
	free(bytes);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

/* What a version without a recorded format says: from its first file, or from the flags. */
static const struct {
	bool has_file;
	uint32_t major, minor;
	uint64_t flags;
	const char *want;
} formats[] = {
	{ false, 0, 0, 0, "0.1" }, { false, 0, 0, 4, "2.2" }, { true, 0, 0, 4, "0.1" },
	{ true, 0, 2, 0, "0.1" },  { true, 0, 3, 0, "2.0" },  { true, 2, 0, 0, "2.0" },
	{ true, 2, 3, 0, "2.3" },  { true, 2, 4, 0, "" },     { true, 9, 0, 0, "" },
};

START_TEST(a_missing_format_is_inferred)
{
	Lance__Table__Manifest m = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__DataFragment fragment = LANCE__TABLE__DATA_FRAGMENT__INIT;
	Lance__Table__DataFragment *fragments[] = { &fragment };
	Lance__Table__DataFile data_file = LANCE__TABLE__DATA_FILE__INIT;
	Lance__Table__DataFile *files[] = { &data_file };
	lancet_version *version = NULL;
	struct buf file = { 0 };

	data_file.file_major_version = formats[_i].major;
	data_file.file_minor_version = formats[_i].minor;
	fragment.n_files = formats[_i].has_file;
	fragment.files = files;
	m.version = 1;
	m.reader_feature_flags = formats[_i].flags;
	m.n_fragments = 1;
	m.fragments = fragments;
	ck_assert_int_eq(maker_load_message(&file, &m, &version, NULL), LANCET_OK);
	check_text(lancet_version_info(version)->storage_version, formats[_i].want);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

START_TEST(maps_are_sorted_and_the_last_of_a_key_counts)
{
	static const char *const stored[][2] = {
		{ "b", "1" }, { "a\xff", "2" }, { "a", "3" }, { "", "4" }, { "b", "5" },
	};
	static const char *const want[][2] = {
		{ "", "4" }, { "a", "3" }, { "a\xff", "2" }, { "b", "5" },
	};
	Lance__Table__Manifest m = LANCE__TABLE__MANIFEST__INIT;
	Lance__File__StringEntry entries[ARRAY_SIZE(stored)];
	Lance__File__StringEntry *pointers[ARRAY_SIZE(stored)];
	const struct lancet_entry *map;
	lancet_version *version = NULL;
	struct buf file = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stored); i++) {
		lance__file__string_entry__init(&entries[i]);
		entries[i].key = maker_text(stored[i][0]);
		entries[i].value = maker_text(stored[i][1]);
		pointers[i] = &entries[i];
	}
	m.version = 1;
	m.n_config = ARRAY_SIZE(stored);
	m.config = pointers;
	m.n_table_metadata = 1;
	m.table_metadata = pointers;
	ck_assert_int_eq(maker_load_message(&file, &m, &version, NULL), LANCET_OK);
	map = lancet_version_map(version, LANCET_CONFIG, &count);
	ck_assert_uint_eq(count, ARRAY_SIZE(want));
	for (size_t i = 0; i < count; i++) {
		check_text(map[i].key, want[i][0]);
		check_text(map[i].value, want[i][1]);
	}
	(void)lancet_version_map(version, LANCET_TABLE_METADATA, &count);
	ck_assert_uint_eq(count, 1);
	(void)lancet_version_map(version, LANCET_SCHEMA_METADATA, &count);
	ck_assert_uint_eq(count, 0);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

START_TEST(base_paths_are_found_by_id)
{
	static const struct { uint32_t id; const char *path; } stored[] = {
		{ 9, "/nine" }, { 0, "/zero" }, { 9, "/nine again" }, { UINT32_MAX, "s3://max" },
	};
	Lance__Table__Manifest m = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__BasePath paths[ARRAY_SIZE(stored)];
	Lance__Table__BasePath *pointers[ARRAY_SIZE(stored)];
	const lancet_base *base = NULL;
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };
	struct buf file = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stored); i++) {
		lance__table__base_path__init(&paths[i]);
		paths[i].id = stored[i].id;
		paths[i].path = maker_text(stored[i].path);
		pointers[i] = &paths[i];
	}
	m.version = 1;
	m.n_base_paths = ARRAY_SIZE(stored);
	m.base_paths = pointers;
	ck_assert_int_eq(maker_load_message(&file, &m, &version, NULL), LANCET_OK);
	ck_assert_uint_eq(lancet_version_base_paths(version, &count)[0].id, 0);
	ck_assert_uint_eq(count, ARRAY_SIZE(stored));
	check_text(version_base_path(version, 9)->path, "/nine again");
	check_text(version_base_path(version, 0)->path, "/zero");
	ck_assert_ptr_null(version_base_path(version, 10));
	ck_assert_int_eq(lancet_version_base(version, false, 0, &base, NULL), LANCET_OK);
	ck_assert_ptr_nonnull(base);
	ck_assert_int_eq(lancet_version_base(version, true, 1, &base, &err), LANCET_CORRUPT);
	ck_assert_int_eq(lancet_version_base(version, true, UINT32_MAX, &base, &err),
	                 LANCET_UNSUPPORTED);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

START_TEST(sections_are_loaded_within_the_file)
{
	static const struct { uint64_t offset; uint64_t max; int want; } loads[] = {
		{ 3, 5, LANCET_OK },        { 3, 4, LANCET_LIMIT },    { 0, 9, LANCET_CORRUPT },
		{ 1 << 20, 9, LANCET_CORRUPT }, { UINT64_MAX, 9, LANCET_CORRUPT },
	};
	struct buf message = { 0 }, file = { 0 };
	lancet_version *version = NULL;
	uint8_t *data = NULL;
	size_t size = 0;

	buf_put(&file, "\xff\xff\xff\5\0\0\0hello", 12);
	maker_number(&message, 3, 1);
	maker_frame(&file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(&file), 1, &version, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++)
		ck_assert_int_eq(version_section_load(version, loads[i].offset, loads[i].max, &data,
		                                      &size, NULL),
		                 loads[i].want);
	ck_assert_uint_eq(size, 5);
	ck_assert_mem_eq(data, "hello", 5);
	free(data);
	lancet_version_unref(version);
	buf_release(&message);
	buf_release(&file);
}
END_TEST

UNIT_MAIN("version", UNIT_TEST(the_summary_is_what_is_stored),
          UNIT_LOOP(a_missing_format_is_inferred, formats),
          UNIT_TEST(maps_are_sorted_and_the_last_of_a_key_counts),
          UNIT_TEST(base_paths_are_found_by_id), UNIT_TEST(sections_are_loaded_within_the_file))

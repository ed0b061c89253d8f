/* The details of a reuse index: found by their entry, inline or in a file below its base, and kept
 * with the version; where row maps lie.
 */
#include "unit.h"

#include <errno.h>

#include <lancet/live.h>
#include "histories.h"
#include "maker.h"
#include "temptree.h"

#define TYPE_URL "/lance.table.FragmentReuseIndexDetails"
#define UUID     "00010203-0405-0607-0809-0a0b0c0d0e0f"
#define HAS_BASE LANCE__TABLE__INDEX_METADATA__BASE_ID_PRESENCE_BASE_ID
#define OTHER_ID 7 /* of the base that is no dataset */

/* A dataset with one version, which has the entry. */
struct fixture {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *version;
	Lance__Table__IndexMetadata entry, other;
	Lance__Table__UUID uuid;
	Google__Protobuf__Any any;
	struct buf details;
	bool has_other; /* a second entry, in front of the first */
};

static void
fixture_init(struct fixture *fixture)
{
	static uint8_t uuid[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

	*fixture = (struct fixture){
		.tree = tree_new(),
		.entry = LANCE__TABLE__INDEX_METADATA__INIT,
		.other = LANCE__TABLE__INDEX_METADATA__INIT,
		.uuid = LANCE__TABLE__UUID__INIT,
		.any = GOOGLE__PROTOBUF__ANY__INIT,
	};
	fixture->entry.name = maker_text("__lance_frag_reuse");
	fixture->entry.index_version_presence_case =
		LANCE__TABLE__INDEX_METADATA__INDEX_VERSION_PRESENCE_INDEX_VERSION;
	fixture->entry.index_version = 1;
	fixture->uuid.uuid = (ProtobufCBinaryData){ sizeof(uuid), uuid };
	fixture->any.type_url = maker_text(TYPE_URL);
	fixture->other.name = maker_text("a_idx");
}

/* Details are what the buffer holds now. */
static void
fixture_open(struct fixture *fixture)
{
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__IndexSection section = LANCE__TABLE__INDEX_SECTION__INIT;
	Lance__Table__BasePath base = LANCE__TABLE__BASE_PATH__INIT;
	Lance__Table__IndexMetadata *entries[] = { &fixture->other, &fixture->entry };
	Lance__Table__BasePath *bases[] = { &base };
	struct buf packed = { 0 }, file = { 0 };
	char path[PATH_MAX];

	fixture->entry.uuid = &fixture->uuid;
	fixture->entry.index_details = &fixture->any;
	fixture->any.value = (ProtobufCBinaryData){ fixture->details.size, fixture->details.data };
	section.indices = fixture->has_other ? entries : entries + 1;
	section.n_indices = fixture->has_other ? 2 : 1;
	maker_pack(&packed, &section.base);
	maker_u32(&file, (uint32_t)packed.size);
	buf_put_slice(&file, buf_slice(&packed));
	packed.size = 0;
	base.id = OTHER_ID;
	base.path = maker_text(tree_path(&fixture->tree, path, "other"));
	manifest.base_paths = bases;
	manifest.n_base_paths = 1;
	manifest.reader_feature_flags = manifest.writer_feature_flags = 16;
	manifest.version = 1;
	manifest.index_section_presence_case =
		LANCE__TABLE__MANIFEST__INDEX_SECTION_PRESENCE_INDEX_SECTION;
	manifest.index_section = 0;
	maker_pack(&packed, &manifest.base);
	maker_frame(&file, buf_slice(&packed));
	tree_put(&fixture->tree, "ds/_versions/1.manifest", file.data, file.size);
	buf_release(&packed);
	buf_release(&file);
	ck_assert_int_eq(lancet_dataset_open(tree_path(&fixture->tree, path, "ds"), NULL,
				 &fixture->dataset, NULL),
		LANCET_OK);
	ck_assert_int_eq(
		lancet_version_open(fixture->dataset, 1, &fixture->version, NULL), LANCET_OK);
}

static void
fixture_release(struct fixture *fixture)
{
	lancet_version_unref(fixture->version);
	lancet_dataset_unref(fixture->dataset);
	buf_release(&fixture->details);
	tree_remove(&fixture->tree);
}

static void
put_inline(struct fixture *fixture)
{
	struct buf content = { 0 };

	history_ordered(&content, "0/10-3", "1/7");
	put_message(&fixture->details, 1, &content);
}

/* The same history in a file, behind `offset` other bytes. */
static void
put_external(
	struct fixture *fixture, const char *at, const char *name, uint64_t offset, int64_t more)
{
	struct buf content = { 0 }, place = { 0 };

	buf_fill(&content, 0xff, offset);
	history_ordered(&content, "0/10-3", "1/7");
	put_head(&place, 1, strlen(name));
	buf_put_text(&place, name);
	if (offset != 0)
		put_number(&place, 2, offset);
	put_number(&place, 3, content.size - offset + (uint64_t)more);
	put_message(&fixture->details, 2, &place);
	if (at != NULL)
		tree_put(&fixture->tree, at, content.data, content.size);
	buf_release(&content);
}

static void
check_sound(struct fixture *fixture, bool external)
{
	lancet_reuse *reuse = NULL, *again = NULL;
	const struct lancet_reuse_info *info;
	struct lancet_error err = { 0 };
	struct buf content = { 0 };

	history_ordered(&content, "0/10-3", "1/7");
	ck_assert(lancet_version_has_reuse(fixture->version));
	ck_assert_msg(
		lancet_version_reuse(fixture->version, &reuse, &err) == LANCET_OK, "%s", err.text);
	info = lancet_reuse_info(reuse);
	ck_assert_int_eq(info->index_version, 1);
	ck_assert_str_eq(info->entry->uuid_text, UUID);
	ck_assert(info->external == external);
	ck_assert((info->details_path.size == 0) == !external);
	ck_assert_uint_eq(info->details_bytes, content.size);
	ck_assert_uint_eq(info->transition_count, 1);
	ck_assert_uint_eq(info->fault_count, 0);
	ck_assert_int_eq(lancet_version_reuse(fixture->version, &again, NULL), LANCET_OK);
	ck_assert_ptr_eq(again, reuse);
	buf_release(&content);
}

static void
check_failed(struct fixture *fixture, int code, const char *text)
{
	lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };

	ck_assert(lancet_version_has_reuse(fixture->version));
	ck_assert_msg(lancet_version_reuse(fixture->version, &reuse, &err) == code, "%s", err.text);
	ck_assert_ptr_null(reuse);
	ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
	if (code == LANCET_IO)
		ck_assert_int_eq(lancet_error_errno(&err), EIO);
}

START_TEST(a_history_is_in_its_entry)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.has_other = true;
	put_inline(&fixture);
	fixture_open(&fixture);
	check_sound(&fixture, false);
	fixture_release(&fixture);
}
END_TEST

START_TEST(a_version_without_the_entry_has_none)
{
	struct fixture fixture;
	lancet_reuse *reuse = NULL;

	fixture_init(&fixture);
	fixture.entry.name = maker_text("__lance_stable_partition"); /* retired */
	put_inline(&fixture);
	fixture_open(&fixture);
	ck_assert(!lancet_version_has_reuse(fixture.version));
	ck_assert_int_eq(lancet_version_reuse(fixture.version, &reuse, NULL), LANCET_NOT_FOUND);
	fixture_release(&fixture);
}
END_TEST

START_TEST(two_entries_are_corrupt)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.has_other = true;
	fixture.other.name = fixture.entry.name;
	put_inline(&fixture);
	fixture_open(&fixture);
	check_failed(&fixture, LANCET_CORRUPT, "2 entries __lance_frag_reuse");
	fixture_release(&fixture);
}
END_TEST

START_TEST(an_absent_index_version_is_0)
{
	struct fixture fixture;
	lancet_reuse *reuse = NULL;

	fixture_init(&fixture);
	fixture.entry.index_version_presence_case = 0;
	put_inline(&fixture);
	fixture_open(&fixture);
	ck_assert_int_eq(lancet_version_reuse(fixture.version, &reuse, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_reuse_info(reuse)->index_version, 0);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 1); /* a transition */
	fixture_release(&fixture);
}
END_TEST

START_TEST(other_index_versions_are_refused)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.entry.index_version = _i == 0 ? 2 : -1;
	put_inline(&fixture);
	fixture_open(&fixture);
	check_failed(
		&fixture, LANCET_UNSUPPORTED, _i == 0 ? "index version 2" : "index version -1");
	fixture_release(&fixture);
}
END_TEST

static const struct {
	const char *url;
	bool good;
} urls[] = {
	{ "lance.table.FragmentReuseIndexDetails", true },
	{ "type.googleapis.com/lance.table.FragmentReuseIndexDetails", true },
	{ "/lance.table.FragmentReuseIndexDetail", false },
	{ "/lance.table.fragmentreuseindexdetails", false },
	{ "", false },
};

START_TEST(details_have_their_type)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.any.type_url = maker_text(urls[_i].url);
	put_inline(&fixture);
	fixture_open(&fixture);
	if (urls[_i].good)
		check_sound(&fixture, false);
	else
		check_failed(&fixture, LANCET_CORRUPT, "FragmentReuseIndexDetails");
	fixture_release(&fixture);
}
END_TEST

static const struct {
	const char *bytes;
	size_t size;
	const char *text;
} contents[] = {
	{ "", 0, "no content" },
	{ "\x1a\x00", 2, "no content" },
	{ "\x0a\x00\x0a\x00", 4, "several contents" },
	{ "\x0a\x00\x12\x00", 4, "several contents" },
	{ "\x12\x00\x12\x00", 4, "several contents" },
	{ "\x08\x01", 2, "wire type 0" },
	{ "\x0a\x05\x01", 3, "fragment reuse details" },
	{ "\x0a\x02\x10\x01", 4, "fragment reuse history" },
	{ "\x12\x02\x08\x01", 4, "ExternalFile" },
	{ "\x12\x00", 2, "path" },
};

START_TEST(details_have_one_content)
{
	struct fixture fixture;

	fixture_init(&fixture);
	buf_put(&fixture.details, contents[_i].bytes, contents[_i].size);
	fixture_open(&fixture);
	check_failed(&fixture, LANCET_CORRUPT, contents[_i].text);
	fixture_release(&fixture);
}
END_TEST

/* A base that is a dataset has index directories in _indices, another one right in it. */
static const struct {
	bool has_base;
	const char *at;
	const char *name;
	uint64_t offset;
} files[] = {
	{ false, "ds/_indices/" UUID "/details.binpb", "details.binpb", 0 },
	{ false, "ds/_indices/" UUID "/part/of the.history", "part/of the.history", 100000 },
	{ true, "other/" UUID "/details.binpb", "details.binpb", 0 },
};

START_TEST(a_history_is_in_a_file)
{
	struct fixture fixture;
	lancet_reuse *reuse = NULL;

	fixture_init(&fixture);
	if (files[_i].has_base)
		fixture.entry.base_id_presence_case = HAS_BASE;
	fixture.entry.base_id = OTHER_ID;
	put_external(&fixture, files[_i].at, files[_i].name, files[_i].offset, 0);
	fixture_open(&fixture);
	check_sound(&fixture, true);
	ck_assert_int_eq(lancet_version_reuse(fixture.version, &reuse, NULL), LANCET_OK);
	ck_assert_mem_eq(lancet_reuse_info(reuse)->details_path.data, files[_i].name,
		strlen(files[_i].name));
	fixture_release(&fixture);
}
END_TEST

static const struct {
	const char *name;
	int64_t more; /* bytes that the entry promises beyond those that are there */
	int code;
	const char *text;
} bad_files[] = {
	{ "details.binpb", 1, LANCET_CORRUPT, "details.binpb: " },
	{ "details.binpb", INT64_MAX - 1000, LANCET_CORRUPT, "details.binpb: " },
	{ "details.binpb", -1, LANCET_CORRUPT, "fragment reuse history" },
	{ "other.binpb", 0, LANCET_IO, UUID "/other.binpb: the file is gone" },
	{ "../../../ds/_versions/1.manifest", 0, LANCET_CORRUPT, "\"..\"" },
	{ "/etc/passwd", 0, LANCET_CORRUPT, "external" },
};

START_TEST(files_that_are_cut_or_gone_are_refused)
{
	struct fixture fixture;

	fixture_init(&fixture);
	put_external(&fixture, "ds/_indices/" UUID "/details.binpb", bad_files[_i].name, 0,
		bad_files[_i].more);
	fixture_open(&fixture);
	check_failed(&fixture, bad_files[_i].code, bad_files[_i].text);
	fixture_release(&fixture);
}
END_TEST

/* A size that is absent would make an empty history of a full file. */
START_TEST(a_file_of_no_bytes_is_no_history)
{
	struct fixture fixture;

	fixture_init(&fixture);
	tree_text(&fixture.tree, "ds/_indices/" UUID "/d", "");
	buf_put(&fixture.details, "\x12\x03\x0a\x01\x64", 5);
	fixture_open(&fixture);
	check_failed(&fixture, LANCET_CORRUPT, UUID "/d: 0 bytes");
	fixture_release(&fixture);
}
END_TEST

START_TEST(a_file_needs_a_base_and_a_directory)
{
	struct fixture fixture;

	fixture_init(&fixture);
	if (_i == 0) {
		fixture.entry.base_id_presence_case = HAS_BASE;
		fixture.entry.base_id = 1;
	} else {
		fixture.uuid.uuid.len = 15;
	}
	put_external(&fixture, "ds/_indices/" UUID "/details.binpb", "details.binpb", 0, 0);
	fixture_open(&fixture);
	check_failed(&fixture, LANCET_CORRUPT, _i == 0 ? "base 1" : "is no UUID");
	fixture_release(&fixture);
}
END_TEST

START_TEST(row_maps_have_a_place)
{
	struct lancet_transition transition = {
		.mapping = LANCET_STABLE_PARTITION,
		.map_id = { (const uint8_t *)HISTORY_MAP_ID, 36 },
	};
	const lancet_base *base = NULL;
	struct fixture fixture;
	char *path = NULL;

	fixture_init(&fixture);
	put_inline(&fixture);
	tree_mkdir(&fixture.tree, "other");
	fixture_open(&fixture);
	ck_assert_int_eq(
		lancet_row_map_path(fixture.version, &transition, &base, &path, NULL), LANCET_OK);
	ck_assert_str_eq(path, "_fri/" HISTORY_MAP_ID "/stable_partition.lance");
	ck_assert_str_eq(lancet_base_identity(base), "");
	free(path);
	transition.has_base = true;
	transition.base_id = OTHER_ID;
	ck_assert_int_eq(
		lancet_row_map_path(fixture.version, &transition, &base, &path, NULL), LANCET_OK);
	ck_assert_str_eq(path, "_fri/" HISTORY_MAP_ID "/stable_partition.lance");
	ck_assert_str_ne(lancet_base_identity(base), "");
	free(path);
	transition.base_id = 1;
	ck_assert_int_eq(lancet_row_map_path(fixture.version, &transition, &base, &path, NULL),
		LANCET_CORRUPT);
	transition.map_id.size = 35;
	transition.has_base = false;
	ck_assert_int_eq(lancet_row_map_path(fixture.version, &transition, &base, &path, NULL),
		LANCET_CORRUPT);
	transition.mapping = LANCET_ORDERED_COMPACTION;
	ck_assert_int_eq(lancet_row_map_path(fixture.version, &transition, &base, &path, NULL),
		LANCET_NOT_FOUND);
	fixture_release(&fixture);
}
END_TEST

/* Contradictory, and with records that can't be followed: a copy has all files all the same. */
START_TEST(a_copy_needs_all_row_maps)
{
	static const char *const want[] = { "_fri/a/stable_partition.lance",
		"_fri/b/stable_partition.lance", "_fri/c/stable_partition.lance",
		"_indices/" UUID "/details.binpb" };
	static const char *const arms[] = { "\x22\x03\x0a\x01\x61", "\x1a\x00\x22\x03\x0a\x01\x62",
		"\x22\x03\x0a\x01\x63\x2a\x00" };
	struct fixture fixture;
	struct buf content = { 0 };
	lancet_live *live = NULL;
	struct lancet_error err = { 0 };
	size_t found = 0;

	fixture_init(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(arms); i++) {
		struct buf record = { 0 };

		history_digests(&record, 1, "0/5");
		buf_put(&record, arms[i], i == 0 ? 5 : 7);
		put_message(&content, 2, &record);
	}
	tree_put(&fixture.tree, "ds/_indices/" UUID "/details.binpb", content.data, content.size);
	buf_put(&fixture.details,
		"\x12\x11\x0a\x0d"
		"details.binpb\x18",
		18);
	buf_put_byte(&fixture.details, (uint8_t)content.size);
	buf_release(&content);
	fixture_open(&fixture);
	ck_assert_msg(lancet_live_open(fixture.version, &live, &err) == LANCET_OK, "%s", err.text);
	for (size_t i = 0; i < lancet_live_count(live); i++) {
		const struct lancet_live_file *file = lancet_live_file(live, i);

		if (file->kind != LANCET_LIVE_ROW_MAP && file->kind != LANCET_LIVE_FRI_DETAILS)
			continue;
		ck_assert_uint_lt(found, ARRAY_SIZE(want));
		ck_assert_str_eq(file->path, want[found++]);
	}
	ck_assert_uint_eq(found, ARRAY_SIZE(want));
	lancet_live_unref(live);
	fixture_release(&fixture);
}
END_TEST

UNIT_MAIN("reuse_details", UNIT_TEST(a_history_is_in_its_entry),
	UNIT_TEST(a_version_without_the_entry_has_none), UNIT_TEST(two_entries_are_corrupt),
	UNIT_TEST(an_absent_index_version_is_0), { other_index_versions_are_refused, 2 },
	UNIT_LOOP(details_have_their_type, urls), UNIT_LOOP(details_have_one_content, contents),
	UNIT_LOOP(a_history_is_in_a_file, files),
	UNIT_LOOP(files_that_are_cut_or_gone_are_refused, bad_files),
	UNIT_TEST(a_file_of_no_bytes_is_no_history), { a_file_needs_a_base_and_a_directory, 2 },
	UNIT_TEST(row_maps_have_a_place), UNIT_TEST(a_copy_needs_all_row_maps))

/* Fragments decoded one at a time: files, counts, placements, paths, and damage that stays put. */
#include "unit.h"

#include "maker.h"

#include <string.h>

#include "core/fragment.h"

#define STABLE 2

/* A version with the given DataFragment bytes, one or several. */
static lancet_version *
load_fragments(const struct buf *fragments, size_t count, uint64_t flags, struct buf *file)
{
	struct buf message = { 0 };
	lancet_version *version = NULL;

	for (size_t i = 0; i < count; i++)
		maker_bytes(&message, 2, fragments[i].data, fragments[i].size);
	maker_number(&message, 3, 1);
	maker_number(&message, 9, flags);
	maker_writer(&message);
	maker_frame(file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(file), 1, &version, NULL), LANCET_OK);
	buf_release(&message);
	return version;
}

/* Opens the only fragment of a version of its own; what is returned keeps that alive. */
static int
open_bytes(const char *bytes, size_t size, uint64_t flags, struct buf *file,
           lancet_fragment **ret_fragment, struct lancet_error *err)
{
	struct buf fragment = { 0 };
	lancet_version *version;
	int rc;

	buf_put(&fragment, bytes, size);
	version = load_fragments(&fragment, 1, flags, file);
	rc = lancet_fragment_open(version, 0, ret_fragment, err);
	lancet_version_unref(version);
	buf_release(&fragment);
	return rc;
}

#define I LANCET_INLINE
#define C LANCET_COLUMN
#define D LANCET_DEFAULT
#define A LANCET_ADDRESS
#define N LANCET_NONE

/* Fields 5, 9, 7 are inline row ids, created-at and last-updated-at; 12, 14, 13 their columns. */
static const struct {
	const char *label;
	const char *bytes;
	size_t size;
	uint64_t flags;
	enum lancet_placement want[3]; /* by enum lancet_lineage */
	uint64_t inline_bytes[3];
	bool external;
} placements[] = {
	{ "no stable ids", "\x2a\x02xy", 4, 0, { A, N, N }, { 0 }, false },
	{ "nothing", "\x20\x05", 2, STABLE, { N, D, D }, { 0 }, false },
	{ "inline", "\x2a\x02xy\x3a\x01x\x4a\x03xyz", 12, STABLE, { I, I, I }, { 2, 3, 1 }, false },
	{ "inline and empty", "\x2a\x00", 2, STABLE, { I, D, D }, { 0 }, false },
	{ "columns", "\x62\x00\x6a\x00\x72\x00", 6, STABLE, { C, C, C }, { 0 }, false },
	{ "one column each", "\x2a\x01x\x72\x00", 5, STABLE, { I, C, D }, { 1, 0, 0 }, false },
	{ "column after inline", "\x2a\x01x\x62\x00", 5, STABLE, { C, D, D }, { 0 }, false },
	{ "inline after column", "\x6a\x00\x3a\x01x", 5, STABLE, { N, D, I }, { 0, 0, 1 }, false },
	{ "inline twice", "\x2a\x01x\x2a\x03xyz", 8, STABLE, { I, D, D }, { 3, 0, 0 }, false },
	{ "retired", "\x32\x00\x2a\x01x", 5, STABLE, { I, D, D }, { 1, 0, 0 }, true },
	{ "retired last", "\x52\x00", 2, STABLE, { N, D, D }, { 0 }, true },
};

START_TEST(placements_are_told_by_the_last_form)
{
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment = NULL;
	struct buf file = { 0 };

	ck_assert_int_eq(open_bytes(placements[_i].bytes, placements[_i].size, placements[_i].flags,
	                            &file, &fragment, NULL),
	                 LANCET_OK);
	info = lancet_fragment_info(fragment);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_msg(info->lineage[i].placement == placements[_i].want[i], "%s: %zu is %s",
		              placements[_i].label, i,
		              lancet_placement_name(info->lineage[i].placement));
		ck_assert_uint_eq(info->lineage[i].bytes, placements[_i].inline_bytes[i]);
		if (info->lineage[i].placement != LANCET_INLINE)
			continue;
		ck_assert(fragment->lineage[i].present);
		ck_assert_mem_eq(file.data + fragment->lineage[i].offset, "xyz",
		                 fragment->lineage[i].size);
	}
	ck_assert(info->retired_external == placements[_i].external);
	lancet_fragment_unref(fragment);
	buf_release(&file);
}
END_TEST

static const struct {
	const char *label;
	const char *bytes;
	size_t size;
	const char *text;
} damages[] = {
	{ "id 2^32 - 1", "\x08\xff\xff\xff\xff\x0f", 6, "row address" },
	{ "id 2^40", "\x08\x80\x80\x80\x80\x80\x20", 7, "row address" },
	{ "2^32 rows", "\x20\x80\x80\x80\x80\x10", 6, "4294967296 rows" },
	{ "more deleted than there", "\x20\x05\x1a\x02\x20\x06", 6, "6 of 5" },
	{ "row ids are a number", "\x28\x01", 2, "wire type" },
	{ "file is a number", "\x10\x01", 2, "DataFragment" },
	{ "rows are text", "\x22\x00", 2, "DataFragment" },
	{ "file passes the end", "\x12\x05x", 3, "" },
	{ "group", "\x0b\x0c", 2, "" },
	{ "deletion file of another kind", "\x20\x09\x1a\x04\x08\x02\x20\x01", 8, "type 2" },
	{ "overlay without file", "\x5a\x02\x18\x01", 4, "no data file" },
};

START_TEST(damage_is_of_one_fragment_alone)
{
	static const char good[] = { 0x08, 0x01, 0x20, 0x05 };
	struct buf fragments[2] = { 0 };
	struct buf file = { 0 };
	lancet_fragment *fragment = NULL;
	struct lancet_error err = { 0 };
	lancet_version *version;
	uint64_t ordinal = 0;

	buf_put(&fragments[0], damages[_i].bytes, damages[_i].size);
	buf_put(&fragments[1], good, sizeof(good));
	version = load_fragments(fragments, 2, 0, &file);
	ck_assert_uint_eq(lancet_version_info(version)->fragment_count, 2);
	ck_assert_int_eq(lancet_version_find_fragment(version, 1, &ordinal, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_fragment_open(version, ordinal, &fragment, &err), LANCET_OK);
	ck_assert_uint_eq(lancet_fragment_info(fragment)->physical_rows, 5);
	lancet_fragment_unref(fragment);
	ck_assert_msg(lancet_fragment_open(version, 1 - ordinal, &fragment, &err) == LANCET_CORRUPT,
	              "%s", damages[_i].label);
	ck_assert_msg(strstr(err.text, damages[_i].text) != NULL, "%s: %s", damages[_i].label,
	              err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "fragment "));
	ck_assert_int_eq(lancet_fragment_open(version, 2, &fragment, &err), LANCET_INVALID);
	lancet_version_unref(version);
	buf_release(&fragments[0]);
	buf_release(&fragments[1]);
	buf_release(&file);
}
END_TEST

START_TEST(files_and_overlays_are_listed)
{
	static const int32_t ids[] = { 4, -2, -3 }, columns[] = { 0, 1, 2 };
	static const uint64_t versions[] = { 9, 4, 9 };
	static const char *const names[] = { "nine", "four", "nine too" };
	static const char *const sorted[] = { "four", "nine", "nine too" };
	Lance__Table__DataFragment f = LANCE__TABLE__DATA_FRAGMENT__INIT;
	Lance__Table__DataFile file = LANCE__TABLE__DATA_FILE__INIT, overlay_files[3];
	Lance__Table__DataFile *files[] = { &file };
	Lance__Table__DataOverlayFile stored[3];
	Lance__Table__DataOverlayFile *overlays[3];
	Lance__Table__FieldCoverage coverage = LANCE__TABLE__FIELD_COVERAGE__INIT;
	ProtobufCBinaryData bitmaps[] = { maker_text("p"), maker_text("qq") };
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment = NULL;
	struct buf bytes = { 0 }, made = { 0 };

	file.path = maker_text("a/b.lance");
	file.n_fields = file.n_column_indices = 3;
	file.fields = (int32_t *)(uintptr_t)ids;
	file.column_indices = (int32_t *)(uintptr_t)columns;
	file.file_major_version = 2;
	file.file_minor_version = 1;
	file.file_size_bytes = UINT64_MAX;
	file.base_id_presence_case = LANCE__TABLE__DATA_FILE__BASE_ID_PRESENCE_BASE_ID;
	for (size_t i = 0; i < 3; i++) {
		lance__table__data_file__init(&overlay_files[i]);
		lance__table__data_overlay_file__init(&stored[i]);
		overlay_files[i].path = maker_text(names[i]);
		stored[i].data_file = &overlay_files[i];
		stored[i].committed_version = versions[i];
		overlays[i] = &stored[i];
	}
	stored[0].coverage_case =
		LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP;
	stored[0].shared_offset_bitmap = maker_text("s");
	coverage.n_offset_bitmaps = 2;
	coverage.offset_bitmaps = bitmaps;
	stored[1].coverage_case = LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE;
	stored[1].field_coverage = &coverage;
	f.physical_rows = 7;
	f.n_files = 1;
	f.files = files;
	f.n_overlays = 3;
	f.overlays = overlays;
	maker_pack(&bytes, &f.base);
	ck_assert_int_eq(
		open_bytes((const char *)bytes.data, bytes.size, 64, &made, &fragment, NULL),
		LANCET_OK);
	info = lancet_fragment_info(fragment);
	ck_assert_uint_eq(info->file_count, 1);
	ck_assert_uint_eq(info->files[0].field_count, 3);
	ck_assert_mem_eq(info->files[0].fields, ids, sizeof(ids));
	ck_assert_mem_eq(info->files[0].column_indices, columns, sizeof(columns));
	ck_assert(info->files[0].major == 2 && info->files[0].minor == 1);
	ck_assert_uint_eq(info->files[0].size, UINT64_MAX);
	ck_assert(info->files[0].has_base && info->files[0].base_id == 0);
	ck_assert_uint_eq(info->overlay_count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_mem_eq(info->overlays[i].file.path.data, sorted[i], strlen(sorted[i]));
	ck_assert(!info->overlays[0].shared && info->overlays[0].coverage_count == 2);
	ck_assert_mem_eq(info->overlays[0].coverage[1].data, "qq", 2);
	ck_assert(info->overlays[1].shared && info->overlays[1].coverage_count == 1);
	ck_assert_uint_eq(info->overlays[2].coverage_count, 0);
	lancet_fragment_unref(fragment);
	buf_release(&bytes);
	buf_release(&made);
}
END_TEST

/* Base 1 is a dataset, base 2 a directory of data files, base 3 does not exist. */
static lancet_version *
load_with_bases(struct buf *file)
{
	struct buf message = { 0 };
	lancet_version *version = NULL;

	maker_bytes(&message, 2, "\x08\x05\x20\x09\x1a\x08\x08\x01\x10\x03\x18\x04\x20\x01", 14);
	maker_bytes(&message, 2, "\x08\x06\x20\x09\x1a\x06\x18\x04\x20\x01\x38\x02", 12);
	maker_bytes(&message, 2, "\x08\x07\x20\x09\x1a\x04\x20\x01\x38\x01", 10);
	maker_number(&message, 3, 1);
	maker_bytes(&message, 18, "\x08\x01\x18\x01\x22\x04/tmp", 10);
	maker_bytes(&message, 18, "\x08\x02\x22\x04/tmp", 8);
	maker_writer(&message);
	maker_frame(file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(file), 1, &version, NULL), LANCET_OK);
	buf_release(&message);
	return version;
}

static const struct {
	const char *path;
	size_t size;
	int base; /* -1: the dataset itself */
	const char *want; /* NULL: CORRUPT */
} data_paths[] = {
	{ "x.lance", 7, -1, "data/x.lance" }, { "x/y.lance", 9, -1, "data/x/y.lance" },
	{ "x.lance", 7, 1, "data/x.lance" },  { "x.lance", 7, 2, "x.lance" },
	{ "x.lance", 7, 3, NULL },            { "", 0, -1, NULL },
	{ "/etc/passwd", 11, -1, NULL },      { "../x", 4, -1, NULL },
	{ "a/../../x", 9, -1, NULL },         { ".", 1, -1, NULL },
	{ "a//b", 4, -1, NULL },              { "http://a/b", 10, -1, NULL },
	{ "a\0b", 3, -1, NULL },              { "a/", 2, 2, NULL },
};

START_TEST(data_files_have_checked_paths)
{
	struct lancet_data_file data_file = {
		.path = { (const uint8_t *)data_paths[_i].path, data_paths[_i].size },
		.has_base = data_paths[_i].base >= 0,
		.base_id = (uint32_t)data_paths[_i].base,
	};
	struct buf file = { 0 };
	lancet_version *version = load_with_bases(&file);
	struct lancet_error err = { 0 };
	const lancet_base *base = NULL;
	char *path = NULL;
	int rc = lancet_data_file_path(version, &data_file, &base, &path, &err);

	if (data_paths[_i].want == NULL) {
		ck_assert_msg(rc == LANCET_CORRUPT, "%s", data_paths[_i].path);
		ck_assert_ptr_null(path);
	} else {
		ck_assert_msg(rc == LANCET_OK, "%s", err.text);
		ck_assert_str_eq(path, data_paths[_i].want);
		ck_assert_ptr_nonnull(base);
	}
	free(path);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

START_TEST(deletion_files_have_paths_in_datasets_only)
{
	/* by ordinal */
	static const char *const want[] = {
		"_deletions/5-3-4.bin", NULL, "_deletions/7-0-0.arrow",
	};
	struct buf file = { 0 };
	lancet_version *version = load_with_bases(&file);

	for (uint64_t i = 0; i < ARRAY_SIZE(want); i++) {
		lancet_fragment *fragment = NULL;
		struct lancet_error err = { 0 };
		const lancet_base *base = NULL;
		char *path = NULL;
		int rc;

		ck_assert_int_eq(lancet_fragment_open(version, i, &fragment, &err), LANCET_OK);
		rc = lancet_deletion_file_path(fragment, &base, &path, &err);
		ck_assert_msg(rc == (want[i] == NULL ? LANCET_CORRUPT : LANCET_OK), "%s",
		              err.text);
		if (want[i] != NULL)
			ck_assert_str_eq(path, want[i]);
		free(path);
		lancet_fragment_unref(fragment);
	}
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

START_TEST(inline_sequences_are_not_read)
{
	struct buf fragment = { 0 }, ids = { 0 }, message = { 0 }, file = { 0 };
	lancet_dataset *dataset = maker_dataset();
	const struct stat st = { 0 };
	lancet_version *version = NULL;
	lancet_fragment *opened = NULL;
	struct counted_source *source;

	buf_fill(&ids, 7, 10 << 20);
	maker_number(&fragment, 1, 3);
	maker_bytes(&fragment, 5, ids.data, ids.size);
	maker_bytes(&fragment, 9, ids.data, ids.size);
	maker_number(&fragment, 4, 12);
	maker_bytes(&message, 2, fragment.data, fragment.size);
	maker_number(&message, 3, 1);
	maker_number(&message, 9, STABLE);
	maker_frame(&file, buf_slice(&message));
	source = counted_new(buf_slice(&file));
	ck_assert_int_eq(
		version_load(dataset, 1, &source->base, &st, "1.manifest", &version, NULL),
		LANCET_OK);
	source->reads = source->bytes = 0;
	ck_assert_int_eq(lancet_fragment_open(version, 0, &opened, NULL), LANCET_OK);
	ck_assert_uint_le(source->reads, 3);
	ck_assert_uint_le(source->bytes, 12 << 10);
	ck_assert_uint_eq(opened->info.physical_rows, 12);
	ck_assert_uint_eq(opened->lineage[LANCET_CREATED_AT].size, 10 << 20);
	ck_assert_uint_le(opened->footprint, 16 << 10);
	lancet_fragment_unref(opened);
	lancet_version_unref(version);
	source_unref(&source->base);
	lancet_dataset_unref(dataset);
	buf_release(&fragment);
	buf_release(&ids);
	buf_release(&message);
	buf_release(&file);
}
END_TEST

UNIT_MAIN("fragment", UNIT_LOOP(placements_are_told_by_the_last_form, placements),
          UNIT_LOOP(damage_is_of_one_fragment_alone, damages),
          UNIT_TEST(files_and_overlays_are_listed),
          UNIT_LOOP(data_files_have_checked_paths, data_paths),
          UNIT_TEST(deletion_files_have_paths_in_datasets_only),
          UNIT_TEST(inline_sequences_are_not_read))

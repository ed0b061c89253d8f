/* Opening manifests: frame, fragments' places, damage, and what it costs. */
#include "unit.h"

#include "maker.h"

#include <string.h>

#include "core/manifest.h"

#define F    MANIFEST_FOOTER_SIZE
#define LANC 'L', 'A', 'N', 'C'

static const struct {
	const char *label;
	size_t size; /* of the footer */
	uint64_t file_size;
	uint8_t bytes[F];
	int want;
	uint32_t message_size;
} footers[] = {
	{ "good", F, 100, { 9, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_OK, 71 },
	{ "any file version", F, 100, { 9, 0,0,0,0,0,0,0, 7,7, 7,7, LANC }, LANCET_OK, 71 },
	{ "smallest", F, 21, { 0, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_OK, 1 },
	{ "empty file", 0, 0, { 0 }, LANCET_CORRUPT, 0 },
	{ "15 bytes", 15, 15, { 9, 0,0,0,0,0,0,0, 0,0, 2,0, 'L','A','N' }, LANCET_CORRUPT, 0 },
	{ "footer alone", F, 16, { 0, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_CORRUPT, 0 },
	{ "no message", F, 20, { 0, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_CORRUPT, 0 },
	{ "NUL", F, 100, { 0 }, LANCET_CORRUPT, 0 },
	{ "magic", F, 100, { 9, 0,0,0,0,0,0,0, 0,0, 2,0, 'L','A','N','D' }, LANCET_CORRUPT, 0 },
	{ "into footer", F, 100, { 90, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_CORRUPT, 0 },
	{ "prefix cut", F, 100, { 81, 0,0,0,0,0,0,0, 0,0, 2,0, LANC }, LANCET_CORRUPT, 0 },
	{ "negative", F, 100, { 255,255,255,255,255,255,255,255, 0,0, 2,0, LANC },
	  LANCET_CORRUPT, 0 },
	{ "past 4 GiB", F, UINT64_C(5) << 30, { 9, 0,0,0,0,0,0,0, 0,0, 2,0, LANC },
	  LANCET_CORRUPT, 0 },
};

START_TEST(footers_are_parsed_or_refused)
{
	struct lancet_error err = { 0 };
	uint64_t offset = 0;
	uint32_t size = 0;
	int rc = manifest_footer_parse(slice_of(footers[_i].bytes, footers[_i].size),
	                               footers[_i].file_size, &offset, &size, &err);

	ck_assert_msg(rc == footers[_i].want, "%s: %s", footers[_i].label, err.text);
	ck_assert_msg(size == footers[_i].message_size, "%s", footers[_i].label);
	ck_assert(rc == LANCET_OK || err.text[0] != '\0');
}
END_TEST

/* A fragment with one data file, a deletion file of 2 rows and inline row ids. */
static void
put_fragment(struct buf *message, uint64_t id, size_t row_id_bytes)
{
	struct buf fragment = { 0 }, file = { 0 }, ids = { 0 };

	maker_bytes(&file, 1, "x.lance", 7);
	maker_bytes(&file, 2, "\0\1\2", 3);
	maker_number(&file, 4, 2);
	maker_number(&file, 5, 1);
	maker_number(&file, 6, 1000);
	maker_number(&fragment, 1, id);
	maker_bytes(&fragment, 2, file.data, file.size);
	file.size = 0;
	maker_number(&file, 3, 77);
	maker_number(&file, 4, 2);
	maker_bytes(&fragment, 3, file.data, file.size);
	maker_number(&fragment, 4, 100);
	buf_fill(&ids, 0, row_id_bytes);
	maker_bytes(&fragment, 5, ids.data, ids.size);
	maker_bytes(message, 2, fragment.data, fragment.size);
	buf_release(&fragment);
	buf_release(&file);
	buf_release(&ids);
}

static void
put_fragments(struct buf *message, uint64_t count, size_t row_id_bytes)
{
	for (uint64_t id = 0; id < count; id++)
		put_fragment(message, id, row_id_bytes);
	maker_number(message, 3, 1);
}

static const struct {
	uint64_t fragments;
	size_t row_id_bytes;
	uint64_t reads_max, bytes_max;
} costs[] = {
	{ 0, 0, 1, 100 },
	{ 10, 6, 1, 64 << 10 },
	{ 1000, 6, 1, 64 << 10 },          /* all of it is in the last 64 KiB */
	{ 100000, 6, 30, 12 << 20 },       /* 5.6 MB, once */
	{ 200, 100 << 10, 202, 4 << 20 },  /* 20 MB of row ids, never read: one read each */
};

START_TEST(opening_reads_little_and_seldom)
{
	struct buf message = { 0 }, file = { 0 };
	lancet_dataset *dataset = maker_dataset();
	const struct stat st = { 0 };
	lancet_version *version = NULL;
	const struct lancet_version_info *info;
	struct counted_source *source;

	put_fragments(&message, costs[_i].fragments, costs[_i].row_id_bytes);
	maker_frame(&file, buf_slice(&message));
	source = counted_new(buf_slice(&file));
	ck_assert_int_eq(
		version_load(dataset, 1, &source->base, &st, "1.manifest", &version, NULL),
		LANCET_OK);
	ck_assert_uint_le(source->reads, costs[_i].reads_max);
	ck_assert_uint_le(source->bytes, costs[_i].bytes_max);
	info = lancet_version_info(version);
	ck_assert_uint_eq(info->fragment_count, costs[_i].fragments);
	ck_assert_uint_eq(info->physical_rows, 100 * costs[_i].fragments);
	ck_assert_uint_eq(info->deleted_rows, 2 * costs[_i].fragments);
	ck_assert_uint_eq(info->data_files, costs[_i].fragments);
	ck_assert_uint_eq(info->data_bytes, 1000 * costs[_i].fragments);
	ck_assert_uint_le(version->footprint, 8192 + 24 * costs[_i].fragments);
	lancet_version_unref(version);
	source_unref(&source->base);
	lancet_dataset_unref(dataset);
	buf_release(&message);
	buf_release(&file);
}
END_TEST

START_TEST(fragments_are_found_by_id)
{
	/* as stored: 7 twice, the first of them has 1 byte of row ids */
	static const struct { uint64_t id; size_t bytes; } stored[] = {
		{ 7, 1 }, { 3, 0 }, { 7, 2 }, { UINT32_MAX, 0 }, { 0, 0 },
	};
	static const uint64_t sorted[] = { 0, 3, 7, 7, UINT32_MAX };
	struct lancet_fragment_span span;
	struct buf message = { 0 }, file = { 0 };
	lancet_version *version = NULL;
	uint64_t ordinal = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stored); i++)
		put_fragment(&message, stored[i].id, stored[i].bytes);
	maker_number(&message, 3, 1);
	maker_frame(&file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(&file), 1, &version, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(sorted); i++) {
		lancet_version_span(version, i, &span);
		ck_assert_uint_eq(span.id, sorted[i]);
		ck_assert_uint_eq(span.physical_rows, 100);
		ck_assert_uint_eq(span.deleted_rows, 2);
	}
	ck_assert_int_eq(lancet_version_find_fragment(version, 7, &ordinal, NULL), LANCET_OK);
	ck_assert_uint_eq(ordinal, 2);
	ck_assert_uint_lt(version->spans[2].size, version->spans[3].size);
	ck_assert_int_eq(lancet_version_find_fragment(version, UINT32_MAX, &ordinal, NULL),
	                 LANCET_OK);
	ck_assert_uint_eq(ordinal, 4);
	ck_assert_int_eq(lancet_version_find_fragment(version, 4, &ordinal, NULL),
	                 LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_version_find_fragment(version, UINT64_MAX, &ordinal, NULL),
	                 LANCET_NOT_FOUND);
	lancet_version_unref(version);
	buf_release(&message);
	buf_release(&file);
}
END_TEST

static const struct {
	const char *label;
	const char *bytes; /* of the message; version 1 unless it says otherwise */
	size_t size;
	int want;
	const char *text;
} messages[] = {
	{ "another version", "\x18\x02", 2, LANCET_CORRUPT, "version 2" },
	{ "no version", "\x48\x00", 2, LANCET_CORRUPT, "version 0" },
	{ "fragment tree", "\x18\x01\xb2\x01\x00", 5, LANCET_UNSUPPORTED, "fragment_tree" },
	{ "reader flag", "\x18\x01\x48\x80\x04", 5, LANCET_UNSUPPORTED,
	  "reuse_with_stable_row_ids" },
	{ "flag in one word", "\x18\x01\x48\x80\x02", 5, LANCET_CORRUPT, "mixed_file_versions" },
	{ "fragment is a number", "\x18\x01\x10\x01", 4, LANCET_CORRUPT, "fragment" },
	{ "fragment's id is text", "\x18\x01\x12\x02\x0a\x00", 6, LANCET_CORRUPT, "no id" },
	{ "fragment passes the end", "\x18\x01\x12\x05\x08\x01", 6, LANCET_CORRUPT, "" },
	{ "group", "\x18\x01\x0b\x0c", 4, LANCET_CORRUPT, "wire type" },
	{ "field 0", "\x18\x01\x00\x00", 4, LANCET_CORRUPT, "number 0" },
	{ "timestamp is a number", "\x18\x01\x38\x01", 4, LANCET_CORRUPT, "Manifest" },
	{ "varint cut", "\x18\x01\x48\xff", 4, LANCET_CORRUPT, "" },
	{ "unknown field", "\x18\x01\xc2\x3e\x01x", 6, LANCET_OK, "" },
};

START_TEST(messages_are_read_or_refused)
{
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };
	struct buf file = { 0 };
	int rc;

	maker_frame(&file, slice_of(messages[_i].bytes, messages[_i].size));
	rc = maker_load(buf_slice(&file), 1, &version, &err);
	ck_assert_msg(rc == messages[_i].want, "%s: %s", messages[_i].label, err.text);
	ck_assert_msg(strstr(err.text, messages[_i].text) != NULL, "%s: %s", messages[_i].label,
	              err.text);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

/* A manifest with a bit of everything. */
static void
put_sample(struct buf *file)
{
	struct buf message = { 0 };

	maker_bytes(&message, 1, "\x12\x01" "f" "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14);
	put_fragment(&message, 0, 6);
	put_fragment(&message, 1, 6);
	maker_number(&message, 3, 1);
	maker_bytes(&message, 16, "\x0a\x01k\x12\x01v", 6);
	maker_bytes(&message, 18, "\x22\x02/b", 4);
	maker_frame(file, buf_slice(&message));
	buf_release(&message);
}

START_TEST(every_cut_is_refused)
{
	struct buf file = { 0 };

	put_sample(&file);
	for (size_t size = 0; size < file.size; size++) {
		lancet_version *version = NULL;
		struct lancet_error err = { 0 };

		ck_assert_int_eq(maker_load(slice_of(file.data, size), 1, &version, &err),
		                 LANCET_CORRUPT);
		ck_assert_str_ne(err.text, "");
	}
	buf_release(&file);
}
END_TEST

START_TEST(every_changed_byte_is_read_or_refused)
{
	static const uint8_t changes[] = { 0x01, 0x07, 0x80, 0xff };
	struct buf file = { 0 };

	put_sample(&file);
	for (size_t i = 0; i < file.size * ARRAY_SIZE(changes); i++) {
		uint8_t *byte = &file.data[i / ARRAY_SIZE(changes)];
		uint8_t before = *byte;
		lancet_version *version = NULL;
		struct lancet_error err = { 0 };
		int rc;

		*byte ^= changes[i % ARRAY_SIZE(changes)];
		rc = maker_load(buf_slice(&file), 1, &version, &err);
		ck_assert((rc == LANCET_OK) == (version != NULL));
		ck_assert(rc == LANCET_OK || err.text[0] != '\0');
		lancet_version_unref(version);
		*byte = before;
	}
	buf_release(&file);
}
END_TEST

START_TEST(many_empty_messages_cost_a_limited_amount)
{
	static const uint32_t fields[] = { 1, 2, 16, 18 };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct buf message = { 0 }, file = { 0 };
		lancet_version *version = NULL;
		int rc;

		maker_number(&message, 3, 1);
		while (message.size < 2 << 20)
			maker_bytes(&message, fields[i], "", 0);
		maker_frame(&file, buf_slice(&message));
		rc = maker_load(buf_slice(&file), 1, &version, NULL);
		if (fields[i] == 2) /* fragments are not decoded: 24 bytes each */
			ck_assert_int_eq(rc, LANCET_OK);
		else if (fields[i] == 1) /* no tree: the first one is its own parent */
			ck_assert_int_ne(rc, LANCET_OK);
		else
			ck_assert(rc == LANCET_OK || rc == LANCET_LIMIT);
		ck_assert(version == NULL || version->footprint < 100 << 20);
		lancet_version_unref(version);
		buf_release(&message);
		buf_release(&file);
	}
}
END_TEST

START_TEST(sums_saturate)
{
	struct buf message = { 0 }, file = { 0 }, fragment = { 0 };
	struct lancet_fragment_span span;
	lancet_version *version = NULL;

	maker_number(&fragment, 4, UINT64_MAX - 1);
	for (int i = 0; i < 2; i++)
		maker_bytes(&message, 2, fragment.data, fragment.size);
	maker_number(&message, 3, 1);
	maker_frame(&file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(&file), 1, &version, NULL), LANCET_OK);
	ck_assert_uint_eq(lancet_version_info(version)->physical_rows, UINT64_MAX);
	lancet_version_span(version, 0, &span);
	ck_assert_uint_eq(span.physical_rows, UINT32_MAX);
	lancet_version_unref(version);
	buf_release(&message);
	buf_release(&file);
	buf_release(&fragment);
}
END_TEST

/* Old writers recorded neither count; a fragment without files has no rows to count. */
static const struct {
	const char *label, *fragment;
	size_t size;
	bool writer, want;
} recorded[] = {
	{ "both", "\x12\x00\x20\x05\x1a\x02\x20\x01", 8, true, false },
	{ "no files", "\x08\x01", 2, true, false },
	{ "rows missing", "\x12\x00", 2, true, true },
	{ "deleted rows missing", "\x12\x00\x20\x05\x1a\x00", 6, true, true },
	{ "nobody to trust", "\x12\x00\x20\x05\x1a\x02\x20\x01", 8, false, true },
};

START_TEST(missing_counts_are_noticed)
{
	struct buf message = { 0 }, file = { 0 };
	lancet_version *version = NULL;

	maker_bytes(&message, 2, recorded[_i].fragment, recorded[_i].size);
	maker_number(&message, 3, 1);
	if (recorded[_i].writer)
		maker_writer(&message);
	maker_frame(&file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(&file), 1, &version, NULL), LANCET_OK);
	ck_assert_msg(version->counts_missing == recorded[_i].want, "%s", recorded[_i].label);
	lancet_version_unref(version);
	buf_release(&message);
	buf_release(&file);
}
END_TEST

UNIT_MAIN("manifest", UNIT_LOOP(footers_are_parsed_or_refused, footers),
          UNIT_LOOP(opening_reads_little_and_seldom, costs), UNIT_TEST(fragments_are_found_by_id),
          UNIT_LOOP(messages_are_read_or_refused, messages), UNIT_TEST(every_cut_is_refused),
          UNIT_TEST(every_changed_byte_is_read_or_refused),
          UNIT_TEST(many_empty_messages_cost_a_limited_amount), UNIT_TEST(sums_saturate),
          UNIT_LOOP(missing_counts_are_noticed, recorded))

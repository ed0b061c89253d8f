/* Index metadata: grouping, what spoils a section and what only a segment, documents. */
#include "unit.h"

#include "core/index_set.h"
#include "core/version.h"
#include "jsontext.h"
#include "lance/table.pb-c.h"

static Lance__Table__IndexMetadata
entry(const char *name)
{
	Lance__Table__IndexMetadata message = LANCE__TABLE__INDEX_METADATA__INIT;

	message.name = (ProtobufCBinaryData){ strlen(name), (uint8_t *)name };
	return message;
}

/* Decodes a section of these entries. */
static int
parse(Lance__Table__IndexMetadata **entries, size_t count, struct index_set **ret_set,
      struct lancet_error *err)
{
	Lance__Table__IndexSection section = LANCE__TABLE__INDEX_SECTION__INIT;
	uint8_t *bytes;
	size_t size;
	int rc;

	section.indices = entries;
	section.n_indices = count;
	bytes = malloc(lance__table__index_section__get_packed_size(&section) + 1);
	ck_assert_ptr_nonnull(bytes);
	size = lance__table__index_section__pack(&section, bytes);
	rc = index_section_parse(slice_of(bytes, size), ret_set, err);
	free(bytes);
	return rc;
}

static struct index_set *
parse_one(Lance__Table__IndexMetadata *message)
{
	struct index_set *set = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(parse(&message, 1, &set, &err) == LANCET_OK, "%s", err.text);
	return set;
}

START_TEST(segments_are_grouped_by_name_in_byte_order)
{
	static const char *const names[] = { "b", "__lance_frag_reuse", "a", "b", "B", "b", "" };
	static const char *const want[] = { "", "B", "__lance_frag_reuse", "a", "b" };
	Lance__Table__IndexMetadata messages[ARRAY_SIZE(names)];
	Lance__Table__IndexMetadata *entries[ARRAY_SIZE(names)];
	struct index_set *set = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		messages[i] = entry(names[i]);
		messages[i].dataset_version = i;
		entries[i] = &messages[i];
	}
	ck_assert_int_eq(parse(entries, ARRAY_SIZE(names), &set, NULL), LANCET_OK);
	ck_assert_uint_eq(set->count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert(
			slice_equal(slice_of(set->indices[i].name.data, set->indices[i].name.size),
		                    slice_text(want[i])));
		ck_assert(set->indices[i].is_system == (want[i][0] == '_'));
	}
	ck_assert_uint_eq(set->indices[4].segment_count, 3);
	ck_assert_uint_eq(set->indices[4].segments[0]->dataset_version, 0);
	ck_assert_uint_eq(set->indices[4].segments[1]->dataset_version, 3);
	ck_assert_uint_eq(set->indices[4].segments[2]->dataset_version, 5);
	version_indices_free(set);
}
END_TEST

START_TEST(an_empty_section_has_no_indices)
{
	struct index_set *set = NULL;

	ck_assert_int_eq(parse(NULL, 0, &set, NULL), LANCET_OK);
	ck_assert_uint_eq(set->count, 0);
	version_indices_free(set);
	version_indices_free(NULL);
}
END_TEST

START_TEST(garbage_is_corrupt)
{
	struct index_set *set = NULL;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(index_section_parse(slice_of("\x0a\x05\x01", 3), &set, &err),
	                 LANCET_CORRUPT);
	ck_assert_ptr_null(set);
	ck_assert(err.text[0] != '\0');
}
END_TEST

static const struct {
	const char *label;
	int32_t fields[4];
	size_t count;
	int32_t covering[4];
	size_t covering_count;
	int want;
} coverings[] = {
	{ "none", { 1, 2 }, 2, { 0 }, 0, LANCET_OK },
	{ "the tail", { 1, 2, 3 }, 3, { 2, 3 }, 2, LANCET_OK },
	{ "not the tail", { 1, 2, 3 }, 3, { 1 }, 1, LANCET_CORRUPT },
	{ "in another order", { 1, 2, 3 }, 3, { 3, 2 }, 2, LANCET_CORRUPT },
	{ "all of them", { 1, 2 }, 2, { 1, 2 }, 2, LANCET_CORRUPT },
	{ "more than there are", { 1 }, 1, { 1, 1 }, 2, LANCET_CORRUPT },
	{ "twice", { 1, 2, 2 }, 3, { 2, 2 }, 2, LANCET_CORRUPT },
	{ "of no fields", { 0 }, 0, { 1 }, 1, LANCET_CORRUPT },
};

START_TEST(covering_fields_are_a_proper_tail)
{
	Lance__Table__IndexMetadata message = entry("x");
	Lance__Table__IndexMetadata *entries[] = { &message };
	struct index_set *set = NULL;
	struct lancet_error err = { 0 };

	message.fields = (int32_t *)coverings[_i].fields;
	message.n_fields = coverings[_i].count;
	message.covering_fields = (int32_t *)coverings[_i].covering;
	message.n_covering_fields = coverings[_i].covering_count;
	ck_assert_msg(parse(entries, 1, &set, &err) == coverings[_i].want, "%s: %s",
	              coverings[_i].label, err.text);
	ck_assert(coverings[_i].want == LANCET_OK || strstr(err.text, "index x") != NULL);
	version_indices_free(set);
}
END_TEST

static const struct {
	struct slice bytes;
	const char *text;
	bool valid;
} uuids[] = {
	{ { (const uint8_t *)"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\xee\xff",
	    16 },
	  "00010203-0405-0607-0809-0a0b0c0deeff",
	  true },
	{ { (const uint8_t *)"\xdc\x5a", 2 }, "dc5a", false },
	{ { (const uint8_t *)"", 0 }, "", false },
	{ { (const uint8_t *)"aaaaaaaaaaaaaaaaaaaaaaaa", 24 },
	  "616161616161616161616161616161616161",
	  false },
};

START_TEST(a_uuid_of_another_length_is_shown_but_opens_nothing)
{
	Lance__Table__IndexMetadata message = entry("x");
	Lance__Table__UUID uuid = LANCE__TABLE__UUID__INIT;
	struct lancet_error err = { 0 };
	const struct lancet_index_segment *segment;
	struct index_set *set;
	const lancet_base *base;
	char **paths;
	size_t count;

	uuid.uuid = (ProtobufCBinaryData){ uuids[_i].bytes.size, (uint8_t *)uuids[_i].bytes.data };
	message.uuid = &uuid;
	set = parse_one(&message);
	segment = set->indices[0].segments[0];
	ck_assert_str_eq(segment->uuid_text, uuids[_i].text);
	ck_assert(segment->uuid_valid == uuids[_i].valid);
	if (!segment->uuid_valid)
		ck_assert_int_eq(
			lancet_index_segment_files(NULL, segment, &base, &paths, &count, &err),
			LANCET_CORRUPT);
	version_indices_free(set);
}
END_TEST

/* A version of two fragments and a field. */
static struct fragment_span spans[2];
static Lance__Table__Manifest manifest;
static Lance__File__Field field = LANCE__FILE__FIELD__INIT;
static Lance__File__Field *fields[] = { &field };

static struct lancet_version
version_of_two(void)
{
	struct lancet_version version = { 0 };

	spans[1].id = 3;
	lance__table__manifest__init(&manifest);
	field.id = 7;
	field.name = (ProtobufCBinaryData){ 5, (uint8_t *)"price" };
	manifest.fields = fields;
	manifest.n_fields = 1;
	version.spans = spans;
	version.info.fragment_count = ARRAY_SIZE(spans);
	version.message = &manifest;
	return version;
}

static const struct {
	const char *label;
	struct slice bitmap;
	int fragments;
} bitmaps[] = {
	{ "unknown", { (const uint8_t *)"", 0 }, LANCET_NOT_FOUND },
	{ "empty", { (const uint8_t *)"\x3a\x30\0\0\0\0\0\0", 8 }, LANCET_OK },
	{ "garbage", { (const uint8_t *)"garbage", 7 }, LANCET_CORRUPT },
	{ "one run of 65536",
	  { (const uint8_t *)"\x3b\x30\x00\x00\x01\x00\x00\xff\xff\x01\x00\x00\x00\xff\xff", 15 },
	  LANCET_OK },
};

START_TEST(damage_stays_in_its_bitmap)
{
	Lance__Table__IndexMetadata message = entry("x");
	struct index_set *set;
	uint32_t *ids;
	size_t count;
	int rc;

	message.fragment_bitmap = (ProtobufCBinaryData){ bitmaps[_i].bitmap.size,
		                                         (uint8_t *)bitmaps[_i].bitmap.data };
	set = parse_one(&message);
	rc = lancet_index_segment_fragments(set->indices[0].segments[0], &ids, &count, NULL);
	ck_assert_msg(rc == bitmaps[_i].fragments, "%s: %d", bitmaps[_i].label, rc);
	if (rc == LANCET_OK)
		free(ids);
	version_indices_free(set);
}
END_TEST

static const char segment_json[] =
	"{\n"
	"  \"format\": 1,\n"
	"  \"name\": \"price_idx\",\n"
	"  \"type_url\": \"/lance.table.BTreeIndexDetails\",\n"
	"  \"fields\": [\n"
	"    {\n      \"id\": 7,\n      \"name\": \"price\"\n    },\n"
	"    {\n      \"id\": 8,\n      \"name\": null\n    }\n"
	"  ],\n"
	"  \"uuid\": \"\",\n"
	"  \"dataset_version\": \"4\",\n"
	"  \"index_version\": 0,\n"
	"  \"created_at\": \"1970-01-01T00:00:01.500000000Z\",\n"
	"  \"files\": [\n    {\n      \"path\": \"page.lance\",\n      \"bytes\": 12\n    }\n  ],\n"
	"  \"covered_rows\": null,\n"
	"  \"retired_fragments\": null,\n"
	"  \"base\": 0,\n"
	"  \"covering_fields\": [\n    {\n      \"id\": 8,\n      \"name\": null\n    }\n  ],\n"
	"  \"details\": {\n"
	"    \"type_url\": \"/lance.table.BTreeIndexDetails\",\n"
	"    \"value\": \"\",\n"
	"    \"decoded\": {}\n"
	"  }\n"
	"}\n";

START_TEST(a_segment_is_described)
{
	static char url[] = "/lance.table.BTreeIndexDetails", path[] = "page.lance";
	static int32_t keys[] = { 7, 8 };
	Lance__Table__IndexMetadata message = entry("price_idx");
	Google__Protobuf__Any details = GOOGLE__PROTOBUF__ANY__INIT;
	Lance__Table__IndexFile file = LANCE__TABLE__INDEX_FILE__INIT;
	Lance__Table__IndexFile *files[] = { &file };
	struct lancet_version version = version_of_two();
	struct json_text text;
	struct index_set *set;

	details.type_url = (ProtobufCBinaryData){ sizeof(url) - 1, (uint8_t *)url };
	file.path = (ProtobufCBinaryData){ sizeof(path) - 1, (uint8_t *)path };
	file.size_bytes = 12;
	message.index_details = &details;
	message.files = files;
	message.n_files = 1;
	message.fields = keys;
	message.n_fields = 2;
	message.covering_fields = keys + 1;
	message.n_covering_fields = 1;
	message.dataset_version = 4;
	message.index_version_presence_case =
		LANCE__TABLE__INDEX_METADATA__INDEX_VERSION_PRESENCE_INDEX_VERSION;
	message.created_at_presence_case =
		LANCE__TABLE__INDEX_METADATA__CREATED_AT_PRESENCE_CREATED_AT;
	message.created_at = 1500;
	message.base_id_presence_case = LANCE__TABLE__INDEX_METADATA__BASE_ID_PRESENCE_BASE_ID;
	set = parse_one(&message);
	atomic_store(&version.indices, set);
	json_text_init(&text);
	ck_assert_int_eq(lancet_index_json(&version, &set->indices[0], set->indices[0].segments[0],
	                                   &text.out, NULL),
	                 LANCET_OK);
	ck_assert_str_eq(json_text_end(&text), segment_json);
	buf_release(&text.buf);
	version_indices_free(set);
}
END_TEST

/* What make_sample.py built: one BTREE over `id` when there were three fragments. */
START_TEST(the_sample_has_its_index)
{
	static const char *const names[] = { "page_data.lance", "page_lookup.lance" };
	const struct lancet_index *indices;
	const lancet_base *base;
	lancet_dataset *dataset;
	lancet_version *version;
	uint32_t *ids;
	char **paths;
	size_t count;

	ck_assert_int_eq(lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, NULL),
	                 LANCET_OK);
	ck_assert_int_eq(lancet_version_open(dataset, 6, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_indices(version, &indices, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(lancet_index_coverage(version, &indices[0], NULL, LANCET_UNINDEXED, &ids,
	                                       &count, NULL),
	                 LANCET_OK);
	ck_assert(count == 1 && ids[0] == 3);
	free(ids);
	ck_assert_int_eq(lancet_index_segment_files(version, indices[0].segments[0], &base, &paths,
	                                            &count, NULL),
	                 LANCET_OK);
	ck_assert_uint_eq(count, ARRAY_SIZE(names));
	for (size_t i = 0; i < count; i++) {
		struct stat st;

		ck_assert_str_eq(strrchr(paths[i], '/') + 1, names[i]);
		ck_assert_int_eq(lancet_base_stat(base, paths[i], &st, NULL), LANCET_OK);
	}
	free(paths);
	lancet_version_unref(version);
	ck_assert_int_eq(lancet_version_open(dataset, 4, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_indices(version, &indices, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(count, 0);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
}
END_TEST

UNIT_MAIN("index_meta", UNIT_TEST(segments_are_grouped_by_name_in_byte_order),
          UNIT_TEST(an_empty_section_has_no_indices), UNIT_TEST(garbage_is_corrupt),
          UNIT_LOOP(covering_fields_are_a_proper_tail, coverings),
          UNIT_LOOP(a_uuid_of_another_length_is_shown_but_opens_nothing, uuids),
          UNIT_LOOP(damage_stays_in_its_bitmap, bitmaps), UNIT_TEST(a_segment_is_described),
          UNIT_TEST(the_sample_has_its_index))

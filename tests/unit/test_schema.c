/* The schema: a tree from parent ids, and its document. */
#include "unit.h"

#include "maker.h"

#include "util/jsonw.h"

#define FIELD_MAX 2048

struct row {
	int32_t id, parent;
};

/* A manifest with fields f0, f1, … of the given ids and parents. */
static int
load_fields(const struct row *rows, size_t count, struct buf *file, lancet_version **ret_version,
            struct lancet_error *err)
{
	static Lance__File__Field fields[FIELD_MAX];
	static Lance__File__Field *pointers[FIELD_MAX];
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;

	ck_assert_uint_le(count, FIELD_MAX);
	for (size_t i = 0; i < count; i++) {
		lance__file__field__init(&fields[i]);
		fields[i].id = rows[i].id;
		fields[i].parent_id = rows[i].parent;
		fields[i].name = maker_text("f");
		pointers[i] = &fields[i];
	}
	manifest.version = 1;
	manifest.n_fields = count;
	manifest.fields = pointers;
	return maker_load_message(file, &manifest, ret_version, err);
}

START_TEST(depths_follow_the_parents)
{
	/* 5 comes back to the top-level parent after a deeper one; 3 repeats an id */
	static const struct row rows[] = {
		{ 0, -1 }, { 1, 0 }, { 3, 1 }, { 3, -1 }, { 4, 3 }, { 5, 0 }, { 6, -1 },
	};
	static const unsigned depths[] = { 0, 1, 2, 0, 3, 1, 0 };
	const struct lancet_field *fields = NULL, *again = NULL;
	lancet_version *version = NULL;
	struct buf file = { 0 };
	size_t count = 0;

	ck_assert_int_eq(load_fields(rows, ARRAY_SIZE(rows), &file, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_fields(version, &fields, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(fields[i].id, rows[i].id);
		ck_assert_int_eq(fields[i].parent_id, rows[i].parent);
		ck_assert_uint_eq(fields[i].depth, depths[i]);
	}
	ck_assert_int_eq(lancet_version_fields(version, &again, &count, NULL), LANCET_OK);
	ck_assert_ptr_eq(again, fields);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

static const struct {
	const char *label;
	struct row rows[3];
	size_t count;
} no_trees[] = {
	{ "parent after its child", { { 0, 1 }, { 1, -1 } }, 2 },
	{ "two parents of each other", { { 0, 1 }, { 1, 0 } }, 2 },
	{ "its own parent", { { 0, -1 }, { 1, 1 } }, 2 },
	{ "no such parent", { { 0, -1 }, { 1, 7 } }, 2 },
	{ "negative parent", { { 0, -2 } }, 1 },
	{ "first of two is later", { { 2, 1 }, { 1, -1 }, { 1, -1 } }, 3 },
};

START_TEST(what_is_no_tree_refuses_the_version)
{
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };
	struct buf file = { 0 };
	int rc = load_fields(no_trees[_i].rows, no_trees[_i].count, &file, &version, &err);

	ck_assert_msg(rc == LANCET_CORRUPT, "%s: %s", no_trees[_i].label, err.text);
	ck_assert_ptr_null(version);
	buf_release(&file);
}
END_TEST

static int
count_bytes(void *context, const void *data, size_t size)
{
	(void)data;
	*(size_t *)context += size;
	return LANCET_OK;
}

START_TEST(deep_nesting_is_a_limit_of_the_tree_alone)
{
	static struct row rows[FIELD_MAX];
	const struct lancet_field *fields = NULL;
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };
	struct buf file = { 0 };
	size_t count = 0, bytes = 0;
	const struct lancet_output out = { count_bytes, &bytes };

	for (int32_t i = 0; i < FIELD_MAX; i++)
		rows[i] = (struct row){ i, i - 1 };
	ck_assert_int_eq(load_fields(rows, 512, &file, &version, &err), LANCET_OK);
	ck_assert_int_eq(lancet_version_fields(version, &fields, &count, &err), LANCET_OK);
	ck_assert_uint_eq(fields[511].depth, 511);
	lancet_version_unref(version);
	file.size = 0;
	ck_assert_int_eq(load_fields(rows, FIELD_MAX, &file, &version, &err), LANCET_OK);
	ck_assert_int_eq(lancet_version_fields(version, &fields, &count, &err), LANCET_LIMIT);
	ck_assert_int_eq(lancet_version_schema_json(version, &out, &err), LANCET_OK);
	ck_assert_uint_gt(bytes, FIELD_MAX);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

static int
append(void *context, const void *data, size_t size)
{
	buf_put(context, data, size);
	return LANCET_OK;
}

static const char document[] =
	"{\n"
	"  \"format\": 1,\n"
	"  \"fields\": [\n"
	"    {\n"
	"      \"id\": 0,\n"
	"      \"parent_id\": -1,\n"
	"      \"name\": \"a/b\",\n"
	"      \"type\": \"quux:7\",\n"
	"      \"nullable\": true,\n"
	"      \"metadata\": {\n"
	"        \"a\": \"3\",\n"
	"        \"b\": \"1\"\n"
	"      },\n"
	"      \"encoding\": \"VAR_BINARY\",\n"
	"      \"dictionary\": {\n"
	"        \"offset\": \"4\",\n"
	"        \"length\": \"0\"\n"
	"      },\n"
	"      \"extension_name\": \"x\",\n"
	"      \"unenforced_primary_key\": true,\n"
	"      \"unenforced_primary_key_position\": 2\n"
	"    },\n"
	"    {\n"
	"      \"id\": 3,\n"
	"      \"parent_id\": 0,\n"
	"      \"name\": \"\",\n"
	"      \"type\": \"\",\n"
	"      \"nullable\": false,\n"
	"      \"metadata\": {}\n"
	"    }\n"
	"  ],\n"
	"  \"metadata\": {\n"
	"    \"k\": \"v\"\n"
	"  }\n"
	"}\n";

START_TEST(the_document_has_all_that_is_stored)
{
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;
	Lance__File__Field first = LANCE__FILE__FIELD__INIT, second = LANCE__FILE__FIELD__INIT;
	Lance__File__Field *fields[] = { &first, &second };
	Lance__File__Dictionary dictionary = LANCE__FILE__DICTIONARY__INIT;
	Lance__File__StringEntry entries[4] = {
		LANCE__FILE__STRING_ENTRY__INIT, LANCE__FILE__STRING_ENTRY__INIT,
		LANCE__FILE__STRING_ENTRY__INIT, LANCE__FILE__STRING_ENTRY__INIT,
	};
	Lance__File__StringEntry *metadata[] = { &entries[0], &entries[1], &entries[2] };
	Lance__File__StringEntry *schema_metadata[] = { &entries[3] };
	static const char *const texts[][2] = { { "b", "1" }, { "a", "2" }, { "a", "3" },
		                                { "k", "v" } };
	const struct lancet_field *listed = NULL;
	lancet_version *version = NULL;
	struct buf file = { 0 }, json = { 0 };
	const struct lancet_output out = { append, &json };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		entries[i].key = maker_text(texts[i][0]);
		entries[i].value = maker_text(texts[i][1]);
	}
	first.parent_id = -1;
	first.name = maker_text("a/b");
	first.logical_type = maker_text("quux:7");
	first.nullable = 1;
	first.encoding = LANCE__FILE__ENCODING__VAR_BINARY;
	dictionary.offset = 4;
	first.dictionary = &dictionary;
	first.extension_name = maker_text("x");
	first.n_metadata = ARRAY_SIZE(metadata);
	first.metadata = metadata;
	first.unenforced_primary_key = 1;
	first.unenforced_primary_key_position = 2;
	second.id = 3;
	manifest.version = 1;
	manifest.n_fields = ARRAY_SIZE(fields);
	manifest.fields = fields;
	manifest.n_schema_metadata = ARRAY_SIZE(schema_metadata);
	manifest.schema_metadata = schema_metadata;
	ck_assert_int_eq(maker_load_message(&file, &manifest, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_schema_json(version, &out, NULL), LANCET_OK);
	buf_put_byte(&json, '\0');
	ck_assert_str_eq((const char *)json.data, document);
	ck_assert_int_eq(lancet_version_fields(version, &listed, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(listed[0].metadata_count, 2);
	ck_assert_mem_eq(listed[0].metadata[0].value.data, "3", 1);
	lancet_version_unref(version);
	buf_release(&file);
	buf_release(&json);
}
END_TEST

UNIT_MAIN("schema", UNIT_TEST(depths_follow_the_parents),
          UNIT_LOOP(what_is_no_tree_refuses_the_version, no_trees),
          UNIT_TEST(deep_nesting_is_a_limit_of_the_tree_alone),
          UNIT_TEST(the_document_has_all_that_is_stored))

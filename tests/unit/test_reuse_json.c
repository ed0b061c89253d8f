/* info.json of the reuse history and of its transitions: whole documents of histories made by hand.
 */
#include "histories.h"
#include "historyfile.h"
#include "jsontext.h"
#include "scene.h"
#include "unit.h"

struct opened {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *version;
};

/* Takes the content. */
static struct opened
open_history(struct buf *content, uint64_t index_version)
{
	struct opened opened = { .tree = tree_new() };

	history_write_inline(&opened.tree, content, index_version, NULL, 0);
	opened.dataset = open_dataset(&opened.tree);
	opened.version = history_version(opened.dataset);
	return opened;
}

static void
close_history(struct opened *opened)
{
	lancet_version_unref(opened->version);
	close_dataset(opened->dataset, &opened->tree);
}

static void
check_history(struct opened *opened, const char *want)
{
	struct lancet_error err = { 0 };
	struct json_text text;
	int rc;

	json_text_init(&text);
	rc = lancet_reuse_json(opened->version, &text.out, &err);
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	ck_assert_str_eq(json_text_end(&text), want);
	buf_release(&text.buf);
}

static void
check_transition(struct opened *opened, size_t transition, const char *want)
{
	struct lancet_error err = { 0 };
	struct json_text text;
	int rc;

	json_text_init(&text);
	rc = lancet_transition_json(opened->version, transition, &text.out, &err);
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	ck_assert_str_eq(json_text_end(&text), want);
	buf_release(&text.buf);
}

static const char mixed_text[] = "{\n"
				 "  \"format\": 1,\n"
				 "  \"index_version\": 1,\n"
				 "  \"uuid\": \"30313233-3435-3637-3839-616263646566\",\n"
				 "  \"dataset_version\": \"0\",\n"
				 "  \"created_at\": null,\n"
				 "  \"details\": {\n"
				 "    \"location\": \"inline\",\n"
				 "    \"path\": null,\n"
				 "    \"bytes\": 164,\n"
				 "    \"base\": null\n"
				 "  },\n"
				 "  \"legacy_versions\": 1,\n"
				 "  \"tagged_transitions\": 1,\n"
				 "  \"transitions\": 2,\n"
				 "  \"interpretable\": true,\n"
				 "  \"needed\": [],\n"
				 "  \"not_needed\": [\n"
				 "    0,\n"
				 "    1\n"
				 "  ]\n"
				 "}\n";
static const char legacy_text[] = "{\n"
				  "  \"format\": 1,\n"
				  "  \"transition\": 0,\n"
				  "  \"kind\": \"ordered_compaction\",\n"
				  "  \"legacy\": true,\n"
				  "  \"record\": \"legacy_versions[0].groups[0]\",\n"
				  "  \"dataset_version\": \"77\",\n"
				  "  \"sources\": 2,\n"
				  "  \"destinations\": 1,\n"
				  "  \"source_rows\": 15,\n"
				  "  \"live_rows\": 12,\n"
				  "  \"deleted_rows\": 3,\n"
				  "  \"surviving_bytes\": 72,\n"
				  "  \"needed_by\": [],\n"
				  "  \"fault\": null\n"
				  "}\n";
static const char partition_text[] =
	"{\n"
	"  \"format\": 1,\n"
	"  \"transition\": 1,\n"
	"  \"kind\": \"stable_partition\",\n"
	"  \"legacy\": false,\n"
	"  \"record\": \"transitions[0]\",\n"
	"  \"sources\": 1,\n"
	"  \"destinations\": 2,\n"
	"  \"source_rows\": 12,\n"
	"  \"live_rows\": 10,\n"
	"  \"deleted_rows\": 2,\n"
	"  \"map\": {\n"
	"    \"id\": \"" HISTORY_MAP_ID "\",\n"
	"    \"path\": \"_fri/" HISTORY_MAP_ID "/stable_partition.lance\",\n"
	"    \"bytes\": 100,\n"
	"    \"base\": null\n"
	"  },\n"
	"  \"needed_by\": [],\n"
	"  \"fault\": null\n"
	"}\n";

START_TEST(both_forms_are_told_apart)
{
	struct buf content = { 0 }, version = { 0 };
	struct opened opened;

	put_number(&version, 1, 77);
	history_group(&version, "0/10-3 1/5", "2/12");
	put_message(&content, 1, &version);
	history_partition(&content, "2/12-2", "3/4 4/6");
	ck_assert_uint_eq(content.size, 164);
	opened = open_history(&content, 1);
	check_history(&opened, mixed_text);
	check_transition(&opened, 0, legacy_text);
	check_transition(&opened, 1, partition_text);
	ck_assert_int_eq(lancet_transition_json(opened.version, 2, NULL, NULL), LANCET_INVALID);
	close_history(&opened);
}
END_TEST

static const char unknown_text[] = "  \"interpretable\": false,\n"
				   "  \"needed\": null,\n"
				   "  \"not_needed\": null,\n"
				   "  \"unknown\": {\n"
				   "    \"9\": [\n"
				   "      \"5\",\n"
				   "      \"6\"\n"
				   "    ],\n"
				   "    \"12\": [\n"
				   "      \"YWJj\"\n"
				   "    ]\n"
				   "  }\n"
				   "}\n";

START_TEST(unknown_records_are_kept)
{
	struct buf content = { 0 };
	struct opened opened;
	struct json_text text;

	put_number(&content, 9, 5);
	history_ordered(&content, "0/1", "1/1");
	put_head(&content, 12, 3);
	buf_put_text(&content, "abc");
	put_number(&content, 9, 6);
	opened = open_history(&content, 1);
	json_text_init(&text);
	ck_assert_int_eq(lancet_reuse_json(opened.version, &text.out, NULL), LANCET_OK);
	ck_assert_ptr_nonnull(strstr(json_text_end(&text), unknown_text));
	buf_release(&text.buf);
	close_history(&opened);
}
END_TEST

/* The history's document would be wrong; those of its transitions tell what is stored. */
START_TEST(faults_fail_the_whole_and_show_in_the_part)
{
	struct buf content = { 0 };
	struct opened opened;
	struct json_text text;
	struct lancet_error err = { 0 };

	history_ordered(&content, "0/1", "1/1");
	history_ordered(&content, "8/1", "9/2");
	history_ordered(&content, "10/1-2", "11/1");
	opened = open_history(&content, 1);
	json_text_init(&text);
	ck_assert_int_eq(lancet_reuse_json(opened.version, &text.out, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "transitions[1]"));
	ck_assert_uint_eq(text.writes, 0);
	check_transition(&opened, 1,
		"{\n"
		"  \"format\": 1,\n"
		"  \"transition\": 1,\n"
		"  \"kind\": \"ordered_compaction\",\n"
		"  \"legacy\": false,\n"
		"  \"record\": \"transitions[1]\",\n"
		"  \"sources\": 1,\n"
		"  \"destinations\": 1,\n"
		"  \"source_rows\": 1,\n"
		"  \"live_rows\": 1,\n"
		"  \"deleted_rows\": 0,\n"
		"  \"surviving_bytes\": 30,\n"
		"  \"needed_by\": null,\n"
		"  \"fault\": \"transitions[1]: 1 live rows of its sources became 2\"\n"
		"}\n");
	ck_assert_int_eq(lancet_transition_json(opened.version, 2, &text.out, NULL), LANCET_OK);
	ck_assert_ptr_nonnull(strstr(json_text_end(&text), "  \"source_rows\": null,\n"
							   "  \"live_rows\": null,\n"
							   "  \"deleted_rows\": null,\n"));
	buf_release(&text.buf);
	close_history(&opened);
}
END_TEST

/* Index a names fragment 0 alone and b 0 and 1; nobody names 2. What 0 became was rewritten again.
 */
static const struct scene_text needs_scene = {
	.label = "needs",
	.live = "5 6 7",
	.index_version = 1,
	.tagged = "0 > 4; 4 > 5; 1 > 6; 2 > 7",
	.segments = { { "b", "BTree", "0 1", 1, NULL }, { "a", "BTree", "0", 1, NULL } },
};

static const char needs_text[] = "  \"needed\": [\n"
				 "    {\n"
				 "      \"transition\": 0,\n"
				 "      \"indices\": [\n"
				 "        \"a\",\n"
				 "        \"b\"\n"
				 "      ],\n"
				 "      \"downstream\": false\n"
				 "    },\n"
				 "    {\n"
				 "      \"transition\": 1,\n"
				 "      \"indices\": [\n"
				 "        \"b\"\n"
				 "      ],\n"
				 "      \"downstream\": false\n"
				 "    },\n"
				 "    {\n"
				 "      \"transition\": 3,\n"
				 "      \"indices\": [\n"
				 "        \"a\",\n"
				 "        \"b\"\n"
				 "      ],\n"
				 "      \"downstream\": true\n"
				 "    }\n"
				 "  ],\n"
				 "  \"not_needed\": [\n"
				 "    2\n"
				 "  ]\n"
				 "}\n";
static const char *const needed_by[] = {
	"\"needed_by\": [\n    \"a\",\n    \"b\"\n  ]",
	"\"needed_by\": [\n    \"b\"\n  ]",
	"\"needed_by\": []",
	"\"needed_by\": [\n    \"a\",\n    \"b\"\n  ]",
};

static void
check_needs(struct scene *scene)
{
	struct json_text text;

	for (size_t i = 0; i < ARRAY_SIZE(needed_by); i++) {
		json_text_init(&text);
		ck_assert_int_eq(
			lancet_transition_json(&scene->version, i, &text.out, NULL), LANCET_OK);
		ck_assert_msg(strstr(json_text_end(&text), needed_by[i]) != NULL, "%zu: %s", i,
			(const char *)text.buf.data);
		buf_release(&text.buf);
	}
	json_text_init(&text);
	ck_assert_int_eq(lancet_reuse_json(&scene->version, &text.out, NULL), LANCET_OK);
	ck_assert_msg(strstr(json_text_end(&text), needs_text) != NULL, "%s",
		(const char *)text.buf.data);
	buf_release(&text.buf);
}

START_TEST(what_is_needed_is_named)
{
	struct scene scene;

	scene_make(&scene, &needs_scene);
	check_needs(&scene);
	check_needs(&scene); /* kept */
	scene_release(&scene);
}
END_TEST

START_TEST(damaged_bitmaps_leave_it_open)
{
	struct scene_text damaged = needs_scene;
	struct json_text text;
	struct scene scene;

	damaged.segments[1].bitmap = "!";
	scene_make(&scene, &damaged);
	json_text_init(&text);
	ck_assert_int_eq(lancet_reuse_json(&scene.version, &text.out, NULL), LANCET_OK);
	ck_assert_ptr_nonnull(strstr(json_text_end(&text), "  \"needed\": null,\n"
							   "  \"not_needed\": null\n"));
	buf_release(&text.buf);
	scene_release(&scene);
}
END_TEST

UNIT_MAIN("reuse_json", UNIT_TEST(both_forms_are_told_apart), UNIT_TEST(unknown_records_are_kept),
	UNIT_TEST(faults_fail_the_whole_and_show_in_the_part), UNIT_TEST(what_is_needed_is_named),
	UNIT_TEST(damaged_bitmaps_leave_it_open))

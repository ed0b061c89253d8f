/* Tags and branches: what their files say, names, damage that stays with its own ref. */
#include "unit.h"

#include "core/refs.h"
#include "treedata.h"

#include <errno.h>

#define MANIFEST "_versions/18446744073709551614.manifest"
#define TAGS     "ds/_refs/tags/"
#define BRANCHES "ds/_refs/branches/"

static struct tree
plain_dataset(void)
{
	struct tree tree = tree_new();

	tree_manifest(&tree, "ds/" MANIFEST, 1, 1000);
	return tree;
}

static struct lancet_bytes
bytes_of(const char *text)
{
	return (struct lancet_bytes){ (const uint8_t *)text, strlen(text) };
}

/* The file of a branch and the dataset in its directory. */
static void
put_branch(const struct tree *tree, const char *stem, const char *name, const char *parent)
{
	char path[512], json[512];

	(void)snprintf(path, sizeof(path), BRANCHES "%s.json", stem);
	(void)snprintf(json, sizeof(json),
	               "{\n  \"parentBranch\": %s,\n  \"identifier\": {\"version_mapping\": "
	               "[[3, \"0cd8e849bfb247f7ac2c0360263025a2\"]]},\n  \"parentVersion\": 3,\n"
	               "  \"createAt\": 1796002959,\n  \"manifestSize\": 618,\n"
	               "  \"metadata\": {}\n}",
	               parent);
	tree_text(tree, path, json);
	(void)snprintf(path, sizeof(path), "ds/tree/%s/" MANIFEST, name);
	tree_manifest(tree, path, 1, 500);
}

START_TEST(tags_are_listed_in_byte_order)
{
	struct tree tree = plain_dataset();
	struct lancet_tag_list list;
	lancet_dataset *dataset;

	tree_text(&tree, TAGS "b.json",
	          "{\n  \"branch\": null,\n  \"version\": 2,\n  \"createdAt\": "
	          "\"2026-11-30T01:42:39.728033999Z\",\n  \"manifestSize\": 460,\n"
	          "  \"metadata\": {}\n}");
	tree_text(&tree, TAGS "a.1.json",
	          "{\"branch\": \"team/x\", \"version\": 10725386629318268134}");
	tree_text(&tree, TAGS "v1-%CE%B2.json", "{\"version\": 1, \"manifestSize\": 5}");
	tree_text(&tree, TAGS "b.json.tmp.0123#1", "{}");
	tree_mkdir(&tree, TAGS "dir.json");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_tags(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(list.tags[0].name, "a.1");
	ck_assert(list.tags[0].has_branch);
	ck_assert_str_eq(list.tags[0].branch, "team/x");
	ck_assert_uint_eq(list.tags[0].version, UINT64_C(10725386629318268134));
	ck_assert_uint_eq(list.tags[0].manifest_size, 0);
	ck_assert_str_eq(list.tags[1].name, "b");
	ck_assert(!list.tags[1].has_branch);
	ck_assert_ptr_null(list.tags[1].branch);
	ck_assert_uint_eq(list.tags[1].version, 2);
	ck_assert_uint_eq(list.tags[1].manifest_size, 460);
	ck_assert(S_ISREG(list.tags[1].file_stat.st_mode));
	ck_assert_str_eq(list.tags[2].name, "v1-\xce\xb2");
	for (size_t i = 0; i < list.count; i++)
		ck_assert_int_eq(list.tags[i].code, LANCET_OK);
	lancet_tag_list_release(&list);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(without_refs_the_lists_are_empty)
{
	struct tree tree = plain_dataset();
	struct lancet_branch_list branches;
	struct lancet_tag_list tags;
	lancet_dataset *dataset = open_dataset(&tree), *branch = NULL;

	ck_assert_int_eq(lancet_dataset_tags(dataset, &tags, NULL), LANCET_OK);
	ck_assert_uint_eq(tags.count, 0);
	ck_assert_int_eq(lancet_dataset_branches(dataset, &branches, NULL), LANCET_OK);
	ck_assert_uint_eq(branches.count, 0);
	lancet_tag_list_release(&tags);
	lancet_branch_list_release(&branches);
	ck_assert_int_eq(lancet_dataset_tag(dataset, bytes_of("x"), &tags, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_dataset_branch(dataset, bytes_of("x"), &branch, NULL),
	                 LANCET_NOT_FOUND);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static const struct {
	const char *json;
	int want;
} tag_files[] = {
	{ "{\"version\": 1, \"unknown\": [1, 2]}", LANCET_OK },
	{ "{\"branch\": \"dev\", \"version\": 961, \"createdAt\": null}", LANCET_OK },
	{ "", LANCET_CORRUPT },
	{ "{}", LANCET_CORRUPT },
	{ "[]", LANCET_CORRUPT },
	{ "{\"version\": 0}", LANCET_CORRUPT },
	{ "{\"version\": -1}", LANCET_CORRUPT },
	{ "{\"version\": 1.5}", LANCET_CORRUPT },
	{ "{\"version\": \"1\"}", LANCET_CORRUPT },
	{ "{\"version\": 18446744073709551616}", LANCET_CORRUPT },
	{ "{\"version\": 1, \"branch\": 5}", LANCET_CORRUPT },
	{ "{\"version\": 1, \"branch\": \"../up\"}", LANCET_CORRUPT },
	{ "{\"version\": 1, \"branch\": \"a\\u0000b\"}", LANCET_CORRUPT },
	{ "{\"version\": 1, \"branch\": \"\"}", LANCET_CORRUPT },
	{ "{\"version\": 1, \"manifestSize\": -4}", LANCET_CORRUPT },
	{ "{\"version\": 1} trailing", LANCET_CORRUPT },
	{ "{\"version\": 1, \"deep\": [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}", LANCET_CORRUPT },
};

START_TEST(a_damaged_tag_fails_alone)
{
	struct tree tree = plain_dataset();
	struct lancet_tag_list list;
	lancet_dataset *dataset;

	tree_text(&tree, TAGS "it.json", tag_files[_i].json);
	tree_text(&tree, TAGS "other.json", "{\"version\": 7}");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_tags(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_msg(list.tags[0].code == tag_files[_i].want, "%s: %s", tag_files[_i].json,
	              list.tags[0].error);
	ck_assert_int_eq(list.tags[0].error[0] != '\0', list.tags[0].code != LANCET_OK);
	ck_assert_int_eq(list.tags[1].code, LANCET_OK);
	ck_assert_uint_eq(list.tags[1].version, 7);
	lancet_tag_list_release(&list);
	ck_assert_int_eq(lancet_dataset_tag(dataset, bytes_of("it"), &list, NULL), LANCET_OK);
	ck_assert_str_eq(list.tags[0].key, "_refs/tags/it.json");
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.tags[0].name, "it");
	ck_assert_int_eq(list.tags[0].code, tag_files[_i].want);
	lancet_tag_list_release(&list);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(hostile_names_of_tags_are_listed_and_refused)
{
	static const char *const stems[] = { "", ".hidden", "..%2Fup", "a%", "a%00b", "bad name" };
	struct tree tree = plain_dataset();
	struct lancet_tag_list list;
	lancet_dataset *dataset;
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		(void)snprintf(path, sizeof(path), TAGS "%s.json", stems[i]);
		tree_text(&tree, path, "{\"version\": 1}");
	}
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_tags(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, ARRAY_SIZE(stems));
	for (size_t i = 0; i < list.count; i++)
		ck_assert_msg(list.tags[i].code == LANCET_CORRUPT, "%s", list.tags[i].name);
	ck_assert_str_eq(list.tags[0].name, "");
	ck_assert_str_eq(list.tags[1].name, "../up");
	lancet_tag_list_release(&list);
	ck_assert_int_eq(lancet_dataset_tag(dataset, bytes_of("../up"), &list, NULL), LANCET_OK);
	ck_assert_int_eq(list.tags[0].code, LANCET_CORRUPT);
	lancet_tag_list_release(&list);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(names_that_two_files_give_are_one_refused_entry)
{
	struct tree tree = plain_dataset();
	struct lancet_branch_list branches;
	struct lancet_tag_list tags;
	lancet_dataset *dataset;

	tree_text(&tree, TAGS "a.json", "{\"version\": 1}");
	tree_text(&tree, TAGS "%61.json", "{\"version\": 2}");
	put_branch(&tree, "b", "b", "null");
	put_branch(&tree, "%62", "b", "null");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_tags(dataset, &tags, NULL), LANCET_OK);
	ck_assert_uint_eq(tags.count, 1);
	ck_assert_int_eq(tags.tags[0].code, LANCET_CORRUPT);
	ck_assert_int_eq(lancet_dataset_branches(dataset, &branches, NULL), LANCET_OK);
	ck_assert_uint_eq(branches.count, 1);
	ck_assert_int_eq(branches.branches[0].code, LANCET_CORRUPT);
	lancet_tag_list_release(&tags);
	lancet_branch_list_release(&branches);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(files_of_refs_are_limited_in_size)
{
	struct tree tree = plain_dataset();
	size_t size = (1u << 20) + 1;
	char *text = malloc(size);
	struct lancet_tag_list list;
	lancet_dataset *dataset;

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', size);
	memcpy(text, "{\"version\": 1}", 14);
	tree_put(&tree, TAGS "big.json", text, size);
	tree_put(&tree, TAGS "most.json", text, size - 1);
	free(text);
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_tags(dataset, &list, NULL), LANCET_OK);
	ck_assert_int_eq(list.tags[0].code, LANCET_LIMIT);
	ck_assert_int_eq(list.tags[1].code, LANCET_OK);
	lancet_tag_list_release(&list);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(branches_have_nested_names_and_parents)
{
	struct tree tree = plain_dataset();
	struct lancet_branch_list list;
	lancet_dataset *dataset, *branch = NULL, *again = NULL;
	struct lancet_tag_list tags;
	uint64_t number = 0;

	put_branch(&tree, "dev", "dev", "null");
	put_branch(&tree, "team%2Fexp-2", "team/exp-2", "\"dev\"");
	put_branch(&tree, "caf%C3%A9", "caf\xc3\xa9", "\"gone\"");
	tree_text(&tree, TAGS "t.json", "{\"version\": 1}");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_branches(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, 3);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_msg(list.branches[i].code == LANCET_OK, "%s", list.branches[i].error);
	ck_assert_str_eq(list.branches[0].name, "caf\xc3\xa9");
	ck_assert_str_eq(list.branches[1].name, "dev");
	ck_assert_ptr_null(list.branches[1].parent);
	ck_assert_str_eq(list.branches[2].name, "team/exp-2");
	ck_assert_str_eq(list.branches[2].parent, "dev");
	ck_assert_uint_eq(list.branches[2].parent_version, 3);
	ck_assert_uint_eq(list.branches[2].created_at, 1796002959);
	ck_assert_uint_eq(list.branches[2].manifest_size, 618);
	lancet_branch_list_release(&list);
	ck_assert_int_eq(lancet_dataset_branch(dataset, bytes_of("team/exp-2"), &branch, NULL),
	                 LANCET_OK);
	ck_assert_int_eq(lancet_dataset_branch(branch, bytes_of("team/exp-2"), &again, NULL),
	                 LANCET_OK);
	ck_assert_ptr_eq(branch, again);
	lancet_dataset_unref(again);
	ck_assert_str_eq(lancet_base_identity(dataset_base(branch)), "tree/team/exp-2");
	ck_assert_uint_eq(lancet_dataset_branch_name(branch).size, 10);
	ck_assert_uint_eq(lancet_dataset_branch_name(dataset).size, 0);
	ck_assert_int_eq(lancet_dataset_latest(branch, &number, NULL), LANCET_OK);
	ck_assert_uint_eq(number, 1);
	ck_assert_int_eq(lancet_dataset_tags(branch, &tags, NULL), LANCET_OK); /* the root's */
	ck_assert_uint_eq(tags.count, 1);
	lancet_tag_list_release(&tags);
	ck_assert_int_eq(lancet_dataset_branch(branch, bytes_of(""), &again, NULL), LANCET_OK);
	ck_assert_ptr_eq(again, dataset);
	lancet_dataset_unref(again);
	lancet_dataset_unref(dataset); /* the branch keeps the root */
	ck_assert_int_eq(lancet_dataset_latest(branch, &number, NULL), LANCET_OK);
	lancet_dataset_unref(branch);
	tree_remove(&tree);
}
END_TEST

static int
branch_code(lancet_dataset *dataset, const char *name, struct lancet_error *err)
{
	lancet_dataset *branch = NULL;
	int rc = lancet_dataset_branch(dataset, bytes_of(name), &branch, err);

	ck_assert_int_eq(branch != NULL, rc == LANCET_OK);
	lancet_dataset_unref(branch);
	return rc;
}

START_TEST(damaged_branches_fail_alone)
{
	struct tree tree = plain_dataset();
	struct lancet_branch_list list;
	struct lancet_error err = { 0 };
	lancet_dataset *dataset;
	static const struct {
		const char *name;
		int want;
	} wants[] = {
		{ "", LANCET_CORRUPT },      { "../../escape", LANCET_CORRUPT },
		{ "/abs", LANCET_CORRUPT },  { "a//b", LANCET_CORRUPT },
		{ "garbage", LANCET_CORRUPT }, { "gone", LANCET_CORRUPT },
		{ "main", LANCET_CORRUPT },  { "no_directory", LANCET_CORRUPT },
		{ "one", LANCET_CORRUPT },   { "sound", LANCET_OK },
		{ "three", LANCET_OK },      { "two", LANCET_CORRUPT },
	};

	put_branch(&tree, "..%2F..%2Fescape", "x", "null");
	put_branch(&tree, "%2Fabs", "abs", "null");
	put_branch(&tree, "a%2F%2Fb", "a/b", "null");
	put_branch(&tree, "", "y", "null");
	put_branch(&tree, "main", "main", "null");
	put_branch(&tree, "garbage", "garbage", "oops");
	put_branch(&tree, "gone", "moved", "null");
	tree_text(&tree, "ds/tree/no_directory", "");
	put_branch(&tree, "no_directory", "moved", "null");
	put_branch(&tree, "one", "one", "\"two\"");
	put_branch(&tree, "two", "two", "\"one\"");
	put_branch(&tree, "three", "three", "\"two\""); /* leads to the cycle, is not in it */
	put_branch(&tree, "sound", "sound", "null");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_branches(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, ARRAY_SIZE(wants));
	for (size_t i = 0; i < list.count; i++) {
		ck_assert_str_eq(list.branches[i].name, wants[i].name);
		ck_assert_msg(list.branches[i].code == wants[i].want, "%s: %s", wants[i].name,
		              list.branches[i].error);
		if (wants[i].name[0] != '\0')
			ck_assert_int_eq(branch_code(dataset, wants[i].name, NULL), wants[i].want);
	}
	lancet_branch_list_release(&list);
	ck_assert_int_eq(branch_code(dataset, "gone", &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "tree/gone"));
	ck_assert_int_eq(branch_code(dataset, "nothing", NULL), LANCET_NOT_FOUND);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_branch_made_again_shows_its_new_versions)
{
	struct tree tree = plain_dataset();
	lancet_dataset *dataset, *branch = NULL;
	lancet_version *version = NULL;

	put_branch(&tree, "dev", "dev", "null");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_branch(dataset, bytes_of("dev"), &branch, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_open(branch, 1, &version, NULL), LANCET_OK);
	lancet_version_unref(version);
	tree_rename(&tree, "ds/tree/dev", "ds/tree/old");
	ck_assert_int_eq(branch_code(dataset, "dev", NULL), LANCET_CORRUPT);
	ck_assert_int_eq(lancet_version_open(branch, 1, &version, NULL), LANCET_NOT_FOUND);
	tree_manifest(&tree, "ds/tree/dev/" MANIFEST, 1, 777);
	ck_assert_int_eq(lancet_version_open(branch, 1, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_info(version)->timestamp_seconds, 777);
	lancet_version_unref(version);
	lancet_dataset_unref(branch);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

/* Lists all refs; the codes that damaged ones carry count as answers. */
static int
look_at_refs(lancet_dataset *dataset)
{
	struct lancet_branch_list branches = { 0 };
	struct lancet_tag_list tags = { 0 };
	lancet_dataset *branch = NULL;
	int rc = lancet_dataset_tags(dataset, &tags, NULL);

	for (size_t i = 0; i < tags.count && rc == LANCET_OK; i++)
		rc = tags.tags[i].code;
	lancet_tag_list_release(&tags);
	if (rc == LANCET_OK)
		rc = lancet_dataset_branches(dataset, &branches, NULL);
	for (size_t i = 0; i < branches.count && rc == LANCET_OK; i++)
		rc = branches.branches[i].code;
	lancet_branch_list_release(&branches);
	if (rc == LANCET_OK)
		rc = lancet_dataset_branch(dataset, bytes_of("dev"), &branch, NULL);
	lancet_dataset_unref(branch);
	return rc;
}

START_TEST(every_failing_call_is_an_error_and_leaks_nothing)
{
	struct tree tree = plain_dataset();
	struct store *local = NULL;
	uint64_t nth = 0;
	int before, rc;

	tree_text(&tree, TAGS "a.json", "{\"version\": 1}");
	tree_text(&tree, TAGS "b.json", "{\"version\": 1}");
	put_branch(&tree, "dev", "dev", "null");
	ck_assert_int_eq(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, NULL), LANCET_OK);
	before = tree_open_fds();
	do {
		struct store *fault = store_fault_new(local, ++nth, EIO);
		lancet_dataset *dataset = NULL;

		rc = dataset_open_store(fault, "ds", NULL, &dataset, NULL);
		if (rc == LANCET_OK)
			rc = look_at_refs(dataset);
		lancet_dataset_unref(dataset);
		store_unref(fault);
		ck_assert(rc == LANCET_OK || rc == LANCET_IO);
		ck_assert_int_eq(tree_open_fds(), before);
		ck_assert_uint_lt(nth, 1000);
	} while (rc != LANCET_OK);
	ck_assert_uint_gt(nth, 12);
	store_unref(local);
	tree_remove(&tree);
}
END_TEST

UNIT_MAIN("refs",
          UNIT_TEST(tags_are_listed_in_byte_order),
          UNIT_TEST(without_refs_the_lists_are_empty),
          UNIT_LOOP(a_damaged_tag_fails_alone, tag_files),
          UNIT_TEST(hostile_names_of_tags_are_listed_and_refused),
          UNIT_TEST(names_that_two_files_give_are_one_refused_entry),
          UNIT_TEST(files_of_refs_are_limited_in_size),
          UNIT_TEST(branches_have_nested_names_and_parents),
          UNIT_TEST(damaged_branches_fail_alone),
          UNIT_TEST(a_branch_made_again_shows_its_new_versions),
          UNIT_TEST(every_failing_call_is_an_error_and_leaks_nothing))

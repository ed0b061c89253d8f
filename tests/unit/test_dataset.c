/* Datasets: opening, listing and finding versions, failing storage. */
#include "unit.h"

#include "treedata.h"

#include <errno.h>

#define SETTLE_SECONDS 4 /* more than the time in which nothing is remembered */

START_TEST(a_dataset_is_a_directory_with_a_manifest_name)
{
	struct tree tree = three_versions();
	struct lancet_error err = { 0 };
	lancet_dataset *dataset = NULL;

	tree_text(&tree, "file", "");
	tree_mkdir(&tree, "plain");
	tree_mkdir(&tree, "empty/_versions");
	tree_text(&tree, "stray/_versions/latest_version_hint.json", "{\"version\":1}");
	tree_text(&tree, "old/_versions/1.manifest", "");
	tree_mkdir(&tree, "dir/_versions/1.manifest");
	tree_link(&tree, "link", "ds");
	ck_assert_int_eq(open_code(&tree, "ds", NULL), LANCET_OK);
	ck_assert_int_eq(open_code(&tree, "ds/", NULL), LANCET_OK);
	ck_assert_int_eq(open_code(&tree, "ds/.", NULL), LANCET_OK);
	ck_assert_int_eq(open_code(&tree, "link", NULL), LANCET_OK);
	ck_assert_int_eq(open_code(&tree, "old", NULL), LANCET_OK);
	ck_assert_int_eq(open_code(&tree, "nothing", NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(&tree, "plain", NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(&tree, "empty", NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(&tree, "stray", NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(&tree, "dir", NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(&tree, "file", &err), LANCET_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(err.text, "not a Lance dataset: "));
	ck_assert_int_eq(chdir(tree.root), 0);
	ck_assert_int_eq(lancet_dataset_open("ds", NULL, &dataset, NULL), LANCET_OK);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(listing_ignores_strays_and_sorts_by_number)
{
	struct tree tree = tree_new();
	struct lancet_version_list list;
	lancet_dataset *dataset;

	tree_text(&tree, "ds/_versions/12.manifest", "");
	tree_text(&tree, "ds/_versions/3.manifest", "");
	tree_text(&tree, V3, "");
	tree_text(&tree, V9, "");
	tree_text(&tree, "ds/_versions/d9223372036854775811.manifest", "");
	tree_text(&tree, "ds/_versions/d10.manifest", "");
	tree_text(&tree, "ds/_versions/.tmp_x.manifest", "");
	tree_text(&tree, "ds/_versions/5.manifest#1", "");
	tree_mkdir(&tree, "ds/_versions/7.manifest");
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_versions(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_uint_eq(list.entries[0].number, 3);
	ck_assert(list.entries[0].v1_name && list.entries[0].v2_name);
	ck_assert_uint_eq(list.entries[1].number, 9);
	ck_assert(!list.entries[1].v1_name && list.entries[1].v2_name);
	ck_assert_uint_eq(list.entries[2].number, 12);
	ck_assert(list.entries[2].v1_name && !list.entries[2].v2_name);
	lancet_version_list_release(&list);
	ck_assert_int_eq(lancet_dataset_detached(dataset, &list, NULL), LANCET_OK);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_uint_eq(list.entries[0].number, UINT64_C(9223372036854775811));
	lancet_version_list_release(&list);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(manifests_are_found_by_number)
{
	struct tree tree = three_versions();
	uint64_t detached = UINT64_C(1) << 63 | 3;
	lancet_dataset *dataset;
	struct stat st;
	int fd = -1;

	tree_manifest(&tree, "ds/_versions/5.manifest", 5, 1);
	tree_manifest(&tree, "ds/_versions/d9223372036854775811.manifest", detached, 1);
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, 3, &st, NULL), LANCET_OK);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, 5, &st, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, detached, &st, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, 0, &st, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, 4, &st, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_dataset_manifest_stat(dataset, UINT64_MAX, &st, NULL),
	                 LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_dataset_manifest_fd(dataset, 5, &fd, &st, NULL), LANCET_OK);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(lancet_dataset_manifest_fd(dataset, 4, &fd, &st, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(lancet_dataset_versions_stat(dataset, &st, NULL), LANCET_OK);
	ck_assert(S_ISDIR(st.st_mode));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(two_names_of_a_version_clash_by_name)
{
	struct tree tree = three_versions();
	struct lancet_error err = { 0 };
	lancet_dataset *dataset;

	tree_manifest(&tree, "ds/_versions/2.manifest", 2, 9);
	dataset = open_dataset(&tree);
	ck_assert_int_eq(version_code(dataset, 2, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "18446744073709551613.manifest"));
	ck_assert_ptr_nonnull(strstr(err.text, "/2.manifest"));
	ck_assert_int_eq(version_code(dataset, 1, NULL), LANCET_OK);
	ck_assert_int_eq(version_code(dataset, 3, NULL), LANCET_OK);
	close_dataset(dataset, &tree);
}
END_TEST

static uint64_t
latest(lancet_dataset *dataset)
{
	struct lancet_error err = { 0 };
	uint64_t number = 0;

	ck_assert_msg(lancet_dataset_latest(dataset, &number, &err) == LANCET_OK, "%s", err.text);
	return number;
}

START_TEST(latest_sees_what_others_do_at_once)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset;

	tree_text(&tree, "ds/_versions/latest_version_hint.json", "{\"version\":99}");
	tree_manifest(&tree, "ds/_versions/d9223372036854775811.manifest", UINT64_C(1) << 63 | 3,
	              1);
	dataset = open_dataset(&tree);
	ck_assert_uint_eq(latest(dataset), 3);
	tree_manifest(&tree, V4, 4, 4000);
	ck_assert_uint_eq(latest(dataset), 4);
	tree_manifest(&tree, V9, 9, 9000); /* a gap */
	ck_assert_uint_eq(latest(dataset), 9);
	tree_unlink(&tree, V9);
	ck_assert_uint_eq(latest(dataset), 4);
	tree_manifest(&tree, "ds/_versions/5.manifest", 5, 5000);
	ck_assert_uint_eq(latest(dataset), 5);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(torn_heads_are_passed_over)
{
	struct tree tree = three_versions();
	struct lancet_error err = { 0 };
	lancet_dataset *dataset;
	uint64_t number = 7;

	tree_text(&tree, V4, "");
	tree_put(&tree, V9, (char[200]){ 0 }, 200);
	dataset = open_dataset(&tree);
	ck_assert_uint_eq(latest(dataset), 3);
	tree_manifest(&tree, V4, 4, 4000); /* the same inode, no change of the directory */
	ck_assert_uint_eq(latest(dataset), 4);
	for (int i = 0; i < 4; i++)
		tree_text(&tree, (const char *[]){ V1, V2, V3, V4 }[i], "torn");
	ck_assert_int_eq(lancet_dataset_latest(dataset, &number, &err), LANCET_NOT_FOUND);
	ck_assert_uint_eq(number, 7);
	ck_assert_ptr_nonnull(strstr(err.text, "18446744073709551606.manifest"));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_head_with_an_unknown_flag_is_not_torn)
{
	struct tree tree = three_versions();
	struct lancet_error err = { 0 };
	lancet_dataset *dataset;
	uint64_t number = 7;

	tree_manifest_flags(&tree, V4, 4, 4000, UINT64_C(1) << 40);
	dataset = open_dataset(&tree);
	ck_assert_int_eq(lancet_dataset_latest(dataset, &number, &err), LANCET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "bit_40"));
	ck_assert_int_eq(version_code(dataset, 3, NULL), LANCET_OK);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(latest_of_a_settled_directory_reads_nothing)
{
	struct tree tree = three_versions();
	struct store_counts counts = { 0 };
	lancet_dataset *dataset;

	tree_age(&tree, "ds/_versions");
	(void)sleep(SETTLE_SECONDS); /* nobody can set a ctime */
	dataset = open_traced(&tree, &counts);
	ck_assert_uint_eq(latest(dataset), 3);
	memset(&counts, 0, sizeof(counts));
	ck_assert_uint_eq(latest(dataset), 3);
	ck_assert_uint_eq(counts.lists + counts.opens + counts.reads, 0);
	ck_assert_uint_le(counts.stats, 4);
	tree_manifest(&tree, V4, 4, 4000);
	ck_assert_uint_eq(latest(dataset), 4);
	ck_assert_uint_eq(counts.lists, 1);
	close_dataset(dataset, &tree);
}
END_TEST

/* However much a version holds; counts by size are in test_manifest. */
START_TEST(opening_a_version_takes_few_requests)
{
	struct store_counts counts = { 0 };
	lancet_dataset *dataset = open_traced_at(UNIT_DATA_DIR "/sample.lance", &counts);

	for (uint64_t number = 1; number <= 6; number++) {
		memset(&counts, 0, sizeof(counts));
		ck_assert_int_eq(version_code(dataset, number, NULL), LANCET_OK);
		ck_assert_uint_eq(counts.opens, 1);
		ck_assert_uint_le(counts.reads, 3);
		ck_assert_uint_le(counts.stats, 2);
		ck_assert_uint_eq(counts.lists, 0);
	}
	lancet_dataset_unref(dataset);
}
END_TEST

static const struct {
	int64_t seconds;
	int32_t nanos;
	uint64_t want; /* 0: none */
} times[] = {
	{ 999, 999999999, 0 }, { 1000, 0, 1 },  { 1999, 999999999, 1 }, { 2000, 0, 2 },
	{ 2500, 5, 2 },        { 3000, -1, 2 }, { 3000, 0, 3 },         { INT64_MAX, 0, 3 },
	{ INT64_MIN, 0, 0 },
};

START_TEST(as_of_is_the_highest_version_not_later)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset;
	uint64_t number = 0;
	int rc;

	tree_text(&tree, V4, "torn");
	dataset = open_dataset(&tree);
	rc = lancet_dataset_as_of(dataset, times[_i].seconds, times[_i].nanos, &number, NULL);
	ck_assert_int_eq(rc, times[_i].want != 0 ? LANCET_OK : LANCET_NOT_FOUND);
	ck_assert_uint_eq(number, times[_i].want);
	close_dataset(dataset, &tree);
}
END_TEST

/* Everything that looks at the storage, through a store that fails its nth call. */
static int
look_at_everything(struct store *store)
{
	struct lancet_version_list list = { 0 };
	lancet_dataset *dataset = NULL;
	lancet_version *version = NULL;
	struct stat st;
	uint64_t number;
	int fd = -1;
	int rc = dataset_open_store(store, "ds", NULL, &dataset, NULL);

	if (rc == LANCET_OK)
		rc = lancet_dataset_versions(dataset, &list, NULL);
	if (rc == LANCET_OK)
		rc = lancet_dataset_latest(dataset, &number, NULL);
	if (rc == LANCET_OK)
		rc = lancet_version_open(dataset, 2, &version, NULL);
	lancet_version_unref(version);
	version = NULL;
	if (rc == LANCET_OK)
		rc = lancet_version_open(dataset, 2, &version, NULL); /* cached */
	if (rc == LANCET_OK)
		rc = lancet_dataset_as_of(dataset, 2000, 0, &number, NULL);
	if (rc == LANCET_OK)
		rc = lancet_dataset_manifest_fd(dataset, 1, &fd, &st, NULL);
	if (fd >= 0)
		(void)close(fd);
	lancet_version_unref(version);
	lancet_version_list_release(&list);
	lancet_dataset_unref(dataset);
	return rc;
}

static const int faults[] = { EIO, EACCES, ENOMEM, EMFILE };

START_TEST(every_failing_call_is_an_error_and_leaks_nothing)
{
	struct tree tree = three_versions();
	struct store *local = NULL;
	uint64_t nth = 0;
	int before, rc;

	ck_assert_int_eq(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, NULL), LANCET_OK);
	before = tree_open_fds();
	do {
		struct store *fault = store_fault_new(local, ++nth, faults[_i]);

		ck_assert_ptr_nonnull(fault);
		rc = look_at_everything(fault);
		store_unref(fault);
		ck_assert_int_eq(tree_open_fds(), before);
		ck_assert_uint_lt(nth, 1000);
	} while (rc != LANCET_OK);
	ck_assert_uint_gt(nth, 15); /* it did go through all of it */
	store_unref(local);
	tree_remove(&tree);
}
END_TEST

UNIT_MAIN("dataset",
          UNIT_TEST(a_dataset_is_a_directory_with_a_manifest_name),
          UNIT_TEST(listing_ignores_strays_and_sorts_by_number),
          UNIT_TEST(manifests_are_found_by_number),
          UNIT_TEST(two_names_of_a_version_clash_by_name),
          UNIT_TEST(latest_sees_what_others_do_at_once),
          UNIT_TEST(torn_heads_are_passed_over),
          UNIT_TEST(a_head_with_an_unknown_flag_is_not_torn),
          UNIT_TEST(latest_of_a_settled_directory_reads_nothing),
          UNIT_TEST(opening_a_version_takes_few_requests),
          UNIT_LOOP(as_of_is_the_highest_version_not_later, times),
          UNIT_LOOP(every_failing_call_is_an_error_and_leaks_nothing, faults))

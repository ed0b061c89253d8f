/* The cache of version snapshots: what it keeps, when it forgets, what threads share. */
#include "unit.h"

#include "treedata.h"

START_TEST(an_opened_version_is_kept_and_looked_at_again)
{
	struct tree tree = three_versions();
	struct store_counts counts = { 0 };
	lancet_dataset *dataset = open_traced(&tree, &counts);
	lancet_version *first = NULL, *second = NULL;

	ck_assert_int_eq(lancet_version_open(dataset, 2, &first, NULL), LANCET_OK);
	ck_assert_ptr_eq(lancet_version_dataset(first), dataset);
	memset(&counts, 0, sizeof(counts));
	ck_assert_int_eq(lancet_version_open(dataset, 2, &second, NULL), LANCET_OK);
	ck_assert_ptr_eq(first, second);
	ck_assert_uint_eq(counts.opens + counts.reads + counts.lists, 0);
	lancet_version_unref(second);
	tree_unlink(&tree, V2);
	ck_assert_int_eq(version_code(dataset, 2, NULL), LANCET_NOT_FOUND);
	tree_manifest(&tree, V2, 2, 12345); /* a branch that was made again */
	ck_assert_int_eq(lancet_version_open(dataset, 2, &second, NULL), LANCET_OK);
	ck_assert_ptr_ne(first, second);
	ck_assert_int_eq(lancet_version_info(second)->timestamp_seconds, 12345);
	ck_assert_int_eq(lancet_version_info(first)->timestamp_seconds, 2000);
	lancet_version_unref(second);
	lancet_version_unref(first);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(the_cache_holds_few_descriptors)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset;
	char name[80];
	int before;

	for (unsigned i = 4; i <= 600; i++) {
		(void)snprintf(name, sizeof(name), "ds/_versions/%u.manifest", i);
		tree_manifest(&tree, name, i, i);
	}
	dataset = open_dataset(&tree);
	before = tree_open_fds();
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 1; i <= 600; i++)
			ck_assert_int_eq(version_code(dataset, i, NULL), LANCET_OK);
	}
	ck_assert_int_le(tree_open_fds() - before, 256);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_small_budget_evicts_but_never_refuses)
{
	struct tree tree = three_versions();
	struct lancet_dataset_options options = { .cache_bytes = 2 };
	lancet_version *versions[3] = { NULL };
	lancet_dataset *dataset = NULL;
	int before = tree_open_fds();

	ck_assert_int_eq(lancet_dataset_open(TREE_PATH(&tree, "ds"), &options, &dataset, NULL),
	                 LANCET_OK);
	for (uint64_t i = 1; i <= 3; i++)
		ck_assert_int_eq(lancet_version_open(dataset, i, &versions[i - 1], NULL),
		                 LANCET_OK);
	for (int i = 0; i < 3; i++)
		lancet_version_unref(versions[i]);
	ck_assert_int_eq(tree_open_fds() - before, 2); /* the root's and the newest version's */
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(the_version_in_use_stays_above_the_budget)
{
	struct tree tree = three_versions();
	struct lancet_dataset_options options = { .cache_bytes = 2 };
	lancet_version *first = NULL, *again = NULL;
	lancet_dataset *dataset = NULL;

	ck_assert_int_eq(lancet_dataset_open(TREE_PATH(&tree, "ds"), &options, &dataset, NULL),
	                 LANCET_OK);
	ck_assert_int_eq(lancet_version_open(dataset, 2, &first, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_open(dataset, 2, &again, NULL), LANCET_OK);
	ck_assert_ptr_eq(first, again);
	lancet_version_unref(again);
	lancet_version_unref(first);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(the_last_handle_empties_the_cache)
{
	struct tree tree = three_versions();
	int before = tree_open_fds();
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_version *kept = NULL, *other = NULL;

	for (uint64_t i = 1; i <= 3; i++)
		ck_assert_int_eq(version_code(dataset, i, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_version_open(dataset, 2, &kept, NULL), LANCET_OK);
	ck_assert_int_gt(tree_open_fds() - before, 2);
	lancet_dataset_unref(dataset);
	ck_assert_int_eq(tree_open_fds() - before, 2); /* the root's and the kept version's */
	ck_assert_int_eq(lancet_version_open(lancet_version_dataset(kept), 3, &other, NULL),
	                 LANCET_OK);
	dataset = lancet_dataset_ref(lancet_version_dataset(other));
	lancet_version_unref(other);
	lancet_version_unref(kept);
	ck_assert_int_eq(version_code(dataset, 1, NULL), LANCET_OK);
	close_dataset(dataset, &tree);
	ck_assert_int_eq(tree_open_fds(), before);
}
END_TEST

struct race {
	lancet_dataset *dataset;
	unsigned failures;
};

static void *
open_many(void *context)
{
	struct race *race = context;

	for (uint64_t i = 0; i < 300; i++) {
		lancet_version *version = NULL;
		uint64_t number = i % 4 + 1; /* version 4 is torn */
		int rc = lancet_version_open(race->dataset, number, &version, NULL);

		if (rc != (number == 4 ? LANCET_CORRUPT : LANCET_OK))
			__atomic_fetch_add(&race->failures, 1, __ATOMIC_RELAXED);
		lancet_version_unref(version);
	}
	return NULL;
}

START_TEST(threads_share_one_load)
{
	struct tree tree = three_versions();
	struct store_counts counts = { 0 };
	struct race race = { 0 };
	pthread_t threads[8];

	tree_text(&tree, V4, "torn");
	race.dataset = open_traced(&tree, &counts);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, open_many, &race), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(race.failures, 0);
	ck_assert_uint_le(counts.opens, 3 + 75 * ARRAY_SIZE(threads)); /* one for each sound one */
	close_dataset(race.dataset, &tree);
}
END_TEST

UNIT_MAIN("version_cache",
          UNIT_TEST(an_opened_version_is_kept_and_looked_at_again),
          UNIT_TEST(the_cache_holds_few_descriptors),
          UNIT_TEST(a_small_budget_evicts_but_never_refuses),
          UNIT_TEST(the_version_in_use_stays_above_the_budget),
          UNIT_TEST(the_last_handle_empties_the_cache),
          UNIT_TEST(threads_share_one_load))

/* Branches: who takes a name, what is left when a call fails or the power goes. */
#include "unit.h"

#include <lancet/reference.h>
#include <lancet/refs.h>
#include "cleanupdata.h"
#include "crashes.h"

#include <errno.h>

#define STATES_MAX        256
#define STATES_MAX_MUTANT 80

#define FILE_OF(stem) "ds/_refs/branches/" stem ".json"

static struct tree
one_version(void)
{
	const struct data_version version = { "ds", 7, 1000, "a b", 3, NULL, "6-x.txn", 0 };
	struct tree tree = tree_new();

	put_version(&tree, &version);
	return tree;
}

/* Opens the newest version of a branch; its code. */
static int
branch_code(lancet_dataset *dataset, const char *name)
{
	lancet_dataset *branch = NULL;
	lancet_version *version = NULL;
	uint64_t number = 0;
	int rc = lancet_dataset_branch(dataset,
		(struct lancet_bytes){ (const uint8_t *)name, strlen(name) }, &branch, NULL);

	if (rc == LANCET_OK)
		rc = lancet_dataset_latest(branch, &number, NULL);
	if (rc == LANCET_OK)
		rc = lancet_version_open(branch, number, &version, NULL);
	if (rc == LANCET_OK) {
		ck_assert_uint_eq(number, 7);
		ck_assert_uint_eq(lancet_version_info(version)->base_path_count, 1);
		ck_assert_uint_eq(lancet_version_info(version)->branch.size, strlen(name));
	}
	lancet_version_unref(version);
	lancet_dataset_unref(branch);
	return rc;
}

START_TEST(a_branch_begins_as_a_clone)
{
	struct tree tree = one_version();
	lancet_dataset *dataset = open_dataset(&tree);
	struct lancet_branch_list list;

	OK(lancet_branch_create(dataset, "a/b", 7, NULL, &err));
	ck_assert_int_eq(branch_code(dataset, "a/b"), LANCET_OK);
	OK(lancet_dataset_branches(dataset, &list, &err));
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.branches[0].name, "a/b");
	ck_assert_ptr_null(list.branches[0].parent);
	ck_assert_uint_eq(list.branches[0].parent_version, 7);
	lancet_branch_list_release(&list);
	FAILS(lancet_branch_create(dataset, "a/b", 7, NULL, &err), LANCET_EXISTS, "a/b");
	OK(lancet_branch_create(dataset, "a", 7, NULL, &err));
	FAILS(lancet_branch_create(dataset, "a/data", 7, NULL, &err), LANCET_EXISTS,
		"part of branch a");
	OK(lancet_branch_delete(dataset, "a", &err));
	ck_assert_int_eq(branch_code(dataset, "a/b"), LANCET_OK);
	ck_assert(!exists(&tree, "ds/tree/a/_versions"));
	OK(lancet_branch_delete(dataset, "a/b", &err));
	ck_assert(!exists(&tree, "ds/tree/a"));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(texts_that_are_no_utf8_are_refused)
{
	struct tree tree = one_version();
	lancet_dataset *dataset = open_dataset(&tree);

	FAILS(lancet_branch_create(dataset, "b\xff", 7, NULL, &err), LANCET_INVALID, "name");
	FAILS(lancet_branch_create(dataset, "b", 7, "why\xff", &err), LANCET_INVALID, "message");
	lancet_dataset_unref(dataset);
	tree_rename(&tree, "ds", "d\xff");
	OK(lancet_dataset_open(TREE_PATH(&tree, "d\xff"), NULL, &dataset, &err));
	FAILS(lancet_branch_create(dataset, "b", 7, NULL, &err), LANCET_UNSUPPORTED, "UTF-8");
	ck_assert(!exists(&tree, "d\xff/tree"));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(nothing_outside_is_removed_with_a_branch)
{
	struct tree tree = one_version();
	lancet_dataset *dataset = open_dataset(&tree);

	OK(lancet_branch_create(dataset, "b", 7, NULL, &err));
	tree_text(&tree, "elsewhere/x/y", "theirs");
	tree_text(&tree, "ds/inside/x", "ours");
	tree_link(&tree, "ds/tree/b/data/out", "../../../../elsewhere");
	tree_link(&tree, "ds/tree/b/in", "../../inside");
	tree_link(&tree, "ds/tree/b/gone", "nowhere");
	tree_text(&tree, "ds/tree/b/data/d/e/f", "");
	OK(lancet_branch_delete(dataset, "b", &err));
	ck_assert(!exists(&tree, "ds/tree/b"));
	check_text(&tree, "elsewhere/x/y", "theirs");
	check_text(&tree, "ds/inside/x", "ours");
	close_dataset(dataset, &tree);
}
END_TEST

static const struct {
	const char *identifier;
	int code;
} identifiers[] = {
	{ "", LANCET_OK },
	{ ", \"identifier\": {\"version_mapping\": []}", LANCET_OK },
	{ ", \"identifier\": {\"version_mapping\": [[1, \"x\"]]}", LANCET_OK },
	{ ", \"identifier\": 5", LANCET_CORRUPT },
	{ ", \"identifier\": {}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": {}}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": [1]}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": [[1]]}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": [[\"x\", 1]]}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": [[-1, \"x\"]]}", LANCET_CORRUPT },
	{ ", \"identifier\": {\"version_mapping\": [[1, \"x\", 2]]}", LANCET_CORRUPT },
};

START_TEST(a_damaged_parent_has_no_branches)
{
	struct tree tree = one_version();
	lancet_dataset *dataset = open_dataset(&tree), *parent = NULL;
	char text[256];

	OK(lancet_branch_create(dataset, "p", 7, NULL, &err));
	(void)snprintf(text, sizeof(text), "{\"parentVersion\": 7%s}", identifiers[_i].identifier);
	tree_text(&tree, FILE_OF("p"), text);
	OK(lancet_dataset_branch(
		dataset, (struct lancet_bytes){ (const uint8_t *)"p", 1 }, &parent, &err));
	if (identifiers[_i].code == LANCET_OK)
		OK(lancet_branch_create(parent, "c", 7, "why", &err));
	else
		FAILS(lancet_branch_create(parent, "c", 7, NULL, &err), LANCET_CORRUPT, "p.json");
	ck_assert_int_eq(exists(&tree, FILE_OF("c")), identifiers[_i].code == LANCET_OK);
	lancet_dataset_unref(parent);
	close_dataset(dataset, &tree);
}
END_TEST

static const int flags[] = { 0, STORE_FAULT_LATE, STORE_FAULT_STAYS };

/* Whatever call fails: there is no branch or a whole one, and doing it again makes it so. */
START_TEST(a_branch_is_made_whole_or_not_at_all)
{
	bool failed = true;

	for (uint64_t nth = 1; failed; nth++) {
		struct tree tree = one_version();
		struct store *local = NULL, *faulty;
		lancet_dataset *dataset = NULL, *sound;
		struct lancet_error why = { 0 };
		int rc;

		OK(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, &err));
		faulty = store_fault_flags_new(local, nth + 2, EIO, flags[_i]);
		OK(dataset_open_store(faulty, TREE_PATH(&tree, "ds"), NULL, &dataset, &err));
		failed = lancet_branch_create(dataset, "b", 7, NULL, &why) != LANCET_OK;
		ck_assert(!failed || why.text[0] != '\0');
		sound = open_dataset(&tree);
		rc = branch_code(sound, "b");
		ck_assert(rc == LANCET_OK || (failed && rc == LANCET_NOT_FOUND));
		if (rc != LANCET_OK)
			OK(lancet_branch_create(sound, "b", 7, NULL, &err));
		ck_assert_int_eq(branch_code(sound, "b"), LANCET_OK);
		ck_assert_uint_lt(nth, 150);
		lancet_dataset_unref(sound);
		lancet_dataset_unref(dataset);
		store_unref(faulty);
		store_unref(local);
		tree_remove(&tree);
	}
}
END_TEST

START_TEST(a_removal_that_failed_can_be_done_again)
{
	bool failed = true;

	for (uint64_t nth = 1; failed; nth++) {
		struct tree tree = one_version();
		struct store *local = NULL, *faulty;
		lancet_dataset *dataset = NULL, *sound = open_dataset(&tree);
		struct lancet_error why = { 0 };

		OK(lancet_branch_create(sound, "b", 7, NULL, &err));
		OK(lancet_branch_create(sound, "b/c", 7, NULL, &err));
		tree_text(&tree, "ds/tree/b/data/x.lance", "x");
		OK(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, &err));
		faulty = store_fault_flags_new(local, nth + 2, EIO, flags[_i]);
		OK(dataset_open_store(faulty, TREE_PATH(&tree, "ds"), NULL, &dataset, &err));
		failed = lancet_branch_delete(dataset, "b", &why) != LANCET_OK;
		if (!failed || !exists(&tree, FILE_OF("b")))
			ck_assert_int_eq(branch_code(sound, "b"), LANCET_NOT_FOUND);
		else
			ck_assert_int_eq(branch_code(sound, "b"), LANCET_OK);
		if (failed && exists(&tree, "ds/tree/b/_versions"))
			OK(lancet_branch_delete(sound, "b", &err));
		ck_assert(!exists(&tree, "ds/tree/b/_versions"));
		ck_assert(!exists(&tree, "ds/tree/b/data"));
		ck_assert_int_eq(branch_code(sound, "b/c"), LANCET_OK);
		ck_assert_uint_lt(nth, 150);
		lancet_dataset_unref(sound);
		lancet_dataset_unref(dataset);
		store_unref(faulty);
		store_unref(local);
		tree_remove(&tree);
	}
}
END_TEST

static void
fill_dataset(const struct tree *tree, const char *dir)
{
	const struct data_version version = { dir, 7, 1000, "a b", 3, NULL, "6-x.txn", 0 };

	put_version(tree, &version);
}

struct promise {
	size_t since; /* length of the log when the branch was said to be there */
};

static bool
is_sound(void *context, const struct tree *state, size_t prefix)
{
	const struct promise *promise = context;
	lancet_dataset *dataset = NULL;
	bool sound;
	int rc;

	if (!state_has(state, "_refs/branches/b.json"))
		return prefix < promise->since;
	OK(lancet_dataset_open(state->root, NULL, &dataset, &err));
	rc = branch_code(dataset, "b");
	sound = rc == LANCET_OK;
	lancet_dataset_unref(dataset);
	return sound;
}

static void
record_creation(struct crash *crash, struct promise *promise)
{
	lancet_dataset *dataset = NULL;

	OK(dataset_open_store(crash->store, TREE_PATH(&crash->tree, "work"), NULL, &dataset, &err));
	OK(lancet_branch_create(dataset, "b", 7, NULL, &err));
	promise->since = crash->log.count;
	lancet_dataset_unref(dataset);
}

START_TEST(no_loss_of_power_leaves_half_a_branch)
{
	struct crash crash;
	struct promise promise = { 0 };

	crash_begin(&crash, fill_dataset, 0);
	record_creation(&crash, &promise);
	ck_assert(crash_look(&crash, STATES_MAX, is_sound, &promise));
	ck_assert_uint_gt(crash.states, 100);
	crash_end(&crash);
}
END_TEST

UNIT_MAIN("branch_write", UNIT_TEST(a_branch_begins_as_a_clone),
	UNIT_TEST(texts_that_are_no_utf8_are_refused),
	UNIT_TEST(nothing_outside_is_removed_with_a_branch),
	UNIT_LOOP(a_damaged_parent_has_no_branches, identifiers),
	UNIT_LOOP(a_branch_is_made_whole_or_not_at_all, flags),
	UNIT_LOOP(a_removal_that_failed_can_be_done_again, flags),
	UNIT_TEST(no_loss_of_power_leaves_half_a_branch))

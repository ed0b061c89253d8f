/* Publishing: one file, many files, directories, failures of every call. */
#include "unit.h"

#include "core/publish.h"
#include "storecalls.h"
#include "temptree.h"

#include <errno.h>

/* A local store with counters before it. */
struct counted {
	struct tree tree;
	struct store *local, *store;
	struct store_counts counts;
};

static void
begin(struct counted *counted)
{
	memset(counted, 0, sizeof(*counted));
	counted->tree = tree_new();
	counted->local = open_store(&counted->tree);
	counted->store = store_trace_new(counted->local, &counted->counts);
}

static void
finish(struct counted *counted)
{
	store_unref(counted->store);
	end(counted->local, &counted->tree);
}

/* The parts "by", "tes" as an argument of publish_*. */
#define PARTS      (const struct slice[]){ slice_text("by"), slice_text("tes") }, 2
#define TEXT(text) &(const struct slice){ (const uint8_t *)(text), strlen(text) }, 1

START_TEST(a_file_is_there_under_its_name_only)
{
	struct counted c;

	begin(&c);
	OK(publish_file(c.store, "a", PARTS, PUBLISH_NEW, true, &err));
	check_text(&c.tree, "a", "bytes");
	ck_assert_int_eq(names_in(c.local, ""), 1);
	ck_assert_uint_eq(c.counts.syncs, 1);
	ck_assert_uint_eq(c.counts.dir_syncs, 1);
	ck_assert_uint_eq(c.counts.links, 1);
	ck_assert_uint_eq(c.counts.writes, 1);
	ck_assert_uint_eq(c.counts.renames, 0);
	finish(&c);
}
END_TEST

START_TEST(a_new_file_takes_no_name_and_a_replacement_does)
{
	struct counted c;

	begin(&c);
	tree_text(&c.tree, "d/a", "old");
	FAILS(publish_file(c.store, "d/a", PARTS, PUBLISH_NEW, true, &err), LANCET_EXISTS, "d/a");
	check_text(&c.tree, "d/a", "old");
	ck_assert_uint_eq(c.counts.dir_syncs, 0);
	ck_assert_int_eq(names_in(c.local, "d"), 1);
	OK(publish_file(c.store, "d/a", PARTS, PUBLISH_REPLACE, true, &err));
	check_text(&c.tree, "d/a", "bytes");
	ck_assert_uint_eq(c.counts.renames, 1);
	ck_assert_int_eq(names_in(c.local, "d"), 1);
	OK(publish_file(c.store, "d/b", PARTS, PUBLISH_REPLACE, true, &err));
	check_text(&c.tree, "d/b", "bytes");
	finish(&c);
}
END_TEST

START_TEST(nothing_is_synced_when_it_need_not_last)
{
	struct counted c;

	begin(&c);
	OK(publish_file(c.store, "d/e/a", PARTS, PUBLISH_NEW, false, &err));
	check_text(&c.tree, "d/e/a", "bytes");
	ck_assert_uint_eq(c.counts.syncs + c.counts.dir_syncs, 0);
	OK(publish_file(c.store, "f/g/a", PARTS, PUBLISH_NEW, true, &err));
	ck_assert_uint_eq(c.counts.syncs, 1);
	ck_assert_uint_eq(c.counts.dir_syncs, 3); /* "", f, f/g */
	finish(&c);
}
END_TEST

START_TEST(files_of_one_round_are_named_together)
{
	struct counted c;
	struct publish publish;
	struct store_writer *writer = NULL;

	begin(&c);
	publish_init(&publish, c.store, true);
	OK(publish_add(&publish, "data/a", TEXT("a"), PUBLISH_NEW, &err));
	OK(publish_add(&publish, "txn/b", TEXT("b"), PUBLISH_NEW, &err));
	OK(publish_open(&publish, "data/c", PUBLISH_NEW, &writer, &err));
	OK(store_writer_put(writer, slice_text("one"), &err));
	OK(store_writer_put(writer, slice_text("two"), &err));
	OK(publish_add(&publish, "top", TEXT("d"), PUBLISH_NEW, &err));
	ck_assert_uint_eq(c.counts.syncs, 0);
	ck_assert_uint_eq(c.counts.dir_syncs, 2); /* data and txn were made in the root */
	OK(publish_sync_all(&publish, &err));
	ck_assert_uint_eq(c.counts.syncs, 4);
	ck_assert_uint_eq(c.counts.links, 0);
	check_text(&c.tree, "data/a", NULL);
	OK(publish_name_all(&publish, &err));
	ck_assert_uint_eq(publish.named, 4);
	ck_assert_uint_eq(c.counts.syncs, 4);
	ck_assert_uint_eq(c.counts.dir_syncs, 2 + 3); /* data, txn and the root, once each */
	check_text(&c.tree, "data/a", "a");
	check_text(&c.tree, "txn/b", "b");
	check_text(&c.tree, "data/c", "onetwo");
	check_text(&c.tree, "top", "d");
	OK(publish_add(&publish, "data/e", TEXT("e"), PUBLISH_NEW, &err));
	OK(publish_name_all(&publish, &err));
	OK(publish_name_all(&publish, &err));
	ck_assert_uint_eq(c.counts.syncs, 5);
	ck_assert_uint_eq(c.counts.dir_syncs, 5 + 1);
	publish_release(&publish);
	ck_assert_int_eq(names_in(c.local, ""), 3);
	ck_assert_int_eq(names_in(c.local, "data"), 3);
	finish(&c);
}
END_TEST

START_TEST(what_is_not_named_is_removed_and_what_was_can_be_taken_back)
{
	struct counted c;
	struct publish publish;
	int fds;

	begin(&c);
	tree_text(&c.tree, "d/hint", "old");
	fds = tree_open_fds();
	publish_init(&publish, c.store, true);
	OK(publish_add(&publish, "d/a", TEXT("a"), PUBLISH_NEW, &err));
	OK(publish_add(&publish, "d/hint", TEXT("new"), PUBLISH_REPLACE, &err));
	OK(publish_name_all(&publish, &err));
	OK(publish_add(&publish, "d/b", TEXT("b"), PUBLISH_NEW, &err));
	ck_assert_int_eq(names_in(c.local, "d"), 3);
	publish_undo(&publish);
	ck_assert_uint_eq(publish.count, 1);
	check_text(&c.tree, "d/a", NULL);
	check_text(&c.tree, "d/hint", "new");
	OK(publish_name_all(&publish, &err));
	check_text(&c.tree, "d/b", "b");
	OK(publish_add(&publish, "d/c", TEXT("c"), PUBLISH_NEW, &err));
	publish_release(&publish);
	ck_assert_int_eq(names_in(c.local, "d"), 2);
	ck_assert_int_eq(tree_open_fds(), fds);
	publish_release(&publish);
	finish(&c);
}
END_TEST

START_TEST(a_taken_name_stops_the_round_and_leaves_no_temporary_files)
{
	struct counted c;
	struct publish publish;

	begin(&c);
	tree_text(&c.tree, "d/b", "theirs");
	publish_init(&publish, c.store, true);
	OK(publish_add(&publish, "d/a", TEXT("a"), PUBLISH_NEW, &err));
	OK(publish_add(&publish, "d/b", TEXT("b"), PUBLISH_NEW, &err));
	OK(publish_add(&publish, "d/c", TEXT("c"), PUBLISH_NEW, &err));
	FAILS(publish_name_all(&publish, &err), LANCET_EXISTS, "d/b");
	ck_assert_uint_eq(publish.named, 1);
	check_text(&c.tree, "d/a", "a");
	check_text(&c.tree, "d/b", "theirs");
	publish_undo(&publish);
	publish_release(&publish);
	ck_assert_int_eq(names_in(c.local, "d"), 1);
	finish(&c);
}
END_TEST

START_TEST(many_files_need_few_descriptors)
{
	enum { FILES = 300, FDS = 80 };
	struct counted c;
	struct publish publish;
	int fds;

	begin(&c);
	fds = tree_open_fds();
	publish_init(&publish, c.store, true);
	for (int i = 0; i < FILES; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "d%d/%d", i % 3, i);
		OK(publish_add(&publish, key, TEXT("x"), PUBLISH_NEW, &err));
		ck_assert_int_lt(tree_open_fds(), fds + FDS);
	}
	OK(publish_name_all(&publish, &err));
	ck_assert_uint_eq(c.counts.syncs, FILES);
	ck_assert_uint_eq(c.counts.dir_syncs, 3 + 3); /* made and named in */
	publish_release(&publish);
	ck_assert_int_eq(names_in(c.local, "d0"), FILES / 3);
	ck_assert_int_eq(tree_open_fds(), fds);
	finish(&c);
}
END_TEST

START_TEST(bad_keys_are_refused_and_the_rest_goes_on)
{
	struct counted c;
	struct publish publish;

	begin(&c);
	publish_init(&publish, c.store, true);
	FAILS(publish_add(&publish, "../a", PARTS, PUBLISH_NEW, &err), LANCET_CORRUPT, "..");
	tree_text(&c.tree, "file", "");
	FAILS(publish_add(&publish, "file/a", PARTS, PUBLISH_NEW, &err), LANCET_CORRUPT, "file/a");
	OK(publish_add(&publish, "a", PARTS, PUBLISH_NEW, &err));
	OK(publish_name_all(&publish, &err));
	publish_release(&publish);
	ck_assert_int_eq(names_in(c.local, ""), 2);
	finish(&c);
}
END_TEST

static const int errnos[] = { ENOSPC, EDQUOT, EIO };

/* The calls of publish_file that come before the name is given: create (which finds no directory),
 * make_dir, sync_dir, create, put, sync, close. Then link, sync_dir of the directory. */
enum { BEFORE_NAME = 7, LINK_CALL, SYNC_DIR_CALL, DONE };

static void
fail_call(uint64_t nth, int os_errno, int flags, enum publish_mode mode)
{
	struct tree tree = tree_new();
	struct store *local = open_store(&tree);
	struct store *faulty = store_fault_flags_new(local, nth, os_errno, flags);
	struct lancet_error failure = { 0 };
	bool late = (flags & STORE_FAULT_LATE) != 0;
	bool named = nth > LINK_CALL || (late && (nth == LINK_CALL || nth == 1));
	int fds = tree_open_fds();
	int rc = publish_file(faulty, "d/a", PARTS, mode, true, &failure);

	/* what is done late and finds no directory has not been done: that is no failure */
	ck_assert_int_eq(rc, nth >= DONE || (nth == 1 && late) ? LANCET_OK : LANCET_IO);
	if (rc != LANCET_OK)
		ck_assert_int_eq(lancet_error_errno(&failure), os_errno);
	if (nth == SYNC_DIR_CALL)
		ck_assert_ptr_nonnull(strstr(failure.text, "d/a: is there, but"));
	if (nth > 1 && (nth > 2 || late) && (flags & STORE_FAULT_STAYS) == 0)
		ck_assert_int_eq(names_in(local, "d"), named ? 1 : 0);
	if (named)
		check_text(&tree, "d/a", "bytes");
	else
		ck_assert_int_ne(access(TREE_PATH(&tree, "d/a"), F_OK), 0);
	ck_assert_int_eq(tree_open_fds(), fds);
	store_unref(faulty);
	end(local, &tree);
}

START_TEST(a_failure_of_any_call_leaves_the_file_whole_or_absent)
{
	for (uint64_t nth = 1; nth <= DONE; nth++) {
		fail_call(nth, errnos[_i], 0, PUBLISH_NEW);
		fail_call(nth, errnos[_i], 0, PUBLISH_REPLACE);
		fail_call(nth, errnos[_i], STORE_FAULT_LATE, PUBLISH_NEW);
		fail_call(nth, errnos[_i], STORE_FAULT_LATE, PUBLISH_REPLACE);
		fail_call(nth, errnos[_i], STORE_FAULT_STAYS, PUBLISH_NEW);
	}
}
END_TEST

START_TEST(a_failed_round_is_told_apart_by_what_was_named)
{
	struct tree tree = tree_new();
	struct store *local = open_store(&tree);
	struct store *faulty = store_fault_new(local, 5, EIO);
	struct publish publish;

	publish_init(&publish, faulty, true);
	OK(publish_add(&publish, "a", PARTS, PUBLISH_NEW, &err)); /* create, put */
	FAILS(publish_name_all(&publish, &err), LANCET_IO, "a");
	ck_assert_uint_eq(publish.named, 0);
	publish_release(&publish);
	store_unref(faulty);
	faulty = store_fault_new(local, 6, EIO);
	publish_init(&publish, faulty, true);
	OK(publish_add(&publish, "a", PARTS, PUBLISH_NEW, &err));
	FAILS(publish_name_all(&publish, &err), LANCET_IO, "a: is there, but");
	ck_assert_uint_eq(publish.named, 1);
	publish_release(&publish);
	store_unref(faulty);
	check_text(&tree, "a", "bytes");
	end(local, &tree);
}
END_TEST

UNIT_MAIN("publish", UNIT_TEST(a_file_is_there_under_its_name_only),
	UNIT_TEST(a_new_file_takes_no_name_and_a_replacement_does),
	UNIT_TEST(nothing_is_synced_when_it_need_not_last),
	UNIT_TEST(files_of_one_round_are_named_together),
	UNIT_TEST(what_is_not_named_is_removed_and_what_was_can_be_taken_back),
	UNIT_TEST(a_taken_name_stops_the_round_and_leaves_no_temporary_files),
	UNIT_TEST(many_files_need_few_descriptors),
	UNIT_TEST(bad_keys_are_refused_and_the_rest_goes_on),
	UNIT_LOOP(a_failure_of_any_call_leaves_the_file_whole_or_absent, errnos),
	UNIT_TEST(a_failed_round_is_told_apart_by_what_was_named))

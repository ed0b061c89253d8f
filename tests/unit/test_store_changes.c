/* Changes through the decorators: counted, failing, recorded. */
#include "unit.h"

#include "core/store_record.h"
#include "core/store_write.h"
#include "storecalls.h"
#include "temptree.h"

#include <errno.h>

/* One of everything. */
static void
change_all(struct store *store)
{
	struct store_writer *writer = NULL;

	OK(store_make_dir(store, "d", true, &err));
	OK(store_create(store, "d/a", &writer, &err));
	OK(store_writer_put(writer, slice_text("bytes"), &err));
	OK(store_writer_sync(writer, &err));
	OK(store_writer_close(writer, &err));
	OK(store_link(store, "d/a", "d/b", &err));
	OK(store_rename(store, "d/b", "d/c", &err));
	OK(store_remove(store, "d/c", &err));
	OK(store_sync_dir(store, "d", &err));
	OK(store_remove_dir(store, "d", &err));
}

START_TEST(tracing_counts_changes)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *traced;
	struct store_counts counts = { 0 };

	traced = store_trace_new(store, &counts);
	change_all(traced);
	ck_assert_uint_eq(counts.creates, 1);
	ck_assert_uint_eq(counts.writes, 1);
	ck_assert_uint_eq(counts.write_bytes, 5);
	ck_assert_uint_eq(counts.syncs, 1);
	ck_assert_uint_eq(counts.dir_syncs, 2);
	ck_assert_uint_eq(counts.links, 1);
	ck_assert_uint_eq(counts.renames, 1);
	ck_assert_uint_eq(counts.removes, 2);
	ck_assert_uint_eq(counts.dirs, 1);
	store_unref(traced);
	end(store, &tree);
}
END_TEST

/* As change_all, until something fails; undone as far as possible. */
static int
try_all(struct store *store, struct lancet_error *err)
{
	struct store_writer *writer = NULL;
	int rc;

	TRY(store_make_one_dir(store, "d", err));
	TRY(store_create(store, "d/a", &writer, err));
	rc = store_writer_put(writer, slice_text("0123456789"), err);
	if (rc == LANCET_OK)
		rc = store_writer_sync(writer, err);
	if (rc != LANCET_OK) {
		(void)store_writer_close(writer, NULL);
		return rc;
	}
	TRY(store_writer_close(writer, err));
	TRY(store_link(store, "d/a", "d/b", err));
	TRY(store_rename(store, "d/b", "d/c", err));
	TRY(store_sync_dir(store, "d", err));
	TRY(store_remove(store, "d/c", err));
	return store_remove_dir(store, "d", err);
}

/* What is there after the nth call has failed: the name of the file, and how much it holds. */
static const struct {
	const char *early, *late;
	const char *early_text, *late_text;
} after_fault[] = {
	{ NULL, "d", NULL, NULL },                    /* make_dir */
	{ "d", "d/a", NULL, "" },                     /* create */
	{ "d/a", "d/a", "01234", "0123456789" },      /* put */
	{ "d/a", "d/a", "0123456789", "0123456789" }, /* sync */
	{ "d/a", "d/a", "0123456789", "0123456789" }, /* close */
	{ "d/a", "d/b", "0123456789", "0123456789" }, /* link */
	{ "d/b", "d/c", "0123456789", "0123456789" }, /* rename */
	{ "d/c", "d/c", "0123456789", "0123456789" }, /* sync_dir */
	{ "d/c", "d", "0123456789", NULL },           /* remove */
	{ "d", NULL, NULL, NULL },                    /* remove_dir */
};

START_TEST(every_change_can_fail_before_or_after_it_is_made)
{
	for (int late = 0; late < 2; late++) {
		struct tree tree = tree_new();
		struct store *store = open_store(&tree), *faulty;
		const char *there = late ? after_fault[_i].late : after_fault[_i].early;
		const char *text = late ? after_fault[_i].late_text : after_fault[_i].early_text;
		struct lancet_error failure = { 0 };
		int fds = tree_open_fds();

		faulty = store_fault_flags_new(
			store, (uint64_t)_i + 1, ENOSPC, late ? STORE_FAULT_LATE : 0);
		ck_assert_int_eq(try_all(faulty, &failure), LANCET_IO);
		ck_assert_int_eq(failure.os_errno, ENOSPC);
		if (there == NULL)
			ck_assert_int_eq(names_in(store, ""), 0);
		else if (strcmp(there, "d") == 0)
			ck_assert_int_eq(names_in(store, "d"), 0);
		else
			check_text(&tree, there, text);
		store_unref(faulty);
		ck_assert_int_eq(tree_open_fds(), fds);
		end(store, &tree);
	}
}
END_TEST

START_TEST(a_fault_may_stay)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *faulty;
	struct store_writer *writer = NULL;

	faulty = store_fault_flags_new(store, 2, EIO, STORE_FAULT_STAYS);
	OK(store_create(faulty, "a", &writer, &err));
	store_unref(faulty); /* the writer keeps it */
	FAILS(store_writer_put(writer, slice_text("x"), &err), LANCET_IO, "write");
	FAILS(store_writer_sync(writer, &err), LANCET_IO, "sync");
	FAILS(store_writer_close(writer, &err), LANCET_IO, "close");
	end(store, &tree);
}
END_TEST

START_TEST(recording_logs_what_was_done)
{
	static const enum store_change want[] = { STORE_MAKE_DIR, STORE_SYNC_DIR, STORE_CREATE,
		STORE_PUT, STORE_SYNC, STORE_LINK, STORE_RENAME, STORE_REMOVE, STORE_SYNC_DIR,
		STORE_REMOVE_DIR };
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *record;
	struct store_log log;
	int fds = tree_open_fds();

	store_log_init(&log, 0);
	record = store_record_new(store, &log);
	FAILS(store_remove(record, "d", &err), LANCET_NOT_FOUND, "d");
	change_all(record);
	ck_assert_uint_eq(log.count, ARRAY_SIZE(want));
	for (size_t i = 0; i < log.count; i++)
		ck_assert_int_eq(log.calls[i].change, want[i]);
	ck_assert_str_eq(log.calls[1].key, "");
	ck_assert_str_eq(log.calls[2].key, "d/a");
	ck_assert_uint_eq(log.calls[3].size, 5);
	ck_assert_mem_eq(log.calls[3].bytes, "bytes", 5);
	ck_assert_str_eq(log.calls[5].key, "d/a");
	ck_assert_str_eq(log.calls[5].to, "d/b");
	ck_assert_uint_eq(log.files, 1);
	ck_assert_uint_eq(log.syncs, 3);
	store_log_release(&log);
	store_unref(record);
	ck_assert_int_eq(tree_open_fds(), fds);
	end(store, &tree);
}
END_TEST

START_TEST(recording_can_leave_out_a_sync)
{
	static const enum store_change left_out[] = { STORE_SYNC_DIR, STORE_SYNC, STORE_SYNC_DIR };
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	for (uint64_t n = 1; n <= 3; n++) {
		struct store_counts counts = { 0 };
		struct store *traced = store_trace_new(store, &counts), *record;
		struct store_log log;
		int wanted = left_out[n - 1] == STORE_SYNC ? 0 : 1, found = 0;

		store_log_init(&log, n);
		record = store_record_new(traced, &log);
		change_all(record);
		ck_assert_uint_eq(counts.syncs + counts.dir_syncs, 2);
		for (size_t i = 0; i < log.count; i++)
			found += log.calls[i].change == left_out[n - 1];
		ck_assert_int_eq(found, wanted);
		store_unref(record);
		store_unref(traced);
		store_log_release(&log);
	}
	end(store, &tree);
}
END_TEST

UNIT_MAIN("store_changes", UNIT_TEST(tracing_counts_changes),
	UNIT_LOOP(every_change_can_fail_before_or_after_it_is_made, after_fault),
	UNIT_TEST(a_fault_may_stay), UNIT_TEST(recording_logs_what_was_done),
	UNIT_TEST(recording_can_leave_out_a_sync))

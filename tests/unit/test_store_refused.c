/* Writing to stores where the system refuses, is interrupted, or loses its reply. */
#include "unit.h"

#include "core/store_write.h"
#include "storecalls.h"
#include "syscalls.h"
#include "temptree.h"

START_TEST(short_and_interrupted_writes_are_continued)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct store_writer *writer = NULL;
	const struct slice parts[] = { slice_text("seven b"), slice_text("y"), slice_text("tes") };

	OK(store_create(store, "a", &writer, &err));
	faults.write_max = 3;
	faults.write = (struct syscall_fault){ .os_errno = EINTR, .times = 2 };
	OK(store_writer_put_parts(writer, parts, ARRAY_SIZE(parts), &err));
	ck_assert_int_eq(faults.write.calls, 2 + 3 + 1 + 1);
	faults.sync = (struct syscall_fault){ .os_errno = EINTR, .times = 1 };
	OK(store_writer_sync(writer, &err));
	ck_assert_int_eq(faults.sync.calls, 2);
	OK(store_writer_close(writer, &err));
	check_text(&tree, "a", "seven bytes");
	end(store, &tree);
}
END_TEST

static const int storage_errors[] = { ENOSPC, EDQUOT, EIO };

START_TEST(failures_of_the_storage_keep_their_errno)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct store_writer *writer = NULL;
	struct lancet_error failure = { 0 };
	int want = storage_errors[_i], fds = tree_open_fds();

	OK(store_create(store, "a", &writer, &err));
	faults.write.os_errno = want;
	ck_assert_int_eq(store_writer_put(writer, slice_text("x"), &failure), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&failure), want);
	ck_assert_ptr_nonnull(strstr(failure.text, "a: "));
	faults.sync.os_errno = want;
	failure = (struct lancet_error){ 0 };
	ck_assert_int_eq(store_writer_sync(writer, &failure), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&failure), want);
	failure = (struct lancet_error){ 0 };
	ck_assert_int_eq(store_sync_dir(store, "", &failure), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&failure), want);
	faults.close = (struct syscall_fault){ .os_errno = want, .late = true };
	failure = (struct lancet_error){ 0 };
	ck_assert_int_eq(store_writer_close(writer, &failure), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&failure), want);
	faults.close.os_errno = 0;
	faults.make_dir.os_errno = want;
	failure = (struct lancet_error){ 0 };
	ck_assert_int_eq(store_make_dir(store, "d", false, &failure), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&failure), want);
	ck_assert_int_eq(tree_open_fds(), fds);
	end(store, &tree);
}
END_TEST

START_TEST(a_read_only_file_system_and_missing_permission_are_told)
{
	struct tree tree = tree_new();
	struct store *store;
	struct store_writer *writer = NULL;

	tree_text(&tree, "d/a", "bytes");
	store = open_store(&tree);
	faults.link.os_errno = EROFS;
	FAILS(store_link(store, "d/a", "d/b", &err), LANCET_READ_ONLY, "d/b");
	faults.rename.os_errno = EROFS;
	FAILS(store_rename(store, "d/a", "d/b", &err), LANCET_READ_ONLY, "d/b");
	faults.unlink.os_errno = EROFS;
	FAILS(store_remove(store, "d/a", &err), LANCET_READ_ONLY, "d/a");
	faults.make_dir.os_errno = EROFS;
	FAILS(store_make_dir(store, "d/e", true, &err), LANCET_READ_ONLY, "d/e");
	memset(&faults, 0, sizeof(faults));
	ck_assert_int_eq(chmod(tree.root, 0755), 0);
	ck_assert_int_eq(chmod(TREE_PATH(&tree, "d"), 0555), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	FAILS(store_create(store, "d/b", &writer, &err), LANCET_DENIED, "d/b");
	FAILS(store_link(store, "d/a", "d/b", &err), LANCET_DENIED, "d/b");
	FAILS(store_remove(store, "d/a", &err), LANCET_DENIED, "d/a");
	FAILS(store_make_dir(store, "d/e", true, &err), LANCET_DENIED, "d/e");
	FAILS(store_can_publish(store, "d", &err), LANCET_DENIED, "d/.tmp-");
	(void)seteuid(getuid());
	ck_assert_int_eq(chmod(TREE_PATH(&tree, "d"), 0755), 0);
	OK(store_can_publish(store, "d", &err)); /* the refusal was not the storage's last word */
	end(store, &tree);
}
END_TEST

static const int no_links[] = { EPERM, EOPNOTSUPP, ENOSYS, EMLINK };

START_TEST(without_links_files_are_renamed_where_nothing_is_replaced)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	faults.link.os_errno = no_links[_i];
	put_text(store, "a", "one");
	OK(store_link(store, "a", "b", &err));
	check_text(&tree, "a", NULL);
	check_text(&tree, "b", "one");
	put_text(store, "a", "two");
	FAILS(store_link(store, "a", "b", &err), LANCET_EXISTS, "b");
	check_text(&tree, "a", "two");
	check_text(&tree, "b", "one");
	OK(store_can_publish(store, "", &err));
	ck_assert_int_eq(names_in(store, ""), 2);
	end(store, &tree);
}
END_TEST

static const int no_noreplace[] = { EINVAL, ENOSYS, EOPNOTSUPP };

START_TEST(without_either_publishing_is_refused_by_name)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *sub = NULL;

	tree_mkdir(&tree, "_versions");
	tree_mkdir(&tree, "tree/b/_versions");
	faults.link.os_errno = EPERM;
	faults.rename_new.os_errno = no_noreplace[_i];
	put_text(store, "a", "one");
	FAILS(store_link(store, "a", "b", &err), LANCET_UNSUPPORTED, "renameat2");
	check_text(&tree, "a", "one");
	FAILS(store_can_publish(store, "_versions", &err), LANCET_UNSUPPORTED, "renameat2");
	faults.link.calls = 0;
	FAILS(store_can_publish(store, "_versions", &err), LANCET_UNSUPPORTED, "link(2)");
	OK(store_sub_open(store, "tree/b", &sub, &err));
	FAILS(store_can_publish(sub, "_versions", &err), LANCET_UNSUPPORTED, "link(2)");
	ck_assert_int_eq(faults.link.calls, 0); /* found out once, for branches too */
	ck_assert_int_eq(names_in(store, "_versions"), 0);
	store_unref(sub);
	end(store, &tree);
}
END_TEST

START_TEST(refusing_a_link_for_want_of_permission_is_told_as_that)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	put_text(store, "a", "one");
	faults.link.os_errno = faults.rename_new.os_errno = EPERM;
	FAILS(store_link(store, "a", "b", &err), LANCET_DENIED, "b");
	FAILS(store_can_publish(store, "", &err), LANCET_DENIED, ".tmp-");
	end(store, &tree);
}
END_TEST

START_TEST(storage_that_replaces_names_can_not_publish)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	faults.link_replaces = true;
	FAILS(store_can_publish(store, "", &err), LANCET_UNSUPPORTED, "replace");
	FAILS(store_can_publish(store, "", &err), LANCET_UNSUPPORTED, "replace");
	ck_assert_int_eq(names_in(store, ""), 0);
	end(store, &tree);
}
END_TEST

static const struct {
	int os_errno;
	bool by_rename;
} lost_replies[] = {
	{ EEXIST, false }, /* NFS, asked again after a lost reply */
	{ EIO, false },
	{ ETIMEDOUT, false },
	{ EEXIST, true },
	{ ENOENT, true },
};

START_TEST(a_name_that_was_given_is_ours_whatever_the_reply)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct syscall_fault late = { .os_errno = lost_replies[_i].os_errno, .late = true };

	put_text(store, "a", "one");
	if (lost_replies[_i].by_rename) {
		faults.link.os_errno = EPERM;
		faults.rename_new = late;
	} else {
		faults.link = late;
	}
	OK(store_link(store, "a", "b", &err));
	check_text(&tree, "a", NULL);
	check_text(&tree, "b", "one");
	put_text(store, "a", "two");
	FAILS(store_link(store, "a", "b", &err), LANCET_EXISTS, "b");
	check_text(&tree, "b", "one");
	faults.rename = (struct syscall_fault){ .os_errno = ENOENT, .late = true };
	OK(store_rename(store, "a", "b", &err));
	check_text(&tree, "b", "two");
	end(store, &tree);
}
END_TEST

START_TEST(a_temporary_name_that_stays_does_not_undo_the_final_one)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	put_text(store, "a", "one");
	faults.unlink.os_errno = EIO;
	OK(store_link(store, "a", "b", &err));
	check_text(&tree, "b", "one");
	end(store, &tree);
}
END_TEST

START_TEST(directories_that_can_not_be_synced_need_not_be)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	faults.sync.os_errno = EINVAL;
	OK(store_sync_dir(store, "", &err));
	ck_assert_int_eq(faults.sync.calls, 1);
	end(store, &tree);
}
END_TEST

UNIT_MAIN("store_refused", UNIT_TEST(short_and_interrupted_writes_are_continued),
	UNIT_LOOP(failures_of_the_storage_keep_their_errno, storage_errors),
	UNIT_TEST(a_read_only_file_system_and_missing_permission_are_told),
	UNIT_LOOP(without_links_files_are_renamed_where_nothing_is_replaced, no_links),
	UNIT_LOOP(without_either_publishing_is_refused_by_name, no_noreplace),
	UNIT_TEST(refusing_a_link_for_want_of_permission_is_told_as_that),
	UNIT_TEST(storage_that_replaces_names_can_not_publish),
	UNIT_LOOP(a_name_that_was_given_is_ours_whatever_the_reply, lost_replies),
	UNIT_TEST(a_temporary_name_that_stays_does_not_undo_the_final_one),
	UNIT_TEST(directories_that_can_not_be_synced_need_not_be))

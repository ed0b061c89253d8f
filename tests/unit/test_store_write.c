/* Writing to stores: files, names, directories. */
#include "unit.h"

#include "core/store_write.h"
#include "storecalls.h"
#include "temptree.h"

START_TEST(a_file_is_created_once_and_appended_to)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct store_writer *writer = NULL;
	const struct slice parts[] = { slice_text(""), slice_text("by"), { NULL, 0 },
		slice_text("t"), slice_text("es"), slice_text("") };
	struct stat st;
	int fds = tree_open_fds();

	(void)umask(027);
	OK(store_create(store, "a", &writer, &err));
	FAILS(store_create(store, "a", &(struct store_writer *){ NULL }, &err), LANCET_EXISTS, "a");
	OK(store_writer_put_parts(writer, parts, ARRAY_SIZE(parts), &err));
	OK(store_writer_put_parts(writer, parts, 0, &err));
	OK(store_writer_put(writer, slice_text("!"), &err));
	OK(store_writer_sync(writer, &err));
	OK(store_writer_close(writer, &err));
	check_text(&tree, "a", "bytes!");
	OK(store_stat(store, "a", &st, &err));
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	OK(store_writer_close(NULL, &err));
	ck_assert_int_eq(tree_open_fds(), fds);
	end(store, &tree);
}
END_TEST

START_TEST(many_parts_are_written_in_order)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct store_writer *writer = NULL;
	struct slice parts[1000];
	uint8_t bytes[ARRAY_SIZE(parts)], stored[sizeof(bytes) + 1];
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		bytes[i] = (uint8_t)(i * 7 + i / 256);
		parts[i] = slice_of(bytes + i, 1);
	}
	OK(store_create(store, "a", &writer, &err));
	OK(store_writer_put_parts(writer, parts, ARRAY_SIZE(parts), &err));
	OK(store_writer_close(writer, &err));
	fd = open(TREE_PATH(&tree, "a"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(read(fd, stored, sizeof(stored)), sizeof(bytes));
	ck_assert_mem_eq(stored, bytes, sizeof(bytes));
	(void)close(fd);
	end(store, &tree);
}
END_TEST

START_TEST(a_link_gives_a_name_and_never_takes_one)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	put_text(store, "a", "one");
	OK(store_link(store, "a", "b", &err));
	check_text(&tree, "a", NULL);
	check_text(&tree, "b", "one");
	put_text(store, "a", "two");
	FAILS(store_link(store, "a", "b", &err), LANCET_EXISTS, "b");
	check_text(&tree, "a", "two");
	check_text(&tree, "b", "one");
	FAILS(store_link(store, "c", "d", &err), LANCET_NOT_FOUND, "c");
	FAILS(store_link(store, "a", "e/d", &err), LANCET_NOT_FOUND, "e");
	FAILS(store_link(store, "a", "a", &err), LANCET_INVALID, "a");
	tree_link(&tree, "dangling", "nowhere");
	FAILS(store_link(store, "a", "dangling", &err), LANCET_EXISTS, "dangling");
	FAILS(store_create(store, "dangling", &(struct store_writer *){ NULL }, &err),
		LANCET_EXISTS, "dangling");
	check_text(&tree, "nowhere", NULL);
	check_text(&tree, "a", "two");
	end(store, &tree);
}
END_TEST

START_TEST(renaming_replaces_files_only)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);

	put_text(store, "a", "one");
	put_text(store, "b", "two");
	OK(store_rename(store, "a", "b", &err));
	check_text(&tree, "a", NULL);
	check_text(&tree, "b", "one");
	OK(store_make_dir(store, "d", false, &err));
	FAILS(store_rename(store, "b", "d", &err), LANCET_CORRUPT, "d");
	FAILS(store_rename(store, "c", "b", &err), LANCET_NOT_FOUND, "c");
	FAILS(store_remove(store, "d", &err), LANCET_CORRUPT, "d");
	OK(store_remove(store, "b", &err));
	FAILS(store_remove(store, "b", &err), LANCET_NOT_FOUND, "b");
	end(store, &tree);
}
END_TEST

START_TEST(directories_are_made_with_their_parents)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *traced;
	struct store_counts counts = { 0 };
	struct stat st;

	(void)umask(022);
	traced = store_trace_new(store, &counts);
	OK(store_make_dir(traced, "a/b/c", true, &err));
	ck_assert_uint_eq(counts.dir_syncs, 3); /* of "", a and a/b */
	OK(store_make_dir(traced, "a/b/c", true, &err));
	ck_assert_uint_eq(counts.dir_syncs, 4); /* whoever made it may not have synced a/b yet */
	OK(store_make_dir(traced, "a/d", false, &err));
	OK(store_make_dir(traced, "", true, &err));
	ck_assert_uint_eq(counts.dir_syncs, 4);
	OK(store_stat(store, "a/b/c", &st, &err));
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 0777, 0755);
	FAILS(store_make_one_dir(store, "a", &err), LANCET_EXISTS, "a");
	FAILS(store_remove_dir(store, "a", &err), LANCET_BUSY, "a");
	OK(store_remove_dir(store, "a/b/c", &err));
	FAILS(store_remove_dir(store, "a/b/c", &err), LANCET_NOT_FOUND, "a/b/c");
	put_text(store, "file", "");
	FAILS(store_make_dir(store, "file", true, &err), LANCET_CORRUPT, "file");
	FAILS(store_make_dir(store, "file/d", true, &err), LANCET_CORRUPT, "file");
	FAILS(store_sync_dir(store, "none", &err), LANCET_NOT_FOUND, "none");
	store_unref(traced);
	end(store, &tree);
}
END_TEST

static const char *const bad_keys[] = { "", "/x", "../x", "d/../x", "d//x", "d/", "." };

START_TEST(bad_keys_write_nothing)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct store_writer *writer = NULL;
	const char *key = bad_keys[_i];

	tree_mkdir(&tree, "d");
	put_text(store, "a", "one");
	ck_assert_int_eq(store_create(store, key, &writer, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_link(store, key, "b", NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_link(store, "a", key, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_rename(store, key, "b", NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_rename(store, "a", key, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_remove(store, key, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_remove_dir(store, key, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_make_one_dir(store, key, NULL), LANCET_CORRUPT);
	if (key[0] != '\0') {
		ck_assert_int_eq(store_make_dir(store, key, true, NULL), LANCET_CORRUPT);
		ck_assert_int_eq(store_sync_dir(store, key, NULL), LANCET_CORRUPT);
		ck_assert_int_eq(store_can_publish(store, key, NULL), LANCET_CORRUPT);
	}
	ck_assert_ptr_null(writer);
	ck_assert_int_eq(names_in(store, ""), 2);
	end(store, &tree);
}
END_TEST

START_TEST(links_lead_writers_no_further_than_readers)
{
	struct tree tree = tree_new();
	struct store *store = NULL;
	struct store_writer *writer = NULL;
	const char *follow[] = { TREE_PATH(&tree, "allowed"), NULL };

	tree_mkdir(&tree, "ds/data");
	tree_mkdir(&tree, "allowed");
	tree_mkdir(&tree, "other");
	tree_link(&tree, "ds/inside", "data");
	tree_link(&tree, "ds/out", "../allowed");
	tree_link(&tree, "ds/away", "../other");
	ck_assert_int_eq(store_local_open(TREE_PATH(&tree, "ds"), NULL, &store, NULL), LANCET_OK);
	put_text(store, "inside/a", "one");
	check_text(&tree, "ds/data/a", "one");
	FAILS(store_create(store, "out/a", &writer, &err), LANCET_CORRUPT, "out/a");
	FAILS(store_make_dir(store, "out/d", true, &err), LANCET_CORRUPT, "out/d");
	FAILS(store_link(store, "inside/a", "out/a", &err), LANCET_CORRUPT, "out/a");
	store_unref(store);
	ck_assert_int_eq(store_local_open(TREE_PATH(&tree, "ds"), follow, &store, NULL), LANCET_OK);
	put_text(store, "out/a", "one");
	check_text(&tree, "allowed/a", "one");
	FAILS(store_create(store, "away/a", &writer, &err), LANCET_CORRUPT, "away/a");
	ck_assert_int_eq(names_in(store, ""), 4);
	end(store, &tree);
}
END_TEST

START_TEST(a_sub_directory_is_written_through_its_parent)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree), *sub = NULL, *inner = NULL;
	struct store_writer *writer = NULL;

	OK(store_sub_open(store, "tree/b", &sub, &err));
	OK(store_sub_open(sub, "data", &inner, &err));
	FAILS(store_create(sub, "data/a", &writer, &err), LANCET_NOT_FOUND, "tree/b/data/a");
	OK(store_make_dir(sub, "data", true, &err));
	put_text(inner, "a", "one");
	check_text(&tree, "tree/b/data/a", "one");
	OK(store_link(inner, "a", "c", &err));
	OK(store_rename(sub, "data/c", "data/d", &err));
	check_text(&tree, "tree/b/data/d", "one");
	OK(store_sync_dir(inner, "", &err));
	OK(store_can_publish(inner, "", &err));
	OK(store_remove(inner, "d", &err));
	FAILS(store_create(inner, "../x", &writer, &err), LANCET_CORRUPT, "..");
	OK(store_remove_dir(sub, "data", &err));
	store_unref(inner);
	store_unref(sub);
	end(store, &tree);
}
END_TEST

START_TEST(temporary_names_are_fresh_and_lie_in_their_directory)
{
	char first[STORE_KEY_MAX + 1], second[STORE_KEY_MAX + 1];

	OK(store_temporary_key("_versions/x", 9, first, &err));
	OK(store_temporary_key("_versions/x", 9, second, &err));
	ck_assert_uint_eq(strlen(first), strlen("_versions/.tmp-") + 36);
	ck_assert_int_eq(strncmp(first, "_versions/.tmp-", 15), 0);
	ck_assert_str_ne(first, second);
	OK(store_temporary_key("", 0, first, &err));
	ck_assert_int_eq(strncmp(first, ".tmp-", 5), 0);
}
END_TEST

UNIT_MAIN("store_write", UNIT_TEST(a_file_is_created_once_and_appended_to),
	UNIT_TEST(many_parts_are_written_in_order),
	UNIT_TEST(a_link_gives_a_name_and_never_takes_one), UNIT_TEST(renaming_replaces_files_only),
	UNIT_TEST(directories_are_made_with_their_parents),
	UNIT_LOOP(bad_keys_write_nothing, bad_keys),
	UNIT_TEST(links_lead_writers_no_further_than_readers),
	UNIT_TEST(a_sub_directory_is_written_through_its_parent),
	UNIT_TEST(temporary_names_are_fresh_and_lie_in_their_directory))

/* Stores: keys, the local directory with its links, sub-directories, decorators. */
#include "unit.h"

#include "core/store.h"
#include "core/store_follow.h"
#include "temptree.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

static const struct {
	const char *key;
	int want;
} keys[] = {
	{ "data/a.lance", LANCET_OK },
	{ "a", LANCET_OK },
	{ "..a/b..", LANCET_OK },
	{ "a\nb", LANCET_OK },
	{ "", LANCET_CORRUPT },
	{ "/etc/passwd", LANCET_CORRUPT },
	{ "/", LANCET_CORRUPT },
	{ "..", LANCET_CORRUPT },
	{ ".", LANCET_CORRUPT },
	{ "../x", LANCET_CORRUPT },
	{ "a/../b", LANCET_CORRUPT },
	{ "a/./b", LANCET_CORRUPT },
	{ "a/..", LANCET_CORRUPT },
	{ "a//b", LANCET_CORRUPT },
	{ "a/", LANCET_CORRUPT },
};

START_TEST(keys_are_relative_paths_of_plain_parts)
{
	struct lancet_error err = { 0 };

	ck_assert_int_eq(store_key_check(slice_text(keys[_i].key), &err), keys[_i].want);
	ck_assert(keys[_i].want == LANCET_OK || err.text[0] != '\0');
}
END_TEST

START_TEST(keys_are_limited_in_size)
{
	char key[5000];

	memset(key, 'a', sizeof(key));
	ck_assert_int_eq(store_key_check(slice_of(key, 255), NULL), LANCET_OK);
	ck_assert_int_eq(store_key_check(slice_of(key, 256), NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_key_check(slice_of("a\0b", 3), NULL), LANCET_CORRUPT);
	for (size_t i = 1; i < sizeof(key); i += 2)
		key[i] = '/';
	ck_assert_int_eq(store_key_check(slice_of(key, 4095), NULL), LANCET_OK);
	ck_assert_int_eq(store_key_check(slice_of(key, 4097), NULL), LANCET_CORRUPT);
}
END_TEST

static struct store *
open_local(const struct tree *tree, const char *relative, const char *const *follow)
{
	struct store *store = NULL;
	struct lancet_error err = { 0 };

	(void)store_local_open(TREE_PATH(tree, relative), follow, &store, &err);
	ck_assert_msg(store != NULL, "%s", err.text);
	return store;
}

/* The code of opening a key; what could be opened must read as `want_text`. */
static int
open_code(struct store *store, const char *key, const char *want_text)
{
	struct source *source = NULL;
	struct lancet_error err = { 0 };
	char text[64] = "";
	struct stat st;
	int rc = store_open_source(store, key, &source, &st, &err);

	if (rc != LANCET_OK) {
		ck_assert_ptr_null(source);
		ck_assert(err.text[0] != '\0');
		return rc;
	}
	ck_assert_uint_lt(source->size, sizeof(text));
	ck_assert_int_eq(source_read_at(source, 0, (size_t)source->size, text, NULL), LANCET_OK);
	ck_assert_str_eq(text, want_text);
	ck_assert_int_eq(st.st_size, (off_t)strlen(want_text));
	source_unref(source);
	return LANCET_OK;
}

START_TEST(files_are_read_and_others_refused)
{
	struct tree tree = tree_new();
	struct store *store;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	tree_text(&tree, "ds/data/a", "bytes");
	tree_text(&tree, "ds/empty", "");
	ck_assert_int_eq(mkfifo(TREE_PATH(&tree, "ds/fifo"), 0600), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/ds/socket", tree.root);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
	store = open_local(&tree, "ds", NULL);
	ck_assert_int_eq(open_code(store, "data/a", "bytes"), LANCET_OK);
	ck_assert_int_eq(open_code(store, "empty", ""), LANCET_OK);
	ck_assert_int_eq(open_code(store, "data", ""), LANCET_CORRUPT);
	ck_assert_int_eq(open_code(store, "fifo", ""), LANCET_CORRUPT); /* and does not block */
	ck_assert_int_eq(open_code(store, "socket", ""), LANCET_CORRUPT);
	ck_assert_int_eq(open_code(store, "data/b", ""), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(store, "data/a/b", ""), LANCET_NOT_FOUND);
	ck_assert_int_eq(open_code(store, "../ds/data/a", ""), LANCET_CORRUPT);
	ck_assert_int_eq(store_stat(store, "", &st, NULL), LANCET_OK);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_int_eq(store_stat(store, "data/a", &st, NULL), LANCET_OK);
	ck_assert_int_eq(st.st_size, 5);
	ck_assert_int_eq(store_stat(store, "data/b", &st, NULL), LANCET_NOT_FOUND);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

static const struct {
	const char *link;
	int want, followed; /* without and with `outside` as a directory to follow */
} links[] = {
	{ "inside", LANCET_OK, LANCET_OK },
	{ "inside_dir/a", LANCET_OK, LANCET_OK },
	{ "inside_absolute", LANCET_OK, LANCET_OK },
	{ "out_and_back", LANCET_OK, LANCET_OK },
	{ "dangling", LANCET_NOT_FOUND, LANCET_NOT_FOUND },
	{ "loop", LANCET_CORRUPT, LANCET_CORRUPT },
	{ "out_file", LANCET_CORRUPT, LANCET_OK },
	{ "out_dir/a", LANCET_CORRUPT, LANCET_OK },
	{ "out_absolute", LANCET_CORRUPT, LANCET_OK },
	{ "out_missing", LANCET_CORRUPT, LANCET_NOT_FOUND },
	{ "elsewhere", LANCET_CORRUPT, LANCET_CORRUPT },
	{ "sibling", LANCET_CORRUPT, LANCET_CORRUPT }, /* "outside2" is not below "outside" */
	{ "system", LANCET_CORRUPT, LANCET_CORRUPT },
	{ "magic", LANCET_CORRUPT, LANCET_CORRUPT },
};

static struct tree
tree_of_links(void)
{
	struct tree tree = tree_new();

	tree_text(&tree, "ds/data/a", "bytes");
	tree_text(&tree, "outside/a", "bytes");
	tree_text(&tree, "outside2/a", "bytes");
	tree_text(&tree, "a", "bytes");
	tree_link(&tree, "ds/inside", "data/a");
	tree_link(&tree, "ds/inside_dir", "data");
	tree_link(&tree, "ds/inside_absolute", TREE_PATH(&tree, "ds/data/a"));
	tree_link(&tree, "ds/out_and_back", "../ds/data/a");
	tree_link(&tree, "ds/dangling", "data/b");
	tree_link(&tree, "ds/loop", "loop");
	tree_link(&tree, "ds/out_file", "../outside/a");
	tree_link(&tree, "ds/out_dir", "../outside");
	tree_link(&tree, "ds/out_absolute", TREE_PATH(&tree, "outside/a"));
	tree_link(&tree, "ds/out_missing", "../outside/b");
	tree_link(&tree, "ds/elsewhere", "../a");
	tree_link(&tree, "ds/sibling", "../outside2/a");
	tree_link(&tree, "ds/system", "/etc/hostname");
	tree_link(&tree, "ds/magic", "/proc/self/exe");
	return tree;
}

START_TEST(links_lead_outside_only_where_allowed)
{
	struct tree tree = tree_of_links();
	const char *follow[] = { TREE_PATH(&tree, "outside"), NULL };
	struct store *store = open_local(&tree, "ds", NULL);

	ck_assert_msg(open_code(store, links[_i].link, "bytes") == links[_i].want, "%s",
	              links[_i].link);
	store_unref(store);
	store = open_local(&tree, "ds", follow);
	ck_assert_msg(open_code(store, links[_i].link, "bytes") == links[_i].followed, "%s",
	              links[_i].link);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

/* What a kernel without openat2 goes through for every key. */
START_TEST(links_are_checked_without_the_kernels_help)
{
	struct tree tree = tree_of_links();
	int root = open(TREE_PATH(&tree, "ds"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct store_follow follow;
	int fd;

	ck_assert_int_eq(store_follow_init(&follow, NULL, NULL), LANCET_OK);
	fd = store_follow_open(&follow, root, links[_i].link, O_RDONLY | O_CLOEXEC);
	ck_assert_msg((fd >= 0) == (links[_i].want == LANCET_OK), "%s", links[_i].link);
	ck_assert(fd >= 0 || errno == EXDEV || errno == ENOENT || errno == ELOOP);
	if (fd >= 0)
		(void)close(fd);
	store_follow_release(&follow);
	(void)close(root);
	tree_remove(&tree);
}
END_TEST

START_TEST(directories_to_follow_must_be_absolute_and_there)
{
	struct tree tree = tree_new();
	const char *relative[] = { "outside", NULL };
	const char *missing[] = { tree.root, TREE_PATH(&tree, "outside"), NULL };
	struct store *store = NULL;

	ck_assert_int_eq(store_local_open(tree.root, relative, &store, NULL), LANCET_INVALID);
	ck_assert_int_eq(store_local_open(tree.root, missing, &store, NULL), LANCET_NOT_FOUND);
	ck_assert_ptr_null(store);
	tree_remove(&tree);
}
END_TEST

struct names {
	int files, dirs, stop_after;
};

static int
count_name(void *context, const char *name, bool is_dir)
{
	struct names *names = context;

	ck_assert(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
	*(is_dir ? &names->dirs : &names->files) += 1;
	return names->files + names->dirs == names->stop_after ? LANCET_CANCELLED : LANCET_OK;
}

START_TEST(listings_tell_files_from_directories)
{
	struct tree tree = tree_of_links();
	struct store *store = open_local(&tree, "ds", NULL);
	struct names names = { 0 };

	ck_assert_int_eq(store_list(store, "", count_name, &names, NULL), LANCET_OK);
	ck_assert_int_eq(names.dirs, 2); /* data, inside_dir; out_dir leads nowhere */
	ck_assert_int_eq(names.files, 13);
	names = (struct names){ .stop_after = 3 };
	ck_assert_int_eq(store_list(store, "", count_name, &names, NULL), LANCET_CANCELLED);
	ck_assert_int_eq(names.files + names.dirs, 3);
	ck_assert_int_eq(store_list(store, "data/a", count_name, &names, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(store_list(store, "nope", count_name, &names, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(store_list(store, "..", count_name, &names, NULL), LANCET_CORRUPT);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

START_TEST(looking_leaves_access_times_alone)
{
	struct tree tree = tree_new();
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
	struct names names = { 0 };
	struct store *store;
	struct stat st;

	tree_text(&tree, "data/a", "bytes");
	ck_assert_int_eq(utimensat(AT_FDCWD, TREE_PATH(&tree, "data/a"), times, 0), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, TREE_PATH(&tree, "data"), times, 0), 0);
	store = open_local(&tree, "", NULL);
	ck_assert_int_eq(open_code(store, "data/a", "bytes"), LANCET_OK);
	ck_assert_int_eq(store_list(store, "data", count_name, &names, NULL), LANCET_OK);
	ck_assert_int_eq(store_stat(store, "data/a", &st, NULL), LANCET_OK);
	ck_assert_int_eq(st.st_atim.tv_sec, 1000);
	ck_assert_int_eq(store_stat(store, "data", &st, NULL), LANCET_OK);
	ck_assert_int_eq(st.st_atim.tv_sec, 1000);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_store_follows_its_directory_when_it_is_renamed)
{
	struct tree tree = tree_new();
	struct store *store;

	tree_text(&tree, "ds/data/a", "bytes");
	tree_link(&tree, "ds/back", "../other/data/a");
	store = open_local(&tree, "ds", NULL);
	tree_rename(&tree, "ds", "other");
	ck_assert_int_eq(open_code(store, "data/a", "bytes"), LANCET_OK);
	ck_assert_int_eq(open_code(store, "back", "bytes"), LANCET_OK);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_sub_directory_is_found_where_it_is_now)
{
	struct tree tree = tree_new();
	struct store *store = open_local(&tree, "", NULL);
	struct store *sub = NULL, *inner = NULL;
	struct names names = { 0 };
	struct stat st;

	ck_assert_int_eq(store_sub_open(store, "../x", &sub, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(store_sub_open(store, "tree/b", &sub, NULL), LANCET_OK);
	store_unref(store);
	ck_assert_int_eq(store_stat(sub, "", &st, NULL), LANCET_NOT_FOUND);
	tree_text(&tree, "tree/b/data/a", "bytes");
	tree_text(&tree, "secret", "bytes");
	ck_assert_int_eq(open_code(sub, "data/a", "bytes"), LANCET_OK);
	ck_assert_int_eq(open_code(sub, "../../secret", "bytes"), LANCET_CORRUPT);
	ck_assert_int_eq(store_list(sub, "", count_name, &names, NULL), LANCET_OK);
	ck_assert_int_eq(names.dirs, 1);
	ck_assert_int_eq(store_sub_open(sub, "data", &inner, NULL), LANCET_OK);
	ck_assert_int_eq(open_code(inner, "a", "bytes"), LANCET_OK);
	store_unref(inner);
	store_unref(sub);
	tree_remove(&tree);
}
END_TEST

START_TEST(tracing_counts_every_call_and_byte)
{
	struct tree tree = tree_new();
	struct store *local, *store;
	struct store_counts counts = { 0 };
	struct names names = { 0 };
	struct statvfs fs;
	struct stat st;
	int fd;

	tree_text(&tree, "a", "bytes");
	local = open_local(&tree, "", NULL);
	store = store_trace_new(local, &counts);
	store_unref(local);
	ck_assert_int_eq(open_code(store, "a", "bytes"), LANCET_OK);
	ck_assert_int_eq(open_code(store, "b", ""), LANCET_NOT_FOUND);
	ck_assert_int_eq(store_open_fd(store, "a", &fd, &st, NULL), LANCET_OK);
	(void)close(fd);
	ck_assert_int_eq(store_stat(store, "a", &st, NULL), LANCET_OK);
	ck_assert_int_eq(store_statvfs(store, &fs, NULL), LANCET_OK);
	ck_assert_int_eq(store_list(store, "", count_name, &names, NULL), LANCET_OK);
	ck_assert_uint_eq(counts.opens, 3);
	ck_assert_uint_eq(counts.stats, 2);
	ck_assert_uint_eq(counts.lists, 1);
	ck_assert_uint_eq(counts.reads, 1);
	ck_assert_uint_eq(counts.read_bytes, 5);
	store_unref(store);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_fault_fails_the_nth_call_only)
{
	struct tree tree = tree_new();
	struct store *local, *store;
	struct source *source = NULL;
	struct lancet_error err = { 0 };
	struct stat st;
	char bytes[5];

	tree_text(&tree, "a", "bytes");
	local = open_local(&tree, "", NULL);
	store = store_fault_new(local, 2, ENOSPC);
	ck_assert_int_eq(store_stat(store, "a", &st, NULL), LANCET_OK);
	ck_assert_int_eq(store_stat(store, "a", &st, &err), LANCET_IO);
	ck_assert_int_eq(err.os_errno, ENOSPC);
	ck_assert_int_eq(store_stat(store, "a", &st, NULL), LANCET_OK);
	store_unref(store);
	store = store_fault_new(local, 3, EIO);
	store_unref(local);
	ck_assert_int_eq(store_open_source(store, "a", &source, &st, NULL), LANCET_OK);
	store_unref(store); /* the source keeps it */
	ck_assert_int_eq(source_read_at(source, 0, 5, bytes, NULL), LANCET_OK);
	ck_assert_int_eq(source_read_at(source, 0, 5, bytes, NULL), LANCET_IO);
	ck_assert_int_eq(source_read_at(source, 0, 5, bytes, NULL), LANCET_OK);
	source_unref(source);
	tree_remove(&tree);
}
END_TEST

UNIT_MAIN("store",
          UNIT_LOOP(keys_are_relative_paths_of_plain_parts, keys),
          UNIT_TEST(keys_are_limited_in_size),
          UNIT_TEST(files_are_read_and_others_refused),
          UNIT_LOOP(links_lead_outside_only_where_allowed, links),
          UNIT_LOOP(links_are_checked_without_the_kernels_help, links),
          UNIT_TEST(directories_to_follow_must_be_absolute_and_there),
          UNIT_TEST(listings_tell_files_from_directories),
          UNIT_TEST(looking_leaves_access_times_alone),
          UNIT_TEST(a_store_follows_its_directory_when_it_is_renamed),
          UNIT_TEST(a_sub_directory_is_found_where_it_is_now),
          UNIT_TEST(tracing_counts_every_call_and_byte),
          UNIT_TEST(a_fault_fails_the_nth_call_only))

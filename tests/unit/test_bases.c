/* Bases: spellings of one directory, paths that are refused, lost files. */
#include "unit.h"

#include "treedata.h"

#include <errno.h>

static const struct lancet_base *
intern(lancet_dataset *dataset, const char *path)
{
	const struct lancet_base *base = NULL;
	struct lancet_error err = { 0 };
	struct lancet_bytes bytes = { (const uint8_t *)path, strlen(path) };

	(void)dataset_base_intern(dataset, bytes, &base, &err);
	ck_assert_msg(base != NULL, "%s", err.text);
	return base;
}

START_TEST(equal_directories_are_one_base)
{
	struct tree tree = three_versions();
	const struct lancet_base *root, *other, *branch;
	lancet_dataset *dataset;
	char path[PATH_MAX], uri[PATH_MAX + 16];

	tree_mkdir(&tree, "ds/tree/dev");
	tree_text(&tree, "other ds/data/a", "bytes");
	tree_link(&tree, "alias", "ds");
	tree_link(&tree, "other_alias", "other ds");
	dataset = open_dataset(&tree);
	root = dataset_base(dataset);
	ck_assert_str_eq(lancet_base_identity(root), "");
	ck_assert_ptr_eq(intern(dataset, tree_path(&tree, path, "ds")), root);
	ck_assert_ptr_eq(intern(dataset, tree_path(&tree, path, "ds/")), root);
	ck_assert_ptr_eq(intern(dataset, tree_path(&tree, path, "alias/.")), root);
	ck_assert_ptr_eq(intern(dataset, tree_path(&tree, path, "other ds/../ds")), root);
	branch = intern(dataset, tree_path(&tree, path, "alias//tree/dev"));
	ck_assert_str_eq(lancet_base_identity(branch), "tree/dev");
	ck_assert_ptr_eq(intern(dataset, tree_path(&tree, path, "ds/tree/dev")), branch);
	other = intern(dataset, tree_path(&tree, path, "other_alias"));
	ck_assert_str_eq(lancet_base_identity(other), tree_path(&tree, path, "other ds"));
	ck_assert_ptr_eq(intern(dataset, path), other);
	(void)snprintf(uri, sizeof(uri), "file://%s/other%%20ds", tree.root);
	ck_assert_ptr_eq(intern(dataset, uri), other);
	(void)snprintf(uri, sizeof(uri), "file://localhost%s/other_alias/", tree.root);
	ck_assert_ptr_eq(intern(dataset, uri), other);
	close_dataset(dataset, &tree);
}
END_TEST

static const struct {
	const char *path;
	size_t size;
	int want;
} bad_bases[] = {
	{ "", 0, LANCET_CORRUPT },
	{ "relative/path", 13, LANCET_CORRUPT },
	{ "../up", 5, LANCET_CORRUPT },
	{ "/nul\0byte", 9, LANCET_CORRUPT },
	{ "s3://bucket/path", 16, LANCET_UNSUPPORTED },
	{ "memory:///x", 11, LANCET_UNSUPPORTED },
	{ "file://host/path", 16, LANCET_UNSUPPORTED },
	{ "file://", 7, LANCET_CORRUPT },
	{ "file:///a%", 10, LANCET_CORRUPT },
	{ "file:///a%00", 12, LANCET_CORRUPT },
	{ "/lancet/unit/no/such/directory", 30, LANCET_IO },
	{ "/dev/null", 9, LANCET_IO },
};

START_TEST(bad_base_paths_are_refused)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	const struct lancet_base *base = NULL;
	struct lancet_bytes path = { (const uint8_t *)bad_bases[_i].path, bad_bases[_i].size };
	struct lancet_error err = { 0 };

	ck_assert_msg(dataset_base_intern(dataset, path, &base, &err) == bad_bases[_i].want,
	              "%s: %s", bad_bases[_i].path, err.text);
	ck_assert_ptr_null(base);
	ck_assert(bad_bases[_i].want != LANCET_IO || lancet_error_errno(&err) == EIO);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(lost_files_of_a_base_are_io_errors)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset;
	const struct lancet_base *base;
	struct lancet_error err = { 0 };
	struct stat st;
	int fd = -1;

	tree_text(&tree, "ds/data/a", "bytes");
	dataset = open_dataset(&tree);
	base = dataset_base(dataset);
	ck_assert_int_eq(lancet_base_open(base, "data/a", &fd, &st, NULL), LANCET_OK);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(lancet_base_stat(base, "data/a", &st, NULL), LANCET_OK);
	ck_assert_int_eq(st.st_size, 5);
	ck_assert_int_eq(lancet_base_open(base, "data/b", &fd, &st, &err), LANCET_IO);
	ck_assert_int_eq(err.os_errno, EIO);
	ck_assert_int_eq(lancet_base_stat(base, "data/b", &st, &err), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&err), EIO);
	ck_assert_int_eq(lancet_base_open(base, "../ds/data/a", &fd, &st, &err), LANCET_CORRUPT);
	ck_assert_int_eq(lancet_base_stat(base, "", &st, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(lancet_base_open(base, "data", &fd, &st, NULL), LANCET_CORRUPT);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("bases",
          UNIT_TEST(equal_directories_are_one_base),
          UNIT_LOOP(bad_base_paths_are_refused, bad_bases),
          UNIT_TEST(lost_files_of_a_base_are_io_errors))

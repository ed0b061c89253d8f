/* Files that are open only while they are used. */
#include "core/file_pool.h"
#include "treedata.h"
#include "unit.h"

#include <errno.h>

#define FILES 5

static char
read_byte(struct source *src, uint64_t at)
{
	struct lancet_error err = { 0 };
	char byte = 0;

	ck_assert_msg(source_read_at(src, at, 1, &byte, &err) == LANCET_OK, "%s", err.text);
	return byte;
}

START_TEST(few_files_are_open_at_a_time)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset;
	struct file_pool pool = { .open_max = 2 };
	struct source *sources[FILES];
	char name[] = "data/a", content[] = "0a";
	int before;

	for (unsigned i = 0; i < FILES; i++) {
		char path[] = "ds/data/a";

		path[8] = content[1] = (char)('a' + i);
		tree_put(&tree, path, content, 2);
	}
	dataset = open_dataset(&tree);
	before = tree_open_fds();
	for (unsigned i = 0; i < FILES; i++) {
		name[5] = (char)('a' + i);
		ck_assert_int_eq(
			file_pool_open(&pool, dataset_base(dataset), name, &sources[i], NULL),
			LANCET_OK);
		ck_assert_uint_eq(sources[i]->size, 2);
		ck_assert_int_le(tree_open_fds() - before, 2);
	}
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < FILES; i++)
			ck_assert_int_eq(read_byte(sources[i], 1), 'a' + (char)i);
		ck_assert_int_eq(read_byte(sources[0], 0), '0');
		ck_assert_int_eq(tree_open_fds() - before, 2);
		ck_assert_uint_eq(pool.open_count, 2);
	}
	for (unsigned i = 0; i < FILES; i++)
		source_unref(sources[i]);
	ck_assert_uint_eq(pool.open_count, 0);
	ck_assert(pool.newest == NULL && pool.oldest == NULL);
	ck_assert_int_eq(tree_open_fds(), before);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(files_that_changed_are_not_mixed_up)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	struct file_pool pool = { .open_max = 1 };
	struct source *one, *two;
	struct lancet_error err = { 0 };
	char byte;

	ck_assert_int_eq(
		file_pool_open(&pool, dataset_base(dataset), "data/x", &one, &err), LANCET_IO);
	ck_assert_int_eq(err.os_errno, EIO);
	tree_text(&tree, "ds/data/x", "1");
	tree_text(&tree, "ds/data/y", "2");
	ck_assert_int_eq(file_pool_open(&pool, dataset_base(dataset), "data/x", &one, NULL), 0);
	ck_assert_int_eq(file_pool_open(&pool, dataset_base(dataset), "data/y", &two, NULL), 0);
	tree_text(&tree, "ds/data/x", "longer");
	ck_assert_int_eq(source_read_at(one, 0, 1, &byte, &err), LANCET_IO);
	ck_assert_str_eq(err.text, "the file changed while it was read");
	tree_unlink(&tree, "ds/data/y");
	ck_assert_int_eq(source_read_at(two, 0, 1, &byte, &err), LANCET_IO);
	ck_assert_int_eq(err.os_errno, EIO);
	source_unref(one);
	source_unref(two);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("file_pool", UNIT_TEST(few_files_are_open_at_a_time),
	UNIT_TEST(files_that_changed_are_not_mixed_up))

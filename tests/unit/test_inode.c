/* Inode numbers: stable, in range, and different inside one directory whatever the hash says. */
#include "unit.h"

#include "fs/inode.h"

#include <stdio.h>

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

START_TEST(numbers_have_63_bits_and_are_never_0_or_1)
{
	uint64_t dir = inode_root();

	for (unsigned i = 0; i < 100000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		ck_assert_uint_gt(dir, 1);
		ck_assert_uint_lt(dir, UINT64_C(1) << 63);
		dir = i % 2 ? inode_named(dir, slice_text(name)) : inode_numbered(dir, i);
	}
}
END_TEST

START_TEST(siblings_with_numbers_never_share_one)
{
	enum { COUNT = 200000 };
	uint64_t *inodes = malloc(COUNT * sizeof(*inodes));

	ck_assert_ptr_nonnull(inodes);
	for (uint64_t i = 0; i < COUNT; i++)
		inodes[i] = inode_numbered(inode_root(), i < COUNT / 2 ? i : i << 40);
	qsort(inodes, COUNT, sizeof(*inodes), compare);
	for (size_t i = 1; i < COUNT; i++)
		ck_assert_uint_ne(inodes[i], inodes[i - 1]);
	free(inodes);
}
END_TEST

START_TEST(a_path_and_not_only_a_name_decides)
{
	uint64_t a = inode_named(inode_root(), slice_text("a"));
	uint64_t b = inode_named(inode_root(), slice_text("b"));

	ck_assert_uint_ne(a, b);
	ck_assert_uint_ne(inode_named(a, slice_text("x")), inode_named(b, slice_text("x")));
	ck_assert_uint_eq(inode_named(a, slice_text("x")), inode_named(a, slice_text("x")));
}
END_TEST

START_TEST(a_file_is_its_base_and_path)
{
	uint64_t file = inode_file("", "data/x.lance");

	ck_assert_uint_eq(file, inode_file("", "data/x.lance"));
	ck_assert_uint_ne(file, inode_file("tree/b", "data/x.lance"));
	ck_assert_uint_ne(file, inode_file("", "data/y.lance"));
	ck_assert_uint_ne(inode_file("a", "b/c"), inode_file("a/b", "c"));
}
END_TEST

START_TEST(without_a_clash_nothing_changes)
{
	struct inode_child children[] = { { "c", 30 }, { "a", 10 }, { "b", 20 } };

	ck_assert_uint_eq(inode_settle(children, 3), 0);
	ck_assert_str_eq(children[0].name, "a");
	ck_assert_uint_eq(children[0].inode, 10);
	ck_assert_uint_eq(children[1].inode, 20);
	ck_assert_uint_eq(children[2].inode, 30);
	ck_assert_uint_eq(inode_settle(children, 0), 0);
}
END_TEST

/* Whatever order the names come in, each gets the same number. */
START_TEST(clashes_are_settled_by_name)
{
	static const char *const orders[][4] = {
		{ "a", "b", "c", "d" },
		{ "d", "c", "b", "a" },
		{ "b", "d", "a", "c" },
	};
	uint64_t first[4] = { 0 };

	for (size_t order = 0; order < 3; order++) {
		struct inode_child children[4];

		for (size_t i = 0; i < 4; i++)
			children[i] = (struct inode_child){ orders[order][i],
				orders[order][i][0] == 'c' ? 9 : 77 };
		ck_assert_uint_eq(inode_settle(children, 4), 2);
		ck_assert_uint_eq(children[0].inode, 77); /* "a" was first */
		ck_assert_uint_eq(children[2].inode, 9);
		for (size_t i = 0; i < 4; i++) {
			for (size_t j = 0; j < i; j++)
				ck_assert_uint_ne(children[i].inode, children[j].inode);
			if (order == 0)
				first[i] = children[i].inode;
			ck_assert_uint_eq(children[i].inode, first[i]);
		}
	}
}
END_TEST

/* A number that a re-hash gives may be another child's own; that one keeps it. */
START_TEST(a_second_choice_takes_nobodys_number)
{
	struct inode_child children[] = { { "a", 77 }, { "b", 77 },
		{ "c", inode_numbered(77, 1) } };

	ck_assert_uint_eq(inode_settle(children, 3), 1);
	ck_assert_uint_eq(children[0].inode, 77);
	ck_assert_uint_eq(children[1].inode, inode_numbered(77, 2));
	ck_assert_uint_eq(children[2].inode, inode_numbered(77, 1));
}
END_TEST

UNIT_MAIN("inode", UNIT_TEST(numbers_have_63_bits_and_are_never_0_or_1),
	UNIT_TEST(siblings_with_numbers_never_share_one),
	UNIT_TEST(a_path_and_not_only_a_name_decides), UNIT_TEST(a_file_is_its_base_and_path),
	UNIT_TEST(without_a_clash_nothing_changes), UNIT_TEST(clashes_are_settled_by_name),
	UNIT_TEST(a_second_choice_takes_nobodys_number))

/* Directory trees for tests: made in TMPDIR, or in /tmp, and removed as a whole. */
#ifndef TESTS_TEMPTREE_H
#define TESTS_TEMPTREE_H

#include "marks.h"
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TREE_ROOT_MAX 80
#define TREE_PATH(tree, ...) (tree_path(tree, (char[PATH_MAX]){ 0 }, __VA_ARGS__))

struct tree {
	char root[TREE_ROOT_MAX];
};

/* The name of something to be made there: what mkdtemp and mkstemp want. */
static inline void
tree_template(char into[TREE_ROOT_MAX])
{
	const char *home = getenv("TMPDIR");

	if (home == NULL || home[0] != '/')
		home = "/tmp";
	ck_assert_int_lt(snprintf(into, TREE_ROOT_MAX, "%s/lancet-unit.XXXXXX", home),
		TREE_ROOT_MAX);
}

static inline struct tree
tree_new(void)
{
	struct tree tree;

	tree_template(tree.root);
	ck_assert_ptr_nonnull(mkdtemp(tree.root));
	return tree;
}

static inline int
tree_remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static inline void
tree_remove(const struct tree *tree)
{
	ck_assert_int_eq(nftw(tree->root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline char *
tree_path(const struct tree *tree, char into[PATH_MAX], const char *relative)
{
	ck_assert_int_lt(snprintf(into, PATH_MAX, "%s/%s", tree->root, relative), PATH_MAX);
	return into;
}

/* Makes the directories of a path that ends in a file name. */
static inline void
tree_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
}

static inline void
tree_mkdir(const struct tree *tree, const char *relative)
{
	char *path = TREE_PATH(tree, relative);

	tree_parents(path);
	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static inline void
tree_put(const struct tree *tree, const char *relative, const void *data, size_t size)
{
	char *path = TREE_PATH(tree, relative);
	int fd;

	tree_parents(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	(void)close(fd);
}

static inline void
tree_text(const struct tree *tree, const char *relative, const char *text)
{
	tree_put(tree, relative, text, strlen(text));
}

static inline void
tree_link(const struct tree *tree, const char *relative, const char *target)
{
	char *path = TREE_PATH(tree, relative);

	tree_parents(path);
	ck_assert_int_eq(symlink(target, path), 0);
}

static inline void
tree_unlink(const struct tree *tree, const char *relative)
{
	ck_assert_int_eq(remove(TREE_PATH(tree, relative)), 0);
}

static inline void
tree_rename(const struct tree *tree, const char *from, const char *to)
{
	ck_assert_int_eq(rename(TREE_PATH(tree, from), TREE_PATH(tree, to)), 0);
}

/* Sets the time of last change of a file or directory back by an hour; its ctime becomes now. */
static inline void
tree_age(const struct tree *tree, const char *relative)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - 3600 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, TREE_PATH(tree, relative), times, 0), 0);
}

/* Open descriptors of this process: what a test leaks shows here. */
static inline int
tree_open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

#endif

/* Lists of the files of a directory. */
#ifndef TESTS_FILENAMES_H
#define TESTS_FILENAMES_H

#include <ftw.h>
#include "temptree.h"

#define NAMES_MAX 128u
#define HINT      "_versions/latest_version_hint.json"

struct name_list {
	size_t count;
	char *names[NAMES_MAX];
};

static struct name_list *names_wanted;
static size_t names_root;

static inline void
names_add(struct name_list *list, const char *name)
{
	ck_assert_uint_lt(list->count, NAMES_MAX);
	list->names[list->count] = strdup(name);
	ck_assert_ptr_nonnull(list->names[list->count++]);
}

static inline int
names_visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	if (kind != FTW_D && strcmp(path + names_root, HINT) != 0)
		names_add(names_wanted, path + names_root);
	return 0;
}

static inline int
names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void
names_sort(struct name_list *list)
{
	qsort(list->names, list->count, sizeof(*list->names), names_compare);
}

/* All files below the root but the hint, which anybody may have written. */
static inline void
names_find(struct name_list *list, const struct tree *tree)
{
	list->count = 0;
	names_wanted = list;
	names_root = strlen(tree->root) + 1;
	ck_assert_int_eq(nftw(tree->root, names_visit, 16, FTW_PHYS), 0);
	names_sort(list);
}

static inline void
names_release(struct name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	list->count = 0;
}

/* Of a sorted list. */
static inline void
names_unique(struct name_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (count > 0 && strcmp(list->names[count - 1], list->names[i]) == 0)
			free(list->names[i]);
		else
			list->names[count++] = list->names[i];
	}
	list->count = count;
}

static inline bool
names_have(const struct name_list *list, const char *name)
{
	return bsearch(&name, list->names, list->count, sizeof(*list->names), names_compare) !=
	       NULL;
}

#endif

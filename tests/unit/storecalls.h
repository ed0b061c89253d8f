/* What tests of writing stores share: calls that must succeed or fail, and files to look at. */
#ifndef TESTS_STORECALLS_H
#define TESTS_STORECALLS_H

#include "core/store_write.h"
#include "temptree.h"
#include "util/macros.h"

static inline struct store *
open_store(const struct tree *tree)
{
	struct store *store = NULL;

	ck_assert_int_eq(store_local_open(tree->root, NULL, &store, NULL), LANCET_OK);
	return store;
}

static inline void
end(struct store *store, const struct tree *tree)
{
	store_unref(store);
	tree_remove(tree);
}

/* `call` ends in &err, which is the macro's own. */
#define OK(call)                                                                                   \
	do {                                                                                       \
		struct lancet_error err = { 0 };                                                   \
		ck_assert_msg((call) == LANCET_OK, "%s: %s", #call, err.text);                     \
	} while (0)

/* A call that must fail so, with a text that holds `word`. */
#define FAILS(call, want, word)                                                                    \
	do {                                                                                       \
		struct lancet_error err = { 0 };                                                   \
		int rc = (call);                                                                   \
		ck_assert_msg(rc == (want), "%s: %d: %s", #call, rc, err.text);                    \
		ck_assert_msg(strstr(err.text, word) != NULL, "%s: %s", #call, err.text);          \
	} while (0)

static inline void
put_text(struct store *store, const char *key, const char *text)
{
	struct store_writer *writer = NULL;

	OK(store_create(store, key, &writer, &err));
	OK(store_writer_put(writer, slice_text(text), &err));
	OK(store_writer_close(writer, &err));
}

/* Fails unless the file holds `want`; NULL: unless it does not exist. */
static inline void
check_text(const struct tree *tree, const char *key, const char *want)
{
	char *path = TREE_PATH(tree, key);
	char text[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg((fd >= 0) == (want != NULL), "%s", key);
	if (fd < 0)
		return;
	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	(void)close(fd);
	ck_assert_str_eq(text, want);
}

static inline int
count_name(void *context, const char *name, bool is_dir)
{
	(void)name;
	(void)is_dir;
	*(int *)context += 1;
	return LANCET_OK;
}

static inline int
names_in(struct store *store, const char *dir)
{
	int count = 0;

	OK(store_list(store, dir, count_name, &count, &err));
	return count;
}

#endif

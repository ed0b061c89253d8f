/* Looking at every state that a crash may leave of what was done through a recording store. */
#ifndef TESTS_CRASHES_H
#define TESTS_CRASHES_H

#include "core/store_record.h"
#include "powerloss.h"
#include "storecalls.h"

/* A tree with "start" as it was and "work", a copy of it that is changed while `log` is kept. */
struct crash {
	struct tree tree;
	struct store *local, *store;
	struct store_log log;
	size_t states; /* looked at */
};

static inline void
crash_begin(struct crash *crash, void (*fill)(const struct tree *tree, const char *dir),
	uint64_t drop_sync)
{
	*crash = (struct crash){ .tree = tree_new() };
	tree_mkdir(&crash->tree, "start");
	tree_mkdir(&crash->tree, "work");
	if (fill != NULL) {
		fill(&crash->tree, "start");
		fill(&crash->tree, "work");
	}
	ck_assert_int_eq(
		store_local_open(TREE_PATH(&crash->tree, "work"), NULL, &crash->local, NULL),
		LANCET_OK);
	store_log_init(&crash->log, drop_sync);
	crash->store = store_record_new(crash->local, &crash->log);
	ck_assert_ptr_nonnull(crash->store);
}

static inline void
crash_end(struct crash *crash)
{
	store_unref(crash->store);
	store_unref(crash->local);
	store_log_release(&crash->log);
	tree_remove(&crash->tree);
}

/* Looks at the states after the first `prefix` changes, until one is bad; false then. */
typedef bool (*crash_check)(void *context, const struct tree *state, size_t prefix);

static inline bool
crash_look_at(
	struct crash *crash, size_t prefix, size_t states_max, crash_check check, void *context)
{
	struct tree state;
	struct powerloss *loss;
	bool good = true;

	ck_assert_int_lt(snprintf(state.root, sizeof(state.root), "%s/state", crash->tree.root),
		(int)sizeof(state.root));
	loss = powerloss_open(
		&crash->log, prefix, TREE_PATH(&crash->tree, "start"), state.root, states_max);
	while (good && powerloss_next(loss)) {
		good = check(context, &state, prefix);
		crash->states++;
	}
	powerloss_free(loss);
	return good;
}

/* The same after every prefix. */
static inline bool
crash_look(struct crash *crash, size_t states_max, crash_check check, void *context)
{
	for (size_t prefix = 0; prefix <= crash->log.count; prefix++) {
		if (!crash_look_at(crash, prefix, states_max, check, context))
			return false;
	}
	return true;
}

/* The bytes of a file in a state, NUL-terminated; NULL when it is not there. The caller frees. */
static inline char *
state_load(const struct tree *state, const char *key, size_t *ret_size)
{
	int fd = open(TREE_PATH(state, key), O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes;

	if (fd < 0)
		return NULL;
	ck_assert_int_eq(fstat(fd, &st), 0);
	bytes = calloc((size_t)st.st_size + 1, 1);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	(void)close(fd);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

static inline bool
state_is(const struct tree *state, const char *key, struct slice want)
{
	size_t size = 0;
	char *bytes = state_load(state, key, &size);
	bool same = bytes != NULL && slice_equal(slice_of(bytes, size), want);

	free(bytes);
	return same;
}

static inline bool
state_has(const struct tree *state, const char *key)
{
	return access(TREE_PATH(state, key), F_OK) == 0;
}

#endif

/* A table before a rewrite, and whether what is left after it is one of the states that may be. */
#ifndef TESTS_REWRITECHECK_H
#define TESTS_REWRITECHECK_H

#include <lancet/cleanup.h>
#include "rewritefiles.h"
#include "rewriterows.h"

#define VERSIONS_MAX 12u

struct rewrite_world {
	const struct rewrite_table *table;
	struct tree pristine;
	struct name_list names;              /* of pristine */
	struct rows_sign rows[VERSIONS_MAX]; /* by number */
};

struct rewrite_state {
	uint64_t newest;
	struct name_list found, used;
};

static inline void
world_begin(struct rewrite_world *world, const struct rewrite_table *table)
{
	lancet_dataset *dataset;

	*world = (struct rewrite_world){ .table = table, .pristine = table->make() };
	names_find(&world->names, &world->pristine);
	dataset = sample_open(&world->pristine);
	for (uint64_t number = 1; number <= table->kind.read; number++) {
		lancet_version *version = NULL;

		OK(lancet_version_open(dataset, number, &version, &err));
		world->rows[number] = rows_sign(version, table);
		ck_assert_uint_gt(world->rows[number].rows, 10);
		lancet_version_unref(version);
	}
	lancet_dataset_unref(dataset);
}

/* A version has the rows that it had; one that was made has those of the one before the rewrite. */
static inline void
world_check_version(const struct rewrite_world *world, lancet_dataset *dataset, uint64_t number)
{
	const struct rewrite_table *table = world->table;
	uint64_t like = number < table->kind.read ? number : table->kind.read;
	lancet_version *version = NULL;
	struct rows_sign rows;

	OK(lancet_version_open(dataset, number, &version, &err));
	rows = rows_sign(version, table);
	ck_assert_msg(rows.rows == world->rows[like].rows && rows.sum == world->rows[like].sum,
		"%s: version %d has other rows", table->label, (int)number);
	if (number == table->kind.read + 2) {
		const struct lancet_version_info *info = lancet_version_info(version);

		ck_assert_uint_eq(info->fragment_count, table->fragments);
		ck_assert_uint_eq(info->reader_flags & table->flags, table->flags);
	}
	lancet_version_unref(version);
}

/* Looks at the rows of the versions there are from `first` on. */
static inline uint64_t
world_check_versions(const struct rewrite_world *world, lancet_dataset *dataset, uint64_t first)
{
	struct lancet_version_list list;
	uint64_t newest, read = world->table->kind.read;

	OK(lancet_dataset_versions(dataset, &list, &err));
	ck_assert(list.count >= read && list.count <= read + 2);
	ck_assert_uint_eq(list.entries[list.count - 1].number, list.count);
	for (size_t i = 0; i < list.count; i++)
		if (list.entries[i].number >= first)
			world_check_version(world, dataset, list.entries[i].number);
	newest = list.count;
	lancet_version_list_release(&list);
	return newest;
}

/* Older versions are whole when their files are there, which nobody writes to. */
static inline struct rewrite_state
world_look(const struct rewrite_world *world, const struct tree *tree, uint64_t first)
{
	lancet_dataset *dataset = sample_open(tree);
	struct rewrite_state state = { .newest = world_check_versions(world, dataset, first) };

	names_find(&state.found, tree);
	for (size_t i = 0; i < world->names.count; i++)
		names_add(&state.used, world->names.names[i]);
	name_versions(&state.used, dataset, world->table, state.newest);
	names_sort(&state.used);
	names_unique(&state.used);
	for (size_t i = 0; i < state.used.count; i++)
		ck_assert_msg(names_have(&state.found, state.used.names[i]), "%s: %s is gone",
			world->table->label, state.used.names[i]);
	lancet_dataset_unref(dataset);
	return state;
}

static inline void
world_end(struct rewrite_world *world)
{
	names_release(&world->names);
	tree_remove(&world->pristine);
}

static inline void
state_release(struct rewrite_state *state)
{
	names_release(&state->found);
	names_release(&state->used);
}

static inline uint64_t
world_clean(const struct tree *tree, bool unverified)
{
	const struct lancet_cleanup_options options = {
		.keep = VERSIONS_MAX, .delete_unverified = unverified
	};
	lancet_dataset *dataset = sample_open(tree);
	lancet_cleanup *cleanup = NULL;
	uint64_t removed, bytes;

	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	OK(lancet_cleanup_run(cleanup, &removed, &bytes, &err));
	lancet_cleanup_free(cleanup);
	lancet_dataset_unref(dataset);
	return removed;
}

/* Takes away what nobody names, once it is told that nobody else writes; how many files that is. */
static inline size_t
world_check_cleanup(const struct rewrite_world *world, const struct tree *tree,
	const struct rewrite_state *state)
{
	size_t orphans = state->found.count - state->used.count;
	struct rewrite_state after;

	ck_assert_uint_eq(world_clean(tree, false), 0);
	ck_assert_uint_eq(world_clean(tree, true), orphans);
	after = world_look(world, tree, 1);
	ck_assert_uint_eq(after.newest, state->newest);
	ck_assert_uint_eq(after.found.count, state->used.count);
	state_release(&after);
	return orphans;
}

#endif

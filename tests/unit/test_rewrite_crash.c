/* Rewrites of all kinds of tables that are cut off, by a kill after any call of the storage and by
 * a loss of power: the rows of every version are there once, the new version is there once it was
 * told of, and a cleanup takes away exactly what nobody names.
 */
#include "unit.h"

#include "crashes.h"
#include "rewritecheck.h"

#define STATES_MAX 20 /* after each call */

/* What is durable is what the log says. */
int
fsync(int fd)
{
	(void)fd;
	return 0;
}

static const struct tree *filled_from;

static void
fill(const struct tree *tree, const char *dir)
{
	sample_copy(filled_from->root, TREE_PATH(tree, dir), false);
}

struct run {
	struct rewrite_world world;
	size_t acknowledged; /* length of the log */
	size_t newest[3], orphans;
};

/* A crash_check. */
static bool
is_sound(void *context, const struct tree *state_tree, size_t prefix)
{
	struct run *run = context;
	const struct rewrite_world *world = &run->world;
	struct rewrite_state state = world_look(world, state_tree, world->table->kind.read);

	ck_assert_msg(prefix < run->acknowledged || state.newest == world->table->kind.read + 2,
		"%s: version %d is gone", world->table->label, (int)world->table->kind.read + 2);
	run->newest[state.newest - world->table->kind.read]++;
	if (state.found.count > state.used.count)
		run->orphans += world_check_cleanup(world, state_tree, &state);
	state_release(&state);
	return true;
}

static void
rewrite_through(struct crash *crash, struct run *run)
{
	struct attempt attempt = { .workers = 1 };
	lancet_dataset *dataset = NULL;

	OK(dataset_open_store(crash->store, "work", NULL, &dataset, &err));
	attempt.rc = attempt_on(dataset, &run->world.table->kind, &attempt);
	ck_assert_msg(attempt.rc == LANCET_OK, "%s", attempt.err.text);
	run->acknowledged = crash->log.count;
	lancet_dataset_unref(dataset);
}

START_TEST(a_rewrite_that_is_cut_off_loses_nothing)
{
	struct run run = { 0 };
	struct crash crash;

	world_begin(&run.world, &rewrite_tables[_i]);
	filled_from = &run.world.pristine;
	crash_begin(&crash, fill, 0);
	rewrite_through(&crash, &run);
	ck_assert(crash_look(&crash, STATES_MAX, is_sound, &run));
	ck_assert_uint_gt(run.newest[0], 20);
	ck_assert_uint_gt(run.newest[1], 5);
	ck_assert_uint_gt(run.newest[2], 0);
	ck_assert_uint_gt(run.orphans, 50);
	crash_end(&crash);
	world_end(&run.world);
}
END_TEST

UNIT_MAIN("rewrite_crash", UNIT_LOOP(a_rewrite_that_is_cut_off_loses_nothing, rewrite_tables))

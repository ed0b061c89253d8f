/* Rewrites of all kinds of tables on storage that fails at any call: no row of any version is lost
 * or doubled, what the caller is told is true, and a cleanup takes away exactly what nobody names.
 */
#include "unit.h"

#include <errno.h>

#include "rewritecheck.h"

/* What is durable is tried elsewhere: the disk need not be asked. */
int
fsync(int fd)
{
	(void)fd;
	return 0;
}

#define LAST_CALLS 12u /* that fail without harm at the end, one after the other */

struct counts {
	unsigned failed, survived;
	size_t looked, removed;
};

/* Each call fails with one of these. */
static const int plain_errnos[] = { EIO, ENOSPC, EMFILE, EDQUOT, EACCES, ENFILE, EROFS };

static const struct fault faults[] = {
	{ "once", 0, 0 },
	{ "EIO after it was done", EIO, STORE_FAULT_LATE },
	{ "ENOSPC for good", ENOSPC, STORE_FAULT_STAYS },
};

static struct fault
fault_of(const struct fault *row, uint64_t nth)
{
	struct fault fault = *row;

	if (fault.os_errno == 0)
		fault.os_errno = plain_errnos[nth % ARRAY_SIZE(plain_errnos)];
	return fault;
}

/* No version but the one that reserves ids, when it failed. */
static void
check_told(const struct rewrite_world *world, const struct rewrite_state *state,
	const struct attempt *attempt, const struct fault *fault, uint64_t nth)
{
	bool unknown = strstr(attempt->err.text, "is not known") != NULL;
	uint64_t made = state->newest - world->table->kind.read;

	if (attempt->rc == LANCET_OK) {
		ck_assert_uint_eq(made, 2);
		ck_assert_uint_eq(attempt->version, state->newest);
		return;
	}
	ck_assert_msg(made < 2 || unknown, "%s: %s at call %d: %s", world->table->label,
		fault->label, (int)nth, attempt->err.text);
	ck_assert_uint_eq(attempt->version, 0);
	ck_assert(attempt->err.text[0] != '\0');
	/* What could not be removed is what failed. */
	if ((fault->flags & STORE_FAULT_STAYS) == 0 && !unknown)
		ck_assert_msg(state->found.count - state->used.count <= 1,
			"%s: %s at call %d: %d files are left: %s", world->table->label,
			fault->label, (int)nth, (int)(state->found.count - state->used.count),
			attempt->err.text);
}

/* Whether the fault came so late that nothing failed any more. */
static bool
try_call(const struct rewrite_world *world, const struct fault *fault, uint64_t nth,
	struct counts *counts)
{
	struct attempt attempt = { .workers = 1 };
	struct tree tree = sample_copy_of(&world->pristine);
	struct rewrite_state state;

	attempt_with_fault(&tree, &world->table->kind, nth, fault, &attempt);
	state = world_look(world, &tree, world->table->kind.read);
	check_told(world, &state, &attempt, fault, nth);
	if (state.found.count > state.used.count || counts->looked == 0) {
		counts->removed += world_check_cleanup(world, &tree, &state);
		counts->looked++;
	}
	state_release(&state);
	tree_remove(&tree);
	counts->failed += attempt.rc != LANCET_OK;
	counts->survived = attempt.rc == LANCET_OK ? counts->survived + 1 : 0;
	return counts->survived > LAST_CALLS;
}

START_TEST(storage_that_fails_loses_nothing)
{
	const struct fault *row = &faults[_i % (int)ARRAY_SIZE(faults)];
	struct counts counts = { 0 };
	struct rewrite_world world;
	uint64_t nth;
	bool over = false;

	world_begin(&world, &rewrite_tables[_i / (int)ARRAY_SIZE(faults)]);
	for (nth = 1; nth < CALLS_MAX && !over; nth++) {
		const struct fault fault = fault_of(row, nth);

		over = try_call(&world, &fault, nth, &counts);
	}
	ck_assert_uint_lt(nth, CALLS_MAX);
	ck_assert_uint_gt(counts.failed, 110);
	ck_assert_uint_gt(counts.removed, 0);
	world_end(&world);
}
END_TEST

static const char faults_of_tables[ARRAY_SIZE(faults) * ARRAY_SIZE(rewrite_tables)];

UNIT_MAIN("rewrite_fault", UNIT_LOOP(storage_that_fails_loses_nothing, faults_of_tables))

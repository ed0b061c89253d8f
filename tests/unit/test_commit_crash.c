/* Commits that are cut off: by a kill after any call of the storage, and by a loss of power.
 * Version 7 is whole or absent, and there for good once the commit has said so.
 */
#include "unit.h"

#include "commitstate.h"
#include "crashes.h"

#define TOKEN "once"

/* Of a run whose every sync is done; of one that lacks a sync, until the loss is found. */
#define STATES_MAX        40
#define STATES_MAX_MUTANT 40
#define SYNCS_MAX         15 /* of one commit */

struct run {
	const struct commit_case *one;
	size_t began, acknowledged; /* lengths of the log */
};

static void
fill_sample(const struct tree *tree, const char *dir)
{
	sample_copy(SAMPLE, TREE_PATH(tree, dir), false);
}

/* Makes and commits the change; everything must go well. */
static void
commit_through(struct crash *crash, const struct commit_case *one, bool durable, struct run *run)
{
	const struct lancet_commit_options options = { .not_durable = !durable };
	struct lancet_commit_result result;
	lancet_dataset *dataset = NULL;
	lancet_change *change = NULL;

	OK(dataset_open_store(crash->store, "work", NULL, &dataset, &err));
	OK(commit_case_make(one, dataset, SAMPLE_NEWEST, TOKEN, &change, &err));
	run->one = one;
	run->began = crash->log.count;
	OK(lancet_commit(change, &options, &result, &err));
	run->acknowledged = crash->log.count;
	ck_assert_uint_eq(result.version, commit_case_version(one));
	ck_assert(result.durable == durable && !result.found);
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
}

/* A crash_check. */
static bool
is_sound(void *context, const struct tree *state, size_t prefix)
{
	const struct run *run = context;
	size_t leftovers;
	enum state found = state_look(state->root, run->one, &leftovers);

	return found == STATE_NEW || (found == STATE_OLD && prefix < run->acknowledged);
}

START_TEST(no_loss_of_power_tears_a_version)
{
	struct crash crash;
	struct run run;

	crash_begin(&crash, fill_sample, 0);
	commit_through(&crash, &commit_cases[_i], true, &run);
	ck_assert(crash_look(&crash, STATES_MAX, is_sound, &run));
	ck_assert_uint_gt(crash.states, 100);
	ck_assert_uint_eq(crash.log.syncs, commit_cases[_i].files + commit_cases[_i].dirs);
	crash_end(&crash);
}
END_TEST

START_TEST(every_sync_is_needed)
{
	const struct commit_case *one = &commit_cases[_i / SYNCS_MAX];
	unsigned n = (unsigned)_i % SYNCS_MAX + 1;
	struct crash crash;
	struct run run;

	ck_assert_uint_le(one->files + one->dirs, SYNCS_MAX);
	if (n > one->files + one->dirs)
		return;
	crash_begin(&crash, fill_sample, n);
	commit_through(&crash, one, true, &run);
	ck_assert_msg(!crash_look(&crash, STATES_MAX_MUTANT, is_sound, &run),
		"%s: sync %u can be left out", one->label, n);
	crash_end(&crash);
}
END_TEST

static bool
holds_anything(lancet_version *made)
{
	(void)made;
	return true;
}

/* A crash_check for what a killed process leaves: a second one with the same token, built on the
 * same version, finds or makes the one version. */
static bool
is_finished_once(void *context, const struct tree *state, size_t prefix)
{
	const struct run *run = context;
	lancet_dataset *dataset = sample_open(state);
	struct lancet_commit_result result;
	lancet_change *change = NULL;
	struct commit_case again = *run->one;
	uint64_t version, newest, due;
	size_t leftovers;
	bool made;

	ck_assert(is_sound(context, state, prefix));
	made = state_has(state, run->one->reserves ? SAMPLE_SECOND : SAMPLE_NEXT);
	due = commit_case_version(run->one) + (run->one->reserves && !made);
	ck_assert_int_eq(lancet_commit_find_token(dataset, TOKEN, &version, NULL),
		made ? LANCET_OK : LANCET_NOT_FOUND);
	OK(commit_case_make(run->one, dataset, SAMPLE_NEWEST, TOKEN, &change, &err));
	OK(lancet_commit(change, NULL, &result, &err));
	ck_assert(result.found == made);
	ck_assert_uint_eq(result.version, due);
	lancet_change_free(change);
	OK(lancet_commit_find_token(dataset, TOKEN, &version, &err));
	OK(lancet_dataset_latest(dataset, &newest, &err));
	ck_assert(version == due && newest == due);
	if (due != commit_case_version(run->one)) /* fragments of other ids, and so other files */
		again.holds = holds_anything;
	made = state_version_is_whole(state->root, dataset, due, &again);
	lancet_dataset_unref(dataset);
	return made &&
	       (run->one->reserves || state_look(state->root, run->one, &leftovers) == STATE_NEW);
}

START_TEST(a_killed_commit_is_finished_once)
{
	struct crash crash;
	struct run run;

	crash_begin(&crash, fill_sample, 0);
	commit_through(&crash, &commit_cases[_i], false, &run);
	for (size_t prefix = run.began; prefix <= crash.log.count; prefix++)
		ck_assert(crash_look_at(&crash, prefix, 1, is_finished_once, &run));
	crash_end(&crash);
}
END_TEST

static const char syncs[ARRAY_SIZE(commit_cases) * SYNCS_MAX];

UNIT_MAIN("commit_crash", UNIT_LOOP(no_loss_of_power_tears_a_version, commit_cases),
	UNIT_LOOP(every_sync_is_needed, syncs),
	UNIT_LOOP(a_killed_commit_is_finished_once, commit_cases))

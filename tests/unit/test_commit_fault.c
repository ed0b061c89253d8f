/* Commits on a storage that fails once or for good, at any of its calls, before or after it has
 * done what it was asked for. What the caller is told must be true.
 */
#include "unit.h"

#include <errno.h>

#include "commitstate.h"

#define CALLS_MAX  512u
#define CALLS_HINT 6u

enum { FOR_GOOD = 1 };
static const struct {
	const char *label;
	int os_errno, flags;
} faults[] = {
	{ "EIO", EIO, 0 },
	{ "EIO for good", EIO, STORE_FAULT_STAYS },
	{ "EIO after it was done", EIO, STORE_FAULT_LATE },
	{ "EIO after it was done, for good", EIO, STORE_FAULT_LATE | STORE_FAULT_STAYS },
	{ "ENOSPC", ENOSPC, 0 },
	{ "EDQUOT for good", EDQUOT, STORE_FAULT_STAYS },
};

struct outcome {
	bool committing; /* the change was made */
	int rc;
	struct lancet_commit_result result;
	struct lancet_error err;
};

static struct outcome
commit_with_fault(
	const struct tree *tree, const struct commit_case *one, size_t fault, uint64_t nth)
{
	struct store *local = open_store(tree);
	struct store *store =
		store_fault_flags_new(local, nth, faults[fault].os_errno, faults[fault].flags);
	struct outcome outcome = { 0 };
	lancet_dataset *dataset = NULL;
	lancet_change *change = NULL;

	outcome.rc = dataset_open_store(store, "faulty", NULL, &dataset, &outcome.err);
	if (outcome.rc == LANCET_OK)
		outcome.rc =
			commit_case_make(one, dataset, SAMPLE_NEWEST, NULL, &change, &outcome.err);
	outcome.committing = outcome.rc == LANCET_OK;
	if (outcome.committing)
		outcome.rc = lancet_commit(change, NULL, &outcome.result, &outcome.err);
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
	store_unref(store);
	store_unref(local);
	return outcome;
}

/* Seen by somebody whose storage is well again. */
static void
check_outcome(const struct tree *tree, const struct commit_case *one, size_t fault, uint64_t nth,
	const struct outcome *outcome)
{
	size_t leftovers;
	enum state state = state_look(tree->root, one, &leftovers);
	bool unknown = strstr(outcome->err.text, "is not known") != NULL;

	ck_assert_msg(state != STATE_BAD, "%s, %s at call %d: %s", one->label, faults[fault].label,
		(int)nth, outcome->err.text);
	if (outcome->rc == LANCET_OK) {
		ck_assert_msg(state == STATE_NEW, "%s, %s at call %d: no version", one->label,
			faults[fault].label, (int)nth);
		ck_assert_uint_eq(outcome->result.version, commit_case_version(one));
		return;
	}
	ck_assert_msg(state == STATE_OLD || unknown, "%s, %s at call %d: %s, but it is there",
		one->label, faults[fault].label, (int)nth, outcome->err.text);
	ck_assert_uint_eq(outcome->result.version, 0);
	ck_assert(outcome->err.text[0] != '\0');
	if (outcome->rc == LANCET_IO)
		ck_assert_msg(lancet_error_errno(&outcome->err) == faults[fault].os_errno,
			"%s, %s at call %d: %s", one->label, faults[fault].label, (int)nth,
			outcome->err.text);
	/* Ids that were reserved stay so, with the transaction of that. */
	if (faults[fault].flags == 0)
		ck_assert_msg(leftovers <= one->reserves, "%s, %s at call %d: %zu files stay: %s",
			one->label, faults[fault].label, (int)nth, leftovers, outcome->err.text);
}

/* The last call whose failure is one of the commit (what comes after it, the hint, never is), or of
 * making the change. */
static uint64_t
last_call(const struct tree *pristine, const struct commit_case *one, bool of_commit)
{
	uint64_t nth = 0;

	for (uint64_t step = CALLS_MAX / 2; step > 0; step /= 2) {
		struct tree tree = sample_copy_of(pristine);
		struct outcome outcome = commit_with_fault(&tree, one, FOR_GOOD, nth + step);

		if (of_commit ? outcome.rc != LANCET_OK : !outcome.committing)
			nth += step;
		tree_remove(&tree);
	}
	return nth;
}

START_TEST(what_the_caller_is_told_is_true)
{
	const struct commit_case *one = &commit_cases[(size_t)_i / ARRAY_SIZE(faults)];
	size_t fault = (size_t)_i % ARRAY_SIZE(faults), failed = 0, not_durable = 0;
	struct tree pristine = sample_new();
	uint64_t nth = one->reserves ? 1 : last_call(&pristine, one, false) + 1;
	uint64_t last = last_call(&pristine, one, true);

	ck_assert_uint_lt(last, CALLS_MAX - 2);
	for (; nth <= last + CALLS_HINT; nth++) {
		struct tree tree = sample_copy_of(&pristine);
		struct outcome outcome = commit_with_fault(&tree, one, fault, nth);

		check_outcome(&tree, one, fault, nth, &outcome);
		failed += outcome.rc != LANCET_OK;
		not_durable += outcome.rc == LANCET_OK && !outcome.result.durable;
		tree_remove(&tree);
	}
	ck_assert_uint_gt(failed, 20);
	ck_assert_uint_gt(not_durable, 0);
	tree_remove(&pristine);
}
END_TEST

static const char rows[ARRAY_SIZE(commit_cases) * ARRAY_SIZE(faults)];

UNIT_MAIN("commit_fault", UNIT_LOOP(what_the_caller_is_told_is_true, rows))

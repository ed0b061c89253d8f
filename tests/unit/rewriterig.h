/* Carrying out rewrites that are cancelled, or on storage that fails; and what is left then. */
#ifndef TESTS_REWRITERIG_H
#define TESTS_REWRITERIG_H

#include <lancet/rewrite.h>
#include <lancet/scan.h>
#include "commitsample.h"

#define CALLS_MAX 2000u

struct attempt_kind {
	uint64_t read; /* version */
	int (*plan)(lancet_version *version, const struct lancet_rewrite_run *run,
		lancet_rewrite **ret_rewrite, struct lancet_error *err);
};

struct attempt {
	unsigned asks, cancel_at; /* 0: never */
	unsigned workers;
	size_t memory;
	const char *deleted; /* addresses of rows that go before the commit; NULL: none */
	int rc;
	struct lancet_error err;
	uint64_t version;
};

struct fault {
	const char *label;
	int os_errno, flags;
};

static inline bool
attempt_is_cancelled(void *context)
{
	struct attempt *attempt = context;

	return ++attempt->asks == attempt->cancel_at;
}

static inline int
attempt_delete(lancet_version *version, const char *addresses, struct lancet_error *err)
{
	struct lancet_commit_result result;
	lancet_change *change = NULL;
	uint64_t rows;
	int rc = lancet_change_delete_addrs(version, addresses, &change, &rows, err);

	if (rc == LANCET_OK)
		rc = lancet_commit(change, NULL, &result, err);
	lancet_change_free(change);
	return rc;
}

/* Plans and commits. */
static inline int
attempt_on(lancet_dataset *dataset, const struct attempt_kind *kind, struct attempt *attempt)
{
	const struct lancet_rewrite_run run = {
		.workers = attempt->workers,
		.memory = attempt->memory,
		.cancelled = attempt_is_cancelled,
		.context = attempt,
	};
	struct lancet_commit_result result = { 0 };
	struct lancet_error *err = &attempt->err;
	lancet_rewrite *rewrite = NULL;
	lancet_version *version = NULL;
	lancet_change *change = NULL;
	int rc = lancet_version_open(dataset, kind->read, &version, err);

	if (rc == LANCET_OK)
		rc = kind->plan(version, &run, &rewrite, err);
	if (rc == LANCET_OK)
		rc = lancet_rewrite_run(rewrite, &run, &change, err);
	if (rc == LANCET_OK && attempt->deleted != NULL)
		rc = attempt_delete(version, attempt->deleted, err);
	if (rc == LANCET_OK)
		rc = lancet_commit(change, NULL, &result, err);
	attempt->version = result.version;
	lancet_change_free(change);
	lancet_rewrite_free(rewrite);
	lancet_version_unref(version);
	return rc;
}

/* The same where call `nth` of the storage fails; 0: none does. */
static inline void
attempt_with_fault(const struct tree *tree, const struct attempt_kind *kind, uint64_t nth,
	const struct fault *fault, struct attempt *attempt)
{
	struct store *local = open_store(tree);
	struct store *store = store_fault_flags_new(local, nth, fault->os_errno, fault->flags);
	lancet_dataset *dataset = NULL;

	attempt->rc = dataset_open_store(store, "faulty", NULL, &dataset, &attempt->err);
	if (attempt->rc == LANCET_OK)
		attempt->rc = attempt_on(dataset, kind, attempt);
	lancet_dataset_unref(dataset);
	store_unref(store);
	store_unref(local);
}

static inline int
attempt_count_rows(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	(void)err;
	*(uint64_t *)user += (uint64_t)batch->length;
	return LANCET_OK;
}

/* All rows can be read, whatever the newest version is, which is returned. */
static inline uint64_t
attempt_look(const struct tree *tree, uint64_t rows, uint64_t *ret_fragments)
{
	lancet_dataset *dataset = sample_open(tree);
	lancet_version *version = NULL;
	lancet_scan *scan = NULL;
	uint64_t number = 0, found = 0;

	OK(lancet_dataset_latest(dataset, &number, &err));
	OK(lancet_version_open(dataset, number, &version, &err));
	OK(lancet_scan_open(version, NULL, &scan, &err));
	OK(lancet_scan_each(scan, attempt_count_rows, &found, &err));
	ck_assert_uint_eq(found, rows);
	*ret_fragments = lancet_version_info(version)->fragment_count;
	lancet_scan_free(scan);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return number;
}

/* No version is made but the one that reserves ids, and one file at most is left over beside those
 * that there were: when removing it was what failed. */
static inline void
attempt_check_failed(const struct tree *tree, const struct attempt_kind *kind,
	const struct attempt *attempt, const struct fault *fault, uint64_t nth, uint64_t newest,
	int files)
{
	bool unknown = strstr(attempt->err.text, "is not known") != NULL;
	int left = files_in(tree, "data") - files;

	ck_assert_msg(newest <= kind->read + 1 || unknown, "%s at call %d: %s", fault->label,
		(int)nth, attempt->err.text);
	ck_assert_uint_eq(attempt->version, 0);
	ck_assert_msg(attempt->err.text[0] != '\0', "%s at call %d", fault->label, (int)nth);
	if ((fault->flags & STORE_FAULT_STAYS) == 0 && !unknown)
		ck_assert_msg(left <= 1, "%s at call %d: %d files", fault->label, (int)nth, left);
}

#endif

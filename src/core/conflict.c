/* The conflict check: the loop over versions, and the words of its verdicts. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lance/transaction.pb-c.h"
#include "util/macros.h"

static int decide(struct clash *clash, enum conflict_verdict verdict, const char *rule,
	const char *fmt, va_list args) __attribute__((format(printf, 4, 0)));

static int
decide(struct clash *clash, enum conflict_verdict verdict, const char *rule, const char *fmt,
	va_list args)
{
	struct conflict *conflict = clash->conflict;

	if (clash_decided(clash))
		return LANCET_OK;
	conflict->verdict = verdict;
	conflict->rule = rule;
	(void)vsnprintf(conflict->text, sizeof(conflict->text), fmt, args);
	return LANCET_OK;
}

int
clash_retry(struct clash *clash, const char *rule, const char *fmt, ...)
{
	va_list args;
	int rc;

	va_start(args, fmt);
	rc = decide(clash, CONFLICT_RETRYABLE, rule, fmt, args);
	va_end(args);
	return rc;
}

int
clash_refuse(struct clash *clash, const char *rule, const char *fmt, ...)
{
	va_list args;
	int rc;

	va_start(args, fmt);
	rc = decide(clash, CONFLICT_INCOMPATIBLE, rule, fmt, args);
	va_end(args);
	return rc;
}

bool
clash_decided(const struct clash *clash)
{
	return clash->conflict->verdict != CONFLICT_NONE;
}

static void
start(struct clash *clash, enum operation_kind kind)
{
	*clash->conflict = (struct conflict){
		.version = clash->version, .operation = operation_kind_name(kind), .rule = ""
	};
}

static int
check(struct clash *clash)
{
	start(clash, clash->theirs->kind);
	TRY(rule_schema_changes(clash));
	if (clash_decided(clash))
		return LANCET_OK;
	return conflict_rule_of(clash->ours->kind, clash->theirs->kind)(clash);
}

/* What conflict_finish finds in the newest version may have come with theirs. */
static bool
may_decide(const struct touched *ours, const struct touched *theirs)
{
	switch (ours->kind) {
	case OPERATION_CREATE_INDEX:
	case OPERATION_REWRITE:
		return theirs->kind == OPERATION_REWRITE || theirs->adds_reuse ||
		       theirs->removes_reuse;
	case OPERATION_UPDATE_BASES:
		return theirs->kind == OPERATION_UPDATE_BASES;
	default:
		return true;
	}
}

int
conflict_check(struct rebase *rebase, const lancet_transaction *theirs, uint64_t number,
	struct conflict *ret_conflict, struct lancet_error *err)
{
	struct touched touched;
	struct clash clash = { .rebase = rebase,
		.ours = &rebase->touched,
		.theirs = &touched,
		.version = number,
		.conflict = ret_conflict,
		.err = err };
	int rc;

	*ret_conflict = (struct conflict){ .version = number, .operation = "", .rule = "" };
	rc = touched_init(&touched, theirs, err);
	if (rc == LANCET_OK) {
		rc = check(&clash);
		rebase->last = touched.kind;
		if (may_decide(&rebase->touched, &touched))
			rebase->decisive = (struct rebase_mark){ number, touched.kind };
		touched_release(&touched);
	}
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "transaction of version %" PRIu64, number);
}

static int
check_version(struct rebase *rebase, uint64_t number, struct conflict *ret_conflict,
	struct lancet_error *err)
{
	lancet_dataset *dataset = lancet_version_dataset(rebase->newest);
	lancet_transaction *theirs = NULL;
	lancet_version *version = NULL;
	int rc = LANCET_OK;

	if (number == lancet_version_info(rebase->newest)->number)
		version = lancet_version_ref(rebase->newest);
	else
		rc = lancet_version_open(dataset, number, &version, err);
	if (rc == LANCET_OK)
		rc = lancet_transaction_open(version, &theirs, err);
	if (rc == LANCET_OK)
		rc = conflict_check(rebase, theirs, number, ret_conflict, err);
	lancet_transaction_free(theirs);
	lancet_version_unref(version);
	return rc;
}

int
conflict_check_since(struct rebase *rebase, lancet_version *newest, struct conflict *ret_conflict,
	struct lancet_error *err)
{
	uint64_t last = lancet_version_info(newest)->number;

	rebase->newest = newest;
	*ret_conflict = (struct conflict){ .operation = "", .rule = "" };
	while (rebase->checked < last) {
		TRY(check_version(rebase, rebase->checked + 1, ret_conflict, err));
		if (ret_conflict->verdict != CONFLICT_NONE)
			return LANCET_OK;
		rebase->checked++;
	}
	return LANCET_OK;
}

/* By our operation; the others leave nothing to do. */
static conflict_rule *const finishers[OPERATION_KINDS] = {
	[OPERATION_DELETE] = finish_deletions,
	[OPERATION_UPDATE] = finish_deletions,
	[OPERATION_DATA_OVERLAY] = finish_overlays,
	[OPERATION_CREATE_INDEX] = finish_index,
	[OPERATION_REWRITE] = finish_rewrite,
	[OPERATION_UPDATE_BASES] = finish_bases,
};

int
conflict_finish(struct rebase *rebase, struct conflict *ret_conflict, struct lancet_error *err)
{
	struct clash clash = { .rebase = rebase,
		.ours = &rebase->touched,
		.version = rebase->checked,
		.conflict = ret_conflict,
		.err = err };

	if (rebase->decisive.version != 0)
		clash.version = rebase->decisive.version;
	start(&clash, rebase->decisive.version != 0 ? rebase->decisive.kind : rebase->last);
	if (finishers[rebase->touched.kind] == NULL)
		return LANCET_OK;
	return finishers[rebase->touched.kind](&clash);
}

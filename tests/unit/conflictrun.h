/* A scene of conflictscene.h made and asked. */
#ifndef TESTS_CONFLICTRUN_H
#define TESTS_CONFLICTRUN_H

#include "conflictscene.h"

struct conflict_run {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *read, *newest;
	lancet_transaction *ours;
	struct affected_rows *affected;
	struct buf carried;
	struct rebase rebase;
	struct conflict conflict;
	struct lancet_error err;
	int rc;
};

static inline lancet_transaction *
run_transaction(const char *text)
{
	lancet_transaction *transaction = NULL;
	struct buf bytes = { 0 };

	txn_put(&bytes, text);
	ck_assert_int_eq(transaction_parse(bytes.data, bytes.size, &transaction, NULL), LANCET_OK);
	return transaction;
}

static inline void
run_open(struct conflict_run *run, const struct conflict_scene *scene)
{
	uint64_t last = 1;

	*run = (struct conflict_run){ .tree = tree_new() };
	scene_version(&run->tree, scene, 1, "Append new=0");
	for (size_t i = 0; i < SCENE_THEIRS && scene->theirs[i] != NULL; i++)
		scene_version(&run->tree, scene, ++last, scene->theirs[i]);
	ck_assert_int_eq(
		lancet_dataset_open(run->tree.root, NULL, &run->dataset, &run->err), LANCET_OK);
	ck_assert_msg(lancet_version_open(run->dataset, 1, &run->read, &run->err) == LANCET_OK,
		"%s: %s", scene->label, run->err.text);
	ck_assert_msg(lancet_version_open(run->dataset, last, &run->newest, &run->err) == LANCET_OK,
		"%s: %s", scene->label, run->err.text);
	run->ours = run_transaction(scene->ours);
	run->affected = scene_affected(scene->affected);
	if (scene->carried != NULL)
		history_entry(&run->carried, scene->carried);
}

/* Asks up to the newest version, and finishes. */
static inline void
run_ask(struct conflict_run *run)
{
	const struct lancet_bytes carried = { run->carried.data, run->carried.size };

	run->rc =
		rebase_init(&run->rebase, run->ours, run->read, run->affected, carried, &run->err);
	if (run->rc == LANCET_OK)
		run->rc =
			conflict_check_since(&run->rebase, run->newest, &run->conflict, &run->err);
	if (run->rc == LANCET_OK && run->conflict.verdict == CONFLICT_NONE)
		run->rc = conflict_finish(&run->rebase, &run->conflict, &run->err);
}

static inline void
run_close(struct conflict_run *run)
{
	rebase_release(&run->rebase);
	buf_release(&run->carried);
	affected_rows_free(run->affected);
	lancet_transaction_free(run->ours);
	lancet_version_unref(run->newest);
	lancet_version_unref(run->read);
	lancet_dataset_unref(run->dataset);
	tree_remove(&run->tree);
}

/* The scene's verdict, rule and winner are due. */
static inline void
scene_check(const struct conflict_scene *scene)
{
	struct conflict_run run;
	uint64_t version = scene->version == 0 ? 2 : scene->version;
	char operation[PART_SIZE];
	const char *at;

	run_open(&run, scene);
	run_ask(&run);
	ck_assert_msg(run.rc == LANCET_OK, "%s: %s", scene->label, run.err.text);
	ck_assert_msg(run.conflict.verdict == scene->verdict, "%s: %d (%s: %s)", scene->label,
		(int)run.conflict.verdict, run.conflict.rule, run.conflict.text);
	if (scene->verdict != CONFLICT_NONE) {
		at = scene->theirs[version - 2];
		ck_assert(part_next(&at, " ", operation));
		ck_assert_msg(strcmp(run.conflict.rule, scene->rule) == 0, "%s: %s", scene->label,
			run.conflict.rule);
		ck_assert_msg(run.conflict.version == version, "%s: version %d", scene->label,
			(int)run.conflict.version);
		ck_assert_str_eq(run.conflict.operation, operation);
		ck_assert_str_ne(run.conflict.text, "");
	}
	run_close(&run);
}

#endif

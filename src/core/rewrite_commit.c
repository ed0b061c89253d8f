/* From a plan to a change: the files are written, their fragments get ids that nobody else gets,
 * and the message says what became of what.
 *
 * Ids are reserved by a commit of its own. Before that all rows are written, index files are read,
 * and the change is held against the newest version with ids that nobody has, so that what fails or
 * is cancelled until then leaves no version. Format facts: compaction, max_fragment_id.
 */
#include <inttypes.h>

#include "change_build.h"
#include "fragment.h"
#include "fragment_stored.h"
#include "fragment_write.h"
#include "lance/transaction.pb-c.h"
#include "rewrite_crew.h"
#include "rewrite_plan.h"
#include "util/macros.h"
#include "version.h"

typedef Lance__Table__Transaction__Rewrite Message;
typedef Lance__Table__Transaction__Rewrite__RewriteGroup Group;

static int
make_reservation(
	lancet_version *read, uint32_t count, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__ReserveFragments *reserve;
	lancet_change *change;

	TRY(change_new(read, &change, err));
	reserve = change_alloc(change, 1, sizeof(*reserve), err);
	if (reserve == NULL)
		return change_built(change, LANCET_NO_MEMORY, ret_change);
	lance__table__transaction__reserve_fragments__init(reserve);
	reserve->num_fragments = count;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESERVE_FRAGMENTS;
	change->message->reserve_fragments = reserve;
	*ret_change = change;
	return LANCET_OK;
}

/* The mark of the version that was made: the ids are the last ones up to it. */
static int
read_mark(lancet_dataset *dataset, uint64_t number, uint32_t count, uint32_t *ret_first,
	struct lancet_error *err)
{
	const struct lancet_version_info *info;
	lancet_version *version;
	int rc = LANCET_OK;

	TRY(lancet_version_open(dataset, number, &version, err));
	info = lancet_version_info(version);
	if (info->has_max_fragment_id && info->max_fragment_id >= count)
		*ret_first = info->max_fragment_id - count + 1;
	else
		rc = lancet_fail(err, LANCET_CORRUPT,
			"version %" PRIu64 " has no fragment ids reserved", number);
	lancet_version_unref(version);
	return rc;
}

static int
reserve(lancet_version *read, uint32_t count, const struct lancet_rewrite_run *run,
	uint32_t *ret_first, struct lancet_error *err)
{
	const struct lancet_commit_options options = { .retries = LANCET_COMMIT_RETRIES,
		.cancelled = run->cancelled,
		.context = run->context };
	struct lancet_commit_result result;
	lancet_change *change;
	int rc;

	TRY(make_reservation(read, count, &change, err));
	rc = lancet_commit(change, &options, &result, err);
	if (rc == LANCET_OK)
		rc = read_mark(change->dataset, result.version, count, ret_first, err);
	lancet_change_free(change);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "reserving %u fragment ids", count);
}

static void
set_ids(lancet_rewrite *rewrite, uint32_t first)
{
	for (size_t i = 0; i < rewrite->task_count; i++) {
		struct rewrite_task *task = &rewrite->tasks[i];

		for (size_t k = 0; k < task->output_count; k++) {
			task->outputs[k].id = first++;
			task->outputs[k].message->id = task->outputs[k].id;
		}
	}
}

static int
give_ids(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	uint64_t count = rewrite->totals.destinations;
	uint32_t first = 0;

	if (count == 0)
		return LANCET_OK;
	TRY(reserve(rewrite->read, (uint32_t)count, run, &first, err));
	set_ids(rewrite, first);
	return LANCET_OK;
}

/* Nobody needs the ids and versions of the old fragments here: the versions before keep them. */
static int
set_group(lancet_change *change, const struct rewrite_task *task, Group *group,
	struct lancet_error *err)
{
	lance__table__transaction__rewrite__rewrite_group__init(group);
	group->old_fragments = change_alloc(change, task->source_count, sizeof(void *), err);
	group->new_fragments = change_alloc(change, task->output_count + 1, sizeof(void *), err);
	if (group->old_fragments == NULL || group->new_fragments == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < task->source_count; i++)
		TRY(fragment_stored_bare(change->read, task->sources[i].ordinal, &change->arena,
			&group->old_fragments[i], err));
	for (size_t i = 0; i < task->output_count; i++)
		group->new_fragments[i] = task->outputs[i].message;
	group->n_old_fragments = task->source_count;
	group->n_new_fragments = task->output_count;
	return LANCET_OK;
}

static int
set_message(const lancet_rewrite *rewrite, lancet_change *change, struct lancet_error *err)
{
	Message *message = change_alloc(change, 1, sizeof(*message), err);
	Group *groups = change_alloc(change, rewrite->task_count, sizeof(*groups), err);

	if (message == NULL || groups == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__rewrite__init(message);
	message->groups = change_alloc(change, rewrite->task_count, sizeof(void *), err);
	if (message->groups == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < rewrite->task_count; i++) {
		TRY(set_group(change, &rewrite->tasks[i], &groups[i], err));
		message->groups[i] = &groups[i];
	}
	message->n_groups = rewrite->task_count;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_REWRITE;
	change->message->rewrite = message;
	return LANCET_OK;
}

/* Whether the newest version takes the change, with the last ids that there are. *ret_refused: it
 * will not any more, which the commit is to say: ids would be for nothing. */
static int
rehearse(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, lancet_change *change,
	bool *ret_refused, struct lancet_error *err)
{
	uint64_t count = rewrite->totals.destinations;
	int rc;

	if (count > FRAGMENT_ID_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " new fragments", count);
	set_ids(rewrite, (uint32_t)(FRAGMENT_ID_MAX - count + 1));
	TRY(set_message(rewrite, change, err));
	TRY(remap_prepare(rewrite->remap, rewrite, change, run, err));
	rc = change_rehearse(change, err);
	*ret_refused = rc == LANCET_BUSY || rc == LANCET_CONFLICT;
	return *ret_refused ? LANCET_OK : rc;
}

static int
carry_out(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, lancet_change *change,
	struct lancet_error *err)
{
	bool refused;

	TRY(rewrite_write(rewrite, run, change, err));
	TRY(fragment_writers_name(change, err));
	TRY(rewrite_check_cancelled(run, err));
	TRY(rehearse(rewrite, run, change, &refused, err));
	if (refused)
		return LANCET_OK;
	TRY(rewrite_check_cancelled(run, err));
	TRY(give_ids(rewrite, run, err));
	TRY(remap_finish(rewrite->remap, rewrite, change, run, err));
	return fragment_writers_name(change, err);
}

int
lancet_rewrite_run(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run,
	lancet_change **ret_change, struct lancet_error *err)
{
	static const struct lancet_rewrite_run defaults = { 0 };
	struct lancet_error failure = { 0 };
	lancet_change *change;
	int rc;

	*ret_change = NULL;
	if (rewrite->task_count == 0)
		return LANCET_OK;
	TRY(change_new(rewrite->read, &change, err));
	rc = carry_out(rewrite, run == NULL ? &defaults : run, change, &failure);
	if (rc != LANCET_OK && err != NULL)
		*err = failure;
	return change_built(change, rc, ret_change);
}

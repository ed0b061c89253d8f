/* What becomes of indices when fragments are rewritten: the plan; see remap.h. */
#include "remap.h"

#include <stdlib.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "index_reach.h"
#include "util/macros.h"
#include "version.h"

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "plan of index work");
}

void
remap_plan_free(struct remap_plan *plan)
{
	if (plan == NULL)
		return;
	for (size_t i = 0; i < plan->text_count; i++)
		free(plan->texts[i]);
	free(plan->texts);
	free(plan->reasons);
	free(plan->marks);
	free(plan->classes);
	free(plan->segments);
	row_moves_free(plan->moves);
	lancet_version_unref(plan->read);
	free(plan);
}

static int
choose_stable(struct remap_plan *plan, struct remap_segment *segment, struct lancet_error *err)
{
	const struct index_segment *stored = (const struct index_segment *)segment->segment;

	if (!index_entry_holds_addresses(stored->message)) {
		segment->fate = REMAP_KEEPS;
		return LANCET_OK;
	}
	segment->fate = REMAP_LOSES;
	if (plan->mode == LANCET_REMAP_SKIP) {
		segment->why = "its files are left as they are";
		return LANCET_OK;
	}
	TRY(remap_btree_check(plan->read, segment->segment, &segment->why, err));
	if (segment->why == NULL)
		segment->fate = REMAP_REWRITES;
	return LANCET_OK;
}

static int
choose(struct remap_plan *plan, struct remap_segment *segment, struct lancet_error *err)
{
	if (plan->stable)
		return choose_stable(plan, segment, err);
	segment->fate = REMAP_LOSES;
	if (!plan->records)
		segment->why = "no mapping is recorded";
	else if (!segment_translates(segment->segment))
		segment->why = "an index of this kind can't follow its rows";
	else
		segment->fate = REMAP_FOLLOWS;
	return LANCET_OK;
}

static int
list_segments(struct remap_plan *plan, const struct lancet_index *indices, size_t count,
	struct lancet_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += indices[i].is_system ? 0 : indices[i].segment_count;
	plan->segments = calloc(total + 1, sizeof(*plan->segments));
	if (plan->segments == NULL)
		return no_memory(err);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < indices[i].segment_count && !indices[i].is_system; k++) {
			struct remap_segment *segment = &plan->segments[plan->segment_count++];

			*segment = (struct remap_segment){ &indices[i], indices[i].segments[k],
				REMAP_LOSES, NULL };
			TRY(choose(plan, segment, err));
		}
	}
	return LANCET_OK;
}

/* A history that this build does not understand can't be gone on with, and entries that it
 * translates could not be told from those that it does not. */
static int
check_history(const struct remap_plan *plan, struct lancet_error *err)
{
	lancet_reuse *reuse;

	if (!lancet_version_has_reuse(plan->read))
		return LANCET_OK;
	TRY(lancet_version_reuse(plan->read, &reuse, err));
	if (!reuse->info.interpretable)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the fragment reuse history has records that are not understood: nothing "
			"is rewritten beside it");
	return LANCET_OK;
}

static int
fill_plan(struct remap_plan *plan, struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	plan->stable = plan->read->info.stable_row_ids;
	if (plan->stable && plan->mode == LANCET_REMAP_DEFER)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"deferred index remap on a dataset with stable row ids: its indices follow "
			"without");
	TRY(lancet_version_indices(plan->read, &indices, &count, err));
	TRY(check_history(plan, err));
	plan->tagged = history_is_tagged(plan->read);
	plan->records = !plan->stable && plan->mode != LANCET_REMAP_SKIP;
	TRY(list_segments(plan, indices, count, err));
	return remap_mark(plan, err);
}

int
remap_plan_make(lancet_version *read, enum lancet_index_remap mode, bool partition,
	struct remap_plan **ret_plan, struct lancet_error *err)
{
	struct remap_plan *plan = calloc(1, sizeof(*plan));
	int rc;

	if (plan == NULL)
		return no_memory(err);
	plan->read = lancet_version_ref(read);
	plan->mode = mode;
	plan->partition = partition;
	rc = fill_plan(plan, err);
	if (rc != LANCET_OK) {
		remap_plan_free(plan);
		return rc;
	}
	*ret_plan = plan;
	return LANCET_OK;
}

uint32_t
remap_coverage(const struct remap_plan *plan, uint64_t ordinal)
{
	return plan->classes[ordinal];
}

bool
remap_allows(const struct remap_plan *plan, uint64_t ordinal, const char **ret_why)
{
	uint16_t reason = plan->reasons[ordinal];

	*ret_why = reason == 0 ? NULL : plan->texts[reason - 1];
	return reason == 0;
}

int
remap_visit(const struct remap_plan *plan, remap_visitor visitor, void *context,
	struct lancet_error *err)
{
	struct index_reach *reach = NULL;
	int rc = LANCET_OK;

	for (size_t i = 0; i < plan->segment_count && rc == LANCET_OK; i++) {
		const struct remap_segment *segment = &plan->segments[i];

		if (reach == NULL || reach->index != segment->index) {
			index_reach_free(reach);
			reach = NULL;
			rc = index_reach_open(plan->read, segment->index, &reach, err);
		}
		if (rc == LANCET_OK)
			rc = visitor(context, segment, reach, err);
	}
	index_reach_free(reach);
	return rc;
}

bool
remap_task_is(const struct remap_plan *plan, const struct rewrite_task *task, unsigned marks)
{
	for (size_t i = 0; i < task->source_count; i++)
		if ((plan->marks[task->sources[i].ordinal] & marks) != 0)
			return true;
	return false;
}

bool
remap_records(const struct remap_plan *plan, const lancet_rewrite *rewrite,
	const struct rewrite_task *task)
{
	if (!plan->records)
		return false;
	if (plan->partition)
		return true;
	if (plan->tagged)
		return remap_task_is(plan, task, REMAP_NAMED);
	for (size_t i = 0; i < rewrite->task_count; i++)
		if (remap_task_is(plan, &rewrite->tasks[i], REMAP_COVERED))
			return true;
	return false;
}

int
remap_prepare(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	if (plan->stable)
		return remap_btrees_prepare(plan, rewrite, change, run, err);
	return remap_history(plan, rewrite, change, err);
}

int
remap_finish(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	if (plan->stable)
		return remap_btrees_write(plan, change, run, err);
	return remap_history(plan, rewrite, change, err);
}

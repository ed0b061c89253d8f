/* What plans of rewrites are made of: tasks, their sources and their outputs. */
#include "rewrite_plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "fragment_write.h"
#include "util/macros.h"
#include "version.h"

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "plan of a rewrite");
}

int
rewrite_new(lancet_version *read, lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	lancet_rewrite *rewrite = calloc(1, sizeof(*rewrite));

	if (rewrite == NULL)
		return no_memory(err);
	rewrite->read = lancet_version_ref(read);
	*ret_rewrite = rewrite;
	return LANCET_OK;
}

void
rewrite_free_lineages(struct rewrite_task *task)
{
	for (size_t i = 0; task->lineages != NULL && i < task->output_count; i++)
		lineage_out_release(&task->lineages[i]);
	free(task->lineages);
	task->lineages = NULL;
}

static void
release_task(struct rewrite_task *task)
{
	for (size_t i = 0; i < task->source_count; i++) {
		lancet_deletion_unref(task->sources[i].deletion);
		lancet_fragment_unref(task->sources[i].fragment);
	}
	if (task->order != NULL)
		task->order->release(task);
	rewrite_free_lineages(task);
	free(task->sources);
	free(task->outputs);
}

void
lancet_rewrite_free(lancet_rewrite *rewrite)
{
	if (rewrite == NULL)
		return;
	for (size_t i = 0; i < rewrite->task_count; i++)
		release_task(&rewrite->tasks[i]);
	free(rewrite->tasks);
	remap_plan_free(rewrite->remap);
	lancet_version_unref(rewrite->read);
	free(rewrite);
}

int
rewrite_add_task(lancet_rewrite *rewrite, size_t source_count, struct rewrite_task **ret_task,
	struct lancet_error *err)
{
	size_t count = rewrite->task_count;
	struct rewrite_task *task;

	/* Doubled when the count is a power of two. */
	if ((count & (count - 1)) == 0) {
		struct rewrite_task *tasks =
			realloc(rewrite->tasks, 2 * (count + 1) * sizeof(*tasks));

		if (tasks == NULL)
			return no_memory(err);
		rewrite->tasks = tasks;
	}
	task = &rewrite->tasks[count];
	*task = (struct rewrite_task){ .sources =
					       calloc(source_count + 1, sizeof(*task->sources)) };
	if (task->sources == NULL)
		return no_memory(err);
	task->source_count = source_count;
	rewrite->task_count++;
	*ret_task = task;
	return LANCET_OK;
}

void
rewrite_drop_task(lancet_rewrite *rewrite)
{
	release_task(&rewrite->tasks[--rewrite->task_count]);
}

/* A writer has no file before it has bytes. */
int
rewrite_check_writable(lancet_version *read, struct lancet_error *err)
{
	struct fragment_writer *writer = NULL;
	lancet_change *change;
	int rc;

	TRY(change_new(read, &change, err));
	rc = fragment_writer_open(change, NULL, 0, &writer, err);
	fragment_writer_free(writer);
	lancet_change_free(change);
	return rc;
}

static uint64_t
file_bytes(const struct lancet_fragment_info *info)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < info->file_count; i++)
		bytes += info->files[i].size;
	for (size_t i = 0; i < info->overlay_count; i++)
		bytes += info->overlays[i].file.size;
	return bytes;
}

int
rewrite_find_chosen(lancet_version *read, const uint64_t *ids, size_t number, uint64_t *ret_ordinal,
	struct lancet_error *err)
{
	if (number > 0 && ids[number] <= ids[number - 1])
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 ": give ids in ascending order, each once",
			ids[number]);
	return lancet_version_find_fragment(read, ids[number], ret_ordinal, err);
}

int
rewrite_source_init(struct rewrite_source *source, lancet_version *read, uint64_t ordinal,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info;

	TRY(lancet_fragment_open(read, ordinal, &source->fragment, err));
	info = lancet_fragment_info(source->fragment);
	source->ordinal = ordinal;
	source->live_rows = info->physical_rows - info->deleted_rows;
	source->bytes = file_bytes(info);
	source->has_overlays = info->overlay_count > 0;
	return LANCET_OK;
}

int
rewrite_set_outputs(
	struct rewrite_task *task, const uint64_t *rows, size_t count, struct lancet_error *err)
{
	task->outputs = calloc(count + 1, sizeof(*task->outputs));
	if (task->outputs == NULL)
		return no_memory(err);
	task->output_count = count;
	for (size_t i = 0; i < count; i++)
		task->outputs[i].rows = rows[i];
	return LANCET_OK;
}

uint64_t
rewrite_source_rows(const struct rewrite_task *task)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < task->source_count; i++)
		rows += lancet_fragment_info(task->sources[i].fragment)->physical_rows;
	return rows;
}

static void
count_task(struct rewrite_task *task, struct lancet_rewrite_totals *totals)
{
	task->live_rows = 0;
	for (size_t i = 0; i < task->source_count; i++) {
		const struct rewrite_source *source = &task->sources[i];

		task->live_rows += source->live_rows;
		totals->source_bytes += source->bytes;
	}
	totals->tasks++;
	totals->source_rows += rewrite_source_rows(task);
	totals->sources += task->source_count;
	totals->destinations += task->output_count;
	totals->live_rows += task->live_rows;
}

void
rewrite_count(lancet_rewrite *rewrite)
{
	rewrite->totals = (struct lancet_rewrite_totals){ 0 };
	for (size_t i = 0; i < rewrite->task_count; i++)
		count_task(&rewrite->tasks[i], &rewrite->totals);
}

const struct lancet_rewrite_totals *
lancet_rewrite_totals(const lancet_rewrite *rewrite)
{
	return &rewrite->totals;
}

int
rewrite_deletion(struct rewrite_source *source, struct lancet_error *err)
{
	int rc;

	if (source->deletion != NULL)
		return LANCET_OK;
	rc = lancet_deletion_open(source->fragment, &source->deletion, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "fragment %" PRIu64,
					 lancet_fragment_info(source->fragment)->id);
}

int
rewrite_deletions(const struct rewrite_task *task, struct lancet_error *err)
{
	for (size_t i = 0; i < task->source_count; i++)
		TRY(rewrite_deletion(&task->sources[i], err));
	return LANCET_OK;
}

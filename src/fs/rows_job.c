/* ctl/jobs/: a directory for each command that waits, runs or has run. SPEC section 5. */
#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "control.h"
#include "jobfile.h"
#include "rows_ctl.h"
#include "util/macros.h"
#include "util/text.h"

static int
list_jobs(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	uint64_t *ids = NULL;
	size_t count = 0;
	int rc = LANCET_OK;

	TRY(jobs_list(control_jobs(ctl_of(ref)), ref->dataset, &ids, &count, err));
	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		struct node_child child = { .kind = NODE_JOB, .item = ids[i] };

		rc = sink(context, &child);
	}
	free(ids);
	return rc;
}

/* Counted. NOT_FOUND: it is not listed any more. */
static int
job_of(const struct node_ref *ref, uint64_t id, struct job **ret_job, struct lancet_error *err)
{
	*ret_job = jobs_find(control_jobs(ctl_of(ref)), ref->dataset, id);
	if (*ret_job == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "job %" PRIu64 " is not listed", id);
	return LANCET_OK;
}

static int
find_job(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	struct job *job = NULL;
	uint64_t id = 0;

	if (!text_to_u64(slice_text(name), &id))
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such job", name);
	TRY(job_of(ref, id, &job, err));
	job_unref(job);
	*ret_child = (struct node_child){ .kind = NODE_JOB, .item = id };
	return LANCET_OK;
}

static int
label_job(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	(void)err;
	snprintf(into, NODE_NAME_SIZE, "%" PRIu64, ref->item);
	return LANCET_OK;
}

static int
job_attributes(const struct node_ref *ref, struct stat *st, struct lancet_error *err)
{
	struct job_view view;
	struct job *job = NULL;

	TRY(ctl_attributes(ref, st, err));
	if (job_of(ref, ref->item, &job, NULL) != LANCET_OK)
		return lancet_fail(err, LANCET_CLEANED, "the job is not listed any more");
	job_look(job, &view);
	job_unref(job);
	st->st_mtim.tv_sec = view.changed_ns / 1000000000;
	st->st_mtim.tv_nsec = view.changed_ns % 1000000000;
	return LANCET_OK;
}

static int
render_command(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct job *job = NULL;

	TRY(job_of(ref, ref->item, &job, err));
	buf_printf(out, "%s\n", job_line(job));
	job_unref(job);
	return LANCET_OK;
}

static int
render_progress(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct job_view view;
	struct job *job = NULL;

	TRY(job_of(ref, ref->item, &job, err));
	job_look(job, &view);
	buf_printf(out, "%" PRIu64 " %" PRIu64 " %s\n", view.done, view.total,
		view.unit[0] != '\0' ? view.unit : "-");
	job_unref(job);
	return LANCET_OK;
}

static bool
has_result(const struct node_ref *ref)
{
	struct job *job = NULL;
	struct text *result;

	if (job_of(ref, ref->item, &job, NULL) != LANCET_OK)
		return false;
	result = job_result(job);
	text_unref(result);
	job_unref(job);
	return result != NULL;
}

static int
render_result(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct text *result;
	struct job *job = NULL;

	TRY(job_of(ref, ref->item, &job, err));
	result = job_result(job);
	job_unref(job);
	if (result == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "the job has not ended yet");
	buf_put(out, result->data, result->size);
	text_unref(result);
	return LANCET_OK;
}

static int
open_state(const struct node_ref *ref, bool to_write, struct node_handle *ret_handle,
	struct lancet_error *err)
{
	struct job *job = NULL;
	int rc;

	if (to_write)
		return fail_errno(err, EPERM, "is written by the job alone");
	TRY(job_of(ref, ref->item, &job, err));
	rc = jobfile_open(ctl_of(ref), job, ret_handle, err);
	job_unref(job);
	return rc;
}

static const uint8_t job_rows[] = { NODE_JOB_COMMAND, NODE_JOB_STATE, NODE_JOB_PROGRESS,
	NODE_JOB_RESULT, NODE_NONE };

const struct node_kind rows_job[] = {
	{ .id = NODE_JOBS,
		.name = "jobs",
		.shape = SHAPE_DIR,
		.parent = NODE_CTL,
		.live = true,
		.live_list = true,
		.list = list_jobs,
		.find = find_job,
		.attributes = ctl_attributes },
	{ .id = NODE_JOB,
		.shape = SHAPE_DIR,
		.parent = NODE_JOBS,
		.live = true,
		.live_list = true,
		.numbered = true,
		.rows = job_rows,
		.label = label_job,
		.attributes = job_attributes },
	{ .id = NODE_JOB_COMMAND,
		.name = "command",
		.shape = SHAPE_TEXT,
		.parent = NODE_JOB,
		.live = true,
		.computed = true,
		.render = render_command,
		.attributes = job_attributes },
	{ .id = NODE_JOB_STATE,
		.name = "state",
		.shape = SHAPE_HANDLE,
		.parent = NODE_JOB,
		.live = true,
		.computed = true,
		.open = open_state,
		.attributes = job_attributes },
	{ .id = NODE_JOB_PROGRESS,
		.name = "progress",
		.shape = SHAPE_TEXT,
		.parent = NODE_JOB,
		.live = true,
		.computed = true,
		.render = render_progress,
		.attributes = job_attributes },
	{ .id = NODE_JOB_RESULT,
		.name = "result.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_JOB,
		.live = true,
		.computed = true,
		.present = has_result,
		.render = render_result,
		.attributes = job_attributes },
	{ .id = NODE_NONE },
};

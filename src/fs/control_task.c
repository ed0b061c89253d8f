/* Lines of control files as commands: checked, run as jobs or at once, and answered.
 *
 * A task is what lives while a command does. It is counted: by the job, or by the write that waits,
 * and by the list of callers whose signals are looked at.
 */
#include "control_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/macros.h"

struct task {
	struct control_scene scene; /* first: what a command gets as its context */
	struct caller caller;
	struct job_waiter waiter;
	struct control *control;
	struct control_handle *handle; /* NULL: nobody waits for it */
	const struct command *command;
	size_t row;
	struct command_words words;
	struct control_writer writer;
	size_t taken;
	bool dry;
	uint64_t read_version;
	struct job *job;         /* while it runs */
	uint64_t payload;        /* number of the staged file it opened */
	_Atomic uint64_t job_id; /* that it is, or waits for; 0: not known yet */
	_Atomic bool wants_end;
};

static struct task *
task_of(struct caller *caller)
{
	return (struct task *)((char *)caller - offsetof(struct task, caller));
}

static void
release_task(struct caller *caller)
{
	struct task *task = task_of(caller);

	command_words_release(&task->words);
	lancet_dataset_unref(task->scene.dataset);
	free(task);
}

/* The last that is done for a write that was parked. */
static void
answer(struct task *task, struct text *result, int os_errno)
{
	caller_forget(&task->caller);
	control_result(task->handle, result, true);
	task->control->options.hooks->reply(
		task->writer.request, os_errno, os_errno == 0 ? task->taken : 0);
}

static bool
is_cancelled(void *context)
{
	struct task *task = context;

	return atomic_load(&task->wants_end) || (task->job != NULL && job_is_cancelled(task->job));
}

static void
note_progress(void *context, uint64_t done, uint64_t total, const char *unit)
{
	struct task *task = context;

	if (task->job != NULL)
		job_progress(task->job, done, total, unit);
}

static int
open_payload(void *context, const char *name, int *ret_fd, struct lancet_error *err)
{
	struct task *task = context;
	struct stage *stage = task->control->stage;
	struct staged *staged = NULL;
	uint64_t number = 0;
	int rc;

	if (strchr(name, '/') != NULL)
		return lancet_fail(err, LANCET_INVALID,
			"file=%.200s: give the name of a file in ctl/stage, without a directory",
			name);
	rc = stage_find(stage, task->scene.dataset, name, &number, err);
	if (rc == LANCET_OK)
		rc = stage_open(stage, number, false, &staged, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "ctl/stage");
	*ret_fd = fcntl(staged_fd(staged), F_DUPFD_CLOEXEC, 0);
	if (*ret_fd < 0)
		rc = lancet_fail_errno(err, "ctl/stage/%.200s", name);
	staged_close(staged);
	task->payload = number;
	return rc;
}

/* Another file that has its name by now stays. */
static void
remove_payload(void *context, const char *name)
{
	struct task *task = context;

	if (task->payload != 0)
		(void)stage_unlink(
			task->control->stage, task->scene.dataset, name, task->payload, NULL);
}

static int
execute(struct task *task, struct buf *result, struct lancet_error *err)
{
	const struct command_host host = {
		.dataset = task->scene.dataset,
		.job = task->job == NULL ? 0 : job_id(task->job),
		.read_version = task->read_version,
		.context = task,
		.cancelled = is_cancelled,
		.progress = note_progress,
		.open_payload = open_payload,
		.payload_used = remove_payload,
	};

	return command_execute(task->command, &task->words, &host, result, err);
}

static int
run_task(void *context, struct job *job, struct buf *result, struct lancet_error *err)
{
	struct task *task = context;
	int rc;

	task->job = job;
	rc = execute(task, result, err);
	task->job = NULL;
	return rc;
}

static void
drop_task(void *context, struct job *job, const struct lancet_error *err, struct buf *result)
{
	const struct task *task = context;

	command_refused(task->command->name, job_id(job), err, result);
}

/* What everybody has to know of the end of a command. */
static void
publish(struct task *task, struct text *result, const struct lancet_error *err)
{
	struct control *control = task->control;
	const struct control_options *options = &control->options;
	enum control_effect effect = control_effect(task->command);
	bool failed = err->code != LANCET_OK;

	stats_command(&control->stats, failed, (task->command->flags & COMMAND_COMMITS) != 0,
		result == NULL ? slice_of(NULL, 0) : slice_of(result->data, result->size));
	control_keep(control, task->scene.dataset, task->row, result);
	if (failed)
		control_failed(control, task->scene.dataset, task->command->name, &task->writer,
			lancet_code_name(err->code), err->text);
	/* even one that failed may have removed something */
	if (effect != CONTROL_READS && !task->dry && options->hooks->settled != NULL)
		options->hooks->settled(options->context, task->scene.dataset, effect);
}

static void
end_task(void *context, struct job *job, struct text *result, const struct lancet_error *err)
{
	struct task *task = context;

	(void)job;
	publish(task, result, err);
	if (task->handle != NULL)
		answer(task, result, err->code == LANCET_OK ? 0 : lancet_error_errno(err));
	caller_unref(&task->caller);
}

/* A result that was made here. Takes the reference of the task. */
static void
end_at_once(struct task *task, struct buf *bytes, const struct lancet_error *err)
{
	struct text *result = bytes->failed == LANCET_OK ? text_new(bytes) : NULL;

	buf_release(bytes);
	end_task(task, NULL, result, err);
	text_unref(result);
}

static void
refuse_task(struct task *task, const struct lancet_error *err)
{
	struct buf bytes = { 0 };

	command_refused(task->command->name, 0, err, &bytes);
	task->dry = true; /* nothing was touched */
	end_at_once(task, &bytes, err);
}

/* A whole object as the last member of the object that `into` ends with. */
static void
put_nested(struct buf *into, const char *key, struct slice object)
{
	static const char end[] = "\n}\n";

	into->size -= strlen(end);
	buf_printf(into, ",\n  \"%s\": ", key);
	buf_put(into, object.data, object.size - 1); /* its newline is left out */
	buf_put_text(into, end);
}

/* The state of the job that was waited for, and all that it left. */
static void
put_waited(struct task *task, struct job *job, const struct text *result,
	const struct lancet_error *err, struct buf *into)
{
	struct job_view view;
	struct jsonw w;

	job_look(job, &view);
	control_begin(&w, into, err->code == LANCET_OK, task->command->name);
	jsonw_u64(&w, "job", job_id(job));
	jsonw_text(&w, "state", job_state_name(view.state));
	if (err->code != LANCET_OK) {
		jsonw_text(&w, "errno", strerrorname_np(lancet_error_errno(err)));
		jsonw_text(&w, "code", lancet_code_name(err->code));
		jsonw_text(&w, "error", err->text);
	}
	jsonw_end(&w);
	jsonw_finish(&w);
	if (result != NULL && into->failed == LANCET_OK)
		put_nested(into, "result", slice_of(result->data, result->size));
}

static void
told_of_end(struct job_waiter *waiter, struct job *job, struct text *result,
	const struct lancet_error *err)
{
	struct task *task = (struct task *)((char *)waiter - offsetof(struct task, waiter));
	struct buf bytes = { 0 };

	put_waited(task, job, result, err, &bytes);
	end_at_once(task, &bytes, err);
}

/* A signal asks for the end. Of a write that waits for a job, only the waiting ends. */
static void
end_wanted(struct caller *caller)
{
	struct task *task = task_of(caller);
	struct lancet_error err = { 0 };
	uint64_t id;

	atomic_store(&task->wants_end, true);
	id = atomic_load(&task->job_id);
	if (control_way(task->command) != CONTROL_WAIT) {
		if (id != 0)
			(void)jobs_cancel(task->control->jobs, task->scene.dataset, id, NULL);
	} else if (id != 0 && jobs_unwait(task->control->jobs, id, &task->waiter)) {
		(void)lancet_fail(&err, LANCET_CANCELLED,
			"wait: a signal ended the waiting; the job goes on");
		refuse_task(task, &err);
	}
}

static void
wait_for_job(struct task *task)
{
	struct lancet_error err = { 0 };
	uint64_t id = 0;
	int rc = control_job_number(&task->words, &id, &err);

	caller_ref(&task->caller); /* it may be answered before this returns */
	task->control->options.hooks->park(task->writer.request, &task->caller);
	task->waiter.told = told_of_end;
	if (rc == LANCET_OK)
		rc = jobs_wait(task->control->jobs, task->scene.dataset, id, &task->waiter, &err);
	if (rc != LANCET_OK) {
		refuse_task(task, &err);
	} else {
		atomic_store(&task->job_id, id);
		if (atomic_load(&task->wants_end))
			end_wanted(&task->caller);
	}
	caller_unref(&task->caller);
}

static void
run_now(struct task *task)
{
	struct lancet_error err = { 0 };
	struct buf result = { 0 };

	(void)execute(task, &result, &err);
	end_at_once(task, &result, &err);
}

/* The number of the job is all there is to say yet. */
static void
answer_at_once(struct control_handle *handle, const struct control_writer *writer, size_t taken,
	const char *command, uint64_t id)
{
	struct buf bytes = { 0 };
	struct text *result;
	struct jsonw w;

	control_begin(&w, &bytes, true, command);
	jsonw_u64(&w, "job", id);
	result = control_end(&w, &bytes);
	control_result(handle, result, true);
	text_unref(result);
	handle->control->options.hooks->reply(writer->request, 0, taken);
}

static void
run_as_job(struct task *task, const char *line, bool quick, bool async)
{
	const struct job_work work = { task, run_task, drop_task, end_task };
	struct control_handle *handle = task->handle;
	struct control_writer writer = task->writer;
	const char *name = task->command->name;
	size_t taken = task->taken;
	struct lancet_error err = { 0 };
	uint64_t id = 0;

	caller_ref(&task->caller); /* it may have ended before this returns */
	if (async)
		task->handle = NULL;
	else
		task->control->options.hooks->park(writer.request, &task->caller);
	if (jobs_submit(task->control->jobs, task->scene.dataset, line, quick, &work, &id, &err) !=
		LANCET_OK) {
		task->handle = handle;
		refuse_task(task, &err);
	} else {
		atomic_store(&task->job_id, id);
		if (async)
			answer_at_once(handle, &writer, taken, name, id);
		else if (atomic_load(&task->wants_end))
			end_wanted(&task->caller);
	}
	caller_unref(&task->caller);
}

static struct task *
new_task(struct control_handle *handle, const struct control_writer *writer, size_t taken)
{
	struct control *control = handle->control;
	struct task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return NULL;
	task->scene = (struct control_scene){ control->options.tree, control->jobs,
		lancet_dataset_ref(handle->dataset) };
	task->caller = (struct caller){ .refs = 1,
		.callers = control->callers,
		.pid = writer->pid,
		.wants_end = end_wanted,
		.release = release_task };
	task->control = control;
	task->handle = handle;
	task->command = handle->command;
	task->row = handle->row;
	task->writer = *writer;
	task->taken = taken;
	return task;
}

/* "CTL LINE", as in the list of jobs. */
static char *
full_line(const struct command *command, struct slice line)
{
	size_t size = strlen(command->name);
	char *full = malloc(size + line.size + 2);

	if (full == NULL)
		return NULL;
	memcpy(full, command->name, size);
	full[size] = ' ';
	memcpy(full + size + 1, line.data, line.size);
	full[size + 1 + line.size] = '\0';
	return full;
}

void
control_run(struct control_handle *handle, const struct control_writer *writer, struct slice line,
	size_t taken)
{
	struct task *task = new_task(handle, writer, taken);
	lancet_autofree char *full = full_line(handle->command, line);
	bool quick = false, async = false;
	struct lancet_error err = { 0 };
	int rc;

	if (task == NULL || full == NULL) {
		if (task != NULL)
			caller_unref(&task->caller);
		control_result(handle, NULL, true);
		handle->control->options.hooks->reply(writer->request, ENOMEM, 0);
		return;
	}
	rc = command_words_parse(line, &task->words, &err);
	if (rc == LANCET_OK)
		rc = command_check(task->command, &task->words, &quick, &async, &err);
	if (rc != LANCET_OK) {
		(void)lancet_wrap(&err, rc, "%s", task->command->name);
		refuse_task(task, &err);
		return;
	}
	task->dry = quick && (task->command->flags & COMMAND_QUICK) == 0;
	if ((task->command->flags & COMMAND_COMMITS) != 0)
		(void)lancet_dataset_latest(task->scene.dataset, &task->read_version, NULL);
	switch (control_way(task->command)) {
	case CONTROL_NOW:
		run_now(task);
		break;
	case CONTROL_WAIT:
		wait_for_job(task);
		break;
	case CONTROL_JOB:
		run_as_job(task, full, quick, async);
		break;
	}
}

/* Control files of a mount: what is kept of them, open handles, and the lines that are written; see
 * control.h. */
#include "control_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

int
control_new(const struct control_options *options, struct control **ret_control,
	struct lancet_error *err)
{
	struct control *control = calloc(1, sizeof(*control));
	int rc;

	if (control == NULL || pthread_mutex_init(&control->lock, NULL) != 0) {
		free(control);
		return lancet_fail(err, LANCET_NO_MEMORY, "control files: out of memory");
	}
	control->options = *options;
	control->jobs = jobs_new(options->jobs);
	control->callers = callers_new();
	control->report = report_new();
	rc = stage_new(options->stage, options->stage_max, &control->stage, err);
	if (rc == LANCET_OK &&
		(control->jobs == NULL || control->callers == NULL || control->report == NULL))
		rc = lancet_fail(err, LANCET_NO_MEMORY, "control files: out of memory");
	if (rc != LANCET_OK) {
		control_free(control, 0);
		return rc;
	}
	*ret_control = control;
	return LANCET_OK;
}

void
control_stop(struct control *control)
{
	jobs_stop(control->jobs);
}

void
control_free(struct control *control, unsigned seconds)
{
	if (control == NULL)
		return;
	if (control->jobs != NULL)
		jobs_stop(control->jobs);
	jobs_free(control->jobs, seconds);
	callers_free(control->callers);
	report_free(control->report);
	stage_free(control->stage);
	while (control->last != NULL) {
		struct control_last *last = control->last;

		control->last = last->next;
		text_unref(last->result);
		lancet_dataset_unref(last->dataset);
		free(last);
	}
	pthread_mutex_destroy(&control->lock);
	free(control);
}

const struct control_options *
control_options(const struct control *control)
{
	return &control->options;
}

struct jobs *
control_jobs(struct control *control)
{
	return control->jobs;
}

struct report *
control_report(struct control *control)
{
	return control->report;
}

struct stage *
control_stage(struct control *control)
{
	return control->stage;
}

struct stats *
control_stats(struct control *control)
{
	return &control->stats;
}

void
control_failed(struct control *control, lancet_dataset *dataset, const char *command,
	const struct control_writer *writer, const char *code, const char *text)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(dataset);
	char path[TEXT_NAME_MAX + 80], name[TEXT_NAME_MAX + 1];

	(void)text_name_encode(slice_of(branch.data, branch.size), name);
	/* a branch that is the root of the mount is not below branches/ there */
	if (branch.size > 0 && dataset != tree_dataset(control->options.tree))
		snprintf(path, sizeof(path), "branches/%s/ctl/%s", name, command);
	else
		snprintf(path, sizeof(path), "ctl/%s", command);
	report_add(control->report, writer->uid, writer->pid, path, code, text);
}

static struct control_last *
find_last(const struct control *control, const lancet_dataset *dataset, size_t row)
{
	struct control_last *last = control->last;

	while (last != NULL && (last->dataset != dataset || last->row != row))
		last = last->next;
	return last;
}

void
control_keep(struct control *control, lancet_dataset *dataset, size_t row, struct text *result)
{
	struct control_last *made = calloc(1, sizeof(*made)), *last;
	struct text *old = NULL;

	if (made == NULL || result == NULL) {
		free(made);
		return;
	}
	pthread_mutex_lock(&control->lock);
	last = find_last(control, dataset, row);
	if (last == NULL) {
		*made = (struct control_last){ lancet_dataset_ref(dataset), row, NULL,
			control->last };
		control->last = last = made;
		made = NULL;
	}
	old = last->result;
	last->result = text_ref(result);
	pthread_mutex_unlock(&control->lock);
	text_unref(old);
	free(made);
}

static struct text *
last_result(struct control *control, const lancet_dataset *dataset, size_t row)
{
	const struct control_last *last;
	struct text *result = NULL;

	pthread_mutex_lock(&control->lock);
	last = find_last(control, dataset, row);
	if (last != NULL)
		result = text_ref(last->result);
	pthread_mutex_unlock(&control->lock);
	return result;
}

static struct text *
usage_and_last(const struct control_handle *handle)
{
	struct text *last = last_result(handle->control, handle->dataset, handle->row);
	struct buf out = { 0 };
	struct text *shown = NULL;

	buf_printf(&out, "usage: echo 'WORDS' > %s, where WORDS are\n%s\n", handle->command->name,
		handle->command->usage);
	if (last != NULL) {
		buf_put_byte(&out, '\n');
		buf_put(&out, last->data, last->size);
	}
	text_unref(last);
	if (out.failed == LANCET_OK)
		shown = text_new(&out);
	buf_release(&out);
	return shown;
}

int
control_open(struct control *control, lancet_dataset *dataset, size_t row,
	struct control_handle **ret_handle, struct lancet_error *err)
{
	const struct command *command = controls_at(control->options.commands, row);
	struct control_handle *handle;

	if (command == NULL)
		return lancet_fail(err, LANCET_CLEANED, "there is no such control file");
	handle = calloc(1, sizeof(*handle));
	if (handle == NULL || pthread_mutex_init(&handle->lock, NULL) != 0) {
		free(handle);
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", command->name);
	}
	handle->control = control;
	handle->dataset = lancet_dataset_ref(dataset);
	handle->command = command;
	handle->row = row;
	handle->shown = usage_and_last(handle);
	if (handle->shown == NULL) {
		control_close(handle);
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", command->name);
	}
	*ret_handle = handle;
	return LANCET_OK;
}

void
control_close(struct control_handle *handle)
{
	if (handle == NULL)
		return;
	if (handle->size > 0) {
		struct control_writer writer = { handle->uid, handle->pid, NULL };
		char note[160];

		snprintf(note, sizeof(note),
			"closed in the middle of a line: %zu bytes without a newline were dropped, "
			"nothing was run",
			handle->size);
		control_failed(handle->control, handle->dataset, handle->command->name, &writer,
			"unfinished", note);
	}
	text_unref(handle->shown);
	text_unref(handle->result);
	lancet_dataset_unref(handle->dataset);
	pthread_mutex_destroy(&handle->lock);
	free(handle);
}

int
control_read(struct control_handle *handle, uint64_t offset, size_t size, void *into,
	size_t *ret_got, struct lancet_error *err)
{
	const struct text *text;
	size_t at;

	(void)err;
	pthread_mutex_lock(&handle->lock);
	text = handle->wrote ? handle->result : handle->shown;
	at = handle->wrote ? handle->delivered : (size_t)offset;
	if (text == NULL || at >= text->size)
		size = 0;
	else if (size > text->size - at)
		size = text->size - at;
	if (size > 0)
		memcpy(into, text->data + at, size);
	if (handle->wrote)
		handle->delivered += size;
	pthread_mutex_unlock(&handle->lock);
	*ret_got = size;
	return LANCET_OK;
}

void
control_result(struct control_handle *handle, struct text *result, bool of_line)
{
	struct text *old = NULL;

	pthread_mutex_lock(&handle->lock);
	if (of_line || !handle->busy) {
		old = handle->result;
		handle->result = result == NULL ? NULL : text_ref(result);
		handle->delivered = 0;
		handle->wrote = true;
		handle->busy = false;
	}
	pthread_mutex_unlock(&handle->lock);
	text_unref(old);
}

void
control_begin(struct jsonw *w, struct buf *bytes, bool ok, const char *command)
{
	jsonw_init(w, bytes);
	jsonw_object(w, NULL);
	jsonw_u64(w, "format", 1);
	jsonw_bool(w, "ok", ok);
	jsonw_text(w, "command", command);
}

struct text *
control_end(struct jsonw *w, struct buf *bytes)
{
	struct text *result;

	jsonw_end(w);
	jsonw_finish(w);
	result = bytes->failed == LANCET_OK ? text_new(bytes) : NULL;
	buf_release(bytes);
	return result;
}

/* What a write is to a line. */
enum taken {
	TAKEN_PART, /* no newline yet */
	TAKEN_LINE,
	TAKEN_TOO_LONG,
	TAKEN_BUSY,
};

/* Takes what belongs to the first line. Of a line that is too long the rest is no line either. */
static enum taken
take(struct control_handle *handle, struct slice bytes, size_t *ret_taken)
{
	const uint8_t *end = bytes.size == 0 ? NULL : memchr(bytes.data, '\n', bytes.size);
	size_t size = end == NULL ? bytes.size : (size_t)(end - bytes.data) + 1;

	*ret_taken = size;
	if (handle->busy)
		return TAKEN_BUSY;
	if (handle->skipping || size > sizeof(handle->line) - handle->size ||
		(end == NULL && size == sizeof(handle->line) - handle->size)) {
		handle->skipping = end == NULL;
		handle->size = 0;
		return TAKEN_TOO_LONG;
	}
	if (size > 0)
		memcpy(handle->line + handle->size, bytes.data, size);
	handle->size += size;
	if (end == NULL)
		return TAKEN_PART;
	handle->busy = true;
	return TAKEN_LINE;
}

/* A write that was no command. */
static void
refuse(struct control_handle *handle, const struct control_writer *writer, int os_errno,
	const char *code, const char *text)
{
	struct control *control = handle->control;
	struct buf bytes = { 0 };
	struct text *result;
	struct jsonw w;

	control_begin(&w, &bytes, false, handle->command->name);
	jsonw_text(&w, "errno", strerrorname_np(os_errno));
	jsonw_text(&w, "code", code);
	jsonw_text(&w, "error", text);
	result = control_end(&w, &bytes);
	control_failed(control, handle->dataset, handle->command->name, writer, code, text);
	control_result(handle, result, false);
	text_unref(result);
	control->options.hooks->reply(writer->request, os_errno, 0);
}

void
control_write(
	struct control_handle *handle, const struct control_writer *writer, struct slice bytes)
{
	const struct control_options *options = &handle->control->options;
	char line[COMMAND_LINE_MAX];
	size_t taken = 0, size = 0;
	enum taken what;

	if (writer->uid != 0 && writer->uid != options->owner) {
		refuse(handle, writer, EACCES, "denied",
			"only the owner of the mount and root may run commands");
		return;
	}
	pthread_mutex_lock(&handle->lock);
	what = take(handle, bytes, &taken);
	handle->uid = writer->uid;
	handle->pid = writer->pid;
	if (what == TAKEN_LINE) {
		size = handle->size - 1;
		memcpy(line, handle->line, size);
		handle->size = 0;
	}
	pthread_mutex_unlock(&handle->lock);
	switch (what) {
	case TAKEN_PART:
		options->hooks->reply(writer->request, 0, taken);
		break;
	case TAKEN_LINE:
		control_run(handle, writer, slice_of(line, size), taken);
		break;
	case TAKEN_TOO_LONG:
		refuse(handle, writer, E2BIG, "limit",
			"a line has at most 4096 bytes, its newline included: put what is long "
			"into a staged file");
		break;
	case TAKEN_BUSY:
		refuse(handle, writer, EBUSY, "busy",
			"the line before, of this open file, still runs");
		break;
	}
}

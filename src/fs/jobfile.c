/* Polling the state of jobs; see jobfile.h. */
#include "jobfile.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jobfile {
	struct job_watcher watcher;
	struct control *control;
	struct job *job; /* counted */
	pthread_mutex_t lock;
	char text[16]; /* as it was last read from the start */
	unsigned seen; /* changes at that time */
	void *wake;    /* whom to wake at the next change */
};

/* Under the lock of the jobs. */
static void
job_changed(struct job_watcher *watcher)
{
	struct jobfile *file =
		(struct jobfile *)((char *)watcher - offsetof(struct jobfile, watcher));
	const struct control_options *options = control_options(file->control);
	void *wake;

	pthread_mutex_lock(&file->lock);
	wake = file->wake;
	file->wake = NULL;
	pthread_mutex_unlock(&file->lock);
	if (wake != NULL)
		options->hooks->wake(options->context, wake);
}

static int
read_state(void *state, uint64_t offset, size_t size, void *into, size_t *ret_got,
	struct lancet_error *err)
{
	struct jobfile *file = state;
	struct job_view view;
	size_t length;

	(void)err;
	job_look(file->job, &view);
	pthread_mutex_lock(&file->lock);
	if (offset == 0) {
		snprintf(file->text, sizeof(file->text), "%s\n", job_state_name(view.state));
		file->seen = view.changes;
	}
	length = strlen(file->text);
	if (offset >= length)
		size = 0;
	else if (size > length - offset)
		size = length - (size_t)offset;
	if (size > 0)
		memcpy(into, file->text + offset, size);
	pthread_mutex_unlock(&file->lock);
	*ret_got = size;
	return LANCET_OK;
}

static unsigned
poll_state(void *state, void *wake)
{
	struct jobfile *file = state;
	struct job_view view;
	unsigned events = POLLOUT | POLLWRNORM;
	void *old;

	pthread_mutex_lock(&file->lock);
	old = file->wake;
	if (wake != NULL)
		file->wake = wake;
	pthread_mutex_unlock(&file->lock);
	if (wake != NULL && old != NULL)
		control_options(file->control)->hooks->forget(old);
	/* looked at only now: a change between would wake */
	job_look(file->job, &view);
	pthread_mutex_lock(&file->lock);
	if (view.changes != file->seen || view.state > JOB_RUNNING)
		events |= POLLIN | POLLRDNORM | POLLPRI;
	pthread_mutex_unlock(&file->lock);
	return events;
}

static void
close_state(void *state)
{
	struct jobfile *file = state;

	job_unwatch(file->job, &file->watcher);
	if (file->wake != NULL)
		control_options(file->control)->hooks->forget(file->wake);
	job_unref(file->job);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

static const struct node_handle_ops state_ops = {
	.read = read_state,
	.poll = poll_state,
	.close = close_state,
};

int
jobfile_open(struct control *control, struct job *job, struct node_handle *ret_handle,
	struct lancet_error *err)
{
	struct jobfile *file = calloc(1, sizeof(*file));

	if (file == NULL || pthread_mutex_init(&file->lock, NULL) != 0) {
		free(file);
		return lancet_fail(err, LANCET_NO_MEMORY, "job: out of memory");
	}
	file->control = control;
	file->job = job_ref(job);
	file->watcher.told = job_changed;
	job_watch(job, &file->watcher);
	*ret_handle = (struct node_handle){ &state_ops, file, -1 };
	return LANCET_OK;
}

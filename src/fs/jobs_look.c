/* Looking at jobs, and waiting for them; see jobs.h. */
#include "jobs_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job *
jobs_seek(struct jobs *jobs, const void *owner, uint64_t id)
{
	struct job *job = jobs->newest;

	while (job != NULL && job->id > id)
		job = job->older;
	return job != NULL && job->id == id && job->owner == owner ? job : NULL;
}

int
jobs_wait(struct jobs *jobs, const void *owner, uint64_t id, struct job_waiter *waiter,
	struct lancet_error *err)
{
	struct job *job;
	struct lancet_error end;
	bool ended = false;

	pthread_mutex_lock(&jobs->lock);
	job = jobs_seek(jobs, owner, id);
	if (job != NULL && job_has_ended(job)) {
		ended = true;
		end = job->view.err;
		job_ref(job);
	} else if (job != NULL) {
		waiter->next = job->waiters;
		job->waiters = waiter;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (job == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "job %" PRIu64 ": no such job", id);
	if (ended) {
		waiter->told(waiter, job, job->result, &end);
		job_unref(job);
	}
	return LANCET_OK;
}

bool
jobs_unwait(struct jobs *jobs, uint64_t id, struct job_waiter *waiter)
{
	struct job *job;
	bool found = false;

	pthread_mutex_lock(&jobs->lock);
	for (job = jobs->newest; job != NULL && job->id != id;)
		job = job->older;
	for (struct job_waiter **link = job == NULL ? NULL : &job->waiters;
		link != NULL && *link != NULL && !found; link = &(*link)->next) {
		if (*link != waiter)
			continue;
		*link = waiter->next;
		found = true;
		break;
	}
	pthread_mutex_unlock(&jobs->lock);
	return found;
}

uint64_t
job_id(const struct job *job)
{
	return job->id;
}

bool
job_is_cancelled(struct job *job)
{
	return atomic_load(&job->cancelled);
}

void
job_progress(struct job *job, uint64_t done, uint64_t total, const char *unit)
{
	pthread_mutex_lock(&job->jobs->lock);
	job->view.done = done;
	job->view.total = total;
	snprintf(job->view.unit, sizeof(job->view.unit), "%s", unit != NULL ? unit : "");
	pthread_mutex_unlock(&job->jobs->lock);
}

struct job *
jobs_find(struct jobs *jobs, const void *owner, uint64_t id)
{
	struct job *job;

	pthread_mutex_lock(&jobs->lock);
	job = jobs_seek(jobs, owner, id);
	if (job != NULL)
		job_ref(job);
	pthread_mutex_unlock(&jobs->lock);
	return job;
}

struct job *
job_ref(struct job *job)
{
	atomic_fetch_add(&job->refs, 1);
	return job;
}

void
job_unref(struct job *job)
{
	if (job == NULL || atomic_fetch_sub(&job->refs, 1) != 1)
		return;
	text_unref(job->result);
	free(job->line);
	free(job);
}

void
job_look(struct job *job, struct job_view *ret_view)
{
	pthread_mutex_lock(&job->jobs->lock);
	*ret_view = job->view;
	pthread_mutex_unlock(&job->jobs->lock);
}

const char *
job_line(const struct job *job)
{
	return job->line;
}

struct text *
job_result(struct job *job)
{
	struct text *result = NULL;

	pthread_mutex_lock(&job->jobs->lock);
	if (job->result != NULL)
		result = text_ref(job->result);
	pthread_mutex_unlock(&job->jobs->lock);
	return result;
}

const char *
job_state_name(enum job_state state)
{
	static const char *const names[] = { "queued", "running", "done", "failed", "cancelled" };

	return names[state];
}

void
job_watch(struct job *job, struct job_watcher *watcher)
{
	pthread_mutex_lock(&job->jobs->lock);
	watcher->previous = NULL;
	watcher->next = job->watchers;
	if (job->watchers != NULL)
		job->watchers->previous = watcher;
	job->watchers = watcher;
	pthread_mutex_unlock(&job->jobs->lock);
}

void
job_unwatch(struct job *job, struct job_watcher *watcher)
{
	pthread_mutex_lock(&job->jobs->lock);
	if (watcher->next != NULL)
		watcher->next->previous = watcher->previous;
	if (watcher->previous != NULL)
		watcher->previous->next = watcher->next;
	else
		job->watchers = watcher->next;
	pthread_mutex_unlock(&job->jobs->lock);
}

int
jobs_list(struct jobs *jobs, const void *owner, uint64_t **ret_ids, size_t *ret_count,
	struct lancet_error *err)
{
	uint64_t *ids;
	size_t count = 0;

	pthread_mutex_lock(&jobs->lock);
	ids = malloc((jobs->kept + 1) * sizeof(*ids));
	for (struct job *job = jobs->oldest; ids != NULL && job != NULL; job = job->newer) {
		if (job->owner == owner)
			ids[count++] = job->id;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "jobs: out of memory");
	*ret_ids = ids;
	*ret_count = count;
	return LANCET_OK;
}

void
jobs_count(struct jobs *jobs, size_t counts[JOB_CANCELLED + 1])
{
	memset(counts, 0, (JOB_CANCELLED + 1) * sizeof(counts[0]));
	pthread_mutex_lock(&jobs->lock);
	for (const struct job *job = jobs->newest; job != NULL; job = job->older)
		counts[job->view.state]++;
	pthread_mutex_unlock(&jobs->lock);
}

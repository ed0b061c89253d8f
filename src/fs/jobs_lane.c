/* The lanes of jobs.h: how jobs wait, run and end. */
#include "jobs_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/macros.h"

/* The default stack is for programs that recurse without limit. */
#define STACK_SIZE (4u << 20) /* bytes */

struct jobs *
jobs_new(unsigned long_max)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	pthread_condattr_t attributes;

	if (jobs == NULL || pthread_mutex_init(&jobs->lock, NULL) != 0) {
		free(jobs);
		return NULL;
	}
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&jobs->idle, &attributes);
	pthread_condattr_destroy(&attributes);
	jobs->lanes[0].max = long_max;
	jobs->lanes[1].max = JOBS_QUICK_MAX;
	return jobs;
}

/* Under the lock. */
static void
set_state(struct job *job, enum job_state state)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	job->view.state = state;
	job->view.changes++;
	job->view.changed_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	for (struct job_watcher *watcher = job->watchers; watcher != NULL; watcher = watcher->next)
		watcher->told(watcher);
}

/* Under the lock: takes the oldest ended jobs out of what is kept, as long as that is too much.
 * Returns them as a list by `behind`, to be given up without the lock. */
static struct job *
take_surplus(struct jobs *jobs)
{
	struct job *surplus = NULL;
	struct job *job = jobs->oldest;

	while (job != NULL && (jobs->kept > JOBS_KEPT || jobs->result_bytes > JOBS_RESULTS)) {
		struct job *newer = job->newer;

		if (job_has_ended(job) && newer != NULL) {
			*(job->older != NULL ? &job->older->newer : &jobs->oldest) = newer;
			newer->older = job->older;
			jobs->kept--;
			jobs->result_bytes -= job->result != NULL ? job->result->size : 0;
			job->behind = surplus;
			surplus = job;
		}
		job = newer;
	}
	return surplus;
}

static void
give_up(struct job *surplus)
{
	while (surplus != NULL) {
		struct job *next = surplus->behind;

		job_unref(surplus);
		surplus = next;
	}
}

static enum job_state
state_of(int code)
{
	return code == LANCET_OK ? JOB_DONE : code == LANCET_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
}

/* Ends a job that ran, or was dropped: whoever waits is told. */
static void
end_job(struct job *job, int code, struct buf *bytes, const struct lancet_error *err)
{
	struct jobs *jobs = job->jobs;
	struct text *result = text_new(bytes);
	struct job_waiter *waiters;
	struct job *surplus;

	buf_release(bytes);
	pthread_mutex_lock(&jobs->lock);
	job->view.err = *err;
	job->result = result;
	jobs->result_bytes += result != NULL ? result->size : 0;
	waiters = job->waiters;
	job->waiters = NULL;
	set_state(job, state_of(code));
	surplus = take_surplus(jobs);
	pthread_mutex_unlock(&jobs->lock);
	job->work.ended(job->work.context, job, result, err);
	while (waiters != NULL) {
		struct job_waiter *next = waiters->next;

		waiters->told(waiters, job, result, err);
		waiters = next;
	}
	give_up(surplus);
}

static void
drop_job(struct job *job)
{
	struct lancet_error err = { 0 };
	struct buf result = { 0 };

	lancet_fail(&err, LANCET_CANCELLED, "cancelled before its turn came");
	job->work.dropped(job->work.context, job, &err, &result);
	end_job(job, LANCET_CANCELLED, &result, &err);
	job_unref(job);
}

static void
run_job(struct job *job)
{
	struct lancet_error err = { 0 };
	struct buf result = { 0 };
	int code = job->work.run(job->work.context, job, &result, &err);

	end_job(job, code, &result, &err);
	job_unref(job);
}

/* Under the lock: the next job of a lane, running; NULL: none waits. */
static struct job *
take_next(struct job_lane *lane)
{
	struct job *job = lane->first;

	if (job != NULL) {
		lane->first = job->behind;
		job->behind = NULL;
		lane->waiting--;
		set_state(job, JOB_RUNNING);
	}
	return job;
}

static void *
run_lane(void *argument)
{
	struct job_thread *self = argument;
	struct jobs *jobs = self->jobs;
	struct job *job = self->first;

	while (job != NULL) {
		run_job(job);
		pthread_mutex_lock(&jobs->lock);
		job = take_next(self->lane);
		if (job == NULL) {
			self->lane->running--;
			self->next = jobs->ended;
			jobs->ended = self;
			pthread_cond_broadcast(&jobs->idle);
		}
		pthread_mutex_unlock(&jobs->lock);
	}
	return NULL;
}

/* Threads that have ended are waited for, which takes no time any more. */
static void
join_ended(struct jobs *jobs)
{
	struct job_thread *ended;

	pthread_mutex_lock(&jobs->lock);
	ended = jobs->ended;
	jobs->ended = NULL;
	pthread_mutex_unlock(&jobs->lock);
	while (ended != NULL) {
		struct job_thread *next = ended->next;

		pthread_join(ended->thread, NULL);
		free(ended);
		ended = next;
	}
}

static int
start_thread(struct jobs *jobs, struct job_lane *lane, struct job *job)
{
	struct job_thread *self = calloc(1, sizeof(*self));
	pthread_attr_t attributes;
	int rc;

	if (self == NULL)
		return ENOMEM;
	*self = (struct job_thread){ .jobs = jobs, .lane = lane, .first = job };
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	rc = pthread_create(&self->thread, &attributes, run_lane, self);
	pthread_attr_destroy(&attributes);
	if (rc != 0)
		free(self);
	return rc;
}

static struct job *
new_job(struct jobs *jobs, const void *owner, const char *line, bool quick,
	const struct job_work *work)
{
	struct job *job = calloc(1, sizeof(*job));

	if (job == NULL || (job->line = strdup(line)) == NULL) {
		free(job);
		return NULL;
	}
	job->refs = 2; /* the list's and the lane's */
	job->jobs = jobs;
	job->owner = owner;
	job->quick = quick;
	job->work = *work;
	return job;
}

/* Under the lock: into the list and its lane. *ret_start: a thread has to be made for it. */
static int
enqueue(struct jobs *jobs, struct job *job, bool *ret_start, struct lancet_error *err)
{
	struct job_lane *lane = &jobs->lanes[job->quick];

	if (jobs->stopping)
		return lancet_fail(
			err, LANCET_BUSY, "the mount is being ended: no new commands are taken");
	if (lane->waiting >= JOBS_QUEUE_MAX)
		return lancet_fail(err, LANCET_LIMIT,
			"%d jobs are waiting already: try again later", JOBS_QUEUE_MAX);
	job->id = ++jobs->last_id;
	job->older = jobs->newest;
	*(jobs->newest != NULL ? &jobs->newest->newer : &jobs->oldest) = job;
	jobs->newest = job;
	jobs->kept++;
	*ret_start = lane->running < lane->max;
	if (*ret_start) {
		lane->running++;
		set_state(job, JOB_RUNNING);
	} else {
		*(lane->first != NULL ? &lane->last->behind : &lane->first) = job;
		lane->last = job;
		lane->waiting++;
		set_state(job, JOB_QUEUED);
	}
	return LANCET_OK;
}

/* No thread could be made. Others of the lane will come to it; if there are none it is cancelled.
 */
static void
without_thread(struct jobs *jobs, struct job_lane *lane, struct job *job)
{
	bool alone;

	pthread_mutex_lock(&jobs->lock);
	lane->running--;
	alone = lane->running == 0;
	if (!alone) {
		job->behind = lane->first;
		if (lane->first == NULL)
			lane->last = job;
		lane->first = job;
		lane->waiting++;
		set_state(job, JOB_QUEUED);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (alone)
		drop_job(job);
}

int
jobs_submit(struct jobs *jobs, const void *owner, const char *line, bool quick,
	const struct job_work *work, uint64_t *ret_id, struct lancet_error *err)
{
	struct job *job = new_job(jobs, owner, line, quick, work);
	struct job_lane *lane = &jobs->lanes[quick];
	struct job *surplus = NULL;
	bool start = false;
	int rc;

	if (job == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "job: out of memory");
	join_ended(jobs);
	pthread_mutex_lock(&jobs->lock);
	rc = enqueue(jobs, job, &start, err);
	if (rc == LANCET_OK) {
		surplus = take_surplus(jobs);
		*ret_id = job->id;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (rc != LANCET_OK) {
		job->refs = 1;
		job_unref(job);
		return rc;
	}
	give_up(surplus);
	if (start && start_thread(jobs, lane, job) != 0)
		without_thread(jobs, lane, job);
	return LANCET_OK;
}

/* Under the lock: out of the queue. */
static void
unqueue(struct job_lane *lane, struct job *job)
{
	struct job **link = &lane->first, *before = NULL;

	while (*link != job) {
		before = *link;
		link = &before->behind;
	}
	*link = job->behind;
	job->behind = NULL;
	if (lane->last == job)
		lane->last = before;
	lane->waiting--;
}

int
jobs_cancel(struct jobs *jobs, const void *owner, uint64_t id, struct lancet_error *err)
{
	struct job *job;
	bool queued = false;
	int rc = LANCET_OK;

	pthread_mutex_lock(&jobs->lock);
	job = jobs_seek(jobs, owner, id);
	if (job == NULL)
		rc = lancet_fail(err, LANCET_NOT_FOUND, "job %" PRIu64 ": no such job", id);
	else if (job_has_ended(job))
		rc = lancet_fail(err, LANCET_INVALID, "job %" PRIu64 " has ended: it is %s", id,
			job_state_name(job->view.state));
	else {
		atomic_store(&job->cancelled, true);
		queued = job->view.state == JOB_QUEUED;
		if (queued)
			unqueue(&jobs->lanes[job->quick], job);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (queued)
		drop_job(job);
	return rc;
}

void
jobs_stop(struct jobs *jobs)
{
	struct job *dropped = NULL;

	pthread_mutex_lock(&jobs->lock);
	jobs->stopping = true;
	for (size_t i = 0; i < ARRAY_SIZE(jobs->lanes); i++) {
		struct job_lane *lane = &jobs->lanes[i];

		if (lane->first != NULL) {
			lane->last->behind = dropped;
			dropped = lane->first;
		}
		lane->first = lane->last = NULL;
		lane->waiting = 0;
	}
	pthread_mutex_unlock(&jobs->lock);
	while (dropped != NULL) {
		struct job *next = dropped->behind;

		dropped->behind = NULL;
		drop_job(dropped);
		dropped = next;
	}
}

/* Under the lock. */
static void
cancel_all(struct jobs *jobs)
{
	for (struct job *job = jobs->newest; job != NULL; job = job->older)
		atomic_store(&job->cancelled, true);
}

void
jobs_free(struct jobs *jobs, unsigned seconds)
{
	struct timespec until;

	if (jobs == NULL)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&jobs->lock);
	while (jobs->lanes[0].running + jobs->lanes[1].running > 0) {
		if (pthread_cond_timedwait(&jobs->idle, &jobs->lock, &until) == ETIMEDOUT) {
			cancel_all(jobs);
			pthread_cond_wait(&jobs->idle, &jobs->lock);
		}
	}
	pthread_mutex_unlock(&jobs->lock);
	join_ended(jobs);
	while (jobs->newest != NULL) {
		struct job *job = jobs->newest;

		jobs->newest = job->older;
		job_unref(job);
	}
	pthread_cond_destroy(&jobs->idle);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

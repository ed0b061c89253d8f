/* Jobs: commands that wait for their turn, run, or have run.
 *
 * Two lanes. Quick jobs never stand behind long ones, of which `long_max` run at once. A thread is
 * made for a job and takes further ones that wait in its lane. The newest JOBS_KEPT stay to be
 * looked at. SPEC section 5. One lock, held around the tables only; what is told under it says so.
 */
#ifndef FS_JOBS_H
#define FS_JOBS_H

#include "util/buf.h"
#include "textcache.h"

#define JOBS_KEPT      100
#define JOBS_QUICK_MAX 64          /* threads of the quick lane */
#define JOBS_QUEUE_MAX 1000        /* jobs that wait in a lane */
#define JOBS_RESULTS   (64u << 20) /* bytes of results that are kept */

enum job_state {
	JOB_QUEUED,
	JOB_RUNNING,
	JOB_DONE,
	JOB_FAILED,
	JOB_CANCELLED,
};

struct job;
struct jobs;

/* What a job is made of. The functions are called without a lock, in the order run or dropped,
 * then ended; `context` belongs to them. */
struct job_work {
	void *context;
	/* The code is the job's end; *result and *err say more of it. */
	int (*run)(void *context, struct job *job, struct buf *result, struct lancet_error *err);
	/* Instead of run: it was cancelled before its turn came. Fills *result. */
	void (*dropped)(
		void *context, struct job *job, const struct lancet_error *err, struct buf *result);
	/* The last call. `result` belongs to the job. */
	void (*ended)(void *context, struct job *job, struct text *result,
		const struct lancet_error *err);
};

/* Told once when the job ends; without a lock. */
struct job_waiter {
	void (*told)(struct job_waiter *waiter, struct job *job, struct text *result,
		const struct lancet_error *err);
	struct job_waiter *next;
};

/* Told of each change of state, under the lock: must not call back. */
struct job_watcher {
	void (*told)(struct job_watcher *watcher);
	struct job_watcher *next, *previous;
};

struct jobs *jobs_new(unsigned long_max);
/* No new jobs are taken, those that wait are cancelled; those that run go on. */
void jobs_stop(struct jobs *jobs);
/* After jobs_stop: cancels what still runs after `seconds`, waits for all, frees. NULL is fine. */
void jobs_free(struct jobs *jobs, unsigned seconds);

/* `owner` is whose list shows it; `line` is copied. BUSY: stopping; LIMIT: too many wait. When this
 * fails, nothing of `work` is called. *ret_id may be written after the job has ended. */
int jobs_submit(struct jobs *jobs, const void *owner, const char *line, bool quick,
	const struct job_work *work, uint64_t *ret_id, struct lancet_error *err);
/* NOT_FOUND: no such job of this owner; INVALID: it has ended. What runs ends in its own time. */
int jobs_cancel(struct jobs *jobs, const void *owner, uint64_t id, struct lancet_error *err);
/* The waiter is told when the job ends, at once if it has. NOT_FOUND as above: it is not told. */
int jobs_wait(struct jobs *jobs, const void *owner, uint64_t id, struct job_waiter *waiter,
	struct lancet_error *err);
/* False: it was told, or is about to be. */
bool jobs_unwait(struct jobs *jobs, uint64_t id, struct job_waiter *waiter);

/* Of the job's own thread. */
uint64_t job_id(const struct job *job);
bool job_is_cancelled(struct job *job);
void job_progress(struct job *job, uint64_t done, uint64_t total, const char *unit);

/* A job as it is now. */
struct job_view {
	enum job_state state;
	uint64_t done, total;
	char unit[16];      /* "" until there is progress */
	unsigned changes;   /* of its state, so far */
	int64_t changed_ns; /* when that last was, since 1970 */
	struct lancet_error err;
};
/* Counted; NULL: no such job of this owner. */
struct job *jobs_find(struct jobs *jobs, const void *owner, uint64_t id);
struct job *job_ref(struct job *job);
void job_unref(struct job *job); /* NULL is fine */
void job_look(struct job *job, struct job_view *ret_view);
const char *job_line(const struct job *job);
/* Counted; NULL until it has ended. */
struct text *job_result(struct job *job);
const char *job_state_name(enum job_state state);
void job_watch(struct job *job, struct job_watcher *watcher);
void job_unwatch(struct job *job, struct job_watcher *watcher);

/* Ids of the owner's jobs, ascending, allocated; `counts` (may be NULL) gets all jobs by state. */
int jobs_list(struct jobs *jobs, const void *owner, uint64_t **ret_ids, size_t *ret_count,
	struct lancet_error *err);
void jobs_count(struct jobs *jobs, size_t counts[JOB_CANCELLED + 1]);

#endif

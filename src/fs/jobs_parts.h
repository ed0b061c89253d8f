/* What jobs_lane.c and jobs_look.c share. */
#ifndef FS_JOBS_PARTS_H
#define FS_JOBS_PARTS_H

#include "jobs.h"

#include <pthread.h>
#include <stdatomic.h>

struct job {
	_Atomic int refs;
	_Atomic bool cancelled;
	struct jobs *jobs; /* whose lock guards what follows */
	uint64_t id;
	const void *owner;
	char *line;
	bool quick;
	struct job_work work;
	struct job_view view;
	struct text *result;
	struct job_waiter *waiters;
	struct job_watcher *watchers;
	struct job *older, *newer; /* all that are kept, by id */
	struct job *behind;        /* in the queue of its lane */
};

/* The thread that runs jobs of a lane. */
struct job_thread {
	pthread_t thread;
	struct jobs *jobs;
	struct job_lane *lane;
	struct job *first;
	struct job_thread *next; /* of those that have ended */
};

struct job_lane {
	unsigned running, max;
	struct job *first, *last;
	size_t waiting;
};

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t idle; /* a thread has ended */
	bool stopping;
	uint64_t last_id;
	struct job *newest, *oldest;
	size_t kept, result_bytes;
	struct job_lane lanes[2]; /* long, quick */
	struct job_thread *ended;
};

static inline bool
job_has_ended(const struct job *job)
{
	return job->view.state > JOB_RUNNING;
}

/* The job of this id and owner, under the lock. NULL: none. */
struct job *jobs_seek(struct jobs *jobs, const void *owner, uint64_t id);

#endif

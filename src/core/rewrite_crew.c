/* Workers of a rewrite; see rewrite_crew.h. */
#include "rewrite_crew.h"

#define MEMORY      ((size_t)512 << 20)
#define WORKERS     2u
#define WORKERS_MAX 64u

void
rewrite_crew_init(struct rewrite_crew *crew, const struct lancet_rewrite_run *run)
{
	*crew = (struct rewrite_crew){
		.run = run,
		.workers = run->workers == 0 ? WORKERS : run->workers,
		.memory = run->memory == 0 ? MEMORY : run->memory,
	};
	if (crew->workers > WORKERS_MAX)
		crew->workers = WORKERS_MAX;
	(void)pthread_mutex_init(&crew->lock, NULL);
}

void
rewrite_crew_release(struct rewrite_crew *crew)
{
	(void)pthread_mutex_destroy(&crew->lock);
}

/* The caller is a worker, too; one that can't be started is done without. */
int
rewrite_crew_work(struct rewrite_crew *crew, void *(*worker)(void *context), void *context,
	struct lancet_error *err)
{
	pthread_t threads[WORKERS_MAX];
	unsigned started = 0;

	while (started + 1 < crew->workers &&
		pthread_create(&threads[started], NULL, worker, context) == 0)
		started++;
	(void)worker(context);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(threads[i], NULL);
	if (crew->rc != LANCET_OK && err != NULL)
		*err = crew->failure;
	return crew->rc;
}

void
rewrite_crew_ended(struct rewrite_crew *crew, int rc, const struct lancet_error *failure)
{
	if (rc == LANCET_OK || crew->rc != LANCET_OK)
		return;
	crew->rc = rc;
	crew->failure = *failure;
}

static int
cancelled(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CANCELLED, "cancelled before the commit");
}

int
rewrite_crew_step(struct rewrite_crew *crew, uint64_t cells, struct lancet_error *err)
{
	const struct lancet_rewrite_run *run = crew->run;
	bool stopped;

	(void)pthread_mutex_lock(&crew->lock);
	crew->done += cells;
	stopped = crew->rc != LANCET_OK;
	if (run->progress != NULL && cells > 0 && !stopped)
		run->progress(run->context, crew->done, crew->total, "values");
	(void)pthread_mutex_unlock(&crew->lock);
	return stopped ? cancelled(err) : rewrite_check_cancelled(run, err);
}

int
rewrite_check_cancelled(const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	if (run->cancelled == NULL || !run->cancelled(run->context))
		return LANCET_OK;
	return cancelled(err);
}

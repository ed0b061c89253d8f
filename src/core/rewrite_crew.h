/* Inside of writing the outputs of a rewrite: the workers of a run, how far they are, and the first
 * failure, which stops all of them.
 */
#ifndef CORE_REWRITE_CREW_H
#define CORE_REWRITE_CREW_H

#include <pthread.h>

#include <lancet/rewrite.h>

struct rewrite_crew {
	const struct lancet_rewrite_run *run;
	unsigned workers;
	size_t memory; /* bytes, of all of them */
	pthread_mutex_t lock;
	uint64_t done, total; /* values */
	int rc;
	struct lancet_error failure;
};

void rewrite_crew_init(struct rewrite_crew *crew, const struct lancet_rewrite_run *run);
void rewrite_crew_release(struct rewrite_crew *crew);
/* Runs `worker` in each of them until all have returned; fails as the first that did. */
int rewrite_crew_work(struct rewrite_crew *crew, void *(*worker)(void *context), void *context,
	struct lancet_error *err);
/* Called with the lock: one of them has ended something. */
void rewrite_crew_ended(struct rewrite_crew *crew, int rc, const struct lancet_error *failure);
/* `cells` more are done. CANCELLED once it is cancelled, or another worker has failed. */
int rewrite_crew_step(struct rewrite_crew *crew, uint64_t cells, struct lancet_error *err);

/* CANCELLED when the run is. */
int rewrite_check_cancelled(const struct lancet_rewrite_run *run, struct lancet_error *err);

#endif

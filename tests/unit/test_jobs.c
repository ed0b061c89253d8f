/* Jobs: lanes, cancelling, waiting, and what is kept of them. */
#include "unit.h"

#include "fs/jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char owner[] = "owner", other[] = "other";

/* What a test sees of one job. Runs until it is let go, or cancelled. */
struct seen {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ends_at_cancel;
	int code; /* that it ends with */
	bool started, go, dropped, ended;
	enum lancet_code end;
	char result[64];
};

#define SEEN                                                                                       \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER             \
	}

static void
set(struct seen *seen, bool *flag)
{
	pthread_mutex_lock(&seen->lock);
	*flag = true;
	pthread_cond_broadcast(&seen->changed);
	pthread_mutex_unlock(&seen->lock);
}

static void
await(struct seen *seen, const bool *flag)
{
	pthread_mutex_lock(&seen->lock);
	while (!*flag)
		pthread_cond_wait(&seen->changed, &seen->lock);
	pthread_mutex_unlock(&seen->lock);
}

static int
run(void *context, struct job *job, struct buf *result, struct lancet_error *err)
{
	struct seen *seen = context;
	bool go = false;

	set(seen, &seen->started);
	while (!go && !(seen->ends_at_cancel && job_is_cancelled(job))) {
		pthread_mutex_lock(&seen->lock);
		go = seen->go;
		pthread_mutex_unlock(&seen->lock);
		usleep(1000);
	}
	job_progress(job, 3, 4, "files");
	buf_printf(result, "result of %u", (unsigned)job_id(job));
	if (!go)
		return lancet_fail(err, LANCET_CANCELLED, "cancelled");
	return seen->code == LANCET_OK ? LANCET_OK : lancet_fail(err, seen->code, "it failed");
}

static void
dropped(void *context, struct job *job, const struct lancet_error *err, struct buf *result)
{
	struct seen *seen = context;

	(void)job;
	ck_assert_int_eq(err->code, LANCET_CANCELLED);
	buf_put_text(result, "never ran");
	set(seen, &seen->dropped);
}

static void
ended(void *context, struct job *job, struct text *result, const struct lancet_error *err)
{
	struct seen *seen = context;

	(void)job;
	ck_assert_ptr_nonnull(result);
	snprintf(seen->result, sizeof(seen->result), "%.*s", (int)result->size,
		(const char *)result->data);
	seen->end = err->code;
	set(seen, &seen->ended);
}

static uint64_t
submit(struct jobs *jobs, struct seen *seen, bool quick)
{
	const struct job_work work = { seen, run, dropped, ended };
	uint64_t id = 0;

	ck_assert_int_eq(jobs_submit(jobs, owner, "a line", quick, &work, &id, NULL), LANCET_OK);
	return id;
}

static enum job_state
state_of(struct jobs *jobs, uint64_t id)
{
	struct job *job = jobs_find(jobs, owner, id);
	struct job_view view;

	ck_assert_ptr_nonnull(job);
	job_look(job, &view);
	job_unref(job);
	return view.state;
}

START_TEST(quick_jobs_do_not_stand_behind_long_ones)
{
	struct jobs *jobs = jobs_new(1);
	struct seen first = SEEN, second = SEEN, quick = SEEN;
	uint64_t ids[3];

	ids[0] = submit(jobs, &first, false);
	ids[1] = submit(jobs, &second, false);
	await(&first, &first.started);
	ids[2] = submit(jobs, &quick, true);
	await(&quick, &quick.started);
	ck_assert_int_eq(state_of(jobs, ids[0]), JOB_RUNNING);
	ck_assert_int_eq(state_of(jobs, ids[1]), JOB_QUEUED);
	ck_assert_int_eq(state_of(jobs, ids[2]), JOB_RUNNING);
	ck_assert(!second.started);
	set(&quick, &quick.go);
	await(&quick, &quick.ended);
	set(&first, &first.go);
	await(&first, &first.ended);
	await(&second, &second.started);
	set(&second, &second.go);
	await(&second, &second.ended);
	ck_assert_int_eq(state_of(jobs, ids[1]), JOB_DONE);
	ck_assert_str_eq(second.result, "result of 2");
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

START_TEST(as_many_long_ones_run_as_were_asked_for)
{
	struct jobs *jobs = jobs_new(2);
	struct seen seen[3] = { SEEN, SEEN, SEEN };

	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		submit(jobs, &seen[i], false);
	await(&seen[0], &seen[0].started);
	await(&seen[1], &seen[1].started);
	ck_assert_int_eq(state_of(jobs, 3), JOB_QUEUED);
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		set(&seen[i], &seen[i].go);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
	ck_assert(seen[0].ended && seen[1].ended && seen[2].ended);
}
END_TEST

START_TEST(one_that_waits_is_cancelled_without_running)
{
	struct jobs *jobs = jobs_new(1);
	struct seen first = SEEN, second = SEEN, third = SEEN;
	uint64_t id;

	submit(jobs, &first, false);
	id = submit(jobs, &second, false);
	submit(jobs, &third, false);
	ck_assert_int_eq(jobs_cancel(jobs, other, id, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(jobs_cancel(jobs, owner, 99, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(jobs_cancel(jobs, owner, id, NULL), LANCET_OK);
	ck_assert(second.dropped && second.ended && !second.started);
	ck_assert_int_eq(second.end, LANCET_CANCELLED);
	ck_assert_str_eq(second.result, "never ran");
	ck_assert_int_eq(state_of(jobs, id), JOB_CANCELLED);
	ck_assert_int_eq(jobs_cancel(jobs, owner, id, NULL), LANCET_INVALID);
	set(&first, &first.go);
	await(&third, &third.started);
	set(&third, &third.go);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

START_TEST(one_that_runs_is_told_and_ends_in_its_own_time)
{
	struct jobs *jobs = jobs_new(1);
	struct seen deaf = SEEN, listens = SEEN;
	uint64_t id;

	listens.ends_at_cancel = true;
	id = submit(jobs, &listens, false);
	await(&listens, &listens.started);
	ck_assert_int_eq(jobs_cancel(jobs, owner, id, NULL), LANCET_OK);
	await(&listens, &listens.ended);
	ck_assert_int_eq(state_of(jobs, id), JOB_CANCELLED);
	/* past its commit point */
	id = submit(jobs, &deaf, false);
	await(&deaf, &deaf.started);
	ck_assert_int_eq(jobs_cancel(jobs, owner, id, NULL), LANCET_OK);
	ck_assert_int_eq(state_of(jobs, id), JOB_RUNNING);
	set(&deaf, &deaf.go);
	await(&deaf, &deaf.ended);
	ck_assert_int_eq(state_of(jobs, id), JOB_DONE);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

struct waiting {
	struct job_waiter waiter;
	unsigned told;
	enum lancet_code end;
};

static void
told(struct job_waiter *waiter, struct job *job, struct text *result,
	const struct lancet_error *err)
{
	struct waiting *waiting = (struct waiting *)waiter;

	ck_assert_ptr_nonnull(job);
	ck_assert_ptr_nonnull(result);
	waiting->end = err->code;
	__atomic_fetch_add(&waiting->told, 1, __ATOMIC_SEQ_CST);
}

START_TEST(who_waits_is_told_once)
{
	struct jobs *jobs = jobs_new(1);
	struct waiting early = { .waiter.told = told }, late = { .waiter.told = told };
	struct waiting left = { .waiter.told = told };
	struct seen seen = SEEN;
	uint64_t id;

	seen.code = LANCET_BUSY;
	id = submit(jobs, &seen, false);
	ck_assert_int_eq(jobs_wait(jobs, owner, id + 1, &early.waiter, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(jobs_wait(jobs, other, id, &early.waiter, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(jobs_wait(jobs, owner, id, &early.waiter, NULL), LANCET_OK);
	ck_assert_int_eq(jobs_wait(jobs, owner, id, &left.waiter, NULL), LANCET_OK);
	ck_assert(jobs_unwait(jobs, id, &left.waiter));
	ck_assert(!jobs_unwait(jobs, id, &left.waiter));
	set(&seen, &seen.go);
	await(&seen, &seen.ended);
	while (__atomic_load_n(&early.told, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	ck_assert_int_eq(early.end, LANCET_BUSY);
	ck_assert_int_eq(state_of(jobs, id), JOB_FAILED);
	ck_assert_int_eq(jobs_wait(jobs, owner, id, &late.waiter, NULL), LANCET_OK);
	ck_assert_uint_eq(late.told, 1);
	ck_assert_uint_eq(early.told, 1);
	ck_assert_uint_eq(left.told, 0);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

START_TEST(the_newest_hundred_are_kept_and_those_that_run)
{
	struct jobs *jobs = jobs_new(1);
	struct seen running = SEEN;
	size_t count = 0, counts[JOB_CANCELLED + 1];
	uint64_t *ids = NULL;

	submit(jobs, &running, false);
	for (unsigned i = 0; i < JOBS_KEPT + 20; i++) {
		struct seen quick = SEEN;

		quick.go = true;
		submit(jobs, &quick, true);
		await(&quick, &quick.ended);
	}
	ck_assert_int_eq(jobs_list(jobs, owner, &ids, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(count, JOBS_KEPT);
	ck_assert_uint_eq(ids[0], 1);
	ck_assert_uint_eq(ids[1], 23);
	ck_assert_uint_eq(ids[JOBS_KEPT - 1], JOBS_KEPT + 21);
	free(ids);
	ck_assert_ptr_null(jobs_find(jobs, owner, 22));
	ck_assert_ptr_null(jobs_find(jobs, other, 23));
	jobs_count(jobs, counts);
	ck_assert_uint_eq(counts[JOB_RUNNING], 1);
	ck_assert_uint_eq(counts[JOB_DONE], JOBS_KEPT - 1);
	set(&running, &running.go);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

START_TEST(a_job_can_be_looked_at)
{
	struct jobs *jobs = jobs_new(1);
	struct seen seen = SEEN;
	struct job_view view;
	struct text *result;
	struct job *job;

	job = jobs_find(jobs, owner, submit(jobs, &seen, false));
	ck_assert_str_eq(job_line(job), "a line");
	ck_assert_ptr_null(job_result(job));
	set(&seen, &seen.go);
	await(&seen, &seen.ended);
	job_look(job, &view);
	ck_assert_uint_eq(view.done, 3);
	ck_assert_uint_eq(view.total, 4);
	ck_assert_str_eq(view.unit, "files");
	ck_assert_uint_ge(view.changes, 2);
	result = job_result(job);
	ck_assert_ptr_nonnull(result);
	text_unref(result);
	job_unref(job);
	jobs_stop(jobs);
	jobs_free(jobs, 10);
}
END_TEST

START_TEST(the_end_cancels_what_waits_and_lets_run_what_runs)
{
	const struct job_work none = { NULL, run, dropped, ended };
	struct jobs *jobs = jobs_new(1);
	struct seen runs = SEEN, waits[2] = { SEEN, SEEN };
	uint64_t id = 0;

	submit(jobs, &runs, false);
	await(&runs, &runs.started);
	submit(jobs, &waits[0], false);
	submit(jobs, &waits[1], false);
	jobs_stop(jobs);
	ck_assert(waits[0].dropped && waits[1].dropped);
	ck_assert(!runs.ended);
	ck_assert_int_eq(jobs_submit(jobs, owner, "late", true, &none, &id, NULL), LANCET_BUSY);
	set(&runs, &runs.go);
	jobs_free(jobs, 30);
	ck_assert_int_eq(runs.end, LANCET_OK);
}
END_TEST

START_TEST(what_does_not_end_in_time_is_cancelled)
{
	struct jobs *jobs = jobs_new(1);
	struct seen runs = SEEN;

	runs.ends_at_cancel = true;
	submit(jobs, &runs, false);
	await(&runs, &runs.started);
	jobs_stop(jobs);
	jobs_free(jobs, 0);
	ck_assert(runs.ended);
	ck_assert_int_eq(runs.end, LANCET_CANCELLED);
}
END_TEST

UNIT_MAIN("jobs", UNIT_TEST(quick_jobs_do_not_stand_behind_long_ones),
	UNIT_TEST(as_many_long_ones_run_as_were_asked_for),
	UNIT_TEST(one_that_waits_is_cancelled_without_running),
	UNIT_TEST(one_that_runs_is_told_and_ends_in_its_own_time),
	UNIT_TEST(who_waits_is_told_once),
	UNIT_TEST(the_newest_hundred_are_kept_and_those_that_run),
	UNIT_TEST(a_job_can_be_looked_at),
	UNIT_TEST(the_end_cancels_what_waits_and_lets_run_what_runs),
	UNIT_TEST(what_does_not_end_in_time_is_cancelled))

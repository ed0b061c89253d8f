/* The thread that looks at pending signals; see caller.h. It is made when the first signal comes.
 */
#include "caller.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/macros.h"

struct callers {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool started, stopping;
	pthread_t thread;
	struct caller *first;
};

/* The mask behind a name of /proc/PID/status, 0 when it isn't there. */
static uint64_t
mask_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line == NULL ? 0 : strtoull(line + strlen(name), NULL, 16);
}

bool
caller_asks_for_end(pid_t pid)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL };
	char path[64], status[4096];
	uint64_t pending, wanted = 0;
	ssize_t size;
	lancet_autoclose int fd = -1;

	if (pid <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	size = read(fd, status, sizeof(status) - 1);
	if (size <= 0)
		return size < 0 && errno == ESRCH;
	status[size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		wanted |= UINT64_C(1) << (numbers[i] - 1);
	pending = mask_of(status, "\nSigPnd:") | mask_of(status, "\nShdPnd:");
	return (pending & ~mask_of(status, "\nSigBlk:") & wanted) != 0;
}

void
caller_ref(struct caller *caller)
{
	atomic_fetch_add(&caller->refs, 1);
}

void
caller_unref(struct caller *caller)
{
	if (atomic_fetch_sub(&caller->refs, 1) == 1)
		caller->release(caller);
}

/* Under the lock; the list's reference becomes that of who calls. */
static void
unlist(struct callers *callers, struct caller *caller)
{
	if (caller->next != NULL)
		caller->next->previous = caller->previous;
	*(caller->previous != NULL ? &caller->previous->next : &callers->first) = caller->next;
	caller->next = caller->previous = NULL;
	caller->listed = false;
}

/* Under the lock: one that asks for the end, taken out; NULL: none. */
static struct caller *
take_asking(struct callers *callers)
{
	struct caller *caller = callers->first;

	while (caller != NULL && !caller_asks_for_end(caller->pid))
		caller = caller->next;
	if (caller != NULL)
		unlist(callers, caller);
	return caller;
}

static void
wait_for_next(struct callers *callers)
{
	struct timespec until;

	if (callers->first == NULL) {
		pthread_cond_wait(&callers->changed, &callers->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += CALLER_LOOK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	(void)pthread_cond_timedwait(&callers->changed, &callers->lock, &until);
}

static void *
look(void *argument)
{
	struct callers *callers = argument;

	pthread_mutex_lock(&callers->lock);
	while (!callers->stopping) {
		struct caller *caller = take_asking(callers);

		if (caller == NULL) {
			wait_for_next(callers);
			continue;
		}
		pthread_mutex_unlock(&callers->lock);
		caller->wants_end(caller);
		caller_unref(caller);
		pthread_mutex_lock(&callers->lock);
	}
	pthread_mutex_unlock(&callers->lock);
	return NULL;
}

struct callers *
callers_new(void)
{
	struct callers *callers = calloc(1, sizeof(*callers));
	pthread_condattr_t attributes;

	if (callers == NULL || pthread_mutex_init(&callers->lock, NULL) != 0) {
		free(callers);
		return NULL;
	}
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&callers->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return callers;
}

void
callers_free(struct callers *callers)
{
	if (callers == NULL)
		return;
	pthread_mutex_lock(&callers->lock);
	callers->stopping = true;
	pthread_cond_broadcast(&callers->changed);
	pthread_mutex_unlock(&callers->lock);
	if (callers->started)
		pthread_join(callers->thread, NULL);
	while (callers->first != NULL) {
		struct caller *caller = callers->first;

		unlist(callers, caller);
		caller_unref(caller);
	}
	pthread_cond_destroy(&callers->changed);
	pthread_mutex_destroy(&callers->lock);
	free(callers);
}

void
caller_interrupted(struct caller *caller)
{
	struct callers *callers = caller->callers;

	pthread_mutex_lock(&callers->lock);
	if (!callers->started)
		callers->started = pthread_create(&callers->thread, NULL, look, callers) == 0;
	if (callers->started && !caller->listed) {
		caller_ref(caller);
		caller->listed = true;
		caller->previous = NULL;
		caller->next = callers->first;
		if (callers->first != NULL)
			callers->first->previous = caller;
		callers->first = caller;
	}
	pthread_cond_broadcast(&callers->changed);
	pthread_mutex_unlock(&callers->lock);
}

void
caller_forget(struct caller *caller)
{
	struct callers *callers = caller->callers;
	bool listed;

	pthread_mutex_lock(&callers->lock);
	listed = caller->listed;
	if (listed)
		unlist(callers, caller);
	pthread_mutex_unlock(&callers->lock);
	if (listed)
		caller_unref(caller);
}

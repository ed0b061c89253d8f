/* The queue of notify.h and its thread. */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "notify.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/log.h"

#define FLUSH_SECONDS 1

struct notice {
	struct notice *next;
	uint64_t node;
	struct fuse_pollhandle *poll; /* NULL: the node is meant */
	char name[];                  /* "": the attributes of the node itself */
};

struct notify {
	struct fuse_session *session; /* NULL: not started */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows; a leaf */
	pthread_cond_t changed;
	bool stopping;
	uint64_t put, told; /* notices so far */
	struct notice *first, *last;
};

struct notify *
notify_new(void)
{
	struct notify *notify = calloc(1, sizeof(*notify));
	pthread_condattr_t attributes;

	if (notify == NULL || pthread_mutex_init(&notify->lock, NULL) != 0) {
		free(notify);
		return NULL;
	}
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&notify->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return notify;
}

/* What the kernel does not know, or knows no more, is no failure. */
static void
tell(struct notify *notify, const struct notice *notice)
{
	int rc;

	if (notice->poll != NULL) {
		rc = fuse_lowlevel_notify_poll(notice->poll);
		fuse_pollhandle_destroy(notice->poll);
	} else if (notice->name[0] != '\0') {
		rc = fuse_lowlevel_notify_inval_entry(
			notify->session, notice->node, notice->name, strlen(notice->name));
	} else {
		rc = fuse_lowlevel_notify_inval_inode(notify->session, notice->node, -1, 0);
	}
	if (rc != 0 && rc != -ENOENT)
		log_line(LOG_LEVEL_DEBUG, "notice to the kernel: %s", strerror(-rc));
}

static void *
run(void *argument)
{
	struct notify *notify = argument;

	pthread_mutex_lock(&notify->lock);
	while (!notify->stopping || notify->first != NULL) {
		struct notice *notice = notify->first;

		if (notice == NULL) {
			pthread_cond_wait(&notify->changed, &notify->lock);
			continue;
		}
		notify->first = notice->next;
		pthread_mutex_unlock(&notify->lock);
		tell(notify, notice);
		free(notice);
		pthread_mutex_lock(&notify->lock);
		notify->told++;
		pthread_cond_broadcast(&notify->changed);
	}
	pthread_mutex_unlock(&notify->lock);
	return NULL;
}

int
notify_start(struct notify *notify, struct fuse_session *session, struct lancet_error *err)
{
	notify->session = session;
	if (pthread_create(&notify->thread, NULL, run, notify) == 0)
		return LANCET_OK;
	notify->session = NULL;
	return lancet_fail(err, LANCET_NO_MEMORY, "no thread can be made");
}

void
notify_free(struct notify *notify)
{
	if (notify == NULL)
		return;
	pthread_mutex_lock(&notify->lock);
	notify->stopping = true;
	pthread_cond_broadcast(&notify->changed);
	pthread_mutex_unlock(&notify->lock);
	if (notify->session != NULL)
		pthread_join(notify->thread, NULL);
	while (notify->first != NULL) {
		struct notice *notice = notify->first;

		notify->first = notice->next;
		free(notice);
	}
	pthread_cond_destroy(&notify->changed);
	pthread_mutex_destroy(&notify->lock);
	free(notify);
}

static void
put(struct notify *notify, struct notice *notice)
{
	pthread_mutex_lock(&notify->lock);
	*(notify->first != NULL ? &notify->last->next : &notify->first) = notice;
	notify->last = notice;
	notify->put++;
	pthread_cond_broadcast(&notify->changed);
	pthread_mutex_unlock(&notify->lock);
}

void
notify_tell(void *context, uint64_t parent, const char *name)
{
	size_t size = name == NULL ? 0 : strlen(name);
	struct notice *notice = calloc(1, sizeof(*notice) + size + 1);

	if (notice == NULL)
		return; /* the kernel's memory of it ends in a second anyway, or never mattered */
	notice->node = parent;
	if (size > 0)
		memcpy(notice->name, name, size);
	put(context, notice);
}

void
notify_poll(struct notify *notify, void *poll)
{
	struct notice *notice = calloc(1, sizeof(*notice) + 1);

	if (notice == NULL) {
		fuse_pollhandle_destroy(poll);
		return;
	}
	notice->poll = poll;
	put(notify, notice);
}

void
notify_flush(struct notify *notify)
{
	struct timespec until;
	uint64_t put;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += FLUSH_SECONDS;
	pthread_mutex_lock(&notify->lock);
	put = notify->put;
	while (notify->told < put && notify->session != NULL) {
		if (pthread_cond_timedwait(&notify->changed, &notify->lock, &until) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&notify->lock);
}

/* A thread that renews one pin; see pins.h. */
#include "pins.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lancet/reference.h>
#include "util/log.h"
#include "util/macros.h"

#define TTL_SECONDS   3600
#define RENEW_SECONDS (TTL_SECONDS / 2)
#define AGAIN_SECONDS 60 /* after a failure */
#define NAME_SIZE     96

struct pins {
	lancet_dataset *dataset; /* counted */
	pthread_t thread;
	pthread_mutex_t working; /* held while the pin is made, moved or renewed */
	uint64_t version;
	pthread_mutex_t lock; /* of `stopping` */
	pthread_cond_t changed;
	bool stopping;
};

/* mount-HOST-PID-VERSION: one that no other mount takes. */
static void
pin_name(uint64_t version, char into[NAME_SIZE])
{
	char host[33] = "";

	(void)gethostname(host, sizeof(host) - 1);
	for (char *at = host; *at != '\0'; at++) {
		if (!isalnum((unsigned char)*at))
			*at = '-';
	}
	snprintf(into, NAME_SIZE, "mount-%s-%d-%" PRIu64, host, (int)getpid(), version);
}

static int
pin(struct pins *pins, uint64_t version, struct lancet_error *err)
{
	char name[NAME_SIZE];

	pin_name(version, name);
	return lancet_pin_create(pins->dataset, name, version, TTL_SECONDS, err);
}

static void
unpin(struct pins *pins, uint64_t version)
{
	struct lancet_error err = { 0 };
	char name[NAME_SIZE];

	pin_name(version, name);
	if (lancet_pin_delete(pins->dataset, name, &err) != LANCET_OK)
		log_line(LOG_LEVEL_WARNING,
			"the pin of version %" PRIu64 " stays until its time "
			"is over: %s",
			version, err.text);
}

/* Seconds until it has to be renewed again. */
static int
renew(struct pins *pins)
{
	struct lancet_error err = { 0 };
	int rc;

	pthread_mutex_lock(&pins->working);
	rc = pin(pins, pins->version, &err);
	if (rc != LANCET_OK)
		log_line(LOG_LEVEL_WARNING, "the pin of version %" PRIu64 " can't be renewed: %s",
			pins->version, err.text);
	pthread_mutex_unlock(&pins->working);
	return rc == LANCET_OK ? RENEW_SECONDS : AGAIN_SECONDS;
}

static void *
run(void *argument)
{
	struct pins *pins = argument;
	int seconds = RENEW_SECONDS;

	pthread_mutex_lock(&pins->lock);
	while (!pins->stopping) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += seconds;
		if (pthread_cond_timedwait(&pins->changed, &pins->lock, &until) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&pins->lock);
		seconds = renew(pins);
		pthread_mutex_lock(&pins->lock);
	}
	pthread_mutex_unlock(&pins->lock);
	return NULL;
}

static struct pins *
make(lancet_dataset *dataset)
{
	struct pins *pins = calloc(1, sizeof(*pins));
	pthread_condattr_t attributes;

	if (pins == NULL)
		return NULL;
	pins->dataset = lancet_dataset_ref(dataset);
	pthread_mutex_init(&pins->working, NULL);
	pthread_mutex_init(&pins->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&pins->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return pins;
}

static void
unmake(struct pins *pins)
{
	pthread_cond_destroy(&pins->changed);
	pthread_mutex_destroy(&pins->lock);
	pthread_mutex_destroy(&pins->working);
	lancet_dataset_unref(pins->dataset);
	free(pins);
}

int
pins_new(
	lancet_dataset *dataset, uint64_t version, struct pins **ret_pins, struct lancet_error *err)
{
	struct pins *pins = make(dataset);
	int rc;

	if (pins == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "pin: out of memory");
	pins->version = version;
	rc = pin(pins, version, err);
	if (rc == LANCET_OK && pthread_create(&pins->thread, NULL, run, pins) != 0) {
		unpin(pins, version);
		rc = lancet_fail(err, LANCET_NO_MEMORY, "pin: no thread can be made");
	}
	if (rc != LANCET_OK) {
		unmake(pins);
		return lancet_wrap(
			err, rc, "snapshot: version %" PRIu64 " can't be pinned", version);
	}
	log_line(LOG_LEVEL_NOTICE,
		"version %" PRIu64 " is pinned by a tag: a cleanup by pylance that would remove it "
		"fails meanwhile, unless it is told to skip tagged versions",
		version);
	*ret_pins = pins;
	return LANCET_OK;
}

void
pins_free(struct pins *pins)
{
	if (pins == NULL)
		return;
	pthread_mutex_lock(&pins->lock);
	pins->stopping = true;
	pthread_cond_broadcast(&pins->changed);
	pthread_mutex_unlock(&pins->lock);
	pthread_join(pins->thread, NULL);
	unpin(pins, pins->version);
	unmake(pins);
}

void
pins_move(struct pins *pins, uint64_t version)
{
	struct lancet_error err = { 0 };

	if (pins == NULL)
		return;
	pthread_mutex_lock(&pins->working);
	if (version != pins->version && pin(pins, version, &err) == LANCET_OK) {
		unpin(pins, pins->version);
		pins->version = version;
	} else if (err.code != LANCET_OK) {
		log_line(LOG_LEVEL_ERROR, "version %" PRIu64 " can't be pinned: %s", version,
			err.text);
	}
	pthread_mutex_unlock(&pins->working);
}

void
pins_expire(lancet_dataset *dataset)
{
	struct lancet_error err = { 0 };

	if (lancet_pins_expire(dataset, NULL, &err) != LANCET_OK)
		log_line(LOG_LEVEL_DEBUG, "pins whose time is over stay: %s", err.text);
}

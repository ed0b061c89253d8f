/* What the stub commands of a test of control files do: any words, taking long, failing, reading a
 * payload. */
#ifndef TESTS_CONTROLSTUBS_H
#define TESTS_CONTROLSTUBS_H

#include "unit.h"

#include "fs/control.h"

#include <string.h>
#include <unistd.h>

static struct {
	_Atomic unsigned runs;
	_Atomic bool hold; /* "slow" runs until this is false, or it is cancelled */
	char seen[64];     /* the payload that "eat" read */
} stub;

static inline int
stub_quick(struct command_run *run, struct lancet_error *err)
{
	(void)err;
	stub.runs++;
	jsonw_u64(&run->json, "words", run->words->count);
	return LANCET_OK;
}

static inline int
stub_slow(struct command_run *run, struct lancet_error *err)
{
	stub.runs++;
	while (stub.hold) {
		if (run->host->cancelled(run->host->context))
			return lancet_fail(err, LANCET_CANCELLED, "cancelled in the middle");
		usleep(1000);
	}
	run->facts.version = 7;
	return LANCET_OK;
}

static inline int
stub_fail(struct command_run *run, struct lancet_error *err)
{
	(void)run;
	return lancet_fail(err, LANCET_CONFLICT, "it does not fit");
}

static inline int
stub_eat(struct command_run *run, struct lancet_error *err)
{
	const struct command_host *host = run->host;
	const char *name = run->words->words[0].value;
	int fd = -1;

	TRY(host->open_payload(host->context, name, &fd, err));
	ck_assert_int_ge(read(fd, stub.seen, sizeof(stub.seen) - 1), 0);
	close(fd);
	if (strcmp(stub.seen, "bad") == 0)
		return lancet_fail(err, LANCET_CORRUPT, "it is bad");
	host->payload_used(host->context, name);
	return LANCET_OK;
}

static const struct command stub_commands[] = {
	{ "quick", COMMAND_QUICK | COMMAND_BARE, "key dry_run", "any words", stub_quick },
	{ "slow", COMMAND_COMMITS, "", "run", stub_slow },
	{ "fail", COMMAND_QUICK | COMMAND_COMMITS, "", "run", stub_fail },
	{ "eat", COMMAND_QUICK, "file", "file=NAME", stub_eat },
	{ 0 },
};

#endif

/* Payloads; see payload.h. */
#include "payload.h"

#include <errno.h>
#include <unistd.h>

#include "util/macros.h"
#include "values.h"

#define READ_SIZE (1u << 20) /* bytes */

int
payload_open(
	const struct command_run *run, const char **ret_name, int *ret_fd, struct lancet_error *err)
{
	const struct command_host *host = run->host;
	const char *name;

	TRY(value_needed(run->words, "file", &name, err));
	if (host->open_payload == NULL)
		return lancet_fail(
			err, LANCET_INVALID, "file=%.60s: there are no files here", name);
	TRY(host->open_payload(host->context, name, ret_fd, err));
	*ret_name = name;
	return LANCET_OK;
}

/* What comes from a pipe may take as long as its writer likes. */
static int
read_all(const struct command_host *host, int fd, const char *name, struct buf *into,
	struct lancet_error *err)
{
	for (;;) {
		ssize_t got;

		if (!buf_reserve(into, READ_SIZE))
			return lancet_fail(err, LANCET_NO_MEMORY, "%.200s", name);
		got = read(fd, into->data + into->size, READ_SIZE);
		/* after the read: an interrupt also ends the one who writes into a pipe */
		if (host->cancelled != NULL && host->cancelled(host->context))
			return lancet_fail(err, LANCET_CANCELLED, "%.200s: cancelled", name);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lancet_fail_errno(err, "%.200s", name);
		if (got == 0)
			return LANCET_OK;
		into->size += (size_t)got;
		if (into->size > PAYLOAD_TEXT_MAX)
			return lancet_fail(err, LANCET_LIMIT, "%.200s: more than %u MiB", name,
				PAYLOAD_TEXT_MAX >> 20);
	}
}

int
payload_read(const struct command_run *run, const char **ret_name, struct buf *into,
	struct lancet_error *err)
{
	lancet_autoclose int fd = -1;

	TRY(payload_open(run, ret_name, &fd, err));
	return read_all(run->host, fd, *ret_name, into, err);
}

void
payload_used(const struct command_run *run, const char *name)
{
	if (run->host->payload_used != NULL)
		run->host->payload_used(run->host->context, name);
}

/* A mount's control files without a mount: stub commands over the sample dataset, and requests
 * whose answers are noted. */
#ifndef TESTS_CONTROLRIG_H
#define TESTS_CONTROLRIG_H

#include "unit.h"

#include "fs/control.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct request {
	_Atomic bool answered;
	int os_errno;
	size_t taken;
	struct caller *caller; /* once it is parked */
};

static struct {
	lancet_dataset *dataset;
	struct tree *tree;
	struct control *control;
	_Atomic unsigned runs;
	_Atomic bool hold; /* "slow" runs until this is false, or it is cancelled */
	_Atomic unsigned settled;
	enum control_effect effect;
	char seen[64]; /* the payload that "eat" read */
} rig;

static inline int
rig_quick(struct command_run *run, struct lancet_error *err)
{
	(void)err;
	rig.runs++;
	jsonw_u64(&run->json, "words", run->words->count);
	return LANCET_OK;
}

static inline int
rig_slow(struct command_run *run, struct lancet_error *err)
{
	rig.runs++;
	while (rig.hold) {
		if (run->host->cancelled(run->host->context))
			return lancet_fail(err, LANCET_CANCELLED, "cancelled in the middle");
		usleep(1000);
	}
	run->facts.version = 7;
	return LANCET_OK;
}

static inline int
rig_fail(struct command_run *run, struct lancet_error *err)
{
	(void)run;
	return lancet_fail(err, LANCET_CONFLICT, "it does not fit");
}

static inline int
rig_eat(struct command_run *run, struct lancet_error *err)
{
	const struct command_host *host = run->host;
	const char *name = run->words->words[0].value;
	int fd = -1;

	TRY(host->open_payload(host->context, name, &fd, err));
	ck_assert_int_ge(read(fd, rig.seen, sizeof(rig.seen) - 1), 0);
	close(fd);
	if (strcmp(rig.seen, "bad") == 0)
		return lancet_fail(err, LANCET_CORRUPT, "it is bad");
	host->payload_used(host->context, name);
	return LANCET_OK;
}

static const struct command rig_commands[] = {
	{ "quick", COMMAND_QUICK | COMMAND_BARE, "key dry_run", "any words", rig_quick },
	{ "slow", COMMAND_COMMITS, "", "run", rig_slow },
	{ "fail", COMMAND_QUICK | COMMAND_COMMITS, "", "run", rig_fail },
	{ "eat", COMMAND_QUICK, "file", "file=NAME", rig_eat },
	{ 0 },
};

static inline void
rig_park(void *request, struct caller *caller)
{
	((struct request *)request)->caller = caller;
}

static inline void
rig_reply(void *request, int os_errno, size_t taken)
{
	struct request *answer = request;

	ck_assert(!answer->answered);
	answer->os_errno = os_errno;
	answer->taken = taken;
	answer->answered = true;
}

static inline void
rig_settled(void *context, lancet_dataset *dataset, enum control_effect effect)
{
	(void)context;
	ck_assert_ptr_eq(dataset, rig.dataset);
	rig.effect = effect;
	rig.settled++;
}

static const struct control_hooks rig_hooks = {
	.park = rig_park,
	.reply = rig_reply,
	.settled = rig_settled,
};

static inline void
rig_begin(void)
{
	const struct tree_options tree = { 0 };
	struct control_options options = { .commands = rig_commands,
		.jobs = 1,
		.stage_max = 1000,
		.owner = 1234,
		.hooks = &rig_hooks };

	ck_assert_int_eq(
		lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &rig.dataset, NULL),
		LANCET_OK);
	ck_assert_int_eq(tree_new(rig.dataset, &tree, &rig.tree, NULL), LANCET_OK);
	options.tree = rig.tree;
	ck_assert_int_eq(control_new(&options, &rig.control, NULL), LANCET_OK);
	tree_set_control(rig.tree, rig.control);
}

static inline void
rig_end(void)
{
	control_stop(rig.control);
	control_free(rig.control, 20);
	tree_free(rig.tree);
	lancet_dataset_unref(rig.dataset);
}

static inline struct control_handle *
rig_open(const char *name)
{
	struct control_handle *handle = NULL;
	size_t row = 0;

	ck_assert(controls_find(rig_commands, name, &row));
	ck_assert_int_eq(control_open(rig.control, rig.dataset, row, &handle, NULL), LANCET_OK);
	return handle;
}

static inline void
rig_send(struct control_handle *handle, struct request *request, uid_t uid, struct slice bytes)
{
	const struct control_writer writer = { uid, 0, request };

	*request = (struct request){ 0 };
	control_write(handle, &writer, bytes);
}

static inline void
rig_answered(const struct request *request)
{
	while (!request->answered)
		usleep(1000);
}

/* Writes as the owner and waits for the answer: bytes taken, or -errno. */
static inline int
rig_write(struct control_handle *handle, const char *text)
{
	struct request request;

	rig_send(handle, &request, 1234, slice_text(text));
	rig_answered(&request);
	ck_assert(request.os_errno == 0 || request.taken == 0);
	return request.os_errno != 0 ? -request.os_errno : (int)request.taken;
}

/* All that is left to read, in a static buffer. */
static inline const char *
rig_read(struct control_handle *handle)
{
	static char text[8192];
	size_t size = 0, got = 0;

	do {
		ck_assert_int_eq(control_read(handle, size, sizeof(text) - 1 - size, text + size,
					 &got, NULL),
			LANCET_OK);
		size += got;
	} while (got > 0);
	text[size] = '\0';
	return text;
}

static inline bool
rig_says(struct control_handle *handle, const char *part)
{
	return strstr(rig_read(handle), part) != NULL;
}

static inline bool
rig_reported(const char *part)
{
	struct buf out = { 0 };
	bool found;

	report_print(control_report(rig.control), &out);
	buf_put_byte(&out, '\0');
	found = strstr((const char *)out.data, part) != NULL;
	buf_release(&out);
	return found;
}

#endif

/* Control files: lines that are written become commands, and what came of them is read.
 *
 * A command runs when its newline arrives, and the write that brought it is answered when the
 * command has ended; meanwhile the request is parked and holds no thread. Nothing runs because a
 * file is closed or flushed. SPEC section 5.
 */
#ifndef FS_CONTROL_H
#define FS_CONTROL_H

#include "caller.h"
#include "controls.h"
#include "report.h"
#include "stage.h"
#include "stats.h"

struct control;        /* of a mount */
struct control_handle; /* a control file that is open */

/* What the mount does for it. `request` is whatever control_write was given. */
struct control_hooks {
	/* From now on caller_interrupted may be called for `caller`, until reply. */
	void (*park)(void *request, struct caller *caller);
	/* Once for each write: os_errno, or 0 and how many bytes were taken. */
	void (*reply)(void *request, int os_errno, size_t taken);
	/* A command that has these effects has succeeded; it is answered when this returns. */
	void (*settled)(void *context, lancet_dataset *dataset, enum control_effect effect);
	/* A file that is polled is ready; `poll` is given up. Called under a lock. */
	void (*wake)(void *context, void *poll);
	/* The same, but nobody is to be told. */
	void (*forget)(void *poll);
};

struct control_options {
	struct tree *tree;
	const struct command *commands; /* ended by a row without a name */
	unsigned jobs;                  /* long ones at once */
	const char *stage;              /* NULL: see stage.h */
	uint64_t stage_max;             /* bytes */
	uid_t owner;                    /* who may write, beside root */
	const struct control_hooks *hooks;
	void *context;
};

/* INVALID and the like: `stage` can't be used. */
int control_new(const struct control_options *options, struct control **ret_control,
	struct lancet_error *err);
/* No new commands; queued ones are cancelled, running ones go on. */
void control_stop(struct control *control);
/* Waits `seconds` for what runs, then cancels it. NULL is fine. */
void control_free(struct control *control, unsigned seconds);

const struct control_options *control_options(const struct control *control);
struct jobs *control_jobs(struct control *control);
struct report *control_report(struct control *control);
struct stage *control_stage(struct control *control);
struct stats *control_stats(struct control *control);

/* `row`: of controls_at. */
int control_open(struct control *control, lancet_dataset *dataset, size_t row,
	struct control_handle **ret_handle, struct lancet_error *err);
/* What was written without a newline is dropped, with a note in the report. */
void control_close(struct control_handle *handle);
/* Usage and last result, as of control_open; once a line was written, only what that line gave, as
 * a stream. */
int control_read(struct control_handle *handle, uint64_t offset, size_t size, void *into,
	size_t *ret_got, struct lancet_error *err);

struct control_writer {
	uid_t uid;
	pid_t pid; /* 0: not known here */
	void *request;
};
/* Takes bytes up to the first newline. hooks->reply is called once, now or later. */
void control_write(
	struct control_handle *handle, const struct control_writer *writer, struct slice bytes);

#endif

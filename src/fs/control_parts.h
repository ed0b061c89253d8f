/* What control_handle.c and control_task.c share. */
#ifndef FS_CONTROL_PARTS_H
#define FS_CONTROL_PARTS_H

#include "control.h"

#include <pthread.h>

/* The last result of a control file. */
struct control_last {
	lancet_dataset *dataset; /* counted */
	size_t row;
	struct text *result;
	struct control_last *next;
};

struct control {
	struct control_options options;
	struct jobs *jobs;
	struct callers *callers;
	struct report *report;
	struct stage *stage;
	struct stats stats;
	pthread_mutex_t lock; /* of what follows; a leaf */
	struct control_last *last;
};

struct control_handle {
	struct control *control;
	lancet_dataset *dataset; /* counted */
	const struct command *command;
	size_t row;
	struct text *shown;   /* what was there when it was opened */
	pthread_mutex_t lock; /* of what follows; a leaf */
	bool busy;            /* a line of it runs */
	bool skipping;        /* what is left of a line that was too long */
	bool wrote;
	uid_t uid; /* who wrote last */
	pid_t pid;
	size_t size; /* of the line so far */
	struct text *result;
	size_t delivered; /* bytes of it */
	char line[COMMAND_LINE_MAX];
};

/* Runs a whole line, without its newline. handle->busy is set and is cleared before the reply. */
void control_run(struct control_handle *handle, const struct control_writer *writer,
	struct slice line, size_t taken);
/* What the handle reads from now on; may be NULL. of_line: the line that was taken has ended; else
 * a write was refused, which is nothing to one that still runs. */
void control_result(struct control_handle *handle, struct text *result, bool of_line);
/* A result that is made here: its first members; then its text, NULL without memory. */
void control_begin(struct jsonw *w, struct buf *bytes, bool ok, const char *command);
struct text *control_end(struct jsonw *w, struct buf *bytes);
/* Keeps it as the last result of the control file. */
void control_keep(
	struct control *control, lancet_dataset *dataset, size_t row, struct text *result);
/* Into the report, under the path of the control file. `command` NULL: of the whole directory. */
void control_failed(struct control *control, lancet_dataset *dataset, const char *command,
	const struct control_writer *writer, const char *code, const char *text);

#endif

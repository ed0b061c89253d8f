/* The state of a job as a file that can be polled. */
#ifndef FS_JOBFILE_H
#define FS_JOBFILE_H

#include "control.h"
#include "handle.h"

/* Takes a reference to the job. Reading from the start shows the state as it is then; poll(2) says
 * that it has changed since, or is the last one. */
int jobfile_open(struct control *control, struct job *job, struct node_handle *ret_handle,
	struct lancet_error *err);

#endif

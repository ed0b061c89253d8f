/* The files of `ctl/` that take commands: those that need nothing but a dataset, and those of a
 * mount. A control file is a row. SPEC section 5. */
#ifndef FS_CONTROLS_H
#define FS_CONTROLS_H

#include "command/command.h"
#include "jobs.h"
#include "tree.h"

/* What commands of a mount get as their host's context: the first member of it. */
struct control_scene {
	struct tree *tree;
	struct jobs *jobs;
	lancet_dataset *dataset; /* also whose jobs are meant */
};

enum control_way {
	CONTROL_JOB,  /* runs as a job */
	CONTROL_NOW,  /* runs inside the write */
	CONTROL_WAIT, /* is told when a job ends */
};

/* Row `index` of `table` (ended by a row without a name) and then of our own; NULL past the end. */
const struct command *controls_at(const struct command *table, size_t index);
bool controls_find(const struct command *table, const char *name, size_t *ret_index);
enum control_way control_way(const struct command *command);
/* What a command may have changed when it has succeeded. */
enum control_effect {
	CONTROL_READS = 0,
	CONTROL_CHANGES = 1, /* versions, tags, branches came or moved */
	CONTROL_REMOVES = 2, /* versions or branches may be gone */
	CONTROL_MOVES = 4,   /* current/ shows another version */
};
enum control_effect control_effect(const struct command *command);

/* The number behind job=. */
int control_job_number(
	const struct command_words *words, uint64_t *ret_id, struct lancet_error *err);

#endif

/* What the rows of the table of commands run; one file each, or one for a few that belong together.
 */
#ifndef COMMAND_COMMANDS_H
#define COMMAND_COMMANDS_H

#include "command.h"

int run_append(struct command_run *run, struct lancet_error *err);
int run_branch(struct command_run *run, struct lancet_error *err);
int run_cleanup(struct command_run *run, struct lancet_error *err);
int run_commit(struct command_run *run, struct lancet_error *err);
int run_compact(struct command_run *run, struct lancet_error *err);
int run_delete(struct command_run *run, struct lancet_error *err);
int run_drop_columns(struct command_run *run, struct lancet_error *err);
int run_drop_index(struct command_run *run, struct lancet_error *err);
int run_partition(struct command_run *run, struct lancet_error *err);
int run_pin(struct command_run *run, struct lancet_error *err);
int run_rename_column(struct command_run *run, struct lancet_error *err);
int run_repair(struct command_run *run, struct lancet_error *err);
int run_restore(struct command_run *run, struct lancet_error *err);
int run_set(struct command_run *run, struct lancet_error *err);
int run_tag(struct command_run *run, struct lancet_error *err);
int run_translate(struct command_run *run, struct lancet_error *err);
int run_unset(struct command_run *run, struct lancet_error *err);
int run_update(struct command_run *run, struct lancet_error *err);

#endif

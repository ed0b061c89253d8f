/* A command of lancet: one row of a table in main.c. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "fs/select.h"

#define EXIT_FAILED 1 /* the command, or how it was called */

/* What is common to all commands: the dataset, and `key=value` words that select what is shown of
 * it. */
struct command_line {
	const char *dataset;
	struct selection selection;
	char **words; /* the others, in order */
	int word_count;
};

struct command {
	const char *name;
	const char *usage; /* behind the name and DATASET */
	const char *about;
	int word_min, word_max;
	int (*run)(const struct command_line *line, struct lancet_error *err);
};

/* The version that the line selects, else the newest that can be read. */
int command_version(
	const struct command_line *line, lancet_version **ret_version, struct lancet_error *err);

int command_show(const struct command_line *line, struct lancet_error *err);

#define ROWS_WORDS 7 /* that command_rows knows */
int command_rows(const struct command_line *line, struct lancet_error *err);

#define TRANSLATE_WORDS 2
int command_translate(const struct command_line *line, struct lancet_error *err);

#endif

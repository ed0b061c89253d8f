/* The commands that a control file has, too: run here, their result printed. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <stdio.h>

bool run_has_command(const char *name);
void run_print_usage(FILE *to);
/* The arguments behind the command's name: the dataset, then words. The exit status. */
int run_command(const char *name, int argc, char **argv);

#endif

/* Lists of keys, as in the tables of commands and verbs. */
#ifndef COMMAND_KEYS_H
#define COMMAND_KEYS_H

#include <stdbool.h>

/* Whether `key` is in the list, whose items are separated by blanks; "config.*" stands for all that
 * begin so and go on. */
bool keys_have(const char *keys, const char *key);

#endif

/* What the words of a command say, by key. Absent keys have defaults; values that can't be
 * understood are INVALID, and the text shows what is wanted. */
#ifndef COMMAND_VALUES_H
#define COMMAND_VALUES_H

#include "command.h"

#define VALUES_LIST_MAX (1u << 16) /* numbers in a list, ranges counted out */

/* NULL: the key is not there. */
const char *value_of(const struct command_words *words, const char *key);
/* INVALID: the key is not there, or has no value. */
int value_needed(const struct command_words *words, const char *key, const char **ret_value,
	struct lancet_error *err);
/* *value keeps what it is when the key is not there. */
int value_u64(const struct command_words *words, const char *key, uint64_t max, uint64_t *value,
	struct lancet_error *err);
int value_bool(
	const struct command_words *words, const char *key, bool *value, struct lancet_error *err);
/* "90s", "30m", "12h", "14d", "2w": in seconds. */
int value_seconds(const struct command_words *words, const char *key, uint64_t *value,
	struct lancet_error *err);
/* "2,5,7-9", allocated; NULL and 0 when the key is not there. */
int value_list(const struct command_words *words, const char *key, uint64_t **ret_list,
	size_t *ret_count, struct lancet_error *err);
/* The number of a version: "N" or "latest", which the key being absent means, too. */
int value_version(const struct command_run *run, const char *key, uint64_t *ret_version,
	struct lancet_error *err);

#endif

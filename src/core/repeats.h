/* Values that come twice. */
#ifndef CORE_REPEATS_H
#define CORE_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPEATS_MAX 4096u

/* True when each value is above the one before, which row ids mostly are. */
bool values_ascend(const uint64_t *values, size_t count);
/* True when a value comes twice among the first `count` <= REPEATS_MAX. */
bool repeats_find(const uint64_t *values, size_t count, uint64_t *ret_value);

#endif

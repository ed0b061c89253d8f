/* Whether text is a value of JSON, so that it may stand in other JSON as it is. */
#ifndef UTIL_JSONCHECK_H
#define UTIL_JSONCHECK_H

#include "slice.h"

#define JSONCHECK_DEPTH_MAX 1024u

/* One value in UTF-8 without blanks between its parts (so it has one line), nested at most
 * JSONCHECK_DEPTH_MAX deep. */
bool jsoncheck_is_compact(struct slice text);

#endif

/* Log lines with journal levels: "<3>text" on stderr in the foreground, syslog otherwise.
 * The level is the one global setting of the program. */
#ifndef UTIL_LOG_H
#define UTIL_LOG_H

#include <lancet/error.h>
#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* `name` is kept, not copied. Until this is called: NOTICE, to stderr. */
void log_setup(enum log_level max, bool to_syslog, const char *name);
void log_line(enum log_level level, const char *fmt, ...) LANCET_PRINTF(2, 3);

#endif

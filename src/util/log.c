/* The log: one line, one write.
 *
 * Messages quote names and bytes of datasets, so control characters are shown as '?': nobody who
 * can name a file can forge a line or its level.
 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#include <unistd.h>

#define PREFIX_SIZE 3u /* "<3>" */

static enum log_level level_max = LOG_LEVEL_NOTICE;
static bool use_syslog;

void
log_setup(enum log_level max, bool to_syslog, const char *name)
{
	level_max = max;
	use_syslog = to_syslog;
	if (to_syslog)
		openlog(name, LOG_PID, LOG_DAEMON); /* keeps the pointer: name lives for ever */
}

static void
write_all(const char *text, size_t size)
{
	while (size > 0) {
		ssize_t done = write(STDERR_FILENO, text, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return; /* there is nowhere to complain */
		text += done;
		size -= (size_t)done;
	}
}

void
log_line(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	size_t room = sizeof(line) - PREFIX_SIZE - 1; /* for the newline */
	int saved = errno;
	size_t size;
	va_list args;
	int wanted;

	if (level > level_max)
		return;
	(void)snprintf(line, PREFIX_SIZE + 1, "<%u>", (unsigned)level % 10);
	va_start(args, fmt);
	wanted = vsnprintf(line + PREFIX_SIZE, room, fmt, args);
	va_end(args);
	if (wanted < 0)
		goto out;
	size = (size_t)wanted < room ? (size_t)wanted : room - 1;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)line[PREFIX_SIZE + i];

		if (c < 0x20 || c == 0x7f)
			line[PREFIX_SIZE + i] = '?';
	}
	if (use_syslog) {
		syslog((int)level, "%s", line + PREFIX_SIZE);
		goto out;
	}
	line[PREFIX_SIZE + size] = '\n';
	write_all(line, PREFIX_SIZE + size + 1);
out:
	errno = saved;
}

/* The newest failures, for `ctl/errors`: a line each. SPEC section 5. */
#ifndef FS_REPORT_H
#define FS_REPORT_H

#include <sys/types.h>

#include "util/buf.h"

#define REPORT_KEPT 256

struct report;

struct report *report_new(void);
void report_free(struct report *report); /* NULL is fine */
/* `code`: a fixed word; `path` as it is seen in the mount. All are copied, and cut when they are
 * very long. */
void report_add(struct report *report, uid_t uid, pid_t pid, const char *path, const char *code,
	const char *text);
/* A header line, then the failures, oldest first. */
void report_print(struct report *report, struct buf *out);
/* How many there were since the start. */
uint64_t report_count(struct report *report);

#endif

/* The ring of failures of report.h. */
#include "report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text.h"

struct failure {
	struct timespec time;
	uid_t uid;
	pid_t pid;
	char code[24];
	char path[256];
	char text[480];
};

struct report {
	pthread_mutex_t lock;
	uint64_t count;
	struct failure ring[REPORT_KEPT];
};

struct report *
report_new(void)
{
	struct report *report = calloc(1, sizeof(*report));

	if (report != NULL && pthread_mutex_init(&report->lock, NULL) != 0) {
		free(report);
		return NULL;
	}
	return report;
}

void
report_free(struct report *report)
{
	if (report == NULL)
		return;
	pthread_mutex_destroy(&report->lock);
	free(report);
}

/* Cut where no character is cut apart. */
static void
copy_text(char *into, size_t size, const char *text)
{
	size_t length = strlen(text);

	if (length >= size) {
		length = size - 1;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(into, text, length);
	into[length] = '\0';
}

void
report_add(struct report *report, uid_t uid, pid_t pid, const char *path, const char *code,
	const char *text)
{
	struct failure failure = { .uid = uid, .pid = pid };

	clock_gettime(CLOCK_REALTIME, &failure.time);
	copy_text(failure.code, sizeof(failure.code), code);
	copy_text(failure.path, sizeof(failure.path), path);
	copy_text(failure.text, sizeof(failure.text), text);
	pthread_mutex_lock(&report->lock);
	report->ring[report->count++ % REPORT_KEPT] = failure;
	pthread_mutex_unlock(&report->lock);
}

static void
print_failure(const struct failure *failure, struct buf *out)
{
	char time[31] = "-";

	(void)text_timestamp(failure->time.tv_sec, failure->time.tv_nsec, time);
	buf_printf(out, "%s\t%10u\t%10d\t", time, (unsigned)failure->uid, (int)failure->pid);
	buf_put_cell(out, 0, slice_text(failure->path));
	buf_printf(out, "\t%s\t", failure->code);
	buf_put_cell(out, 0, slice_text(failure->text));
	buf_put_byte(out, '\n');
}

void
report_print(struct report *report, struct buf *out)
{
	uint64_t first;

	buf_printf(out, "%-30s\t%10s\t%10s\tpath\tcode\ttext\n", "time", "uid", "pid");
	pthread_mutex_lock(&report->lock);
	first = report->count > REPORT_KEPT ? report->count - REPORT_KEPT : 0;
	for (uint64_t i = first; i < report->count; i++)
		print_failure(&report->ring[i % REPORT_KEPT], out);
	pthread_mutex_unlock(&report->lock);
}

uint64_t
report_count(struct report *report)
{
	uint64_t count;

	pthread_mutex_lock(&report->lock);
	count = report->count;
	pthread_mutex_unlock(&report->lock);
	return count;
}

#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t syncs;
bool no_syncs;

static int
sync_with(long call, int fd)
{
	if (no_syncs)
		return 0;
	syncs++;
	return (int)syscall(call, fd);
}

int
fsync(int fd)
{
	return sync_with(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	return sync_with(SYS_fdatasync, fd);
}

double
now(clockid_t which)
{
	struct timespec t;

	(void)clock_gettime(which, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
fail(const char *what, const char *text)
{
	(void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, text);
	exit(1);
}

uint64_t
proc_number(const char *path, const char *word)
{
	FILE *file = fopen(path, "r");
	char line[256];
	uint64_t number = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, word, strlen(word)) == 0)
			number = strtoull(line + strlen(word), NULL, 10);
	}
	if (file != NULL)
		(void)fclose(file);
	return number;
}

uint64_t
peak_kib(void)
{
	return proc_number("/proc/self/status", "VmHWM:");
}

uint64_t *
load_numbers(const char *path, size_t *ret_count)
{
	FILE *file = fopen(path, "rb");
	uint64_t *numbers;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(path, "can't be read");
	size = ftell(file);
	rewind(file);
	numbers = malloc((size_t)size + 1);
	if (numbers == NULL || fread(numbers, 1, (size_t)size, file) != (size_t)size)
		fail(path, "can't be read");
	(void)fclose(file);
	*ret_count = (size_t)size / sizeof(*numbers);
	return numbers;
}

static int
count_rows(void *context, const struct ArrowArray *batch, struct lancet_error *err)
{
	uint64_t *rows = context;

	(void)err;
	*rows += (uint64_t)batch->length;
	return LANCET_OK;
}

int
scan_rows(lancet_version *version, const struct lancet_scan_options *options, uint64_t *ret_rows,
	struct lancet_error *err)
{
	lancet_scan *scan = NULL;
	int rc = lancet_scan_open(version, options, &scan, err);

	*ret_rows = 0;
	if (rc == LANCET_OK)
		rc = lancet_scan_each(scan, count_rows, ret_rows, err);
	lancet_scan_free(scan);
	return rc;
}

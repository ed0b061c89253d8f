/* append: the rows of a file that somebody made.
 *
 * What kind of file it is shows in its first and last bytes. Only Lance data files are taken as
 * they are; the others are told apart to be refused by name.
 */
#include "commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit_common.h"
#include "payload.h"
#include "util/macros.h"
#include "values.h"

struct appending {
	int fd;
	const char *name;
	uint64_t rows;
};

static const struct {
	const char *name;
	const char *kind; /* what is not in this build; NULL: it is */
} formats[] = {
	{ "lance", NULL },
	{ "arrow", "Arrow files and streams" },
	{ "csv", "CSV" },
	{ "json", "JSON lines" },
	{ "jsonl", "JSON lines" },
};

static int
refuse_kind(const char *kind, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"appending %s is not in this build: give a Lance data file", kind);
}

/* Whether the bytes at an offset are these. */
static bool
has_bytes(int fd, off_t offset, const char *wanted, size_t size)
{
	char got[8];

	return offset >= 0 && size <= sizeof(got) &&
	       pread(fd, got, size, offset) == (ssize_t)size && memcmp(got, wanted, size) == 0;
}

static int
guess_format(const struct appending *appending, struct lancet_error *err)
{
	struct stat st;

	if (fstat(appending->fd, &st) != 0)
		return lancet_fail_errno(err, "%.200s", appending->name);
	if (!S_ISREG(st.st_mode))
		return lancet_fail(
			err, LANCET_INVALID, "%.200s: not a regular file", appending->name);
	if (has_bytes(appending->fd, st.st_size - 4, "LANC", 4))
		return LANCET_OK;
	if (has_bytes(appending->fd, 0, "ARROW1", 6) ||
		has_bytes(appending->fd, 0, "\xff\xff\xff\xff", 4))
		return refuse_kind("Arrow files and streams", err);
	if (has_bytes(appending->fd, 0, "{", 1))
		return refuse_kind("JSON lines", err);
	return lancet_fail(err, LANCET_INVALID,
		"%.200s: this is no Lance data file: its last bytes are not LANC", appending->name);
}

static int
check_format(
	const struct command_run *run, const struct appending *appending, struct lancet_error *err)
{
	const char *format = value_of(run->words, "format");

	for (size_t i = 0; format != NULL && i < ARRAY_SIZE(formats); i++) {
		if (strcmp(format, formats[i].name) != 0)
			continue;
		if (formats[i].kind != NULL)
			return refuse_kind(formats[i].kind, err);
		return LANCET_OK;
	}
	if (format != NULL && strcmp(format, "auto") != 0)
		return lancet_fail(err, LANCET_INVALID, "format=%.40s: give lance or auto", format);
	return guess_format(appending, err);
}

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct appending *appending = context;
	int rc = lancet_change_append_file(read, appending->fd, ret_change, &appending->rows, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%.200s", appending->name);
}

int
run_append(struct command_run *run, struct lancet_error *err)
{
	struct appending appending = { .fd = -1 };
	const struct commit_plan plan = { .build = build, .context = &appending };
	bool found = false;
	int rc = payload_open(run, &appending.name, &appending.fd, err);

	if (rc == LANCET_OK)
		rc = check_format(run, &appending, err);
	if (rc == LANCET_OK)
		rc = commit_run(run, &plan, &found, err);
	if (appending.fd >= 0)
		(void)close(appending.fd);
	if (rc != LANCET_OK)
		return rc;
	if (!found)
		jsonw_u64(&run->json, "appended_rows", appending.rows);
	payload_used(run, appending.name);
	return LANCET_OK;
}

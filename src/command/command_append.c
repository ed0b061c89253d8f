/* append: the rows of a file that somebody made.
 *
 * What kind of file it is shows in its first and last bytes, where it has any that can be looked at
 * twice. A Lance data file is taken as it is; of all others the rows are read, once, and written
 * anew.
 */
#include "commands.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit_common.h"
#include "payload.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/text.h"
#include "values.h"

#define SAMPLE_SIZE    512 /* bytes of text that are looked at */
#define ROWS_LANCE     (-1)
#define OLD_SCHEMA_MAX (1u << 24) /* bytes; text has a larger number there */

struct appending {
	const struct command_run *run;
	int fd;
	const char *name;
	int format;  /* enum lancet_row_format, or ROWS_LANCE */
	off_t start; /* of a regular file; -1 for others */
	bool was_read;
	struct lancet_appended appended;
};

static const struct {
	const char *name;
	int format;
} formats[] = {
	{ "lance", ROWS_LANCE },
	{ "arrow", LANCET_ROWS_ARROW },
	{ "csv", LANCET_ROWS_CSV },
	{ "json", LANCET_ROWS_JSON },
	{ "jsonl", LANCET_ROWS_JSON },
};

static const struct {
	const char *ending;
	int format;
} endings[] = {
	{ ".csv", LANCET_ROWS_CSV },
	{ ".json", LANCET_ROWS_JSON },
	{ ".jsonl", LANCET_ROWS_JSON },
	{ ".ndjson", LANCET_ROWS_JSON },
};

/* The bytes at an offset of the file, as many as there are. */
static size_t
look(const struct appending *appending, off_t offset, char *into, size_t size)
{
	ssize_t got = offset < 0 ? 0 : pread(appending->fd, into, size, appending->start + offset);

	return got < 0 ? 0 : (size_t)got;
}

static bool
has_ending(const char *name, const char *ending)
{
	size_t size = strlen(name), ending_size = strlen(ending);

	return size > ending_size && strcasecmp(name + size - ending_size, ending) == 0;
}

/* Text without control characters but blanks; the sample may end in the middle of a character. */
static bool
is_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if ((byte < ' ' && !isspace(byte)) || byte == 0x7f)
			return false;
	}
	for (size_t cut = 0; cut < 4 && cut < size; cut++) {
		if (text_is_utf8(slice_of(bytes, size - cut)))
			return true;
	}
	return false;
}

/* A file, or a stream: its first message is marked, or has its size in front (before 2019), and
 * then where in the message its root is. */
static bool
is_arrow(const char *sample, size_t size)
{
	const uint8_t *bytes = (const uint8_t *)sample;
	uint32_t message, root;

	if (size >= 6 && memcmp(sample, "ARROW1", 6) == 0)
		return true;
	if (size < 8)
		return false;
	message = load_u32(bytes);
	root = load_u32(bytes + 4);
	return message == UINT32_MAX ||
	       (message % 8 == 4 && message < OLD_SCHEMA_MAX && root >= 4 && root < message);
}

/* By the name when it says so, else by the first character. */
static bool
guess_text(const struct appending *appending, const char *sample, size_t size, int *ret_format)
{
	size_t at = size >= 3 && memcmp(sample, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	if (size == 0 || !is_text(sample, size))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (has_ending(appending->name, endings[i].ending)) {
			*ret_format = endings[i].format;
			return true;
		}
	}
	while (at < size && isspace((unsigned char)sample[at]))
		at++;
	*ret_format = at < size && (sample[at] == '{' || sample[at] == '[') ? LANCET_ROWS_JSON
									    : LANCET_ROWS_CSV;
	return true;
}

static int
guess_format(struct appending *appending, off_t size, struct lancet_error *err)
{
	char sample[SAMPLE_SIZE], tail[4];
	size_t got;

	if (appending->start < 0)
		return lancet_fail(err, LANCET_INVALID,
			"%.200s: not a regular file, which can't be looked at beforehand: say "
			"format=arrow, csv or json",
			appending->name);
	got = look(appending, 0, sample, sizeof(sample));
	appending->format = LANCET_ROWS_ARROW;
	if (is_arrow(sample, got))
		return LANCET_OK;
	if (look(appending, size - 4, tail, 4) == 4 && memcmp(tail, "LANC", 4) == 0) {
		appending->format = ROWS_LANCE;
		return LANCET_OK;
	}
	if (guess_text(appending, sample, got, &appending->format))
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"%.200s: %s, and its beginning looks neither like Arrow nor like text",
		appending->name,
		got == 0 ? "it is empty"
			 : "this is no Lance data file: its last bytes are not LANC");
}

static int
find_format(struct appending *appending, struct lancet_error *err)
{
	const char *format = value_of(appending->run->words, "format");
	struct stat st;

	if (fstat(appending->fd, &st) != 0)
		return lancet_fail_errno(err, "%.200s", appending->name);
	appending->start = S_ISREG(st.st_mode) ? lseek(appending->fd, 0, SEEK_CUR) : -1;
	if (format == NULL || strcmp(format, "auto") == 0)
		return guess_format(appending, st.st_size - appending->start, err);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		appending->format = formats[i].format;
		if (strcmp(format, formats[i].name) == 0)
			return LANCET_OK;
	}
	return lancet_fail(err, LANCET_INVALID,
		"format=%.40s: give auto, arrow, csv, json, jsonl or lance", format);
}

static int
append_file(struct appending *appending, lancet_version *read, lancet_change **ret_change,
	struct lancet_error *err)
{
	struct stat st;

	TRY(lancet_change_append_file(
		read, appending->fd, ret_change, &appending->appended.rows, err));
	if (*ret_change == NULL || fstat(appending->fd, &st) != 0)
		return LANCET_OK;
	appending->appended.fragments = 1;
	appending->appended.bytes = (uint64_t)st.st_size;
	return LANCET_OK;
}

/* An append is not made again when it loses a race, so that a pipe is enough; if it is after all,
 * the rows must be there once more. */
static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct appending *appending = context;
	const struct command_host *host = appending->run->host;
	const struct lancet_change_run run = { host->cancelled, host->progress, host->context };
	int rc;

	if (appending->format == ROWS_LANCE) {
		rc = append_file(appending, read, ret_change, err);
	} else if (appending->was_read &&
		   (appending->start < 0 || lseek(appending->fd, appending->start, SEEK_SET) < 0)) {
		rc = lancet_fail(err, LANCET_CONFLICT,
			"its rows can't be read again for the newest version: do it again");
	} else {
		appending->was_read = true;
		rc = lancet_change_append_rows(read, appending->fd,
			(enum lancet_row_format)appending->format, &run, ret_change,
			&appending->appended, err);
	}
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%.200s", appending->name);
}

int
run_append(struct command_run *run, struct lancet_error *err)
{
	struct appending appending = { .run = run, .fd = -1 };
	const struct commit_plan plan = { .build = build, .context = &appending };
	bool found = false;
	int rc = payload_open(run, &appending.name, &appending.fd, err);

	if (rc == LANCET_OK)
		rc = find_format(&appending, err);
	if (rc == LANCET_OK)
		rc = commit_run(run, &plan, &found, err);
	if (appending.fd >= 0)
		(void)close(appending.fd);
	if (rc != LANCET_OK)
		return rc;
	if (!found) {
		jsonw_u64(&run->json, "appended_rows", appending.appended.rows);
		jsonw_u64(&run->json, "fragments", appending.appended.fragments);
		jsonw_u64(&run->json, "bytes", appending.appended.bytes);
	}
	payload_used(run, appending.name);
	return LANCET_OK;
}

/* lancet translate: where the rows of row addresses are now, a line for each.
 *
 * A list is understood as a whole before anything is printed; a file is read, translated and
 * printed piece by piece, so memory is bounded whatever its length.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lancet/transition.h>

#include "command/addresses.h"
#include "output.h"
#include "util/buf.h"
#include "util/macros.h"

#define BATCH     (1u << 20)   /* addresses that are translated together */
#define READ_SIZE (256u << 10) /* bytes, and of the longest line */

struct translation {
	lancet_version *version;
	struct buf row_addrs; /* uint64_t */
	struct buf decimal;   /* bool, of each */
	struct output output;
	int code; /* of the first failure, which `failure` describes */
	struct lancet_error failure;
};

/* False: the text is no row address. */
static bool
add_address(struct translation *work, struct slice text)
{
	struct address asked = { 0 };

	if (!address_parse(text, &asked))
		return false;
	buf_put(&work->row_addrs, &asked.row_addr, sizeof(asked.row_addr));
	buf_put_byte(&work->decimal, asked.decimal);
	return true;
}

static int
print_line(struct translation *work, uint64_t row_addr, enum lancet_row_fate fate, bool decimal)
{
	uint8_t bytes[32];
	struct buf line = { .data = bytes, .capacity = sizeof(bytes) - 1 };

	address_put(&line, row_addr, fate, decimal);
	buf_put_byte(&line, '\n');
	return output_write(&work->output, line.data, line.size);
}

/* Translates and prints what was gathered. Addresses that failed are told by the first failure, at
 * the end. */
static int
print_batch(struct translation *work, struct lancet_error *err)
{
	const uint64_t *row_addrs = (const uint64_t *)(const void *)work->row_addrs.data;
	size_t count = work->row_addrs.size / sizeof(*row_addrs);
	lancet_autofree uint64_t *current = calloc(count + 1, sizeof(*current));
	lancet_autofree uint8_t *fates = calloc(count + 1, sizeof(*fates));
	struct lancet_error failure = { 0 };
	int rc;

	TRY(buf_check(&work->row_addrs, "row addresses", err));
	TRY(buf_check(&work->decimal, "row addresses", err));
	if (current == NULL || fates == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row addresses", count);
	rc = lancet_translate(work->version, row_addrs, count, current, fates, &failure);
	if (work->code == LANCET_OK && rc != LANCET_OK) {
		work->code = lancet_wrap(
			&failure, rc, "_versions/%s", lancet_version_manifest_name(work->version));
		work->failure = failure;
	}
	for (size_t i = 0; i < count; i++)
		TRY(print_line(work, current[i], fates[i], work->decimal.data[i]));
	work->row_addrs.size = 0;
	work->decimal.size = 0;
	return LANCET_OK;
}

static int
translate_list(struct translation *work, const char *list, struct lancet_error *err)
{
	for (const char *at = list;;) {
		struct slice text = slice_of(at, strcspn(at, ","));

		if (!add_address(work, text))
			return address_refuse(text, "addrs=", err);
		if (at[text.size] == '\0')
			return print_batch(work, err);
		at += text.size + 1;
	}
}

/* A file, line by line. */
struct lines {
	const char *name;
	int fd;
	uint8_t *bytes;  /* READ_SIZE */
	size_t size;     /* of them: the beginning of a line */
	uint64_t number; /* of lines that were taken */
};

static int
take_line(
	struct translation *work, struct lines *lines, struct slice line, struct lancet_error *err)
{
	lines->number++;
	line = address_trim(line);
	if (line.size == 0)
		return LANCET_OK;
	if (!add_address(work, line)) {
		char where[300];

		TRY(print_batch(work, err)); /* of the lines before */
		snprintf(where, sizeof(where), "%.200s: line %" PRIu64, lines->name, lines->number);
		return address_refuse(line, where, err);
	}
	return work->decimal.size < BATCH ? LANCET_OK : print_batch(work, err);
}

static int
take_lines(struct translation *work, struct lines *lines, struct lancet_error *err)
{
	const uint8_t *at = lines->bytes, *end = at + lines->size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		TRY(take_line(work, lines, slice_of(at, (size_t)(newline - at)), err));
		at = newline + 1;
	}
	lines->size = (size_t)(end - at);
	memmove(lines->bytes, at, lines->size);
	return LANCET_OK;
}

static int
read_lines(struct translation *work, struct lines *lines, struct lancet_error *err)
{
	for (;;) {
		ssize_t got = read(lines->fd, lines->bytes + lines->size, READ_SIZE - lines->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lancet_fail_errno(err, "%s", lines->name);
		if (got == 0)
			break;
		lines->size += (size_t)got;
		TRY(take_lines(work, lines, err));
		if (lines->size == READ_SIZE)
			return lancet_fail(err, LANCET_INVALID, "%s: line %" PRIu64 ": too long",
				lines->name, lines->number + 1);
	}
	if (lines->size > 0)
		TRY(take_line(work, lines, slice_of(lines->bytes, lines->size), err));
	return print_batch(work, err);
}

static int
translate_file(struct translation *work, const char *name, struct lancet_error *err)
{
	bool standard = strcmp(name, "-") == 0;
	lancet_autofree uint8_t *bytes = malloc(READ_SIZE);
	struct lines lines = { standard ? "standard input" : name, STDIN_FILENO, bytes, 0, 0 };
	int rc;

	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s", lines.name);
	if (!standard)
		lines.fd = open(name, O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return lancet_fail_errno(err, "%s", name);
	rc = read_lines(work, &lines, err);
	if (!standard)
		(void)close(lines.fd);
	return rc;
}

/* All lines, then what went wrong with some. */
static int
translate(struct translation *work, const char *list, const char *file, struct lancet_error *err)
{
	int rc = list != NULL ? translate_list(work, list, err) : translate_file(work, file, err);

	if (rc == LANCET_OK)
		rc = output_flush(&work->output);
	else if (work->output.pending.size > 0)
		(void)output_put(work->output.pending.data, work->output.pending.size, NULL);
	if (rc == LANCET_OK && work->code != LANCET_OK) {
		*err = work->failure;
		rc = work->code;
	}
	return rc;
}

int
command_translate(const struct command_line *line, struct lancet_error *err)
{
	struct translation work = { .output = { .err = err } };
	const char *list = NULL, *file = NULL;
	int rc;

	for (int i = 0; i < line->word_count; i++) {
		if (strncmp(line->words[i], "addrs=", 6) == 0 && list == NULL)
			list = line->words[i] + 6;
		else if (strncmp(line->words[i], "file=", 5) == 0 && file == NULL)
			file = line->words[i] + 5;
		else
			return lancet_fail(err, LANCET_INVALID,
				"%.100s: no such word for translate, or one that is there twice",
				line->words[i]);
	}
	if ((list == NULL) == (file == NULL))
		return lancet_fail(err, LANCET_INVALID, "give addrs=FRAG:OFFSET,... or file=NAME");
	rc = command_version(line, &work.version, err);
	if (rc == LANCET_OK)
		rc = translate(&work, list, file, err);
	lancet_version_unref(work.version);
	buf_release(&work.row_addrs);
	buf_release(&work.decimal);
	output_release(&work.output);
	return rc;
}

/* Commits when told to, as tests/bench/commit.py tells, and says what each one cost.
 *
 * usage: commit DATASET kept|reopened synced|plain
 *
 * Reads lines from standard input, each of which is one commit on the newest version:
 *
 *     transaction HEX    an encoded Transaction
 *     file PATH          appends the rows of a Lance data file
 *     delete FRAG:OFFS   deletes rows by address
 *     config VALUE       sets a key of the configuration
 *
 * and answers each with: seconds, seconds of the processor, bytes written, bytes read, calls that
 * sync, and the version that was made. kept: one handle for all of them; reopened: the dataset is
 * opened for each. plain: nothing is synced.
 */
#include "bench.h"

#include <lancet/commit.h>
#include <lancet/dataset.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
	const char *path;
	bool kept;
	struct lancet_commit_options options;
	lancet_dataset *dataset; /* NULL: to be opened */
};

static uint64_t
proc_io(const char *word)
{
	return proc_number("/proc/self/io", word);
}

static int
change_of_hex(
	lancet_dataset *dataset, char *hex, lancet_change **ret_change, struct lancet_error *err)
{
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };

		hex[i] = (char)strtoul(digits, NULL, 16);
	}
	return lancet_change_parse(dataset, hex, size, ret_change, err);
}

static int
change_of_file(lancet_version *read, const char *path, lancet_change **ret_change,
	struct lancet_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	uint64_t rows;

	if (fd < 0)
		fail(path, "can't be read");
	rc = lancet_change_append_file(read, fd, ret_change, &rows, err);
	(void)close(fd);
	return rc;
}

static int
change_on(struct work *work, const char *kind, char *operand, lancet_change **ret_change,
	struct lancet_error *err)
{
	struct lancet_set set = { .where = LANCET_SET_CONFIG, .key = "bench", .value = operand };
	lancet_version *read;
	uint64_t number, rows;
	int rc;

	if (strcmp(kind, "transaction") == 0)
		return change_of_hex(work->dataset, operand, ret_change, err);
	if (lancet_dataset_latest(work->dataset, &number, err) != LANCET_OK ||
		lancet_version_open(work->dataset, number, &read, err) != LANCET_OK)
		fail(work->path, err->text);
	if (strcmp(kind, "file") == 0)
		rc = change_of_file(read, operand, ret_change, err);
	else if (strcmp(kind, "delete") == 0)
		rc = lancet_change_delete_addrs(read, operand, ret_change, &rows, err);
	else
		rc = lancet_change_settings(read, &set, 1, ret_change, err);
	lancet_version_unref(read);
	return rc;
}

static uint64_t
commit_one(struct work *work, const char *kind, char *operand)
{
	struct lancet_commit_result result;
	struct lancet_error err;
	lancet_change *change;

	if (work->dataset == NULL &&
		lancet_dataset_open(work->path, NULL, &work->dataset, &err) != LANCET_OK)
		fail(work->path, err.text);
	if (change_on(work, kind, operand, &change, &err) != LANCET_OK)
		fail(kind, err.text);
	if (lancet_commit(change, &work->options, &result, &err) != LANCET_OK)
		fail(kind, err.text);
	lancet_change_free(change);
	if (!work->kept) {
		lancet_dataset_unref(work->dataset);
		work->dataset = NULL;
	}
	return result.version;
}

static void
measure_one(struct work *work, char *line)
{
	uint64_t written = proc_io("wchar:"), read = proc_io("rchar:"), before = syncs, version;
	double wall = now(CLOCK_MONOTONIC), processor = now(CLOCK_PROCESS_CPUTIME_ID);
	char *operand = strchr(line, ' ');

	if (operand == NULL)
		fail(line, "no operand");
	*operand++ = 0;
	operand[strcspn(operand, "\n")] = 0;
	version = commit_one(work, line, operand);
	wall = now(CLOCK_MONOTONIC) - wall;
	processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
	printf("%.9f %.9f", wall, processor);
	printf(" %" PRIu64 " %" PRIu64, proc_io("wchar:") - written, proc_io("rchar:") - read);
	printf(" %" PRIu64 " %" PRIu64 "\n", syncs - before, version);
	(void)fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct work work = { .options = { .retries = LANCET_COMMIT_RETRIES } };
	size_t capacity = 0;
	char *line = NULL;

	if (argc != 4)
		fail("usage", "commit DATASET kept|reopened synced|plain");
	work.path = argv[1];
	work.kept = strcmp(argv[2], "kept") == 0;
	work.options.not_durable = strcmp(argv[3], "plain") == 0;
	while (getline(&line, &capacity, stdin) > 0)
		measure_one(&work, line);
	lancet_dataset_unref(work.dataset);
	free(line);
	return 0;
}

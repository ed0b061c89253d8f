/* Does to a dataset what tests/bench/rowid_spill.py tells, and says what it cost.
 *
 * usage: rowid_spill DATASET WHAT ROUNDS [ARGUMENT...]
 *
 *     open                 opens dataset and newest version, each time anew
 *     append FILE plain|synced
 *                          appends the rows of a Lance data file, with one handle for all; it looks
 *                          at the newest version before it starts
 *     sequence FRAG        opens the row ids of a fragment, each time on a new handle, and reads
 *                          all of them
 *     last_id FRAG         the same, and reads the one of its last row
 *     lookup FILE          the rows of the ids of the file (little-endian u64), on a new handle
 *     resolve FILE         the same, and reads no column but the address
 *     take FILE            as lookup, but on one handle, after two that are not counted
 *     scan COLUMN[,COLUMN] reads all rows on a new handle
 *     compact ROWS plain|synced
 *                          to fragments of about so many rows, and commits
 *
 * Output: for each round its seconds, seconds of the processor, bytes written, calls that sync and
 * rows; then "peak" and the peak resident size in KiB.
 */
#include "bench.h"

#include <lancet/column.h>
#include <lancet/commit.h>
#include <lancet/rewrite.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
	const char *path;
	char **arguments;
	lancet_dataset *dataset;
	lancet_version *version;
	uint64_t *ids, *values;
	size_t id_count;
	uint64_t rows; /* of the round */
	struct lancet_error err;
};

/* What a round is: `open` before it is measured, or as its first part. */
struct kind {
	const char *name;
	enum { OPEN_EACH, OPEN_MEASURED, OPEN_ONCE } open;
	int arguments;
	void (*prepare)(struct work *work); /* may be NULL */
	int (*run)(struct work *work, struct lancet_error *err);
};

static void
close_all(struct work *work)
{
	lancet_version_unref(work->version);
	lancet_dataset_unref(work->dataset);
	work->version = NULL;
	work->dataset = NULL;
}

static int
open_newest(struct work *work, struct lancet_error *err)
{
	uint64_t number;
	int rc = LANCET_OK;

	lancet_version_unref(work->version);
	work->version = NULL;
	if (work->dataset == NULL)
		rc = lancet_dataset_open(work->path, NULL, &work->dataset, err);
	if (rc == LANCET_OK)
		rc = lancet_dataset_latest(work->dataset, &number, err);
	if (rc == LANCET_OK)
		rc = lancet_version_open(work->dataset, number, &work->version, err);
	return rc;
}

static int
run_open(struct work *work, struct lancet_error *err)
{
	(void)err;
	work->rows = lancet_version_info(work->version)->physical_rows;
	return LANCET_OK;
}

static int
run_append(struct work *work, struct lancet_error *err)
{
	struct lancet_commit_options options = { .retries = LANCET_COMMIT_RETRIES,
		.not_durable = no_syncs };
	int fd = open(work->arguments[0], O_RDONLY | O_CLOEXEC);
	struct lancet_commit_result result;
	lancet_change *change = NULL;
	int rc = open_newest(work, err);

	if (fd < 0)
		fail(work->arguments[0], "can't be read");
	if (rc == LANCET_OK)
		rc = lancet_change_append_file(work->version, fd, &change, &work->rows, err);
	if (rc == LANCET_OK)
		rc = lancet_commit(change, &options, &result, err);
	lancet_change_free(change);
	(void)close(fd);
	return rc;
}

/* The last ones of the fragment's. */
static int
read_ids(struct work *work, uint64_t count, struct lancet_error *err)
{
	uint64_t ordinal = strtoull(work->arguments[0], NULL, 10), rows;
	lancet_fragment *fragment = NULL;
	lancet_column *column = NULL;
	int rc = lancet_fragment_open(work->version, ordinal, &fragment, err);

	if (rc == LANCET_OK)
		rc = lancet_column_open(fragment, LANCET_ROW_ID, &column, err);
	if (rc == LANCET_OK) {
		rows = lancet_column_rows(column);
		work->rows = count < rows ? count : rows;
		rc = lancet_column_read(
			column, rows - work->rows, work->rows, work->values, err);
	}
	lancet_column_free(column);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
run_sequence(struct work *work, struct lancet_error *err)
{
	return read_ids(work, UINT64_MAX, err);
}

static int
run_last_id(struct work *work, struct lancet_error *err)
{
	return read_ids(work, 1, err);
}

/* Room for the values, with its pages there, as a program has that reads more than once. */
static void
make_room(struct work *work)
{
	size_t size = (size_t)lancet_version_info(work->version)->physical_rows * sizeof(uint64_t);

	work->values = malloc(size);
	if (work->values == NULL)
		fail("memory", "there is none");
	memset(work->values, 1, size);
}

static void
load_ids(struct work *work)
{
	work->ids = load_numbers(work->arguments[0], &work->id_count);
}

static int
run_take(struct work *work, struct lancet_error *err)
{
	struct lancet_scan_options options = {
		.row_ids = work->ids, .row_id_count = work->id_count, .limit = UINT64_MAX
	};

	return scan_rows(work->version, &options, &work->rows, err);
}

static int
run_resolve(struct work *work, struct lancet_error *err)
{
	static const char *const address[] = { "_rowaddr" };
	struct lancet_scan_options options = { .columns = address,
		.column_count = 1,
		.row_ids = work->ids,
		.row_id_count = work->id_count,
		.limit = UINT64_MAX };

	return scan_rows(work->version, &options, &work->rows, err);
}

static int
run_scan(struct work *work, struct lancet_error *err)
{
	struct lancet_scan_options options = { .limit = UINT64_MAX };
	const char *columns[8];
	char *names = strdup(work->arguments[0]), *rest = names, *name;
	int rc;

	while (options.column_count < 8 && (name = strsep(&rest, ",")) != NULL)
		columns[options.column_count++] = name;
	options.columns = columns;
	rc = scan_rows(work->version, &options, &work->rows, err);
	free(names);
	return rc;
}

static int
run_compact(struct work *work, struct lancet_error *err)
{
	struct lancet_commit_options commit = { .retries = LANCET_COMMIT_RETRIES,
		.not_durable = no_syncs };
	struct lancet_rewrite_run run = { .memory = 0 };
	struct lancet_compact_options options;
	struct lancet_commit_result result;
	lancet_rewrite *rewrite = NULL;
	lancet_change *change = NULL;
	int rc = lancet_compact_defaults(work->version, &options, err);

	options.target_rows = strtoull(work->arguments[0], NULL, 10);
	if (rc == LANCET_OK)
		rc = lancet_compact_plan(work->version, &options, &rewrite, err);
	if (rc == LANCET_OK)
		rc = lancet_rewrite_run(rewrite, &run, &change, err);
	if (rc == LANCET_OK && change != NULL)
		rc = lancet_commit(change, &commit, &result, err);
	if (rc == LANCET_OK)
		work->rows = lancet_rewrite_totals(rewrite)->live_rows;
	lancet_change_free(change);
	lancet_rewrite_free(rewrite);
	return rc;
}

static const struct kind kinds[] = {
	{ "open", OPEN_MEASURED, 0, NULL, run_open },
	{ "append", OPEN_ONCE, 2, NULL, run_append },
	{ "sequence", OPEN_EACH, 1, make_room, run_sequence },
	{ "last_id", OPEN_EACH, 1, make_room, run_last_id },
	{ "lookup", OPEN_EACH, 1, load_ids, run_take },
	{ "resolve", OPEN_EACH, 1, load_ids, run_resolve },
	{ "take", OPEN_ONCE, 1, load_ids, run_take },
	{ "scan", OPEN_EACH, 1, NULL, run_scan },
	{ "compact", OPEN_MEASURED, 2, NULL, run_compact },
};

static int
open_anew(struct work *work, struct lancet_error *err)
{
	close_all(work);
	return open_newest(work, err);
}

static void
run_round(struct work *work, const struct kind *kind)
{
	uint64_t written = proc_number("/proc/self/io", "wchar:"), before;
	double wall, processor;
	int rc = LANCET_OK;

	if (kind->open == OPEN_EACH)
		rc = open_anew(work, &work->err);
	else if (kind->open == OPEN_MEASURED)
		close_all(work);
	before = syncs;
	wall = now(CLOCK_MONOTONIC);
	processor = now(CLOCK_PROCESS_CPUTIME_ID);
	if (rc == LANCET_OK && kind->open == OPEN_MEASURED)
		rc = open_newest(work, &work->err);
	if (rc == LANCET_OK)
		rc = kind->run(work, &work->err);
	wall = now(CLOCK_MONOTONIC) - wall;
	processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
	if (rc != LANCET_OK)
		fail(kind->name, work->err.text);
	printf("%.9f %.9f", wall, processor);
	printf(" %" PRIu64 " %" PRIu64, proc_number("/proc/self/io", "wchar:") - written,
		syncs - before);
	printf(" %" PRIu64 "\n", work->rows);
}

static const struct kind *
kind_named(const char *name, int arguments)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0 && kinds[i].arguments == arguments)
			return &kinds[i];
	}
	fail("usage", "rowid_spill DATASET WHAT ROUNDS [ARGUMENT...]");
}

int
main(int argc, char **argv)
{
	struct work work = { .path = argv[1] };
	const struct kind *kind = kind_named(argc < 4 ? "" : argv[2], argc - 4);
	int rounds = atoi(argv[3]);

	work.arguments = argv + 4;
	/* New data files are synced whatever the commit is told. */
	no_syncs = kind->arguments == 2 && strcmp(argv[5], "plain") == 0;
	if (open_newest(&work, &work.err) != LANCET_OK)
		fail(work.path, work.err.text);
	if (kind->prepare != NULL)
		kind->prepare(&work);
	for (int i = 0; i < 2 && kind->run == run_take && kind->open == OPEN_ONCE; i++) {
		if (run_take(&work, &work.err) != LANCET_OK)
			fail(work.path, work.err.text);
	}
	for (int i = 0; i < rounds; i++)
		run_round(&work, kind);
	printf("peak %" PRIu64 "\n", peak_kib());
	close_all(&work);
	free(work.ids);
	free(work.values);
	return 0;
}

/* Reads one column of a dataset again and again, as tests/bench/scan.py asks, and says how long it
 * took.
 *
 * usage: scan DATASET COLUMN THREADS ROUNDS [ROWS_FILE]
 *
 * Each round opens the version's scan anew and drops the batches. THREADS scans run side by side on
 * equal parts of the rows. With ROWS_FILE (little-endian u64 row ids) a round takes just these
 * rows. Output: one line for each round, seconds; then the peak resident size in KiB.
 */
#include "bench.h"

#include <lancet/dataset.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct part {
	lancet_version *version;
	struct lancet_scan_options options;
	uint64_t rows;
	struct lancet_error err;
	int rc;
};

static void *
read_part(void *context)
{
	struct part *part = context;

	part->rc = scan_rows(part->version, &part->options, &part->rows, &part->err);
	return NULL;
}

static uint64_t
run_round(struct part *parts, unsigned threads)
{
	pthread_t running[16];
	uint64_t rows = 0;

	for (unsigned i = 1; i < threads; i++) {
		if (pthread_create(&running[i], NULL, read_part, &parts[i]) != 0)
			fail("thread", "not started");
	}
	read_part(&parts[0]);
	for (unsigned i = 0; i < threads; i++) {
		if (i > 0)
			(void)pthread_join(running[i], NULL);
		if (parts[i].rc != LANCET_OK)
			fail("read", parts[i].err.text);
		rows += parts[i].rows;
	}
	return rows;
}

int
main(int argc, char **argv)
{
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	int rounds = argc > 4 ? atoi(argv[4]) : 0;
	struct part parts[16] = { 0 };
	struct lancet_error err;
	lancet_dataset *dataset;
	lancet_version *version;
	uint64_t *row_ids = NULL;
	size_t row_id_count = 0;
	uint64_t total, number;

	if (threads < 1 || threads > 16)
		fail("usage", "scan DATASET COLUMN THREADS ROUNDS [ROWS_FILE]");
	if (lancet_dataset_open(argv[1], NULL, &dataset, &err) != LANCET_OK ||
		lancet_dataset_latest(dataset, &number, &err) != LANCET_OK ||
		lancet_version_open(dataset, number, &version, &err) != LANCET_OK)
		fail(argv[1], err.text);
	if (argc > 5)
		row_ids = load_numbers(argv[5], &row_id_count);
	total = lancet_version_info(version)->physical_rows;
	for (unsigned i = 0; i < threads; i++) {
		uint64_t each = total / threads;

		parts[i].version = version;
		parts[i].options =
			(struct lancet_scan_options){ .columns = (const char *const *)&argv[2],
				.column_count = 1,
				.row_ids = row_ids,
				.row_id_count = row_id_count,
				.offset = row_ids == NULL ? i * each : 0,
				.limit = i + 1 < threads ? each : UINT64_MAX };
	}
	for (int i = 0; i < rounds; i++) {
		double start = now(CLOCK_MONOTONIC);
		uint64_t rows = run_round(parts, threads);

		printf("%.9f %" PRIu64 "\n", now(CLOCK_MONOTONIC) - start, rows);
	}
	printf("peak %" PRIu64 "\n", peak_kib());
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	free(row_ids);
	return 0;
}

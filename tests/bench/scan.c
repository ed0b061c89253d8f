/* Reads one column of a dataset again and again, as tests/bench/scan.py asks, and says how long it
 * took.
 *
 * usage: scan DATASET COLUMN THREADS ROUNDS [ROWS_FILE]
 *
 * Each round opens the version's scan anew and drops the batches. THREADS scans run side by side on
 * equal parts of the rows. With ROWS_FILE (little-endian u64 row ids) a round takes just these
 * rows. Output: one line for each round, seconds; then the peak resident size in KiB.
 */
#include <lancet/dataset.h>
#include <lancet/scan.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct part {
	lancet_version *version;
	struct lancet_scan_options options;
	uint64_t rows;
	struct lancet_error err;
	int rc;
};

static int
count_rows(void *context, const struct ArrowArray *batch, struct lancet_error *err)
{
	struct part *part = context;

	(void)err;
	part->rows += (uint64_t)batch->length;
	return LANCET_OK;
}

static void *
read_part(void *context)
{
	struct part *part = context;
	lancet_scan *scan = NULL;

	part->rows = 0;
	part->rc = lancet_scan_open(part->version, &part->options, &scan, &part->err);
	if (part->rc == LANCET_OK)
		part->rc = lancet_scan_each(scan, count_rows, part, &part->err);
	lancet_scan_free(scan);
	return NULL;
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
fail(const char *what, const char *text)
{
	(void)fprintf(stderr, "scan: %s: %s\n", what, text);
	exit(1);
}

/* The highest resident size since the program was started, in KiB. */
static long
peak_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long peak = 0;

	while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			peak = atol(line + 6);
	}
	if (status != NULL)
		(void)fclose(status);
	return peak;
}

static uint64_t *
load_rows(const char *path, size_t *ret_count)
{
	FILE *file = fopen(path, "rb");
	uint64_t *rows = NULL;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(path, "can't be read");
	size = ftell(file);
	rewind(file);
	rows = malloc((size_t)size);
	if (rows == NULL || fread(rows, 1, (size_t)size, file) != (size_t)size)
		fail(path, "can't be read");
	(void)fclose(file);
	*ret_count = (size_t)size / sizeof(*rows);
	return rows;
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
		row_ids = load_rows(argv[5], &row_id_count);
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
		double start = now();
		uint64_t rows = run_round(parts, threads);

		printf("%.9f %" PRIu64 "\n", now() - start, rows);
	}
	printf("peak %ld\n", peak_kib());
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	free(row_ids);
	return 0;
}

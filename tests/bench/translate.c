/* Translates row addresses again and again, as tests/bench/translate.py asks, and says how much
 * processor time it took.
 *
 * usage: translate DATASET ADDRESSES_FILE STEP ROUNDS
 *
 * Each round follows all addresses of the file (little-endian u64), STEP at a time, 0: all in one
 * call. Output: how long opening the version and its reuse history took, with the bytes that were
 * read for it; for each round seconds, how many addresses are current, and the sum of these
 * addresses; then the peak resident size in KiB, without the addresses and their answers.
 */
#include <lancet/dataset.h>
#include <lancet/transition.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct work {
	lancet_version *version;
	uint64_t *row_addrs, *current;
	uint8_t *fates;
	size_t count;
};

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
fail(const char *what, const char *text)
{
	(void)fprintf(stderr, "translate: %s: %s\n", what, text);
	exit(1);
}

/* A number behind a word in a file of /proc/self. */
static uint64_t
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

static void
load_addresses(struct work *work, const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		fail(path, "can't be read");
	size = ftell(file);
	rewind(file);
	work->count = (size_t)size / sizeof(uint64_t);
	work->row_addrs = malloc((size_t)size + 1);
	work->current = malloc((size_t)size + 1);
	work->fates = malloc(work->count + 1);
	if (work->row_addrs == NULL || work->current == NULL || work->fates == NULL ||
		fread(work->row_addrs, 1, (size_t)size, file) != (size_t)size)
		fail(path, "can't be read");
	(void)fclose(file);
	memset(work->current, 0, (size_t)size); /* all of it is resident from now on */
	memset(work->fates, 0, work->count);
}

static void
open_history(struct work *work, const char *path)
{
	uint64_t before = proc_number("/proc/self/io", "rchar:"), number;
	double start = now();
	struct lancet_error err;
	lancet_dataset *dataset;
	lancet_reuse *reuse;

	if (lancet_dataset_open(path, NULL, &dataset, &err) != LANCET_OK ||
		lancet_dataset_latest(dataset, &number, &err) != LANCET_OK ||
		lancet_version_open(dataset, number, &work->version, &err) != LANCET_OK ||
		lancet_version_reuse(work->version, &reuse, &err) != LANCET_OK)
		fail(path, err.text);
	lancet_dataset_unref(dataset);
	printf("open %.9f", now() - start);
	printf(" %" PRIu64 "\n", proc_number("/proc/self/io", "rchar:") - before);
}

static void
run_round(struct work *work, size_t step)
{
	struct lancet_error err;
	uint64_t current = 0, sum = 0;
	double start = now();

	for (size_t at = 0; at < work->count; at += step) {
		size_t some = work->count - at < step ? work->count - at : step;

		if (lancet_translate(work->version, work->row_addrs + at, some, work->current + at,
			    work->fates + at, &err) != LANCET_OK)
			fail("translate", err.text);
	}
	start = now() - start;
	for (size_t i = 0; i < work->count; i++) {
		current += work->fates[i] == LANCET_ROW_CURRENT;
		sum += work->fates[i] == LANCET_ROW_CURRENT ? work->current[i] : 0;
	}
	printf("%.9f %" PRIu64 " %" PRIu64 "\n", start, current, sum);
}

int
main(int argc, char **argv)
{
	struct work work = { .count = 0 };
	uint64_t arrays;
	size_t step;

	if (argc != 5)
		fail("usage", "translate DATASET ADDRESSES_FILE STEP ROUNDS");
	step = (size_t)strtoull(argv[3], NULL, 10);
	load_addresses(&work, argv[2]);
	arrays = proc_number("/proc/self/status", "VmRSS:");
	open_history(&work, argv[1]);
	for (int i = 0; i < atoi(argv[4]); i++)
		run_round(&work, step != 0 ? step : work.count);
	printf("peak %" PRIu64 "\n", proc_number("/proc/self/status", "VmHWM:") - arrays);
	lancet_version_unref(work.version);
	free(work.row_addrs);
	free(work.current);
	free(work.fates);
	return 0;
}

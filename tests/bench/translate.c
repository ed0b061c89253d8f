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
#include "bench.h"

#include <lancet/dataset.h>
#include <lancet/transition.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	lancet_version *version;
	uint64_t *row_addrs, *current;
	uint8_t *fates;
	size_t count;
};

static void
load_addresses(struct work *work, const char *path)
{
	size_t size;

	work->row_addrs = load_numbers(path, &work->count);
	size = work->count * sizeof(*work->current);
	work->current = malloc(size + 1);
	work->fates = malloc(work->count + 1);
	if (work->current == NULL || work->fates == NULL)
		fail("memory", "there is none");
	memset(work->current, 0, size); /* all of it is resident from now on */
	memset(work->fates, 0, work->count);
}

static void
open_history(struct work *work, const char *path)
{
	uint64_t before = proc_number("/proc/self/io", "rchar:"), number;
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	struct lancet_error err;
	lancet_dataset *dataset;
	lancet_reuse *reuse;

	if (lancet_dataset_open(path, NULL, &dataset, &err) != LANCET_OK ||
		lancet_dataset_latest(dataset, &number, &err) != LANCET_OK ||
		lancet_version_open(dataset, number, &work->version, &err) != LANCET_OK ||
		lancet_version_reuse(work->version, &reuse, &err) != LANCET_OK)
		fail(path, err.text);
	lancet_dataset_unref(dataset);
	printf("open %.9f", now(CLOCK_PROCESS_CPUTIME_ID) - start);
	printf(" %" PRIu64 "\n", proc_number("/proc/self/io", "rchar:") - before);
}

static void
run_round(struct work *work, size_t step)
{
	struct lancet_error err;
	uint64_t current = 0, sum = 0;
	double start = now(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t at = 0; at < work->count; at += step) {
		size_t some = work->count - at < step ? work->count - at : step;

		if (lancet_translate(work->version, work->row_addrs + at, some, work->current + at,
			    work->fates + at, &err) != LANCET_OK)
			fail("translate", err.text);
	}
	start = now(CLOCK_PROCESS_CPUTIME_ID) - start;
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
	printf("peak %" PRIu64 "\n", peak_kib() - arrays);
	lancet_version_unref(work.version);
	free(work.row_addrs);
	free(work.current);
	free(work.fates);
	return 0;
}

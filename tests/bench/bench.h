/* What the programs of this directory share. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <lancet/scan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Calls of fsync() and fdatasync() since the program was started: bench.c has its own, which stand
 * before those of the C library. With no_syncs they do nothing, and are not counted. */
extern uint64_t syncs;
extern bool no_syncs;

/* Seconds. */
double now(clockid_t which);

/* Ends the program. */
_Noreturn void fail(const char *what, const char *text);

/* A number behind a word in a file of /proc/self. */
uint64_t proc_number(const char *path, const char *word);

/* The highest resident size since the program was started, in KiB. */
uint64_t peak_kib(void);

/* Little-endian numbers of a file; the caller frees them. */
uint64_t *load_numbers(const char *path, size_t *ret_count);

/* Reads all that the scan has, and drops it. */
int scan_rows(lancet_version *version, const struct lancet_scan_options *options,
	uint64_t *ret_rows, struct lancet_error *err);

#endif

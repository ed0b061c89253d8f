/* The files of a case, for programs that are given one. What can't be read ends the program. */
#ifndef TESTS_CASEFILES_H
#define TESTS_CASEFILES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/affected.h"
#include "util/macros.h"

#define CASE_FILE_MAX  ((size_t)64 << 20)
#define CASE_ADDRS_MAX 100000u

/* "-" is standard input. The caller frees. */
static inline uint8_t *
case_load(const char *path, size_t *ret_size)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	uint8_t *bytes = malloc(CASE_FILE_MAX);

	if (file == NULL || bytes == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	*ret_size = fread(bytes, 1, CASE_FILE_MAX, file);
	(void)fclose(file);
	return bytes;
}

/* Row addresses, one a line. */
static inline int
case_load_affected(const char *path, struct affected_rows **ret_rows, struct lancet_error *err)
{
	lancet_autofree uint64_t *addrs = calloc(CASE_ADDRS_MAX, sizeof(*addrs));
	FILE *file = fopen(path, "r");
	size_t count = 0;

	if (file == NULL || addrs == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	while (count < CASE_ADDRS_MAX && fscanf(file, "%" SCNu64, &addrs[count]) == 1)
		count++;
	(void)fclose(file);
	return affected_rows_new(addrs, count, ret_rows, err);
}

#endif

/* Rows of text that are appended to the sample. */
#ifndef TESTS_COMMITROWS_H
#define TESTS_COMMITROWS_H

#include <sys/mman.h>

#include "commitsample.h"

static inline int
rows_file(const char *text)
{
	int file = memfd_create("rows", MFD_CLOEXEC);

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	return file;
}

static inline int
case_append_rows(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	int file = rows_file("name,id\nplum,1000\n,1001\nfig,1002\n");
	struct lancet_appended appended = { 0 };
	int rc = lancet_change_append_rows(
		read, file, LANCET_ROWS_CSV, NULL, ret_change, &appended, err);

	(void)close(file);
	ck_assert(rc != LANCET_OK || (appended.rows == 3 && appended.fragments == 1));
	return rc;
}

static inline bool
case_append_rows_holds(lancet_version *made)
{
	return lancet_version_info(made)->physical_rows == 48 + 32 + 8 + 16 + 3;
}

#endif

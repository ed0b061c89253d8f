/* Files of datasets for tests of cleanup, and what became of them. */
#ifndef TESTS_CLEANUPDATA_H
#define TESTS_CLEANUPDATA_H

#include <lancet/cleanup.h>

#include "cleanupversions.h"
#include "storecalls.h"

#define OLD_DAYS 8 /* older than what may still be on its way */

/* Made so many days ago. */
static inline void
age_days(const struct tree *tree, const char *relative, int days)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = time(NULL) - days * 86400 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, TREE_PATH(tree, relative), times, 0), 0);
}

static inline void
put_old(const struct tree *tree, const char *relative)
{
	tree_text(tree, relative, "old");
	age_days(tree, relative, OLD_DAYS);
}

static inline bool
exists(const struct tree *tree, const char *relative)
{
	return access(TREE_PATH(tree, relative), F_OK) == 0;
}

static inline bool
plan_has(const lancet_cleanup *cleanup, const char *path)
{
	for (size_t i = 0; i < lancet_cleanup_count(cleanup); i++)
		if (strcmp(lancet_cleanup_file(cleanup, i)->path, path) == 0)
			return true;
	return false;
}

/* The versions that go, "1 3". */
static inline const char *
going_text(const lancet_cleanup *cleanup, char into[256])
{
	size_t count, size = 0;
	const uint64_t *numbers = lancet_cleanup_versions(cleanup, &count);

	into[0] = '\0';
	for (size_t i = 0; i < count; i++)
		size += (size_t)snprintf(into + size, 256 - size, "%s%llu", i == 0 ? "" : " ",
			(unsigned long long)numbers[i]);
	return into;
}

#endif

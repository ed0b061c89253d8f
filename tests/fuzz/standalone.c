/* Replays inputs through a fuzz target without libFuzzer: files, and directories of files.
 *
 * Options of libFuzzer (-runs=0 …) are accepted and ignored. Each input runs once as it is, then,
 * in builds without a sanitizer, once for each allocation it makes with that allocation failing:
 * malloc and its kin are defined here over glibc's own. Exit status 1 when an input can't be read
 * or none was given.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FAILURES_MAX 1000u /* allocations of one input that get their turn to fail */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#define INJECTION 1

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *pointer);

static bool armed;            /* the target is running */
static size_t now, peak;      /* bytes allocated while armed, less those freed */
static unsigned long calls;   /* allocations since armed */
static unsigned long fail_at; /* 0 = none */

size_t
fuzz_heap_now(void)
{
	return now;
}

size_t
fuzz_heap_peak(void)
{
	return peak;
}

void
fuzz_heap_reset_peak(void)
{
	peak = now;
}

static bool
must_fail(void)
{
	return armed && ++calls == fail_at;
}

static void *
account(void *pointer)
{
	if (armed && pointer != NULL) {
		now += malloc_usable_size(pointer);
		peak = now > peak ? now : peak;
	}
	return pointer;
}

void *
malloc(size_t size)
{
	return must_fail() ? NULL : account(__libc_malloc(size));
}

void *
calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : account(__libc_calloc(count, size));
}

void *
realloc(void *old, size_t size)
{
	size_t before = old == NULL ? 0 : malloc_usable_size(old);
	void *pointer = must_fail() ? NULL : __libc_realloc(old, size);

	if (armed && (pointer != NULL || size == 0))
		now -= before;
	return account(pointer);
}

void *
memalign(size_t alignment, size_t size)
{
	return must_fail() ? NULL : account(__libc_memalign(alignment, size));
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int
posix_memalign(void **ret_pointer, size_t alignment, size_t size)
{
	void *pointer = memalign(alignment, size);

	if (pointer == NULL)
		return ENOMEM;
	*ret_pointer = pointer;
	return 0;
}

void
free(void *pointer)
{
	if (armed && pointer != NULL)
		now -= malloc_usable_size(pointer);
	__libc_free(pointer);
}

/* True when the input made at least nth allocations, so that one of them failed. */
static bool
run_failing(const uint8_t *data, size_t size, unsigned long nth)
{
	calls = 0;
	now = 0;
	fail_at = nth;
	armed = true;
	(void)LLVMFuzzerTestOneInput(data, size);
	armed = false;
	return nth != 0 && calls >= nth;
}
#endif

static void
run_input(const uint8_t *data, size_t size)
{
#ifdef INJECTION
	unsigned long failures = &fuzz_needs_memory == NULL ? FAILURES_MAX : 0;

	(void)run_failing(data, size, 0);
	for (unsigned long nth = 1; nth <= failures && run_failing(data, size, nth); nth++)
		;
#else
	(void)LLVMFuzzerTestOneInput(data, size);
#endif
}

static bool
replay_file(const char *path, off_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	bool whole;

	if (file == NULL)
		return false;
	data = malloc(size == 0 ? 1 : (size_t)size);
	whole = data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size;
	(void)fclose(file);
	if (whole) {
		printf("%s\n", path); /* before the run: the last line names what crashed */
		(void)fflush(stdout);
		run_input(data, (size_t)size);
	}
	free(data);
	return whole;
}

static bool
replay(const char *path, unsigned *count)
{
	char inner[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	bool good = true;
	DIR *dir;

	if (stat(path, &st) != 0)
		return false;
	if (!S_ISDIR(st.st_mode)) {
		++*count;
		return replay_file(path, st.st_size);
	}
	dir = opendir(path);
	if (dir == NULL)
		return false;
	while ((entry = readdir(dir)) != NULL) {
		int size = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		good = size < (int)sizeof(inner) && replay(inner, count) && good;
	}
	(void)closedir(dir);
	return good;
}

int
main(int argc, char **argv)
{
	unsigned count = 0;
	bool good = true;

	run_input((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-' || replay(argv[i], &count))
			continue;
		fprintf(stderr, "%s: can't be replayed\n", argv[i]);
		good = false;
	}
	printf("%u inputs\n", count);
	return good && count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What the fuzz targets share: a guard that aborts when an input costs more memory than it may or
 * leaves something allocated.
 *
 * Sanitizers report what is allocated now; the standalone driver, built without them, also knows
 * the peak, and runs each input again and again with another allocation failing each time. A target
 * therefore has to survive failing allocations (or say fuzz_needs_memory), and may keep nothing
 * from one input to the next.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the sanitizer's allocator, and of standalone.c; each is absent in the other's build. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
extern size_t fuzz_heap_now(void) __attribute__((weak));
/* The most that was allocated at once since the last call of fuzz_heap_reset_peak. */
extern size_t fuzz_heap_peak(void) __attribute__((weak));
extern void fuzz_heap_reset_peak(void) __attribute__((weak));

/* Defined by a target that goes through a library which aborts when memory runs out. */
extern const char fuzz_needs_memory __attribute__((weak));

struct fuzz_guard {
	size_t before; /* bytes allocated when the input came */
	size_t limit;  /* bytes the input may cost on top of that */
};

static inline size_t
fuzz_allocated(void)
{
	if (__sanitizer_get_current_allocated_bytes != NULL)
		return __sanitizer_get_current_allocated_bytes();
	return fuzz_heap_now != NULL ? fuzz_heap_now() : 0;
}

static inline struct fuzz_guard
fuzz_begin(size_t limit)
{
	if (fuzz_heap_reset_peak != NULL)
		fuzz_heap_reset_peak();
	return (struct fuzz_guard){ .before = fuzz_allocated(), .limit = limit };
}

/* To be called where the input's structures are largest. */
static inline void
fuzz_check(const struct fuzz_guard *guard)
{
	size_t now = fuzz_allocated();

	if (now > guard->before && now - guard->before > guard->limit)
		abort();
}

static inline void
fuzz_end(const struct fuzz_guard *guard)
{
	/* libFuzzer has threads that allocate meanwhile; there LeakSanitizer looks for leaks */
	if (fuzz_heap_now != NULL && fuzz_heap_now() > guard->before)
		abort();
	if (fuzz_heap_peak != NULL && fuzz_heap_peak() > guard->before + guard->limit)
		abort();
}

/* A fact about our own results that no input may break. */
static inline void
fuzz_expect(int fact)
{
	if (!fact)
		abort();
}

#endif

/* Sources that watch or make up what is read.
 *
 * A counting source never shows its bytes by pointer, so every one that is used is read and
 * counted. A made-up one has a few real bytes at its start and a function for all others: gigabytes
 * that cost nothing.
 */
#ifndef TESTS_SOURCES_H
#define TESTS_SOURCES_H

#include "util/source.h"

#include "marks.h"
#include <stdlib.h>

struct test_source {
	struct source base;
	struct slice head;            /* the caller's */
	uint8_t (*byte)(uint64_t at); /* byte `at` behind the head */
	uint64_t reads, read_bytes;
};

static inline int
test_source_read_at(
	struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	struct test_source *test = (struct test_source *)src;
	uint8_t *to = into;

	(void)err;
	test->reads++;
	test->read_bytes += size;
	if (offset < test->head.size) {
		size_t known = test->head.size - (size_t)offset;

		known = known < size ? known : size;
		memcpy(to, test->head.data + offset, known);
		to += known;
		offset += known;
		size -= known;
	}
	for (size_t i = 0; i < size; i++)
		to[i] = test->byte(offset + i - test->head.size);
	return LANCET_OK;
}

static inline void
test_source_release(struct source *src)
{
	free(src);
}

static const struct source_ops test_source_ops = { test_source_read_at, test_source_release };

static inline struct test_source *
test_source_new(struct slice head, uint64_t more, uint8_t (*byte)(uint64_t at))
{
	struct test_source *test = calloc(1, sizeof(*test));

	ck_assert_ptr_nonnull(test);
	source_init(&test->base, &test_source_ops, head.size + more);
	test->head = head;
	test->byte = byte;
	return test;
}

#endif

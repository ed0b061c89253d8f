/* A borrowed run of bytes. Who owns them and how long they live is said by the giver. */
#ifndef UTIL_SLICE_H
#define UTIL_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const uint8_t *data;
	size_t size;
};

static inline struct slice
slice_of(const void *data, size_t size)
{
	return (struct slice){ data, size };
}

static inline struct slice
slice_text(const char *text)
{
	return (struct slice){ (const uint8_t *)text, strlen(text) };
}

static inline bool
slice_equal(struct slice a, struct slice b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Byte order: like memcmp, the shorter one first when one is a prefix of the other. */
static inline int
slice_compare(struct slice a, struct slice b)
{
	size_t common = a.size < b.size ? a.size : b.size;
	int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

#endif

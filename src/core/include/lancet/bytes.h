/* Borrowed bytes in the public interface: text from a dataset may hold NUL and any other byte. */
#ifndef LANCET_BYTES_H
#define LANCET_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct lancet_bytes {
	const uint8_t *data;
	size_t size; /* bytes */
};

/* One entry of a string map; keys are unique and in byte order in every list of these. */
struct lancet_entry {
	struct lancet_bytes key;
	struct lancet_bytes value;
};

/* Where rendered bytes go. write returns LANCET_OK or the code that ends the rendering. */
struct lancet_output {
	int (*write)(void *context, const void *data, size_t size);
	void *context;
};

#endif

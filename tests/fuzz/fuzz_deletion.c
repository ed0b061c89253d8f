/* A roaring deletion file over any bytes, for a fragment of as many rows as the first four bytes
 * say. */
#include "fuzz.h"

#include "core/deletion.h"
#include "util/cursor.h"

#define HEAD_SIZE 4u

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(65536 + 64 * size);
	struct lancet_error err = { 0 };
	roaring_bitmap_t *set = NULL;
	struct source *src;
	uint64_t rows;
	int rc;

	if (size < HEAD_SIZE)
		return 0;
	rows = load_u32(data);
	src = source_memory_new(slice_of(data + HEAD_SIZE, size - HEAD_SIZE), NULL);
	if (src == NULL)
		return 0;
	rc = deletion_bitmap_parse(src, rows, rows, &set, &err);
	source_unref(src);
	if (rc == LANCET_OK) {
		fuzz_check(&guard);
		fuzz_expect(roaring_bitmap_get_cardinality(set) <= rows);
		fuzz_expect(roaring_bitmap_is_empty(set) || roaring_bitmap_maximum(set) < rows);
		roaring_bitmap_free(set);
	} else {
		fuzz_expect(rc == LANCET_CORRUPT || rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY);
		fuzz_expect(err.text[0] != '\0');
	}
	fuzz_end(&guard);
	return 0;
}

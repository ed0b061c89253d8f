/* An Arrow deletion file over any bytes, for a fragment of as many rows as the first four bytes
 * say. */
#include "fuzz.h"

#include "core/deletion.h"
#include "util/cursor.h"

#define HEAD_SIZE 4u
/* More rows make packed values longer, not other. */
#define ROWS_MAX (1u << 20)
/* Histories and windows of the unpackers: Zstandard's may have 64 MiB. */
#define UNPACK_MAX (80u << 20)

/* CRoaring 0.2 does not survive without memory. */
const char fuzz_needs_memory = 1;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(UNPACK_MAX + 64 * size);
	struct lancet_error err = { 0 };
	roaring_bitmap_t *set = NULL;
	struct source *src;
	uint64_t rows;
	int rc;

	if (size < HEAD_SIZE)
		return 0;
	rows = load_u32(data) % ROWS_MAX;
	src = source_memory_new(slice_of(data + HEAD_SIZE, size - HEAD_SIZE), NULL);
	if (src == NULL)
		return 0;
	rc = deletion_arrow_parse(src, rows, &set, &err);
	source_unref(src);
	if (rc == LANCET_OK) {
		fuzz_check(&guard);
		fuzz_expect(roaring_bitmap_is_empty(set) || roaring_bitmap_maximum(set) < rows);
		roaring_bitmap_free(set);
	} else {
		fuzz_expect(rc == LANCET_CORRUPT || rc == LANCET_NO_MEMORY);
		fuzz_expect(err.text[0] != '\0');
	}
	fuzz_end(&guard);
	return 0;
}

/* roaringx over any bytes. What it accepts must be a bitmap whose own serialisation names the same
 * values in the same number, and cost no more memory than a small multiple of the input.
 */
#include "fuzz.h"

#include "util/roaringx.h"

#define ANY_VALUE        (UINT64_C(1) << 32)
#define CARDINALITY_MAX  (UINT64_C(1) << 32)
#define VALUES_COUNTED   100000u /* a few bytes of runs can name billions */

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

static void
check_bitmap(roaring_bitmap_t *bitmap, uint64_t cardinality)
{
	roaring_uint32_iterator_t *it = roaring_create_iterator(bitmap);
	uint64_t count = 0;
	uint64_t next = 0;

	fuzz_expect(roaring_bitmap_get_cardinality(bitmap) == cardinality);
	if (it == NULL)
		return;
	while (it->has_value && count < VALUES_COUNTED) {
		fuzz_expect(it->current_value >= next);
		fuzz_expect(roaring_bitmap_contains(bitmap, it->current_value));
		next = (uint64_t)it->current_value + 1;
		count++;
		roaring_advance_uint32_iterator(it);
	}
	fuzz_expect(it->has_value || count == cardinality);
	roaring_free_uint32_iterator(it);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(65536 + 32 * size);
	struct slice bytes = { data, size };
	roaring_bitmap_t *bitmap = NULL;
	struct lancet_error err = { 0 };
	uint64_t cardinality = 0;
	size_t measured = 0;
	int rc;

	if (roaringx_measure(bytes, &measured, &cardinality, &err) != LANCET_OK) {
		fuzz_expect(err.code == LANCET_CORRUPT && err.text[0] != '\0');
		fuzz_expect(roaringx_load(bytes, ANY_VALUE, CARDINALITY_MAX, &bitmap, NULL) ==
		            LANCET_CORRUPT);
		fuzz_end(&guard);
		return 0;
	}
	fuzz_expect(measured <= size && cardinality <= CARDINALITY_MAX);
	rc = roaringx_load(slice_of(data, measured), ANY_VALUE, CARDINALITY_MAX, &bitmap, NULL);
	fuzz_expect(rc == LANCET_OK || rc == LANCET_NO_MEMORY);
	if (rc == LANCET_OK) {
		fuzz_check(&guard);
		check_bitmap(bitmap, cardinality);
		roaring_bitmap_free(bitmap);
	}
	fuzz_end(&guard);
	return 0;
}

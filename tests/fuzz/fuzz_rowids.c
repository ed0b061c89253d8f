/* Row id and version sequences over any bytes: a flag byte, the number of rows (u32), the message.
 *
 * A sequence this short was checked whole when it opened, so nothing may fail later but memory, and
 * a row must read the same alone and among others.
 */
#include "fuzz.h"

#include "core/sequence.h"
#include "util/cursor.h"

#define HEAD_SIZE    5u
#define VERSIONS     1u /* flag: version runs, not row ids */
#define ROWS_AT_ONCE 64u
#define READS_MAX    64u

static int
read_ok(struct sequence *seq, uint64_t first, size_t count, uint64_t *values)
{
	int rc = sequence_read(seq, first, count, values, NULL);

	fuzz_expect(rc == LANCET_OK || rc == LANCET_NO_MEMORY);
	return rc == LANCET_OK;
}

static void
check_rows(struct sequence *seq, uint64_t rows)
{
	uint64_t step = rows / READS_MAX + 1;
	uint64_t values[ROWS_AT_ONCE];
	uint64_t alone;

	for (uint64_t first = 0; first < rows; first += step) {
		uint64_t left = rows - first;
		size_t count = left < ROWS_AT_ONCE ? (size_t)left : ROWS_AT_ONCE;

		if (!read_ok(seq, first, count, values))
			continue;
		if (read_ok(seq, first, 1, &alone))
			fuzz_expect(alone == values[0]);
		if (read_ok(seq, first + count - 1, 1, &alone))
			fuzz_expect(alone == values[count - 1]);
	}
	fuzz_expect(sequence_read(seq, rows, 1, &alone, NULL) == LANCET_INVALID);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(65536 + 64 * size);
	struct lancet_error err = { 0 };
	struct sequence *seq = NULL;
	struct source *src;
	uint64_t rows;
	int rc;

	if (size < HEAD_SIZE || size > 65536)
		return 0;
	rows = load_u32(data + 1);
	src = source_memory_new(slice_of(data + HEAD_SIZE, size - HEAD_SIZE), NULL);
	if (src == NULL)
		return 0;
	rc = sequence_open(
		(data[0] & VERSIONS) != 0 ? &row_versions_ops : &rowids_ops, src, rows, &seq, &err);
	source_unref(src);
	fuzz_check(&guard);
	if (rc == LANCET_OK)
		check_rows(seq, rows);
	else
		fuzz_expect(
			(rc == LANCET_CORRUPT || rc == LANCET_NO_MEMORY) && err.text[0] != '\0');
	sequence_free(seq);
	fuzz_end(&guard);
	return 0;
}

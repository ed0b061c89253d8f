/* Positions and counts of sparse pages: kept when they are packed, computed when they follow from
 * their message. Format facts: 2.3 PlanarLayout, unsigned-sequence grammar. */
#include "sparse.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/macros.h"

int
sparse_numbers_open(struct sparse_numbers *numbers, struct slice message, unsigned bits,
	uint64_t count, struct arena *arena, struct lancet_error *err)
{
	TRY(number_run_open(message, bits, arena, &numbers->run, &numbers->has_buffer, err));
	numbers->count = count;
	numbers->progression =
		number_run_progression(numbers->run, &numbers->start, &numbers->step);
	return LANCET_OK;
}

/* A progression of so many elements has to be within 64 bits. */
static int
check_progression(const struct sparse_numbers *numbers, struct lancet_error *err)
{
	uint64_t span;

	if (numbers->count > 0 &&
		(__builtin_mul_overflow(numbers->count - 1, numbers->step, &span) ||
			span > UINT64_MAX - numbers->start))
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " numbers from %" PRIu64 " by %" PRIu64, numbers->count,
			numbers->start, numbers->step);
	return LANCET_OK;
}

static int
decode(const struct page_reader *reader, struct sparse_numbers *numbers, struct slice in,
	struct array_budget *budget, struct lancet_error *err)
{
	int rc;

	TRY(array_init(&numbers->values, field_unsigned(64), budget, err));
	rc = number_run_decode(
		numbers->run, numbers->count, in, reader->scratch, &numbers->values, err);
	if (rc != LANCET_OK)
		array_release(&numbers->values);
	return rc;
}

int
sparse_numbers_load(struct page_reader *reader, struct sparse_numbers *numbers,
	struct array_budget *budget, struct lancet_error *err)
{
	struct buf *bytes;
	size_t size;
	int rc;

	if (numbers->progression && numbers->count > 0)
		return check_progression(numbers, err);
	if (!numbers->has_buffer)
		return decode(reader, numbers, (struct slice){ 0 }, budget, err);
	size = (size_t)reader->page->buffers[numbers->buffer].size;
	TRY(codec_take_buffer(reader->scratch, &bytes, err));
	rc = buf_reserve(bytes, size) ? LANCET_OK : buf_check(bytes, "positions", err);
	if (rc == LANCET_OK)
		rc = page_read(reader, numbers->buffer, 0, size, bytes->data, err);
	if (rc == LANCET_OK)
		rc = decode(reader, numbers, slice_of(bytes->data, size), budget, err);
	scratch_give(reader->scratch);
	return rc;
}

uint64_t
sparse_numbers_below(const struct sparse_numbers *numbers, uint64_t limit)
{
	uint64_t low = 0, high = numbers->count, steps;

	if (numbers->progression) {
		if (high == 0 || limit <= numbers->start)
			return 0;
		steps = numbers->step == 0 ? 0 : (limit - 1 - numbers->start) / numbers->step;
		return steps < high ? steps + 1 : high;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (sparse_number(numbers, middle) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

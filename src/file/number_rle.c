/* Runs of equal numbers within a run of numbers.
 *
 * Unlike where values are run-length encoded, lengths are 32 bits, either part may follow from its
 * message alone, and the lengths have to add up exactly. How many runs there are follows from the
 * lengths when they are a constant or a range, else from the size of what is flat. Format
 * facts: 2.3 unsigned-sequence grammar.
 */
#include "number_run.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "rle.h"
#include "util/cursor.h"
#include "util/macros.h"

#define LENGTH_BITS 32u

static int
rle_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	const struct Lance__Encodings21__Rle *rle = message->rle;

	(void)bytes;
	TRY(number_part_open(
		slice_of(rle->values.data, rle->values.len), run->bits, arena, &run->inner, err));
	TRY(number_part_open(slice_of(rle->run_lengths.data, rle->run_lengths.len), LENGTH_BITS,
		arena, &run->second, err));
	run->has_buffer = run->inner->has_buffer || run->second->has_buffer;
	return LANCET_OK;
}

static int
cut(const struct number_run *run, struct slice in, struct slice *ret_values,
	struct slice *ret_lengths, struct lancet_error *err)
{
	struct cursor c = { .in = in };
	uint64_t values_size;

	*ret_values = *ret_lengths = (struct slice){ 0 };
	if (!run->has_buffer)
		return LANCET_OK;
	values_size = cursor_u64(&c);
	*ret_values = cursor_take(&c, values_size);
	*ret_lengths = cursor_take(&c, cursor_left(&c));
	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: %" PRIu64 " bytes of values in a buffer of %zu", values_size,
			in.size);
	return LANCET_OK;
}

/* How many lengths start, start + step … it takes to reach at least `count`, which is in memory
 * already. */
static bool
progression_runs(uint64_t start, uint64_t step, uint64_t count, uint64_t *ret_runs)
{
	uint64_t sum = 0, runs = 0;

	if (start == 0 || start > UINT32_MAX || step > UINT32_MAX)
		return false;
	if (step == 0) {
		*ret_runs = count / start + (count % start != 0);
		return true;
	}
	for (uint64_t length = start; sum < count; length += step, runs++)
		sum += length;
	*ret_runs = runs;
	return true;
}

static int
count_runs(const struct number_run *run, uint64_t count, struct slice values, struct slice lengths,
	uint64_t *ret_runs, struct lancet_error *err)
{
	uint64_t start, step;

	if (run->second->empty || run->inner->empty)
		return lancet_fail(
			err, LANCET_CORRUPT, "rle: no runs for %" PRIu64 " numbers", count);
	if (number_run_progression(run->second, &start, &step)) {
		if (progression_runs(start, step, count, ret_runs))
			return LANCET_OK;
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: runs of length %" PRIu64 " and so on by %" PRIu64, start, step);
	}
	if (number_flat_count(run->second, lengths.size, ret_runs) ||
		number_flat_count(run->inner, values.size, ret_runs))
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT, "rle: nothing tells the number of the runs");
}

static int
check_sum(const struct array *lengths, uint64_t count, struct lancet_error *err)
{
	const uint64_t *length = (const uint64_t *)(const void *)lengths->data.data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < lengths->length;
		i++) /* each below 2^32, as many as memory holds */
		sum += length[i];
	if (sum != count)
		return lancet_fail(err, LANCET_CORRUPT,
			"rle: runs of %" PRIu64 " numbers, %" PRIu64 " expected", sum, count);
	return LANCET_OK;
}

static int
expand(const struct array *values, const struct array *lengths, uint64_t count, uint64_t *place,
	struct lancet_error *err)
{
	struct rle_runs runs = { values->data.data, 8, lengths->data.data, 8, lengths->length };

	TRY(check_sum(lengths, count, err));
	return rle_expand(&runs, count, (uint8_t *)place, err);
}

static int
rle_decode(const struct number_run *run, uint64_t count, struct slice in, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	struct slice values_in, lengths_in;
	struct array values, lengths;
	uint64_t *place, runs;
	int rc;

	TRY(cut(run, in, &values_in, &lengths_in, err));
	TRY(number_extend(out, count, &place, err));
	TRY(count_runs(run, count, values_in, lengths_in, &runs, err));
	TRY(array_init(&values, field_unsigned(64), out->budget, err));
	rc = array_init(&lengths, field_unsigned(64), out->budget, err);
	if (rc == LANCET_OK) {
		rc = number_run_decode(run->inner, runs, values_in, scratch, &values, err);
		if (rc == LANCET_OK)
			rc = number_run_decode(
				run->second, runs, lengths_in, scratch, &lengths, err);
		if (rc == LANCET_OK)
			rc = expand(&values, &lengths, count, place, err);
		array_release(&lengths);
	}
	array_release(&values);
	return rc;
}

const struct number_kind number_rle = {
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RLE,
	.composite = true,
	.open = rle_open,
	.decode = rle_decode,
};

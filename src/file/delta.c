/* Ascending numbers as a first one and the differences that follow: only in runs of numbers. Format
 * facts: 2.3 unsigned-sequence grammar. */
#include "number_run.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "encodings.h"
#include "util/macros.h"

static int
delta_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	const struct Lance__Encodings21__Delta *delta = message->delta;

	(void)bytes;
	TRY(number_check_bits(run, "delta", delta->bits_per_value, err));
	TRY(number_part_open(slice_of(delta->deltas.data, delta->deltas.len), run->bits, arena,
		&run->inner, err));
	run->start = delta->base_value;
	run->has_buffer = run->inner->has_buffer;
	return LANCET_OK;
}

/* Replaces differences by sums; false when one passes `max`. */
static bool
add_up(uint64_t *numbers, uint64_t count, uint64_t max)
{
	uint64_t sum = numbers[0];
	bool wrapped = false;

	for (uint64_t i = 1; i < count; i++) {
		wrapped |= __builtin_add_overflow(sum, numbers[i], &sum);
		numbers[i] = sum;
	}
	return !wrapped && sum <= max;
}

static int
delta_decode(const struct number_run *run, uint64_t count, struct slice in, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	size_t first = out->data.size;
	uint64_t *place;

	TRY(number_extend(out, 1, &place, err));
	*place = run->start;
	TRY(number_run_decode(run->inner, count - 1, in, scratch, out, err));
	place = (uint64_t *)(void *)(out->data.data + first);
	if (!add_up(place, count, run->bits == 32 ? UINT32_MAX : UINT64_MAX))
		return lancet_fail(err, LANCET_CORRUPT, "delta: the sum passes %u bits", run->bits);
	return LANCET_OK;
}

const struct number_kind number_delta = {
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DELTA,
	.composite = true,
	.open = delta_open,
	.decode = delta_decode,
};

const struct encoding encoding_delta = {
	.name = "delta",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DELTA,
	.places = 0,
};

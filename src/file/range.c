/* Numbers at equal distances: only in runs of numbers, where they take no bytes. Format facts: 2.3
 * unsigned-sequence grammar. */
#include "number_run.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "encodings.h"
#include "util/macros.h"

static int
range_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	(void)bytes;
	(void)arena;
	TRY(number_check_bits(run, "range", message->range->bits_per_value, err));
	if (message->range->step == 0)
		return lancet_fail(err, LANCET_CORRUPT, "range: a step of 0");
	run->start = message->range->start;
	run->step = message->range->step;
	return LANCET_OK;
}

static lancet_hot int
range_decode(const struct number_run *run, uint64_t count, struct slice in, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	uint64_t max = run->bits == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t *place;

	(void)in;
	(void)scratch;
	if (run->start > max || count - 1 > (max - run->start) / run->step)
		return lancet_fail(err, LANCET_CORRUPT,
			"range: %" PRIu64 " numbers from %" PRIu64 " by %" PRIu64 " pass %u bits",
			count, run->start, run->step, run->bits);
	TRY(number_extend(out, count, &place, err));
	for (uint64_t i = 0; i < count; i++)
		place[i] = run->start + i * run->step;
	return LANCET_OK;
}

const struct number_kind number_range = {
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RANGE,
	.open = range_open,
	.decode = range_decode,
};

const struct encoding encoding_range = {
	.name = "range",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RANGE,
	.places = 0,
};

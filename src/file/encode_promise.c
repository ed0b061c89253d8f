/* Whether a dictionary can be worth building, from a sample of the values. */
#include "encode_dictionary.h"

#include <stdlib.h>

#include "util/macros.h"

#define SAMPLE      4096u /* slots */
#define WORTH_SHARE 95    /* percent: less gain pays for nothing */

struct sample {
	struct value_set set;
	uint32_t times[SAMPLE]; /* by the number of a value */
	uint32_t repeats;       /* slots that have the value of the one before them */
};

/* Slots at about equal distances, which are not quite equal so that patterns are not followed. */
static int
take_sample(struct sample *sample, struct lancet_error *err)
{
	uint64_t count = sample->set.column->values.count, stride = count / SAMPLE;
	uint64_t jitter = 1;

	for (uint64_t i = 0; i < SAMPLE; i++) {
		uint64_t index = i * stride + jitter % stride;
		uint32_t number = 0, before = 0;

		jitter = jitter * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		jitter ^= jitter >> 33;
		TRY(value_set_add(&sample->set, index, 1, &number, err));
		sample->times[number]++;
		if (index > 0 && value_set_find(&sample->set, index - 1, &before))
			sample->repeats += before == number;
	}
	return LANCET_OK;
}

/* How many different values there are, about: of so many draws, so many were of one drawn already.
 */
static double
estimate(const struct sample *sample)
{
	double seen = SAMPLE - (double)sample->set.count;

	if (sample->set.count < SAMPLE / 2)
		return sample->set.count;
	return (double)SAMPLE * SAMPLE / 2 / (seen < 1 ? 1 : seen);
}

static bool
promises(const struct sample *sample, uint64_t limit, uint64_t worth)
{
	double count = (double)sample->set.column->values.count, size;

	if (estimate(sample) / 2 > (double)limit)
		return false;
	if (sample->repeats > SAMPLE / 20) /* runs: entropy says little */
		return true;
	size = count / 8 * encode_entropy(sample->times, sample->set.count) +
	       (double)sample->set.bytes;
	return size < (double)worth / 100 * WORTH_SHARE;
}

int
value_set_promises(const struct encode_column *column, uint64_t limit, uint64_t worth,
	bool *ret_promises, struct lancet_error *err)
{
	struct sample *sample;
	int rc;

	*ret_promises = true;
	if (column->values.count < 4 * (uint64_t)SAMPLE)
		return LANCET_OK;
	sample = calloc(1, sizeof(*sample));
	if (sample == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values of a page");
	rc = value_set_init(&sample->set, column, SAMPLE, err);
	if (rc == LANCET_OK)
		rc = take_sample(sample, err);
	if (rc == LANCET_OK)
		*ret_promises = promises(sample, limit, worth);
	value_set_release(&sample->set);
	free(sample);
	return rc;
}

/* How small the values of a page become: chunks of a sample are encoded and their sizes added up.
 */
#include "encode_mini.h"

#include "util/macros.h"

/* Of values: a share of them, within bounds. */
#define SAMPLE_BYTES_MIN ((uint64_t)32 * 1024)
#define SAMPLE_BYTES_MAX ((uint64_t)128 * 1024)
#define SAMPLE_LINEAGE   ((uint64_t)256 * 1024)
#define SAMPLE_SHARE     16u
#define SAMPLE_MIN       4096u /* values: no fewer than a chunk has */
#define HOPELESS         95u   /* percent of a size that is still larger than what was found … */
#define HOPELESS_FIRST   80u   /* … when only few chunks were looked at */
#define FEW_CHUNKS       4u
#define BUFFER_ALIGN     UINT64_C(8)

static uint64_t
align(uint64_t size)
{
	return (size + BUFFER_ALIGN - 1) & ~(BUFFER_ALIGN - 1);
}

uint64_t
mini_chunk_size(enum file_version version, const size_t *sizes, unsigned count)
{
	unsigned width = version < FILE_2_2 ? 2 : 4;
	uint64_t size = align(2 + (uint64_t)count * width);

	for (unsigned i = 0; i < count; i++)
		size += align(sizes[i]);
	return size + width;
}

uint64_t
mini_slot_size(const struct encode_column *column)
{
	if (column->bits != 0)
		return column->bits * column->leaves / 8;
	return column->values.count == 0 ? 0 : column->bytes / column->values.count;
}

/* The logarithm, straight between powers of two: at most 0.09 too little. */
static double
log2_about(uint32_t number)
{
	unsigned whole = 31 - (unsigned)__builtin_clz(number);

	return whole + (double)number / (double)(UINT32_C(1) << whole) - 1;
}

double
encode_entropy(const uint32_t *times, size_t count)
{
	uint32_t total = 0;
	double bits = 0;

	for (size_t i = 0; i < count; i++)
		total += times[i];
	for (size_t i = 0; i < count; i++)
		if (times[i] > 0)
			bits += times[i] * (log2_about(total) - log2_about(times[i]));
	return total == 0 ? 0 : bits / total;
}

struct measure {
	struct mini_plan *plan;
	struct buf buffers[ENCODE_BUFFERS_MAX];
	uint64_t values, size; /* measured so far */
};

/* The largest power of two below count. */
static uint64_t
fewer(uint64_t count)
{
	uint64_t power = 1;

	while (power * 2 < count)
		power *= 2;
	return power;
}

/* One chunk from `first` on, of fewer slots where a chunk can't hold as many. */
static int
measure_chunk(struct measure *measure, uint64_t first, struct lancet_error *err)
{
	const struct mini_state *state = measure->plan->state;
	uint64_t left = state->column.values.count - first;
	uint64_t count = UINT64_C(1) << measure->plan->chunk_log2;
	size_t sizes[ENCODE_BUFFERS_MAX];
	int rc;

	for (count = count < left ? count : left;; count = fewer(count)) {
		for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
			measure->buffers[i].size = 0;
		rc = mini_plan_chunk(measure->plan, first, count, measure->buffers, err);
		if (rc != LANCET_LIMIT || count <= 2)
			break;
	}
	TRY(rc);
	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
		sizes[i] = measure->buffers[i].size;
	measure->values += count;
	measure->size +=
		mini_chunk_size(state->column.values.version, sizes, measure->plan->buffer_count);
	return LANCET_OK;
}

static uint64_t
extrapolate(const struct measure *measure, uint64_t count)
{
	if (measure->values == count || measure->values == 0)
		return measure->size;
	return (uint64_t)((double)measure->size / (double)measure->values * (double)count);
}

static uint64_t
sample_values(const struct encode_column *column)
{
	uint64_t size = mini_slot_size(column) + 1;
	uint64_t bytes = size * column->values.count / SAMPLE_SHARE, values;

	bytes = bytes < SAMPLE_BYTES_MIN ? SAMPLE_BYTES_MIN : bytes;
	bytes = bytes > SAMPLE_BYTES_MAX ? SAMPLE_BYTES_MAX : bytes;
	bytes = column->is_lineage ? SAMPLE_LINEAGE : bytes;
	values = bytes / size;
	return values < SAMPLE_MIN ? SAMPLE_MIN : values;
}

static int
measure_chunks(struct measure *measure, uint64_t worth, struct lancet_error *err)
{
	const struct mini_state *state = measure->plan->state;
	uint64_t count = state->column.values.count, first = 0;
	uint64_t step = UINT64_C(1) << measure->plan->chunk_log2;
	uint64_t stride = step, sample = sample_values(&state->column);
	unsigned chunks = 0;

	if (count / 2 > sample) {
		stride = count / sample * step;
		first = stride / 2 & ~(step - 1);
	}
	for (; first < count; first += stride) {
		TRY(measure_chunk(measure, first, err));
		if (extrapolate(measure, count) / 100 *
				(++chunks < FEW_CHUNKS ? HOPELESS_FIRST : HOPELESS) >
			worth)
			break;
	}
	measure->plan->size = extrapolate(measure, count) + measure->plan->message.size;
	return LANCET_OK;
}

int
mini_measure(struct mini_attempt *attempt, struct lancet_error *err)
{
	struct measure measure = { .plan = &attempt->plan };
	int rc = measure_chunks(&measure, attempt->worth, err);

	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
		buf_release(&measure.buffers[i]);
	return rc;
}

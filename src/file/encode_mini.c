/* Which encoding the values of a page take: all that can are measured, the smallest one wins.
 *
 * Sizes are those of chunks that were encoded, with what a chunk costs besides. Slow encodings are
 * measured by a sample, and given up when its beginning is no better than the best so far.
 */
#include "encode_mini.h"

#include <assert.h>
#include <stdlib.h>

#include "datafile.h"
#include "encode_dictionary.h"
#include "encode_wish.h"
#include "util/macros.h"

#define SAMPLE_VALUES  ((uint64_t)128 * 1024)
#define BUFFER_ALIGN   8u
#define WEIGHT_WISHED  95u /* see mini_encoder.weight */
#define WEIGHT_LINEAGE 101u

/* In order of preference: the first of equals wins. Fast ones come first. */
static const struct mini_encoder *const encoders[] = {
	&mini_flat,
	&mini_variable,
	&mini_bitpack,
	&mini_rle,
	&mini_dictionary,
	&mini_fsst,
	&mini_lz4,
	&mini_split_symbols,
	&mini_split_matches,
	&mini_zstd,
};

struct mini_state {
	struct encode_column column;
	bool is_plain; /* gets no dictionary */
	const struct mini_encoder *encoder;
	void *own;
};

unsigned
mini_chunk_log2(uint64_t size, uint64_t goal)
{
	unsigned log2 = 1;

	while (log2 < MINI_VALUES_LOG2 && size << (log2 + 1) <= goal)
		log2++;
	return log2;
}

unsigned
mini_values_log2(const struct encode_column *column)
{
	return column->is_lineage ? MINI_VALUES_LINEAGE_LOG2 : MINI_VALUES_LOG2;
}

int
mini_check_size(
	const struct encode_column *column, const struct buf *buffer, struct lancet_error *err)
{
	if (column->values.version < FILE_2_2 && buffer->size > MINI_CHUNK_21_MAX)
		return lancet_fail(err, LANCET_LIMIT, "a chunk of %zu bytes, %zu are the most",
			buffer->size, MINI_CHUNK_21_MAX);
	return buf_check(buffer, "chunk of a page", err);
}

/* Bytes of a chunk and its word, as the layout has them without levels. */
static uint64_t
chunk_size(enum file_version version, unsigned buffer_count, const struct buf *buffers)
{
	unsigned width = version < FILE_2_2 ? 2 : 4;
	uint64_t size = (2 + (uint64_t)buffer_count * width + BUFFER_ALIGN - 1) & ~7ull;

	for (unsigned i = 0; i < buffer_count; i++)
		size += (buffers[i].size + BUFFER_ALIGN - 1) & ~7ull;
	return size + width;
}

struct measure {
	struct mini_plan *plan;
	struct buf buffers[ENCODE_BUFFERS_MAX];
	uint64_t values, size; /* measured so far */
};

/* One chunk from `first` on, of fewer slots where a chunk can't hold as many. */
static int
measure_chunk(struct measure *measure, uint64_t first, struct lancet_error *err)
{
	const struct mini_state *state = measure->plan->state;
	uint64_t left = state->column.values.count - first;
	uint64_t count = UINT64_C(1) << measure->plan->chunk_log2;
	int rc;

	count = count < left ? count : left;
	for (;;) {
		for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
			measure->buffers[i].size = 0;
		rc = mini_plan_chunk(measure->plan, first, count, measure->buffers, err);
		if (rc != LANCET_LIMIT || count <= 2)
			break;
		while ((count & (count - 1)) != 0)
			count &= count - 1;
		count /= 2;
	}
	TRY(rc);
	measure->values += count;
	measure->size += chunk_size(
		state->column.values.version, measure->plan->buffer_count, measure->buffers);
	return LANCET_OK;
}

static uint64_t
extrapolate(const struct measure *measure, uint64_t count)
{
	if (measure->values == count)
		return measure->size;
	return (uint64_t)((double)measure->size / (double)measure->values * (double)count);
}

/* Size of all chunks; `worth` is what makes the plan useless. */
static int
measure_chunks(struct measure *measure, uint64_t worth, struct lancet_error *err)
{
	const struct mini_state *state = measure->plan->state;
	uint64_t count = state->column.values.count, first = 0;
	uint64_t step = UINT64_C(1) << measure->plan->chunk_log2;
	uint64_t stride = step;

	if (state->encoder->slow && count > SAMPLE_VALUES) {
		stride = count / SAMPLE_VALUES * step;
		first = stride / 2 & ~(step - 1);
	}
	for (; first < count; first += stride) {
		TRY(measure_chunk(measure, first, err));
		if (state->encoder->slow && extrapolate(measure, count) / 5 * 4 > worth)
			break;
	}
	measure->plan->size = measure->values == 0 ? 0 : extrapolate(measure, count);
	return LANCET_OK;
}

static int
measure_plan(struct mini_plan *plan, uint64_t worth, struct lancet_error *err)
{
	struct measure measure = { .plan = plan };
	int rc = measure_chunks(&measure, worth, err);

	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
		buf_release(&measure.buffers[i]);
	return rc;
}

static void
plan_drop(struct mini_plan *plan)
{
	struct mini_state *state = plan->state;

	if (state != NULL && state->own != NULL)
		state->encoder->release(state->own);
	if (state != NULL)
		state->own = NULL;
	buf_release(&plan->message);
	buf_release(&plan->dictionary_message);
	buf_release(&plan->dictionary);
	*plan = (struct mini_plan){ 0 };
}

/* Lineage is to be small, and what a field wishes for has an advantage. */
static unsigned
weight_of(const struct mini_encoder *encoder, const struct encode_column *column)
{
	enum wish_compression wish = encode_wish_compression(column->values.leaf);

	if (encoder->is_general && (wish == WISH_LZ4 || wish == WISH_ZSTD))
		return WEIGHT_WISHED;
	if (column->is_lineage && encoder->weight > WEIGHT_LINEAGE)
		return WEIGHT_LINEAGE;
	return encoder->weight;
}

static uint64_t
weighted(uint64_t size, unsigned weight)
{
	return size / 100 * weight + size % 100 * weight / 100;
}

/* What is known of the best plan so far: its encoder and what that keeps are taken out of the state
 * while the next one is tried. */
struct choice {
	struct mini_plan plan;
	const struct mini_encoder *encoder;
	void *own;
	uint64_t cost;
};

/* *ret_fits is false, too, when not even two values fit a chunk. */
static int
open_and_measure(struct mini_state *state, struct mini_plan *plan, uint64_t worth, bool *ret_fits,
	struct lancet_error *err)
{
	struct lancet_error fault = { 0 };
	int rc;

	TRY(state->encoder->open(&state->column, plan, &state->own, ret_fits, err));
	if (!*ret_fits || plan->size != 0)
		return LANCET_OK;
	rc = measure_plan(plan, worth, &fault);
	plan->size += plan->message.size;
	if (rc == LANCET_LIMIT)
		*ret_fits = false;
	else if (rc != LANCET_OK)
		return lancet_fail(err, (enum lancet_code)rc, "%s", fault.text);
	return LANCET_OK;
}

static int
try_encoder(struct mini_state *state, const struct mini_encoder *encoder, struct choice *best,
	struct lancet_error *err)
{
	struct choice tried = { .plan = { .state = state }, .encoder = encoder };
	bool fits = false;
	int rc;

	state->encoder = encoder;
	state->own = NULL;
	rc = open_and_measure(state, &tried.plan, best->cost, &fits, err);
	if (rc != LANCET_OK || !fits) {
		plan_drop(&tried.plan);
		return rc;
	}
	tried.own = state->own;
	tried.cost = weighted(tried.plan.size, weight_of(encoder, &state->column));
	if (best->encoder == NULL || tried.cost < best->cost) {
		struct choice loser = *best;

		*best = tried;
		tried = loser;
	}
	if (tried.encoder != NULL) {
		state->encoder = tried.encoder;
		state->own = tried.own;
		plan_drop(&tried.plan);
	}
	return LANCET_OK;
}

/* Columns of a dictionary type are nothing but that. */
static bool
may_try(const struct mini_state *state, const struct mini_encoder *encoder)
{
	if (state->is_plain)
		return encoder != &mini_dictionary;
	return encoder == &mini_dictionary ||
	       state->column.values.array->field->kind != FIELD_DICTIONARY;
}

static int
choose(struct mini_state *state, struct choice *best, struct lancet_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(encoders); i++) {
		if (!may_try(state, encoders[i]))
			continue;
		TRY(try_encoder(state, encoders[i], best, err));
	}
	if (best->encoder == NULL)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"values of %zu bytes: no chunk of a page of version %s holds two of them",
			state->column.width, file_version_name(state->column.values.version));
	return LANCET_OK;
}

static int
make_plan(const struct encode_values *values, bool is_plain, struct mini_plan *ret_plan,
	struct lancet_error *err)
{
	struct choice best = { .cost = UINT64_MAX };
	struct mini_state *state = calloc(1, sizeof(*state));
	int rc;

	if (state == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	state->is_plain = is_plain;
	rc = encode_column_open(values, &state->column, err);
	if (rc == LANCET_OK)
		rc = choose(state, &best, err);
	state->encoder = best.encoder;
	state->own = best.own;
	best.plan.state = state;
	if (rc == LANCET_OK)
		*ret_plan = best.plan;
	else
		mini_plan_release(&best.plan);
	return rc;
}

int
mini_plan_plain(
	const struct encode_values *values, struct mini_plan *ret_plan, struct lancet_error *err)
{
	return make_plan(values, true, ret_plan, err);
}

int
mini_plan_make(
	const struct encode_values *values, struct mini_plan *ret_plan, struct lancet_error *err)
{
	return make_plan(values, false, ret_plan, err);
}

void
mini_plan_release(struct mini_plan *plan)
{
	struct mini_state *state = plan->state;

	plan_drop(plan);
	if (state != NULL)
		encode_column_release(&state->column);
	free(state);
}

int
mini_plan_chunk(struct mini_plan *plan, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	struct mini_state *state = plan->state;

	assert(first <= state->column.values.count && count <= state->column.values.count - first);
	assert(count <= UINT64_C(1) << plan->chunk_log2);
	return state->encoder->chunk(&state->column, state->own, first, count, into, err);
}

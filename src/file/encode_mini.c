/* Which encoding the values of a page take: all that can are measured, the smallest one wins. */
#include "encode_mini.h"

#include <assert.h>
#include <stdlib.h>

#include "datafile.h"
#include "encode_wish.h"
#include "util/macros.h"

/* See mini_encoder.weight. Lineage is to be small, and what a field wishes for has an advantage. */
#define WEIGHT_WISHED  95u
#define WEIGHT_LINEAGE 101u

/* In order of preference: the first of equals wins. Fast ones come first, and what is worth trying
 * only where others are bad comes last. */
static const struct mini_encoder *const encoders[] = {
	&mini_flat,
	&mini_variable,
	&mini_bitpack,
	&mini_rle,
	&mini_dictionary_texts,
	&mini_fsst,
	&mini_lz4,
	&mini_split_symbols,
	&mini_split_matches,
	&mini_zstd_quick,
	&mini_zstd,
	&mini_dictionary_numbers,
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

static void
plan_drop(struct mini_plan *plan, const struct mini_encoder *encoder, void *own)
{
	if (own != NULL)
		encoder->release(own);
	buf_release(&plan->message);
	buf_release(&plan->dictionary_message);
	buf_release(&plan->dictionary);
	*plan = (struct mini_plan){ 0 };
}

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

/* A size that can't be held in chunks is no fault: others may do better. */
static int
measure(struct mini_state *state, struct mini_attempt *attempt, struct lancet_error *err)
{
	struct lancet_error fault = { 0 };
	int rc;

	state->own = attempt->own;
	rc = mini_measure(attempt, &fault);
	state->own = NULL;
	if (rc == LANCET_LIMIT)
		attempt->fits = false;
	else if (rc != LANCET_OK)
		return lancet_fail(err, (enum lancet_code)rc, "%s", fault.text);
	return LANCET_OK;
}

/* The best so far. */
struct choice {
	struct mini_attempt attempt;
	const struct mini_encoder *encoder;
	uint64_t cost;
};

static int
try_encoder(struct mini_state *state, const struct mini_encoder *encoder, struct choice *best,
	struct lancet_error *err)
{
	struct choice tried = { .attempt = { .plan = { .state = state }, .worth = best->cost },
		.encoder = encoder };
	struct mini_attempt *attempt = &tried.attempt;
	int rc;

	state->encoder = encoder;
	rc = encoder->open(&state->column, attempt, err);
	if (rc == LANCET_OK && attempt->fits && attempt->plan.size == 0)
		rc = measure(state, attempt, err);
	tried.cost = weighted(attempt->plan.size, weight_of(encoder, &state->column));
	if (rc == LANCET_OK && attempt->fits &&
		(best->encoder == NULL || tried.cost < best->cost)) {
		struct choice loser = *best;

		*best = tried;
		tried = loser;
	}
	plan_drop(&attempt->plan, tried.encoder, attempt->own);
	return rc;
}

/* Columns of a dictionary type are nothing but that. */
static bool
may_try(const struct mini_state *state, const struct mini_encoder *encoder)
{
	if (state->is_plain)
		return encoder != &mini_dictionary_texts && encoder != &mini_dictionary_numbers;
	return encoder == &mini_dictionary_texts ||
	       state->column.values.array->field->kind != FIELD_DICTIONARY;
}

static int
choose(struct mini_state *state, struct choice *best, struct lancet_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(encoders); i++)
		if (may_try(state, encoders[i]))
			TRY(try_encoder(state, encoders[i], best, err));
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
	state->own = best.attempt.own;
	best.attempt.plan.state = state;
	if (rc == LANCET_OK)
		*ret_plan = best.attempt.plan;
	else
		mini_plan_release(&best.attempt.plan);
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

	if (state == NULL)
		return;
	plan_drop(plan, state->encoder, state->own);
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

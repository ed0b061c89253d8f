/* Values of variable size in full-zip pages: each as it is, as codes of symbols, or compressed
 * alone. Format facts: Variable, Fsst and General as values. */
#include "encode_zip.h"

#include <stdlib.h>

#include "compress.h"
#include "encode_fsst.h"
#include "encode_message.h"
#include "encode_variable.h"
#include "encode_wish.h"
#include "util/macros.h"

#define SAMPLE_VALUES 256u
#define SAMPLE_BYTES  ((uint64_t)1 << 20)
#define ZSTD_MEAN_MIN 1024u /* bytes: shorter values are not worth a call each */
/* What a byte counts for, in hundredths, as reading is slow. */
#define WEIGHT_FSST   104u
#define WEIGHT_ZSTD   112u
#define WEIGHT_WISHED 95u

enum variable_kind { VALUES_PLAIN, VALUES_FSST, VALUES_GENERAL };

struct variable_state {
	struct zip_state base;
	struct encode_column column;
	enum variable_kind kind;
	struct fsst_symbols *symbols;
	struct compressor compressor;
};

static int
variable_value(void *state, uint64_t index, struct buf *into, struct lancet_error *err)
{
	struct variable_state *variable = state;
	struct slice value = encode_column_bytes(&variable->column, index);

	if (variable->kind == VALUES_GENERAL)
		return compress(&variable->compressor, value, into, err);
	if (variable->kind == VALUES_FSST)
		fsst_compress(variable->symbols, value, into);
	else
		buf_put_slice(into, value);
	return buf_check(into, "values of a page", err);
}

static void
variable_release(void *state)
{
	struct variable_state *variable = state;

	compressor_release(&variable->compressor);
	free(variable->symbols);
	encode_column_release(&variable->column);
	free(variable);
}

/* Bytes of all values when general compression makes of all what it makes of some. */
static int
estimate_general(struct variable_state *variable, uint64_t bytes, uint64_t *ret_size,
	struct lancet_error *err)
{
	uint64_t count = variable->column.values.count, before = 0;
	uint64_t stride = count / SAMPLE_VALUES + 1;
	struct buf into = { 0 };
	uint64_t after = 0;
	int rc = LANCET_OK;

	for (uint64_t i = stride / 2; rc == LANCET_OK && i < count && before < SAMPLE_BYTES;
		i += stride) {
		struct slice value = encode_column_bytes(&variable->column, i);

		into.size = 0;
		rc = compress(&variable->compressor, value, &into, err);
		before += value.size;
		after += into.size;
	}
	buf_release(&into);
	*ret_size = before == 0 ? UINT64_MAX
				: (uint64_t)((double)bytes * (double)after / (double)before);
	return rc;
}

static uint64_t
weighted(uint64_t size, unsigned weight)
{
	return size == UINT64_MAX ? size : (uint64_t)((double)size * weight / 100);
}

static int
choose(struct variable_state *variable, struct lancet_error *err)
{
	enum wish_compression wish = encode_wish_compression(variable->column.values.leaf);
	bool wished = wish == WISH_ZSTD || wish == WISH_LZ4;
	uint64_t bytes = variable->column.bytes, best = bytes, size;
	uint64_t count = variable->column.values.count;
	struct fsst_estimate estimate;

	if (wish == WISH_NONE || count == 0)
		return LANCET_OK;
	TRY(fsst_symbols_learn(&variable->column, &variable->symbols, err));
	if (variable->symbols != NULL) {
		TRY(fsst_symbols_estimate(&variable->column, variable->symbols, &estimate, err));
		size = weighted(estimate.after + FSST_TABLE_BYTES, WEIGHT_FSST);
		variable->kind = size < best ? VALUES_FSST : VALUES_PLAIN;
		best = size < best ? size : best;
	}
	if (!wished && bytes / count < ZSTD_MEAN_MIN)
		return LANCET_OK;
	variable->compressor.scheme = wish == WISH_LZ4 ? DECOMPRESS_LZ4 : DECOMPRESS_ZSTD;
	variable->compressor.level = encode_wish_level(variable->column.values.leaf);
	TRY(estimate_general(variable, bytes, &size, err));
	if (weighted(size, wished ? WEIGHT_WISHED : WEIGHT_ZSTD) < best)
		variable->kind = VALUES_GENERAL;
	return LANCET_OK;
}

static void
put_message(const struct variable_state *variable, struct buf *into)
{
	struct buf inner = { 0 };

	if (variable->kind == VALUES_FSST) {
		fsst_symbols_message(&variable->column, variable->symbols, into);
		return;
	}
	encode_column_message(&variable->column, &inner);
	if (variable->kind == VALUES_GENERAL)
		message_general(into, variable->compressor.scheme, buf_slice(&inner));
	else
		buf_put_slice(into, buf_slice(&inner));
	if (inner.failed != LANCET_OK)
		into->failed = inner.failed;
	buf_release(&inner);
}

int
zip_variable_make(
	const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err)
{
	static const struct zip_encoder encoder = { variable_value, variable_release };
	struct variable_state *variable = calloc(1, sizeof(*variable));

	if (variable == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	variable->base.encoder = &encoder;
	plan->state = variable;
	plan->variable = true;
	plan->bits = values->array->field->large ? 64 : 32;
	TRY(encode_column_open(values, &variable->column, err));
	TRY(choose(variable, err));
	put_message(variable, &plan->message);
	return LANCET_OK;
}

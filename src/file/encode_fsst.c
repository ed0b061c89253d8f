/* Text as codes of symbols, value by value. Format facts: FSST. */
#include "encode_fsst.h"

#include <stdlib.h>

#include "encode_message.h"
#include "encode_variable.h"
#include "encode_wish.h"
#include "util/macros.h"

/* Of all values: less can't pay for a table. */
#define BYTES_MIN    (4 * (uint64_t)FSST_TABLE_BYTES)
#define SAMPLE_PARTS 64u
#define SAMPLE_BYTES ((size_t)512) /* of each part */

/* Parts of the page at equal distances, some values each. */
static int
take_sample(const struct encode_column *column, struct buf *sample, struct lancet_error *err)
{
	uint64_t count = column->values.count, next = 0;

	for (unsigned part = 0; part < SAMPLE_PARTS; part++) {
		uint64_t first =
			count / SAMPLE_PARTS * part + count % SAMPLE_PARTS * part / SAMPLE_PARTS;
		size_t left = SAMPLE_BYTES;

		for (uint64_t i = first > next ? first : next; i < count && left > 0; i++) {
			struct slice value = encode_column_bytes(column, i);

			value.size = value.size < left ? value.size : left;
			left -= value.size;
			buf_put(sample, &value, sizeof(value));
			next = i + 1;
		}
	}
	return buf_check(sample, "values of a page", err);
}

static const struct slice *
slices_of(const struct buf *sample, size_t *ret_count)
{
	*ret_count = sample->size / sizeof(struct slice);
	return (const struct slice *)(const void *)sample->data;
}

int
fsst_symbols_learn(const struct encode_column *column, struct fsst_symbols **ret_symbols,
	struct lancet_error *err)
{
	struct buf sample = { 0 };
	const struct slice *slices;
	size_t count;
	int rc;

	*ret_symbols = NULL;
	if (column->bits != 0 || column->bytes < BYTES_MIN ||
		encode_wish_compression(column->values.leaf) == WISH_NONE)
		return LANCET_OK;
	rc = take_sample(column, &sample, err);
	slices = slices_of(&sample, &count);
	if (rc == LANCET_OK)
		rc = fsst_symbols_make(slices, count, ret_symbols, err);
	buf_release(&sample);
	return rc;
}

int
fsst_symbols_estimate(const struct encode_column *column, const struct fsst_symbols *symbols,
	struct fsst_estimate *ret_estimate, struct lancet_error *err)
{
	struct buf sample = { 0 }, codes = { 0 };
	const struct slice *slices;
	uint64_t before = 0;
	size_t count;
	int rc = take_sample(column, &sample, err);

	slices = slices_of(&sample, &count);
	for (size_t i = 0; rc == LANCET_OK && i < count; i++) {
		before += slices[i].size;
		fsst_compress(symbols, slices[i], &codes);
	}
	if (rc == LANCET_OK)
		rc = buf_check(&codes, "values of a page", err);
	ret_estimate->before = ret_estimate->after = column->bytes;
	if (before > 0)
		ret_estimate->after = (uint64_t)((double)ret_estimate->before * (double)codes.size /
						 (double)before);
	buf_release(&sample);
	buf_release(&codes);
	return rc;
}

void
fsst_symbols_message(
	const struct encode_column *column, const struct fsst_symbols *symbols, struct buf *into)
{
	struct buf table = { 0 }, inner = { 0 };

	fsst_symbols_put(symbols, &table);
	encode_column_message(column, &inner);
	message_fsst(into, buf_slice(&table), buf_slice(&inner));
	if (table.failed != LANCET_OK || inner.failed != LANCET_OK)
		into->failed = LANCET_NO_MEMORY;
	buf_release(&table);
	buf_release(&inner);
}

static int
fsst_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	struct fsst_estimate estimate;
	struct fsst_symbols *symbols;

	if (column->bits != 0 || column->bytes / FSST_SYMBOL_SIZE > attempt->worth)
		return LANCET_OK;
	TRY(fsst_symbols_learn(column, &symbols, err));
	attempt->own = symbols;
	if (symbols == NULL)
		return LANCET_OK;
	TRY(fsst_symbols_estimate(column, symbols, &estimate, err));
	fsst_symbols_message(column, symbols, &attempt->plan.message);
	attempt->plan.buffer_count = 1;
	attempt->plan.chunk_log2 = variable_chunk_log2(column, estimate.after);
	attempt->fits = true;
	return buf_check(&attempt->plan.message, "encoding of a page", err);
}

/* The offsets are put when it is known where values end. */
static int
fsst_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	unsigned width = column->values.array->field->large ? 8 : 4;
	uint64_t offset = (count + 1) * width;

	buf_fill(into, 0, (size_t)offset);
	for (uint64_t i = 0; i <= count && into->failed == LANCET_OK; i++) {
		offset = into->size;
		if (width == 4 && offset > INT32_MAX)
			return lancet_fail(err, LANCET_LIMIT, "a chunk of too many bytes");
		memcpy(into->data + i * width, &offset, width);
		if (i < count)
			fsst_compress(own, encode_column_bytes(column, first + i), into);
	}
	variable_finish(into, width);
	return mini_check_size(column, into, err);
}

const struct mini_encoder mini_fsst = {
	.name = "fsst",
	.weight = 104,
	.open = fsst_open,
	.release = free,
	.chunk = fsst_chunk,
};

/* Values of variable size in a mini-block: offsets from the start of the buffer, then the bytes.
 * Format facts: variable width. */
#include "encode_variable.h"

#include <inttypes.h>

#include "util/macros.h"

#define CHUNK_GOAL 8192u /* bytes */
#define FILLER     0x48

unsigned
variable_chunk_log2(const struct encode_column *column, uint64_t bytes)
{
	unsigned width = column->values.array->field->large ? 8 : 4;
	uint64_t count = column->values.count == 0 ? 1 : column->values.count;

	return mini_chunk_log2(bytes / count + width, CHUNK_GOAL);
}

uint64_t
variable_bytes(const struct encode_column *column)
{
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < column->values.count; i++)
		bytes += encode_column_bytes(column, i).size;
	return bytes;
}

void
variable_finish(struct buf *into, unsigned width)
{
	size_t rest = into->size % width;

	if (rest != 0)
		buf_fill(into, FILLER, width - rest);
}

static int
variable_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	if (column->bits != 0)
		return LANCET_OK;
	encode_column_message(column, &attempt->plan.message);
	attempt->plan.buffer_count = 1;
	attempt->plan.chunk_log2 = variable_chunk_log2(column, variable_bytes(column));
	attempt->fits = true;
	return buf_check(&attempt->plan.message, "encoding of a page", err);
}

int
variable_put(const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into,
	struct lancet_error *err)
{
	unsigned width = column->values.array->field->large ? 8 : 4;
	uint64_t offset = (count + 1) * width;

	buf_put(into, &offset, width);
	for (uint64_t i = first; i < first + count; i++) {
		offset += encode_column_bytes(column, i).size;
		buf_put(into, &offset, width);
	}
	if (width == 4 && offset > INT32_MAX)
		return lancet_fail(err, LANCET_LIMIT, "a chunk of %" PRIu64 " bytes", offset);
	for (uint64_t i = first; i < first + count; i++)
		buf_put_slice(into, encode_column_bytes(column, i));
	variable_finish(into, width);
	return LANCET_OK;
}

static int
variable_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	(void)own;
	TRY(variable_put(column, first, count, into, err));
	return mini_check_size(column, into, err);
}

const struct mini_encoder mini_variable = {
	.name = "variable",
	.weight = 100,
	.open = variable_open,
	.chunk = variable_chunk,
};

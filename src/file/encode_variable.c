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
	attempt->plan.chunk_log2 = variable_chunk_log2(column, column->bytes);
	attempt->fits = true;
	return buf_check(&attempt->plan.message, "encoding of a page", err);
}

/* Those of the array, moved. */
static inline __attribute__((always_inline)) void
move_offsets(const uint8_t *from, uint64_t head, uint64_t count, uint8_t *to, size_t width)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = 0;

		memcpy(&offset, from + i * width, width);
		offset += head;
		memcpy(to + i * width, &offset, width);
	}
}

/* Of slots that are empty when they are null. */
lancet_hot static void
put_offsets(const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into)
{
	const struct array *array = column->values.array;
	unsigned width = array->field->large ? 8 : 4;
	uint64_t slot = column->values.first + first;
	uint64_t head = (count + 1) * width - array_offset(array, slot);
	const uint8_t *from = array->offsets.data + slot * width;
	uint8_t *to = into->data + into->size;

	into->size += (size_t)(count + 1) * width;
	if (width == 4)
		move_offsets(from, head, count + 1, to, 4);
	else
		move_offsets(from, head, count + 1, to, 8);
}

static void
put_whole(const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into)
{
	const struct array *array = column->values.array;
	uint64_t slot = column->values.first + first;
	uint64_t start = array_offset(array, slot), end = array_offset(array, slot + count);

	put_offsets(column, first, count, into);
	if (end > start)
		buf_put(into, array->data.data + start, (size_t)(end - start));
}

static void
put_each(const struct encode_column *column, uint64_t first, uint64_t count, unsigned width,
	struct buf *into)
{
	uint64_t offset = (count + 1) * width;

	buf_put(into, &offset, width);
	for (uint64_t i = first; i < first + count; i++) {
		offset += encode_column_bytes(column, i).size;
		buf_put(into, &offset, width);
	}
	for (uint64_t i = first; i < first + count; i++)
		buf_put_slice(into, encode_column_bytes(column, i));
}

int
variable_put(const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into,
	struct lancet_error *err)
{
	unsigned width = column->values.array->field->large ? 8 : 4;
	uint64_t bytes = 0;

	if (column->bytes > INT32_MAX / 2)
		for (uint64_t i = first; i < first + count; i++)
			bytes += encode_column_bytes(column, i).size;
	if (width == 4 && bytes > INT32_MAX - (count + 1) * width)
		return lancet_fail(err, LANCET_LIMIT, "a chunk of %" PRIu64 " bytes", bytes);
	if (!buf_reserve(into, (size_t)(count + 1) * width))
		return buf_check(into, "chunk of a page", err);
	if (!column->is_dense)
		put_each(column, first, count, width, into);
	else
		put_whole(column, first, count, into);
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

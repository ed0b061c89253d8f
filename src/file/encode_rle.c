/* Numbers as runs of equal ones: values, and lengths of a byte each. Format facts: RLE. */
#include "encode_mini.h"

#include "encode_message.h"
#include "util/macros.h"

#define RUN_MAX    255u
#define CHUNK_GOAL 8192u /* bytes */

static inline __attribute__((always_inline)) uint64_t
load(const uint8_t *from, size_t width)
{
	uint64_t value = 0;

	memcpy(&value, from, width);
	return value;
}

static inline __attribute__((always_inline)) uint64_t
count_changes(const uint8_t *values, uint64_t count, size_t width)
{
	uint64_t changes = 0;

	for (uint64_t i = 1; i < count; i++)
		changes += load(values + i * width, width) != load(values + (i - 1) * width, width);
	return changes;
}

/* How often a value differs from the one before. */
lancet_hot static uint64_t
changes_of(const struct encode_column *column)
{
	switch (column->width) {
	case 1:
		return count_changes(column->data, column->values.count, 1);
	case 2:
		return count_changes(column->data, column->values.count, 2);
	case 4:
		return count_changes(column->data, column->values.count, 4);
	default:
		return count_changes(column->data, column->values.count, 8);
	}
}

/* Runs end at chunks and after 255 values: their number is an estimate. */
static int
rle_open(const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	uint64_t count = column->values.count, runs, bytes;
	struct mini_plan *plan = &attempt->plan;
	const size_t none[2] = { 0 };

	if (!column->is_number || count == 0)
		return LANCET_OK;
	runs = changes_of(column) + count / RUN_MAX + 1;
	if (runs > count / 2 + 1)
		return LANCET_OK;
	message_rle(&plan->message, column->bits);
	plan->buffer_count = 2;
	plan->chunk_log2 = mini_values_log2(column);
	bytes = runs * (column->width + 1);
	while (plan->chunk_log2 > 1 && (bytes << plan->chunk_log2) / count > CHUNK_GOAL)
		plan->chunk_log2--;
	plan->size = bytes + plan->message.size +
		     ((count >> plan->chunk_log2) + 1) *
			     mini_chunk_size(column->values.version, none, 2);
	attempt->fits = true;
	return buf_check(&plan->message, "encoding of a page", err);
}

static uint64_t
run_length(const uint8_t *values, uint64_t count, size_t width)
{
	uint64_t length = 1, most = count < RUN_MAX ? count : RUN_MAX;

	while (length < most && memcmp(values + length * width, values, width) == 0)
		length++;
	return length;
}

static int
rle_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	const uint8_t *values = column->data + first * column->width;
	uint64_t length;

	(void)own;
	for (; count > 0; count -= length, values += length * column->width) {
		length = run_length(values, count, column->width);
		buf_put(&into[0], values, column->width);
		buf_put_byte(&into[1], (uint8_t)length);
	}
	TRY(mini_check_size(column, &into[1], err));
	return mini_check_size(column, &into[0], err);
}

const struct mini_encoder mini_rle = {
	.name = "rle",
	.weight = 101,
	.open = rle_open,
	.chunk = rle_chunk,
};

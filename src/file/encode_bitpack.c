/* Numbers in units of 1024, each packed to the width that its highest one needs. Format facts:
 * InlineBitpacking. */
#include "encode_mini.h"

#include "encode_message.h"
#include "fastlanes.h"
#include "util/macros.h"

/* Of all chunks, of which only widths are needed. */
static uint64_t
size_of(const struct encode_column *column)
{
	uint64_t count = column->values.count, size = 0;

	for (uint64_t first = 0; first < count; first += FASTLANES_UNIT) {
		uint64_t left = count - first;
		unsigned width = fastlanes_width((unsigned)column->bits,
			column->data + first * column->width,
			(size_t)(left < FASTLANES_UNIT ? left : FASTLANES_UNIT));
		size_t bytes = column->width + fastlanes_size(width);

		size += mini_chunk_size(column->values.version, &bytes, 1);
	}
	return size;
}

static int
bitpack_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	struct mini_plan *plan = &attempt->plan;

	if (!column->is_number)
		return LANCET_OK;
	message_bitpack_inline(&plan->message, column->bits);
	plan->buffer_count = 1;
	plan->chunk_log2 = 10; /* FASTLANES_UNIT */
	plan->size = size_of(column) + plan->message.size;
	attempt->fits = true;
	return buf_check(&plan->message, "encoding of a page", err);
}

/* Fewer values than a unit are packed as one that ends with zeroes. */
static int
bitpack_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	unsigned bits = (unsigned)column->bits;
	size_t size = (size_t)count * column->width;
	const uint8_t *values = column->data + first * column->width;
	uint64_t width = fastlanes_width(bits, values, (size_t)count);
	uint8_t unit[FASTLANES_UNIT * sizeof(uint64_t)] = { 0 };

	(void)own;
	if (count < FASTLANES_UNIT) {
		memcpy(unit, values, size);
		values = unit;
	}
	buf_put(into, &width, column->width);
	if (!buf_reserve(into, fastlanes_size((unsigned)width)))
		return buf_check(into, "chunk of a page", err);
	fastlanes_pack(bits, (unsigned)width, values, into->data + into->size);
	into->size += fastlanes_size((unsigned)width);
	return mini_check_size(column, into, err);
}

const struct mini_encoder mini_bitpack = {
	.name = "inline_bitpacking",
	.weight = 100,
	.open = bitpack_open,
	.chunk = bitpack_chunk,
};

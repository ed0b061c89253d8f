/* Values as they are: numbers and bits, fixed-size lists with the validity of their items, packed
 * rows. Format facts: Flat, FixedSizeList, PackedStruct. */
#include "encode_mini.h"

#include "encode_message.h"
#include "util/bits.h"
#include "util/macros.h"

#define CHUNK_GOAL 8192u /* bytes */

/* Of all chunks: nothing need be encoded for it. */
static uint64_t
size_of(const struct encode_column *column, const struct mini_plan *plan)
{
	uint64_t chunk = UINT64_C(1) << plan->chunk_log2;
	size_t sizes[ENCODE_BUFFERS_MAX] = { 0 };
	unsigned count = 0;

	for (size_t i = 0; i < column->item_count; i++)
		if (column->items[i].has_nulls)
			sizes[count++] = (size_t)bits_size(chunk * column->items[i].per_value);
	sizes[count++] = (size_t)bits_size(chunk * column->bits * column->leaves);
	return (uint64_t)((double)mini_chunk_size(column->values.version, sizes, count) /
			  (double)chunk * (double)column->values.count) +
	       plan->message.size;
}

static int
flat_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	uint64_t bits = column->bits * column->leaves;
	struct mini_plan *plan = &attempt->plan;

	if (column->bits == 0)
		return LANCET_OK;
	encode_column_message(column, &plan->message);
	plan->buffer_count = 1;
	for (size_t i = 0; i < column->item_count; i++)
		plan->buffer_count += column->items[i].has_nulls;
	plan->chunk_log2 = bits < 8 ? MINI_VALUES_LOG2 : mini_chunk_log2(bits / 8, CHUNK_GOAL);
	if (bits / 8 < CHUNK_GOAL)
		plan->size = size_of(column, plan);
	attempt->fits = true;
	return buf_check(&plan->message, "encoding of a page", err);
}

static int
flat_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	(void)own;
	for (size_t i = 0; i < column->item_count; i++) {
		const struct encode_items *items = &column->items[i];

		if (!items->has_nulls)
			continue;
		encode_items_put_validity(column, items, first, count, into);
		TRY(mini_check_size(column, into++, err));
	}
	encode_column_put(column, first, count, into);
	return mini_check_size(column, into, err);
}

const struct mini_encoder mini_flat = {
	.name = "flat",
	.weight = 100,
	.open = flat_open,
	.chunk = flat_chunk,
};

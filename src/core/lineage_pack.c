/* Blocks of values in few bits; see lineage_pack.h. */
#include "lineage_pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

#define WORD_BITS   64u
#define PENDING_MIN 16u /* values; PACK_BLOCK is that times a power of two */
#define RUN_BYTES   9u  /* of a run of a column: the value, and up to 255 rows */

enum pack_form {
	PACK_STEPS,  /* base + i * step */
	PACK_DELTAS, /* the first is base; one more than the stored number from each to the next */
	PACK_OFFSETS /* base + the stored number */
};

struct pack_block {
	uint64_t base;
	uint64_t at; /* in the bits, bytes */
	uint8_t form, step, width;
};

/* What a look at a block tells. */
struct shape {
	uint64_t least, most, step_most; /* the last: of what lies between neighbours */
	bool ascends, same;
	size_t runs;
};

static struct shape
shape_of(const uint64_t *values, size_t count)
{
	struct shape shape = { values[0], values[0], 0, true, true, 1 };

	for (size_t i = 1; i < count; i++) {
		uint64_t between = values[i] - values[i - 1] - 1;

		if (values[i] < shape.least)
			shape.least = values[i];
		if (values[i] > shape.most)
			shape.most = values[i];
		if (values[i] <= values[i - 1])
			shape.ascends = false;
		else if (between > shape.step_most)
			shape.step_most = between;
		shape.runs += values[i] != values[i - 1];
	}
	shape.same = shape.runs == 1;
	return shape;
}

static unsigned
width_of(uint64_t value)
{
	return value == 0 ? 0 : WORD_BITS - (unsigned)__builtin_clzll(value);
}

/* Numbers are words of 64 bits one after the other, least significant bits first. */
static lancet_hot void
put_bits(uint64_t *words, const uint64_t *numbers, size_t count, unsigned width)
{
	uint64_t word = 0;
	unsigned used = 0;

	for (size_t i = 0; i < count && width > 0; i++) {
		word |= numbers[i] << used;
		used += width;
		if (used < WORD_BITS)
			continue;
		*words++ = word;
		used -= WORD_BITS;
		word = used == 0 ? 0 : numbers[i] >> (width - used);
	}
	if (used > 0)
		*words = word;
}

static lancet_hot void
get_bits(const uint8_t *bits, size_t count, unsigned width, uint64_t *numbers)
{
	uint64_t mask = width == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << width) - 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t bit = (uint64_t)i * width, low, high = 0;
		unsigned shift = (unsigned)(bit % WORD_BITS);

		if (width == 0) {
			numbers[i] = 0;
			continue;
		}
		memcpy(&low, bits + bit / WORD_BITS * 8, 8);
		if (shift + width > WORD_BITS)
			memcpy(&high, bits + (bit / WORD_BITS + 1) * 8, 8);
		numbers[i] = (low >> shift | (shift == 0 ? 0 : high << (WORD_BITS - shift))) & mask;
	}
}

static size_t
packed_size(size_t count, unsigned width)
{
	return (count * width + WORD_BITS - 1) / WORD_BITS * 8;
}

static struct pack_block
block_of(const uint64_t *values, const struct shape *shape)
{
	unsigned offset = width_of(shape->most - shape->least);
	unsigned delta = width_of(shape->step_most);

	if (shape->same || (shape->ascends && shape->step_most == 0))
		return (struct pack_block){ values[0], 0, PACK_STEPS, !shape->same, 0 };
	if (shape->ascends && delta <= offset)
		return (struct pack_block){ values[0], 0, PACK_DELTAS, 0, (uint8_t)delta };
	return (struct pack_block){ shape->least, 0, PACK_OFFSETS, 0, (uint8_t)offset };
}

static void
put_numbers(struct lineage_pack *pack, const struct pack_block *block, const uint64_t *values,
	size_t count)
{
	uint64_t numbers[PACK_BLOCK], words[PACK_BLOCK];

	numbers[0] = block->form == PACK_DELTAS ? 0 : values[0] - block->base;
	for (size_t i = 1; i < count; i++)
		numbers[i] = block->form == PACK_DELTAS ? values[i] - values[i - 1] - 1
							: values[i] - block->base;
	put_bits(words, numbers, count, block->width);
	buf_put(&pack->bits, words, packed_size(count, block->width));
}

/* The bytes of a column by the block: whole values in as many bits as the largest takes, or runs.
 */
static uint64_t
column_bytes(const struct shape *shape, size_t count)
{
	uint64_t packed = (count * width_of(shape->most) + 7) / 8 + 2;
	uint64_t runs = (uint64_t)shape->runs * RUN_BYTES;

	return packed < runs ? packed : runs;
}

static int
end_block(struct lineage_pack *pack, struct lancet_error *err)
{
	struct shape shape = shape_of(pack->pending, PACK_BLOCK);
	struct pack_block block = block_of(pack->pending, &shape);

	if (pack->block_count == pack->block_capacity) {
		size_t capacity = pack->block_capacity == 0 ? 16 : 2 * pack->block_capacity;
		struct pack_block *blocks =
			reallocarray(pack->blocks, capacity, sizeof(*pack->blocks));

		if (blocks == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "row lineage");
		pack->blocks = blocks;
		pack->block_capacity = capacity;
	}
	block.at = pack->bits.size;
	if (block.form != PACK_STEPS)
		put_numbers(pack, &block, pack->pending, PACK_BLOCK);
	pack->blocks[pack->block_count++] = block;
	pack->column_bytes += column_bytes(&shape, PACK_BLOCK);
	pack->pending_count = 0;
	return buf_check(&pack->bits, "row lineage", err);
}

/* A pack of few values is small: there may be one for each of many fragments. */
static int
grow_pending(struct lineage_pack *pack, size_t count, struct lancet_error *err)
{
	size_t capacity = pack->pending_capacity == 0 ? PENDING_MIN : pack->pending_capacity;
	uint64_t *pending;

	while (capacity < count)
		capacity *= 2;
	if (capacity == pack->pending_capacity)
		return LANCET_OK;
	pending = reallocarray(pack->pending, capacity, sizeof(*pending));
	if (pending == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row lineage");
	pack->pending = pending;
	pack->pending_capacity = capacity;
	return LANCET_OK;
}

int
lineage_pack_put(
	struct lineage_pack *pack, const uint64_t *values, uint64_t count, struct lancet_error *err)
{
	pack->count += count;
	while (count > 0) {
		size_t room = PACK_BLOCK - pack->pending_count;
		size_t part = count < room ? (size_t)count : room;

		TRY(grow_pending(pack, pack->pending_count + part, err));
		memcpy(pack->pending + pack->pending_count, values, part * sizeof(*values));
		pack->pending_count += part;
		values += part;
		count -= part;
		if (pack->pending_count == PACK_BLOCK)
			TRY(end_block(pack, err));
	}
	return LANCET_OK;
}

/* The first `count` values of a block. */
static void
read_block(const struct lineage_pack *pack, const struct pack_block *block, size_t count,
	uint64_t *values)
{
	if (block->form == PACK_STEPS) {
		for (size_t i = 0; i < count; i++)
			values[i] = block->base + i * block->step;
		return;
	}
	get_bits(pack->bits.data + block->at, count, block->width, values);
	if (block->form == PACK_OFFSETS) {
		for (size_t i = 0; i < count; i++)
			values[i] += block->base;
		return;
	}
	values[0] = block->base;
	for (size_t i = 1; i < count; i++)
		values[i] += values[i - 1] + 1;
}

void
lineage_pack_read(const struct lineage_pack *pack, uint64_t first, size_t count, uint64_t *values)
{
	uint64_t scratch[PACK_BLOCK];

	assert(first <= pack->count && count <= pack->count - first);
	while (count > 0) {
		size_t place = (size_t)(first / PACK_BLOCK), skip = (size_t)(first % PACK_BLOCK);
		size_t part = count < PACK_BLOCK - skip ? count : PACK_BLOCK - skip;

		if (place == pack->block_count) {
			memcpy(values, pack->pending + skip, part * sizeof(*values));
		} else if (skip == 0) {
			read_block(pack, &pack->blocks[place], part, values);
		} else {
			read_block(pack, &pack->blocks[place], skip + part, scratch);
			memcpy(values, scratch + skip, part * sizeof(*values));
		}
		first += part;
		values += part;
		count -= part;
	}
}

size_t
lineage_pack_footprint(const struct lineage_pack *pack)
{
	return pack->block_capacity * sizeof(*pack->blocks) + pack->bits.capacity +
	       pack->pending_capacity * sizeof(*pack->pending);
}

uint64_t
lineage_pack_column_bytes(const struct lineage_pack *pack)
{
	struct shape shape;

	if (pack->pending_count == 0)
		return pack->column_bytes;
	shape = shape_of(pack->pending, pack->pending_count);
	return pack->column_bytes + column_bytes(&shape, pack->pending_count);
}

void
lineage_pack_release(struct lineage_pack *pack)
{
	free(pack->blocks);
	free(pack->pending);
	buf_release(&pack->bits);
	*pack = (struct lineage_pack){ 0 };
}

/* Repetition and definition levels: 16 bits each, packed to what the page's highest one needs, or
 * as runs. One encoding for the page, a block for each chunk. Format facts: levels, bit-packing
 * codecs, RLE as a block. */
#include "encode.h"

#include <assert.h>

#include "encode_message.h"
#include "fastlanes.h"
#include "util/macros.h"

#define LEVEL_BITS  16u
#define LEVEL_BYTES 2u
#define RUN_MAX     255u

enum level_codec { LEVELS_FLAT, LEVELS_PACKED, LEVELS_RUNS };

/* The last values that fill no unit are one more unit or raw, whichever is smaller. */
static bool
packs_tail(unsigned width, uint64_t tail)
{
	return (uint64_t)width * (FASTLANES_UNIT - tail) < (LEVEL_BITS - width) * tail;
}

static uint64_t
packed_size(unsigned width, uint64_t count)
{
	uint64_t tail = count % FASTLANES_UNIT;
	uint64_t size = count / FASTLANES_UNIT * fastlanes_size(width);

	return size + (packs_tail(width, tail) ? fastlanes_size(width) : tail * LEVEL_BYTES);
}

/* Bytes of the runs of a block. */
static uint64_t
runs_size(const uint16_t *levels, uint64_t count)
{
	uint64_t runs = 0, length = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (length == 0 || length == RUN_MAX || levels[i] != levels[i - 1]) {
			runs++;
			length = 0;
		}
		length++;
	}
	return 8 + runs * (LEVEL_BYTES + 1);
}

static uint64_t
size_of(enum level_codec codec, unsigned width, const uint16_t *levels, uint64_t count,
	uint64_t chunk_levels)
{
	uint64_t size = 0;

	for (uint64_t first = 0; first < count; first += chunk_levels) {
		uint64_t block = count - first < chunk_levels ? count - first : chunk_levels;

		if (codec == LEVELS_FLAT)
			size += block * LEVEL_BYTES;
		else if (codec == LEVELS_PACKED)
			size += packed_size(width, block);
		else
			size += runs_size(levels + first, block);
	}
	return size;
}

int
level_plan_make(enum file_version version, const uint16_t *levels, uint64_t count,
	uint64_t chunk_levels, struct level_plan *ret_plan, struct lancet_error *err)
{
	uint64_t best, size;
	struct level_plan plan = { .codec = LEVELS_FLAT };

	assert(chunk_levels > 0);
	/* a width of 0 would be one that nobody writes */
	plan.width = fastlanes_width(LEVEL_BITS, (const uint8_t *)levels, (size_t)count);
	plan.width = plan.width == 0 ? 1 : plan.width;
	best = size_of(LEVELS_FLAT, plan.width, levels, count, chunk_levels);
	size = size_of(LEVELS_PACKED, plan.width, levels, count, chunk_levels);
	if (plan.width < LEVEL_BITS && size < best) {
		plan.codec = LEVELS_PACKED;
		best = size;
	}
	if (version >= FILE_2_2 &&
		size_of(LEVELS_RUNS, plan.width, levels, count, chunk_levels) < best)
		plan.codec = LEVELS_RUNS;
	if (plan.codec == LEVELS_PACKED)
		message_bitpack_outofline(&plan.message, LEVEL_BITS, plan.width);
	else if (plan.codec == LEVELS_RUNS)
		message_rle(&plan.message, LEVEL_BITS);
	else
		message_flat(&plan.message, LEVEL_BITS);
	if (plan.message.failed != LANCET_OK) {
		buf_release(&plan.message);
		return lancet_fail(err, LANCET_NO_MEMORY, "levels of a page");
	}
	*ret_plan = plan;
	return LANCET_OK;
}

void
level_plan_release(struct level_plan *plan)
{
	buf_release(&plan->message);
}

static void
put_unit(unsigned width, const uint16_t *levels, struct buf *into)
{
	uint8_t unit[FASTLANES_UNIT * LEVEL_BYTES];

	fastlanes_pack(LEVEL_BITS, width, (const uint8_t *)levels, unit);
	buf_put(into, unit, fastlanes_size(width));
}

static void
put_packed(unsigned width, const uint16_t *levels, uint64_t count, struct buf *into)
{
	uint16_t last[FASTLANES_UNIT] = { 0 };
	uint64_t tail = count % FASTLANES_UNIT;

	for (; count >= FASTLANES_UNIT; count -= FASTLANES_UNIT, levels += FASTLANES_UNIT)
		put_unit(width, levels, into);
	if (!packs_tail(width, tail)) {
		buf_put(into, levels, (size_t)tail * LEVEL_BYTES);
		return;
	}
	memcpy(last, levels, (size_t)tail * LEVEL_BYTES);
	put_unit(width, last, into);
}

static uint64_t
run_length(const uint16_t *levels, uint64_t count)
{
	uint64_t length = 1;

	while (length < count && length < RUN_MAX && levels[length] == levels[0])
		length++;
	return length;
}

static void
put_runs(const uint16_t *levels, uint64_t count, struct buf *into)
{
	size_t start = into->size;
	uint64_t values_size, length;

	buf_fill(into, 0, sizeof(values_size));
	for (uint64_t i = 0; i < count; i += run_length(levels + i, count - i))
		buf_put(into, &levels[i], LEVEL_BYTES);
	values_size = into->size - start - sizeof(values_size);
	for (uint64_t i = 0; i < count; i += length) {
		length = run_length(levels + i, count - i);
		buf_put_byte(into, (uint8_t)length);
	}
	if (into->failed == LANCET_OK)
		memcpy(into->data + start, &values_size, sizeof(values_size));
}

int
level_plan_block(const struct level_plan *plan, const uint16_t *levels, uint64_t count,
	struct buf *into, struct lancet_error *err)
{
	if (plan->codec == LEVELS_PACKED)
		put_packed(plan->width, levels, count, into);
	else if (plan->codec == LEVELS_RUNS)
		put_runs(levels, count, into);
	else
		buf_put(into, levels, (size_t)count * LEVEL_BYTES);
	return buf_check(into, "levels of a page", err);
}

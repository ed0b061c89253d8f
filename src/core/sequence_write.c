/* Row ids and row versions as the messages of the format. */
#include "sequence_write.h"

#include <assert.h>
#include <stdlib.h>

#include "segment.h"
#include "util/bits.h"

#define WIRE_VARINT  0u
#define WIRE_BYTES   2u
#define SEGMENTS     1u /* RowIdSequence */
#define RUNS         1u /* RowDatasetVersionSequence */
#define RUN_SPAN     1u
#define RUN_VERSION  2u
#define RANGE_START  1u
#define RANGE_END    2u
#define RANGE_MORE   3u /* holes, or a bitmap */
#define ARRAY_BASE   1u
#define ARRAY_VALUES 2u

/* Encoded runs that say where their rows are; later ones, of which there may be millions, are
 * shorter without. */
#define PLACED_SIZE 4096u

/* Zero is the default and not stored. */
static void
put_number(struct buf *into, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	buf_put_varint(into, field << 3 | WIRE_VARINT);
	buf_put_varint(into, value);
}

static void
put_head(struct buf *into, uint32_t field, size_t size)
{
	buf_put_varint(into, field << 3 | WIRE_BYTES);
	buf_put_varint(into, size);
}

/* Takes the bytes of the part; its failure becomes that of the whole. */
static void
put_part(struct buf *into, uint32_t field, struct buf *part)
{
	if (part->failed != LANCET_OK && into->failed == LANCET_OK)
		into->failed = part->failed;
	put_head(into, field, part->size);
	buf_put_slice(into, buf_slice(part));
	buf_release(part);
}

static void
put_bounds(struct buf *into, uint64_t start, uint64_t end)
{
	put_number(into, RANGE_START, start);
	put_number(into, RANGE_END, end);
}

static void
put_range_segment(struct buf *into, uint64_t start, uint64_t end)
{
	struct buf range = { 0 };

	put_bounds(&range, start, end);
	put_part(into, SEGMENT_RANGE, &range);
}

void
rowids_put_range(struct buf *into, uint64_t start, uint64_t count)
{
	struct buf segment = { 0 };

	assert(count <= UINT64_MAX - start);
	put_range_segment(&segment, start, start + count);
	put_part(into, SEGMENTS, &segment);
}

struct values {
	const uint64_t *list;
	size_t count;
	uint64_t least, most;
};

static struct values
values_of(const uint64_t *list, size_t count)
{
	struct values values = { list, count, count > 0 ? list[0] : 0, count > 0 ? list[0] : 0 };

	for (size_t i = 1; i < count; i++) {
		if (list[i] < values.least)
			values.least = list[i];
		if (list[i] > values.most)
			values.most = list[i];
	}
	return values;
}

/* EncodedU64Array: the width in bytes decides which of its three forms. */
static unsigned
width_of(const struct values *values)
{
	uint64_t span = values->most - values->least;

	if (values->count == 0)
		return 8;
	return span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;
}

static void
put_array(struct buf *into, const uint64_t *list, size_t count)
{
	const struct values values = values_of(list, count);
	unsigned width = width_of(&values);
	uint64_t base = width == 8 ? 0 : values.least;
	struct buf array = { 0 };

	if (width != 8)
		put_number(&array, ARRAY_BASE, base);
	put_head(&array, ARRAY_VALUES, count * width);
	if (buf_reserve(&array, count * width))
		for (size_t i = 0; i < count; i++)
			for (unsigned byte = 0; byte < width; byte++)
				array.data[array.size++] = (uint8_t)((list[i] - base) >> 8 * byte);
	put_part(into, width == 2 ? 1 : width == 4 ? 2 : 3, &array);
}

static void
put_list_segment(struct buf *into, enum segment_kind kind, const uint64_t *ids, size_t count)
{
	struct buf array = { 0 };

	put_array(&array, ids, count);
	put_part(into, (uint32_t)kind, &array);
}

/* What lies between the ids; there are `holes` of them. */
static void
put_holes_segment(struct buf *into, const uint64_t *ids, size_t count, size_t holes)
{
	uint64_t *list = malloc((holes + 1) * sizeof(*list));
	struct buf range = { 0 }, array = { 0 };
	size_t at = 0;

	if (list == NULL) {
		into->failed = LANCET_NO_MEMORY;
		return;
	}
	for (size_t i = 1; i < count; i++)
		for (uint64_t hole = ids[i - 1] + 1; hole < ids[i]; hole++)
			list[at++] = hole;
	assert(at == holes);
	put_bounds(&range, ids[0], ids[count - 1] + 1);
	put_array(&array, list, holes);
	free(list);
	put_part(&range, RANGE_MORE, &array);
	put_part(into, SEGMENT_HOLES, &range);
}

static void
put_bitmap_segment(struct buf *into, const uint64_t *ids, size_t count)
{
	uint64_t span = ids[count - 1] - ids[0] + 1;
	size_t size = (size_t)bits_size(span);
	struct buf range = { 0 };

	put_bounds(&range, ids[0], ids[count - 1] + 1);
	put_head(&range, RANGE_MORE, size);
	if (buf_reserve(&range, size)) {
		uint8_t *bits = range.data + range.size;

		memset(bits, 0, size);
		for (size_t i = 0; i < count; i++)
			bits[(ids[i] - ids[0]) >> 3] |= (uint8_t)(1u << ((ids[i] - ids[0]) & 7));
		range.size += size;
	}
	put_part(into, SEGMENT_BITMAP, &range);
}

bool
sequence_ascends(const uint64_t *ids, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (ids[i - 1] >= ids[i])
			return false;
	return true;
}

static void
put_segment(struct buf *into, enum segment_kind kind, const uint64_t *ids, size_t count)
{
	if (kind == SEGMENT_RANGE)
		put_range_segment(into, ids[0], ids[count - 1] + 1);
	else if (kind == SEGMENT_HOLES)
		put_holes_segment(into, ids, count, (size_t)(ids[count - 1] - ids[0] + 1 - count));
	else if (kind == SEGMENT_BITMAP)
		put_bitmap_segment(into, ids, count);
	else
		put_list_segment(into, kind, ids, count);
}

/* Ascending ids with holes: by the estimates of the reference, in bytes. */
static enum segment_kind
smallest(const uint64_t *ids, size_t count)
{
	uint64_t span = ids[count - 1] - ids[0] + 1;
	uint64_t holes = span - count;
	uint64_t array = 2 * (uint64_t)count;
	uint64_t bitmap = bits_size(span);
	bool ranged = ids[count - 1] != UINT64_MAX && span != 0;

	if (ranged && holes <= array / 4 && 4 * holes <= array && 4 * holes <= bitmap)
		return SEGMENT_HOLES;
	return ranged && bitmap <= array ? SEGMENT_BITMAP : SEGMENT_SORTED;
}

void
rowids_put_as(struct buf *into, enum segment_kind kind, const uint64_t *ids, size_t count)
{
	struct buf segment = { 0 };

	put_segment(&segment, kind, ids, count);
	put_part(into, SEGMENTS, &segment);
}

void
rowids_put(struct buf *into, const uint64_t *ids, size_t count)
{
	if (count == 0)
		rowids_put_range(into, 0, 0);
	else if (!sequence_ascends(ids, count))
		rowids_put_as(into, SEGMENT_ARRAY, ids, count);
	else if (ids[count - 1] != UINT64_MAX && ids[count - 1] - ids[0] == count - 1)
		rowids_put_as(into, SEGMENT_RANGE, ids, count);
	else
		rowids_put_as(into, smallest(ids, count), ids, count);
}

/* A number of a message that is put together on the stack; zero is not stored. */
static uint8_t *
place_number(uint8_t *at, uint8_t tag, uint64_t value)
{
	if (value == 0)
		return at;
	*at++ = tag;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

/* Shuffled rows have a run each, so a run is written at once: it is shorter than 128 bytes, and
 * each length in it is one byte. */
static void
put_pending(struct version_runs *runs)
{
	uint64_t start = runs->bytes.size < PLACED_SIZE ? runs->rows : 0;
	uint8_t run[64] = { RUNS << 3 | WIRE_BYTES, 0, RUN_SPAN << 3 | WIRE_BYTES, 0,
		SEGMENT_RANGE << 3 | WIRE_BYTES, 0 };
	uint8_t *at = run + 6;

	if (runs->pending == 0)
		return;
	at = place_number(at, RANGE_START << 3 | WIRE_VARINT, start);
	at = place_number(at, RANGE_END << 3 | WIRE_VARINT, start + runs->pending);
	run[5] = (uint8_t)(at - run - 6);
	run[3] = (uint8_t)(at - run - 4);
	at = place_number(at, RUN_VERSION << 3 | WIRE_VARINT, runs->version);
	run[1] = (uint8_t)(at - run - 2);
	buf_put(&runs->bytes, run, (size_t)(at - run));
	runs->rows += runs->pending;
	runs->pending = 0;
}

void
version_runs_put(struct version_runs *runs, uint64_t count, uint64_t version)
{
	if (runs->pending > 0 && runs->version != version)
		put_pending(runs);
	runs->version = version;
	runs->pending += count;
}

void
version_runs_end(struct version_runs *runs)
{
	put_pending(runs);
}

void
version_runs_release(struct version_runs *runs)
{
	buf_release(&runs->bytes);
}
